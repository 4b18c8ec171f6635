"""Look at a corpus file as a person hands it over: what it is, what is in it, what is wrong."""

from pathlib import Path
from typing import Any, Literal

import msgspec

from memruler.corpora.jsonl_check import Fault, check
from memruler.corpora.populations import CorpusCounts, count_all
from memruler.corpora.registry import open_corpus
from memruler.corpora.source import file_state
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
_HEAD = 1 << 16
_ZIP = b"PK\x03\x04"
_LONGMEMEVAL = (b'"question_id"', b'"haystack_', b'"answer_session_ids"')


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in a file.

    Attributes:
        file: As it was named.
        format: What it was read as.
        info: What the corpus is; None when it has faults.
        counts: What is in it; None when it has faults.
        faults: Every fault of a `jsonl` file; the first one of another format.
    """

    file: str
    format: Format
    info: CorpusInfo | None
    counts: CorpusCounts | None
    faults: tuple[Fault, ...]

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
            head = file.read(_HEAD)
    except OSError as error:
        raise CorpusError(f"cannot read the file: {error.strerror}", where=path) from error
    if head.startswith(_ZIP):
        return "locomo"
    if not head.lstrip().startswith(b"["):
        return "jsonl"
    return "longmemeval" if any(word in head for word in _LONGMEMEVAL) else "locomo"


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
    faults = check(path) if form == "jsonl" else []
    info = counts = None
    if not faults:
        try:
            corpus = open_corpus(_NAMES[form], path)
            info, counts = corpus.info, count_all(corpus)
        except CorpusError as error:
            info = None
            place = str(error.where or "").removeprefix(str(path)).strip(": ")
            faults = [Fault(file=str(path), line=0, field=place, what=error.what)]
    return CheckReport(file=str(path), format=form, info=info, counts=counts, faults=tuple(faults))
