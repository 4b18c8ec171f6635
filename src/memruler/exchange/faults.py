"""What is wrong with a file that is read, all at once: kinds of faults, with names and counts."""

from pathlib import Path

import msgspec

from memruler.errors import CorpusError, printable
from memruler.scoring.traced import MOST_NAMES

__all__ = ["Fault", "Faults", "FaultyFile"]

_SHOWN = 40  # characters of a name that a line shows


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of fault.

    Attributes:
        what: In words.
        count: How often.
        names: Where, at most `MOST_NAMES`: names of queries, or lines.
    """

    what: str
    count: int
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        named = ", ".join(printable(name, _SHOWN) for name in self.names)
        more = ", ..." if self.count > len(self.names) else ""
        return f"{printable(self.what)}: {self.count:,}" + (f" ({named}{more})" if named else "")


class FaultyFile(CorpusError):  # noqa: N818 - what is at fault is the file
    """A file that is not scored: every kind of fault that it has.

    Args:
        path: The file.
        faults: At least one.

    Attributes:
        faults: The same.
    """

    def __init__(self, path: Path, faults: tuple[Fault, ...]) -> None:
        super().__init__(
            "; ".join(map(str, faults)), where=path, hint="mend the file: nothing is repaired here"
        )
        self.faults = faults

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return super().__str__()
        lines = [f"the file has faults [{printable(self.where)}]; {self.hint}", *self.faults]
        return "\n          ".join(map(str, lines))


class Faults:
    """Collects the faults of a file.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: dict[str, tuple[int, list[str]]] = {}

    def add(self, what: str, names: list[str], count: int | None = None) -> None:
        """Note a fault; of the same kind as before when `what` is.

        Args:
            what: In words.
            names: Where; as many as wanted.
            count: How often; without it, as many as there are names.
        """
        before, listed = self._found.setdefault(what, (0, []))
        listed += names[: MOST_NAMES - len(listed)]
        self._found[what] = before + (len(names) if count is None else count), listed

    def refuse(self) -> None:
        """Raise what was found.

        Raises:
            FaultyFile: Anything was.
        """
        faults = tuple(
            Fault(what=what, count=count, names=tuple(names))
            for what, (count, names) in self._found.items()
            if count
        )
        if faults:
            raise FaultyFile(self._path, faults)
