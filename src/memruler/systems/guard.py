"""Stands between memruler and someone else's code: what fails there is named, never scored."""

import traceback
from contextlib import AbstractContextManager
from types import TracebackType

from memruler.errors import MemrulerError, SystemUnderTestError
from memruler.plugins import described
from memruler.systems.aside import Aside

__all__ = ["Guard", "missing_methods"]


def missing_methods(thing: object, protocol: type) -> list[str]:
    """The protocol's methods that a thing lacks, in the protocol's order.

    Looking runs the thing's code (`__getattr__`): call it inside a guard.
    """
    wanted = [name for name in vars(protocol) if not name.startswith("_")]
    return [name for name in wanted if not callable(getattr(thing, name, None))]


class Guard:
    """Turns whatever foreign code raises into one line that says which code it was.

    What the code prints goes to standard error; see `memruler.systems.aside`.

    Args:
        file: The foreign file, to find the line at fault.
    """

    def __init__(self, file: str) -> None:
        self._file = file

    def __call__(self, what: str) -> AbstractContextManager[None]:
        """Watch over one call, and over every look at what came back.

        Args:
            what: `Class.method`.

        Raises:
            SystemUnderTestError: The call raised, whatever it was: an exit and a cancellation
                too. memruler's own errors and an interrupt pass through.
        """
        return _Watch(self._file, what)


class _Watch(Aside):
    """One guarded call. A class, since a generator would touch the error before it is judged."""

    __slots__ = ("_file", "_what")

    def __init__(self, file: str, what: str) -> None:
        self._file = file
        self._what = what

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None or issubclass(type(error), KeyboardInterrupt) or _is_ours(error):
                return
            if _interrupted(error):
                raise KeyboardInterrupt from error
            raise SystemUnderTestError(
                f"{self._what} raised {described(error)}", where=self._place(error, trace)
            ) from error
        finally:
            super().__exit__(kind, error, trace)

    def _place(self, error: BaseException, trace: TracebackType | None) -> str:
        try:
            if isinstance(error, SyntaxError) and error.filename == self._file:
                return f"{self._file}:{error.lineno}"
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - an error's own class may replace its attributes
            return self._file
        frames = traceback.walk_tb(trace)
        lines = [line for frame, line in frames if frame.f_code.co_filename == self._file]
        return f"{self._file}:{lines[-1]}" if lines else self._file


def _is_ours(error: BaseException) -> bool:
    """Whether it is an error of memruler's, and not of a class that was derived from one."""
    kind = type(error)  # not isinstance: that asks the error, which may say or do anything
    module = str(type.__dict__["__module__"].__get__(kind))
    return issubclass(kind, MemrulerError) and module.startswith("memruler.")


def _interrupted(error: BaseException) -> bool:
    """Whether a person's interrupt is among the errors of a group, as some event loops put it."""
    kind = type(error)
    if issubclass(kind, BaseExceptionGroup):
        members = BaseExceptionGroup.exceptions.__get__(error)
        return any(map(_interrupted, members))
    return issubclass(kind, KeyboardInterrupt)
