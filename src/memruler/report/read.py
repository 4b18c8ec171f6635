"""Reads what a page says of a run from its folder; nothing in it is changed."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from memruler.compare.load import names
from memruler.compare.target_part import TargetPart
from memruler.errors import FormatError, MemrulerError
from memruler.model.summary import Summary
from memruler.report.document import ReportDocument
from memruler.scoring.answer_load import answers_of
from memruler.scoring.grade_record import GradeSummary
from memruler.scoring.timing import timing
from memruler.store.folder import RunFolder
from memruler.store.grades import grade_names, grades_path, read_manifest
from memruler.store.safe import read_bytes

__all__ = ["Gradings", "called", "read_gradings", "read_run"]

_AGAIN = "score the run again: memruler retrieval, with the same command, ends what is missing"


class _Part(msgspec.Struct):
    """What `report.json` holds that takes long to make anew."""

    targets: TargetPart | None = None


def read_run(path: Path) -> ReportDocument:
    """The report of a run.

    Args:
        path: Its folder.

    Raises:
        FormatError: It is no finished run, was not scored, or its summary is another run's.
    """
    folder = RunFolder.open(path)
    manifest = folder.manifest()
    if manifest is None or not folder.has("summary.json") or not folder.has("report.json"):
        raise FormatError("this run was not scored", where=path, hint=_AGAIN)
    try:
        summary = msgspec.json.decode(folder.read("summary.json"), type=Summary)
        part = msgspec.json.decode(folder.read("report.json"), type=_Part)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(
            f"its summary or report cannot be read: {error}", where=path, hint=_AGAIN
        ) from error
    scored = {name: digest for name, digest in summary.tables.items() if name != "scores"}
    if not summary.slices or any(manifest.tables.get(k) != v for k, v in scored.items()):
        raise FormatError(
            "summary.json was made from the tables of another run", where=path, hint=_AGAIN
        )
    return ReportDocument(
        manifest=manifest, summary=summary, timing=timing(folder), targets=part.targets
    )


class Gradings(msgspec.Struct, frozen=True, kw_only=True):
    """The gradings of a run's answers.

    Attributes:
        found: Name of the answers and of the grading to what it says.
        broken: The same names to why it cannot be shown.
    """

    found: dict[tuple[str, str], GradeSummary]
    broken: dict[tuple[str, str], str]


def read_gradings(path: Path) -> Gradings:
    """Every grading that stands below a run; a damaged one is told, and hides no other.

    Args:
        path: The run folder.
    """
    folder = RunFolder.open(path)
    found: dict[tuple[str, str], GradeSummary] = {}
    broken: dict[tuple[str, str], str] = {}
    for answers in answers_of(folder):
        for name in grade_names(folder.path, answers):
            where = grades_path(folder.path, answers, name)
            try:
                read_manifest(where)  # refuses files that were changed since
                data = read_bytes(where / "summary.json")
                found[answers, name] = msgspec.json.decode(data, type=GradeSummary)
            except (MemrulerError, msgspec.MsgspecError, UnicodeDecodeError) as error:
                broken[answers, name] = str(error)
    return Gradings(found=found, broken=broken)


def called(paths: Sequence[Path]) -> list[str]:
    """What to call runs: their folders' own names, or the paths as given where two are equal."""
    own = [names(path, Path())[0] for path in paths]
    return own if len(set(own)) == len(own) else [str(path) for path in paths]
