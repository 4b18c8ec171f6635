"""The explorer's calls, for pages that ask for queries one list at a time."""

from collections.abc import Sequence
from threading import Lock
from typing import Final

from memruler.report.explore.calls import CALLS, respond
from memruler.report.explore.explorer import Explorer
from memruler.report.web.choices import DECLARED, read_choices
from memruler.report.web.compared import Compared
from memruler.report.web.kept import Kept, stamp_of
from memruler.report.web.runs import Asked, NoSuchRunError

__all__ = ["Explorers"]

_OWN: Final = frozenset({"run", "base", "candidate", DECLARED, "shared", "common"})
"""Parts of an address that say which runs, and how they are compared; the rest is the call's."""

_KEPT = 4


class Explorers:
    """Answers from the explorers of the runs asked for last; each is asked by one at a time.

    Args:
        asked: Finds the runs.
        compared: Compares two of them.
    """

    def __init__(self, asked: Asked, compared: Compared) -> None:
        self._asked, self._compared = asked, compared
        self._kept: Kept[tuple[Explorer, Lock]] = Kept(_KEPT)

    def answer(self, call: str, pairs: Sequence[tuple[str, str]]) -> bytes:
        """Answer a call with JSON.

        Args:
            call: One of `memruler.report.explore.calls.CALLS`.
            pairs: The parts of the address's query.

        Raises:
            NoSuchRunError: There is no such call, or no run of a key.
            MemrulerError: A run cannot be read, or the call's parameters cannot.
        """
        if call not in CALLS:
            raise NoSuchRunError("there is no such call", hint=f"there are: {', '.join(CALLS)}")
        explorer, turn = self._explorer(pairs)
        params = {name: value for name, value in pairs if name not in _OWN}
        with turn:
            return respond(explorer, call, params)

    def _explorer(self, pairs: Sequence[tuple[str, str]]) -> tuple[Explorer, Lock]:
        runs = self._asked.finished(pairs)
        paths = [run.path for run in runs]
        if len(runs) == 1:
            key: tuple[object, ...] = (runs[0].key,)
            make = lambda: (Explorer.open(paths), Lock())  # noqa: E731 - as short as it can be
        else:
            base, candidate = runs
            choices = read_choices(base, candidate, pairs, name=DECLARED)
            key = choices.key

            def make() -> tuple[Explorer, Lock]:
                found = self._compared.of(base.path, candidate.path, choices)
                return Explorer.open(paths, found), Lock()

        return self._kept.get(key, stamp_of(paths), make)
