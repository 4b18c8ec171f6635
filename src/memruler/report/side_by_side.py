"""Several runs beside each other; a difference stands only where two of them compare."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from memruler.compare.exact import compare
from memruler.compare.fingerprint import differences
from memruler.compare.record import Delta, Reason
from memruler.compare.refusal import Incomparable
from memruler.errors import UsageError
from memruler.model.summary import Level
from memruler.report.document import ReportDocument
from memruler.report.read import called, read_run
from memruler.report.view import headline_of

__all__ = ["SCHEMA_VERSION", "RunLine", "SideBySide", "side_by_side"]

SCHEMA_VERSION = 1
"""Version of these records; raised with every change that an old reader would misread."""


class RunLine(msgspec.Struct, frozen=True, kw_only=True):
    """One run of several.

    Attributes:
        name: Its folder's name, or its path where two have the same.
        system, corpus, population: Their names.
        members: Digest of the members of the population.
        measured: Queries that are measured.
        target: Which stored forms earn credit.
        metric: The headline as a metric id; None where no cut-off could be measured.
        level: Of the headline.
        value: The headline, a mean over `counted`.
        counted, of: Queries with a value, of all measurable ones.
        exact: Whether every query that was asked again ranked identically.
        delta: Against the first run, where the two compare: over the same queries, exact.
        refused: Every reason why the two do not; empty for the first run, and where there is a
            `delta`.
        warnings, degraded: Of the run.
    """

    name: str
    system: str
    corpus: str
    population: str
    members: str
    measured: int
    target: str
    metric: str | None
    level: Level | None
    value: float | None
    counted: int
    of: int
    exact: bool
    delta: Delta | None = None
    refused: tuple[Reason, ...] = ()
    warnings: tuple[str, ...]
    degraded: tuple[str, ...]


class SideBySide(
    msgspec.Struct, frozen=True, kw_only=True, tag="side_by_side", tag_field="outcome"
):
    """Three runs or more, the first of which is the baseline.

    Attributes:
        changed: What was declared as the change under test.
        runs: In the order given.
    """

    schema_version: int = SCHEMA_VERSION
    changed: tuple[str, ...]
    runs: tuple[RunLine, ...]


def side_by_side(
    paths: Sequence[Path], *, changed: Sequence[str] = (), shared: bool = False
) -> SideBySide:
    """Put runs beside each other.

    Args:
        paths: Run folders, the baseline first.
        changed: What is under test, in any of them: what a run does not change needs no
            declaration of its own.
        shared: See `memruler.compare.exact.compare`.

    Raises:
        UsageError: A folder is given twice, or a declared key is in no run.
        FormatError: A folder is no finished and scored run.
    """
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("a run is given twice", hint="name each run folder once")
    documents = [read_run(path) for path in paths]
    names = called(paths)
    prints = [document.manifest.fingerprint for document in documents]
    _require_known(prints, changed)
    lines = [_line(document, name) for document, name in zip(documents, names, strict=True)]
    for at in range(1, len(paths)):
        moved = _moved(prints[0], prints[at], changed)
        try:
            found = compare(paths[0], paths[at], changed=moved, shared=shared)
            lines[at] = msgspec.structs.replace(lines[at], delta=found.headline)
        except Incomparable as refusal:
            lines[at] = msgspec.structs.replace(lines[at], refused=refusal.record.reasons)
    return SideBySide(changed=tuple(changed), runs=tuple(lines))


def _line(document: ReportDocument, name: str) -> RunLine:
    manifest, summary = document.manifest, document.summary
    head, measured = headline_of(summary), manifest.determinism
    return RunLine(
        name=name,
        system=manifest.fingerprint["system"]["name"],
        corpus=manifest.fingerprint["corpus"]["name"],
        population=summary.population.name,
        members=summary.population.digest,
        measured=summary.population.measured,
        target=summary.target,
        metric=None if head is None else head[0],
        level=None if head is None else head[1].level,
        value=None if head is None else head[1].values["recall_all"],
        counted=0 if head is None else head[1].counted,
        of=summary.population.measured if head is None else head[1].of,
        exact=measured is not None and 0 < measured.queries == measured.identical,
        warnings=manifest.warnings,
        degraded=manifest.degraded,
    )


def _require_known(prints: Sequence[dict[str, Any]], changed: Sequence[str]) -> None:
    """A key that no two of the runs know is a slip of the keyboard."""
    for key in changed:
        unknown = None
        for other in prints[1:]:
            try:
                differences(prints[0], other, [key])
            except UsageError as error:
                unknown = error
            else:
                unknown = None
                break
        if unknown is not None:
            raise unknown


def _moved(base: dict[str, Any], other: dict[str, Any], changed: Sequence[str]) -> list[str]:
    """What of the declared changes differs between two of the runs."""
    moved: list[str] = []
    for key in changed:
        try:
            moved += differences(base, other, [key]).parts
        except UsageError:
            continue  # these two have no such key
    return list(dict.fromkeys(moved))
