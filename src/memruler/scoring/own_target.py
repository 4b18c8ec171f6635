"""Stands between memruler and a target of one's own, whose code may do anything."""

import operator
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, TypeVar

import numpy as np

from memruler.errors import SystemUnderTestError, UsageError
from memruler.plugins import class_name
from memruler.systems.guard import Guard
from memruler.systems.source import Source
from memruler.targets.forms import StoredForm

__all__ = ["WatchedTarget"]

_Answer = TypeVar("_Answer")

_HINT = "docs/targets.md has an example"


class WatchedTarget:
    """A target whose answers are plain numbers; what it prints goes to standard error.

    Args:
        source: Makes it.
        typed: What it was asked for as.

    Attributes:
        name: What it is called.

    Raises:
        UsageError: It cannot be made, or lacks a `name` or a method `grade`. Its methods raise it
            where the target's code raised anything, an exit too, or gave what is no number.
    """

    def __init__(self, source: Source, typed: str) -> None:
        self._file = source.file
        self._target, name = self._asked(f"making {typed}", lambda: _made(source))
        if name is None:
            raise UsageError(
                "this is no target: it needs a `name` and a method `grade`",
                where=typed,
                hint=_HINT,
            )
        self.name: str = name

    def grade(self, form: StoredForm, session: int, turn: int | None) -> float:
        """See `Grades.grade`; whether it is from 0 to 1 is not looked at."""

        def ask() -> float:
            grade = self._target.grade(form, session, turn)
            if not isinstance(grade, Real | np.bool_):
                raise TypeError(f"{class_name(grade)} is no grade")
            return float(grade)

        return self._asked("grade", ask)

    def sets(
        self, forms: Sequence[StoredForm], session: int, turn: int | None
    ) -> Sequence[Sequence[int]]:
        """See `Composes.sets`; empty where the target has no such method."""

        def ask() -> list[list[int]]:
            sets = getattr(self._target, "sets", None)
            if sets is None:
                return []
            return [list(map(operator.index, one)) for one in sets(forms, session, turn)]

        return self._asked("sets", ask)

    def _asked(self, what: str, ask: Callable[[], _Answer]) -> _Answer:
        try:
            with Guard(self._file)(what):
                return ask()
        except SystemUnderTestError as error:
            raise UsageError(
                f"the target failed: {error.what}", where=error.where, hint=_HINT
            ) from error


def _made(source: Source) -> tuple[Any, str | None]:
    target = source.factory()
    name = getattr(target, "name", None)
    is_target = type(name) is str and callable(getattr(target, "grade", None))
    return target, name if is_target else None
