"""The exception tree. Every error says what happened, where, and what to do next.

```
MemrulerError
├── UsageError              2   the call is wrong
├── CorpusError             2   the data given cannot be read as a corpus
├── FormatError             2   a run folder is too old, too new or not a run folder
├── InstrumentError         3   the ruler itself broke (embedder, disk, lock)
│   └── ChecksumError       3   bytes are not what their pin says
├── SystemUnderTestError    3   the memory failed; never scored as a miss
├── Refusal                 4   a number would not mean what it looks like
└── Interrupted           130   stopped by a person; the run can be resumed
```
"""

from collections.abc import Sequence
from typing import ClassVar

__all__ = [
    "ChecksumError",
    "CorpusError",
    "FormatError",
    "InstrumentError",
    "Interrupted",
    "MemrulerError",
    "Refusal",
    "SystemUnderTestError",
    "UsageError",
    "printable",
]

_LONGEST = 400


def printable(text: object, longest: int = _LONGEST) -> str:
    """Make hostile text safe for one line of a terminal.

    Control, format (bidirectional, zero-width) and unassigned characters become escapes, so a
    file name or a corpus cannot move the cursor or reverse a line.

    Args:
        text: Anything; its `str` is used.
        longest: Characters kept; the rest is replaced by an ellipsis. At least 1.
    """
    raw = str(text)
    cut = raw[:longest] + ("…" if len(raw) > longest else "")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)


class MemrulerError(Exception):
    """Anything memruler reports to a person.

    Args:
        what: What happened, one sentence without a full stop.
        where: The file, line, field or query that it happened at.
        hint: What to do next.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, what: str, *, where: object = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        line = printable(self.what)
        if self.where is not None:
            line += f" [{printable(self.where)}]"
        if self.hint:
            line += f"; {printable(self.hint)}"
        return line


class UsageError(MemrulerError):
    """The call is wrong: an unknown name, a bad value, a folder already in use."""

    exit_code = 2


class CorpusError(MemrulerError):
    """The data given cannot be read as the corpus it is said to be."""

    exit_code = 2


class FormatError(MemrulerError):
    """A run folder is too old, too new, damaged, or not a run folder."""

    exit_code = 2


class InstrumentError(MemrulerError):
    """The ruler itself broke: an embedder, a disk, a lock."""

    exit_code = 3


class ChecksumError(InstrumentError):
    """Bytes are not what their pin says they are."""


class SystemUnderTestError(MemrulerError):
    """The memory under test failed. Never scored as a miss.

    Attributes:
        kind: What sort of failure it was, for counting: `timeout`, `connection`, `throttled`,
            `http 4xx`, `http 5xx`, `malformed`, `tool`, or `failed` where nothing more is known.
    """

    exit_code = 3

    def __init__(
        self, what: str, *, where: object = None, hint: str | None = None, kind: str = "failed"
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.kind = kind


class Refusal(MemrulerError):  # noqa: N818 - a refusal is a result, not a fault
    """A number would not mean what it looks like, so it is not printed.

    Args:
        reasons: Every reason at once, most important first; at least one.
        hint: What to do instead.
    """

    exit_code = 4

    def __init__(
        self, reasons: Sequence[str], *, where: object = None, hint: str | None = None
    ) -> None:
        if not reasons:
            raise ValueError("a refusal needs at least one reason")
        self.reasons = tuple(reasons)
        super().__init__("refused: " + "; ".join(self.reasons), where=where, hint=hint)


class Interrupted(MemrulerError):  # noqa: N818 - a person's wish, not a fault
    """A person stopped the work; what was committed is kept and can be resumed."""

    exit_code = 130
