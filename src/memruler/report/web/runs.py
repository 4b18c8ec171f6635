"""From what stands in an address to run folders: by looking it up, never by making a path."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memruler.errors import FormatError
from memruler.report.web.index import RunIndex
from memruler.report.web.listed import Listed

__all__ = ["Asked", "NoSuchRunError", "require_finished"]


class NoSuchRunError(FormatError):
    """No run has this key, or not any more."""


class Asked:
    """Finds the runs that an address names.

    Args:
        root: The folder of runs.

    Attributes:
        index: Everything that lies below it.

    Raises:
        UsageError: There is no such folder, or it is itself a run.
    """

    def __init__(self, root: Path) -> None:
        self.index = RunIndex(root)

    def run(self, key: str) -> Listed:
        """The run of a key.

        Raises:
            NoSuchRunError: There is none.
        """
        return _known(self.index.runs(), key)

    def pair(self, pairs: Sequence[tuple[str, str]]) -> tuple[Listed, Listed]:
        """The baseline and the candidate of an address.

        Args:
            pairs: Name and value of each part of its query.

        Raises:
            NoSuchRunError: One is not named, or there is none of that key.
        """
        runs = self.index.runs()
        named = dict(pairs)
        return _known(runs, named.get("base", "")), _known(runs, named.get("candidate", ""))

    def finished(self, pairs: Sequence[tuple[str, str]]) -> tuple[Listed, ...]:
        """The one run (`run`) or the two (`base`, `candidate`) that an address names.

        Raises:
            NoSuchRunError: There is none of that key.
            FormatError: One is unfinished or broken.
        """
        named = dict(pairs)
        found = (self.run(named["run"]),) if "run" in named else self.pair(pairs)
        for run in found:
            require_finished(run)
        return found


def require_finished(run: Listed) -> None:
    """Refuse a run of which nothing can be shown.

    Raises:
        FormatError: It is unfinished or broken; its `why` is the message.
    """
    if run.state != "finished":
        raise FormatError(f"{run.name}: {run.why}", hint="it shows up here once it can be read")


def _known(runs: Mapping[str, Listed], key: str) -> Listed:
    found = runs.get(key)
    if found is None:
        raise NoSuchRunError(
            "there is no such run in this folder, or not any more",
            hint="choose one from the list of runs",
        )
    return found
