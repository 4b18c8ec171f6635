"""Look at a corpus file as a person hands it over: what it is, what is in it, what is wrong."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from memruler.corpora.jsonl_check import Fault, check
from memruler.corpora.longmemeval import LongMemEvalCorpus
from memruler.corpora.oddities import Observed
from memruler.corpora.populations import CorpusCounts, count_all, unmeasurable
from memruler.corpora.registry import open_corpus
from memruler.corpora.source import file_state
from memruler.corpora.whole_document import HEAD, public_corpus
from memruler.errors import CorpusError
from memruler.model.corpus import CorpusInfo

__all__ = ["FORMATS", "CheckReport", "Format", "check_file", "detect"]

Format = Literal["jsonl", "locomo", "longmemeval"]
FORMATS: tuple[Format, ...] = ("jsonl", "locomo", "longmemeval")

_NAMES: dict[Format, str] = {
    "jsonl": "jsonl",
    "locomo": "locomo",
    "longmemeval": "longmemeval-s",
}
_ZIP = b"PK\x03\x04"


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in a file.

    Attributes:
        file: As it was named.
        format: What it was read as.
        info: What the corpus is; None when it has faults.
        counts: What is in it; None when it has faults.
        faults: Every fault of a `jsonl` file; of LongMemEval the first one of each question; of
            LoCoMo the first one.
        notes: That nothing can be measured, then what is odd and kept as it is; one sentence each.
    """

    file: str
    format: Format
    info: CorpusInfo | None
    counts: CorpusCounts | None
    faults: tuple[Fault, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The report in JSON's types."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain


def detect(path: Path) -> Format:
    """Tell the format of a file by how it begins.

    Raises:
        CorpusError: It is missing, empty or unreadable.
    """
    if path.is_dir():
        return "locomo"
    file_state(path)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise CorpusError(f"cannot read the file: {error.strerror}", where=path) from error
    if head.startswith(_ZIP):
        return "locomo"
    if not head.lstrip().startswith(b"["):
        return "jsonl"
    return "longmemeval" if public_corpus(head) == "longmemeval-s" else "locomo"


def check_file(path: Path, form: Format | None = None) -> CheckReport:
    """Read a whole corpus file, count it and collect its faults.

    Args:
        path: The file (LoCoMo: or folder).
        form: What to read it as; None to tell by how it begins.

    Raises:
        CorpusError: There is nothing to read at `path`.
    """
    form = form or detect(path)
    if not path.is_dir():
        file_state(path)
    if form == "jsonl" and (wrong := check(path)):
        return CheckReport(file=str(path), format=form, info=None, counts=None, faults=tuple(wrong))
    try:
        corpus = open_corpus(_NAMES[form], path)
    except CorpusError as error:
        return _faulty(path, form, [error])
    observed = Observed(corpus)
    try:
        counts = count_all(observed)
    except CorpusError as error:
        every = corpus.faults() if isinstance(corpus, LongMemEvalCorpus) else [error]
        return _faulty(path, form, every)
    nothing = unmeasurable(counts)
    return CheckReport(
        file=str(path),
        format=form,
        info=corpus.info,
        counts=counts,
        faults=(),
        notes=(*((nothing,) if nothing else ()), *observed.notes()),
    )


def _faulty(path: Path, form: Format, errors: Iterable[CorpusError]) -> CheckReport:
    faults = (
        Fault(
            file=str(path),
            line=0,
            field=str(error.where or "").removeprefix(str(path)).strip(": "),
            # LoCoMo is what a list of anything is taken for, so its hint says what else it may be.
            what=f"{error.what}; {error.hint}" if form == "locomo" and error.hint else error.what,
        )
        for error in errors
    )
    return CheckReport(file=str(path), format=form, info=None, counts=None, faults=tuple(faults))
