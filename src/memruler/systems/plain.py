"""Settings in the one form that JSON can hold: equal for equal settings, in every process.

The order of a set hangs on the process that made it, and the `repr` of an object or a function
on its place in memory; neither may enter an identity. What JSON would bend or cannot hold at all
(a number that is not finite, half a surrogate pair) is refused before an encoder sees it.
"""

import json
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from numbers import Integral, Real
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any, SupportsFloat, SupportsInt
from uuid import UUID

import msgspec

__all__ = ["Unfit", "full_name", "plain"]

_DEEPEST = 32
_MOST = 100_000
"""Values in one setting: a structure that shares its parts can stand for any number of them."""


class Unfit(ValueError):  # noqa: N818 - becomes an error where it is known whose value it is
    """A value that no identity can hold; its text says what is wrong with it."""


def plain(value: object, *, mark: bool = False) -> Any:
    """The value as None, booleans, numbers, texts, lists, and dicts with texts as sorted keys.

    A set becomes a list in the order of its members' JSON.

    Args:
        value: Anything.
        mark: Put `<opaque module.Class>` for an object that has no plain form, and
            `<opaque module.name>` for a function or a class; without it they are refused.

    Raises:
        Unfit: It holds a number that is not finite or needs more than 64 bits, half a surrogate
            pair, two keys of equal text, itself, or (without `mark`) an object.
    """
    return _Plain(mark).form(value, 0)


class _Plain:
    def __init__(self, mark: bool) -> None:
        self._mark = mark
        self._left = _MOST

    def form(self, value: object, depth: int) -> Any:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise Unfit("it holds itself, or too much")
        if isinstance(value, Enum):
            return self.form(value.value, depth + 1)
        for kinds, form in _SCALARS:
            if isinstance(value, kinds):
                return form(value)
        return self._compound(value, depth + 1)

    def _compound(self, value: object, depth: int) -> Any:
        if isinstance(value, (list, tuple, deque)):
            return [self.form(member, depth) for member in value]
        if isinstance(value, AbstractSet):
            return sorted((self.form(member, depth) for member in value), key=_json)
        if isinstance(value, Mapping):
            return self._mapping(value.items(), depth)
        if isinstance(value, msgspec.Struct):
            return self._mapping(msgspec.structs.asdict(value).items(), depth)
        if is_dataclass(value) and not isinstance(value, type):
            return self._mapping(((f.name, getattr(value, f.name)) for f in fields(value)), depth)
        if self._mark:
            return f"<opaque {full_name(value)}>"
        raise Unfit(f"{full_name(value)} is neither a number, a text, a list nor a dict")

    def _mapping(self, entries: Iterable[tuple[object, object]], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in entries:
            plain_key = self.form(key, depth)
            text = plain_key if isinstance(plain_key, str) else _json(plain_key)
            if text in found:
                raise Unfit(f"two of its keys read {text}")
            found[text] = self.form(value, depth)
        return dict(sorted(found.items()))


def full_name(value: object) -> str:
    """`module.name` of a function or class, of its class for anything else."""
    named = isinstance(value, (type, FunctionType, BuiltinFunctionType))
    owner: Any = value if named else type(value)
    return _text(f"{owner.__module__}.{owner.__qualname__}")


def _text(value: str) -> str:
    exact = str.__str__(value)  # a subclass may say something else of itself
    try:
        exact.encode()
    except UnicodeEncodeError:
        raise Unfit("half a surrogate pair is no text") from None
    return exact


def _whole(value: SupportsInt) -> int:
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise Unfit("a whole number needs more than 64 bits")
    return number


def _finite(value: SupportsFloat) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise Unfit(f"{number} is not finite; JSON has no such number")
    return number


# The first that fits is taken. Of the kinds in the fourth line, `str` says all there is to say.
_SCALARS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    ((bool, NoneType), lambda value: value),
    (str, _text),
    (Integral, _whole),
    ((PurePath, date, time, timedelta, Decimal, Fraction, UUID, range), lambda v: _text(str(v))),
    (Real, _finite),
    (bytes, bytes.hex),
)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
