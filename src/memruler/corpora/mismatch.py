"""Every way in which a decoded JSON value is not of a type, with the path to each.

msgspec stops at the first. This walks the same type, so the format keeps one definition.
"""

import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

from msgspec import inspect as types

from memruler.errors import printable

__all__ = ["Mismatch", "mismatches"]

_SHOWN = 40
_EXAMPLES = 2


class Mismatch(NamedTuple):
    """What is wrong, and the path to it (`sessions[2].turns[0].text`; empty for the value)."""

    path: str
    what: str


def mismatches(value: Any, kind: types.Type, path: str = "", form: str = "") -> Iterator[Mismatch]:
    """Yield every mismatch, in the order of the value.

    Args:
        value: As decoded from JSON.
        kind: From `msgspec.inspect.type_info`; the types that a JSON format is made of.
        path: Of `value`.
        form: How to write it instead, said behind what shows that a person does not know.
    """
    match kind:
        case types.StructType(array_like=True):
            yield from _row(value, kind, path)
        case types.StructType():
            yield from _struct(value, kind, path, form)
        case types.VarTupleType():
            yield from _items(value, kind, path)
        case types.UnionType():
            yield from _union(value, kind, path, form)
        case types.AnyType():
            pass
        case types.Metadata():
            yield from mismatches(value, kind.type, path, _form(kind) or form)
        case _:
            if what := _scalar(value, kind, form):
                yield Mismatch(path, what)


def _form(kind: types.Type) -> str:
    """How a value is written, from the first examples of its type; empty where it has none."""
    extra = kind.extra_json_schema if isinstance(kind, types.Metadata) else None
    examples = (extra or {}).get("examples", ())[:_EXAMPLES]
    told = [one if isinstance(one, str) else json.dumps(one) for one in examples]
    return "; write it as " + " or ".join(f"`{one}`" for one in told) if told else ""


def _struct(value: Any, kind: types.StructType, path: str, form: str) -> Iterator[Mismatch]:
    if not isinstance(value, dict):
        yield Mismatch(path, f"expected {_name(kind)}, got {_shown(value)}{form}")
        return
    fields = {field.encode_name: field for field in kind.fields}
    for name, inner in value.items():
        if name in fields:
            yield from mismatches(inner, fields[name].type, f"{path}.{name}" if path else name)
            continue
        near = get_close_matches(name, fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(fields)}"
        yield Mismatch(path, f"unknown field {printable(name, _SHOWN)!r}; {hint}")
    for name, field in fields.items():
        if field.required and name not in value:
            yield Mismatch(f"{path}.{name}" if path else name, "is missing")


def _items(value: Any, kind: types.VarTupleType, path: str) -> Iterator[Mismatch]:
    if not isinstance(value, list):
        yield Mismatch(path, f"expected a list, got {_shown(value)}")
        return
    for n, item in enumerate(value):
        yield from mismatches(item, kind.item_type, f"{path}[{n}]")


def _row(value: Any, kind: types.StructType, path: str) -> Iterator[Mismatch]:
    if not isinstance(value, list) or len(value) != len(kind.fields):
        yield Mismatch(path, f"expected {_name(kind)}, got {_shown(value)}")
        return
    for n, (item, field) in enumerate(zip(value, kind.fields, strict=True)):
        yield from mismatches(item, field.type, f"{path}[{n}]")


def _union(value: Any, kind: types.UnionType, path: str, form: str) -> Iterator[Mismatch]:
    """The mismatches with the member of the value's own JSON type, if there is one."""
    found = [list(mismatches(value, member, path, form)) for member in kind.types]
    if not all(found):
        return
    for member, inside in zip(kind.types, found, strict=True):
        if _same_kind(value, member):
            yield from inside
            return
    expected = " or ".join(_name(member) for member in kind.types)
    forms = "".join(map(_form, kind.types)) or form
    yield Mismatch(path, f"expected {expected}, got {_shown(value)}{forms}")


_PYTHON: dict[type, type | tuple[type, ...]] = {
    types.StrType: str,
    types.IntType: int,
    types.FloatType: (int, float),
    types.BoolType: bool,
    types.NoneType: type(None),
}


def _same_kind(value: Any, kind: types.Type) -> bool:
    """Whether `value` is of the JSON type that `kind` is written as.

    A bool is an int in Python, and not in JSON.
    """
    match _plain(kind):
        case types.StructType(array_like=False):
            return isinstance(value, dict)
        case types.StructType() | types.VarTupleType():
            return isinstance(value, list)
        case plain:
            boolean = isinstance(value, bool) and not isinstance(plain, types.BoolType)
            return isinstance(value, _PYTHON[type(plain)]) and not boolean


def _plain(kind: types.Type) -> types.Type:
    return _plain(kind.type) if isinstance(kind, types.Metadata) else kind


def _scalar(value: Any, kind: types.Type, form: str) -> str | None:
    expected = f"expected {_name(kind)}, got {_shown(value)}{form}"
    if isinstance(kind, types.LiteralType):
        same = any(type(value) is type(one) and value == one for one in kind.values)
        return None if same else expected
    if not _same_kind(value, kind):
        return expected
    match kind:
        case types.StrType(min_length=shortest, pattern=pattern):
            if len(value) < (shortest or 0):
                return "must not be empty"
            if pattern and not re.search(pattern, value):
                return f"is not written as it must be: {_shown(value)}{form}"
        case types.IntType(ge=low, le=high) | types.FloatType(ge=low, le=high):
            if (low is not None and value < low) or (high is not None and value > high):
                return f"is out of range: {_shown(value)}, must be {_range(low, high)}"
    return None


def _range(low: float | None, high: float | None) -> str:
    return f"at least {low:g}" if high is None else f"{low:g} to {high:g}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return f"the text {printable(value, _SHOWN)!r}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return printable(value, _SHOWN)


def _name(kind: types.Type) -> str:
    match _plain(kind):
        case types.StructType(array_like=True, fields=fields):
            return "[" + ", ".join(field.name for field in fields) + "]"
        case types.StructType():
            return "an object"
        case types.VarTupleType():
            return "a list"
        case types.LiteralType(values=values):
            return " or ".join(map(str, values))
        case plain:
            return _WORDS[type(plain)]


_WORDS: dict[type, str] = {
    types.StrType: "text",
    types.IntType: "a whole number",
    types.FloatType: "a number",
    types.BoolType: "true or false",
    types.NoneType: "null",
}
