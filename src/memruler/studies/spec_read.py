"""Reads a SPEC.toml, and tells everything that is wrong with it at once."""

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import msgspec

from memruler.errors import UsageError
from memruler.plugins import did_you_mean
from memruler.store.safe import read_bytes
from memruler.studies.spec_base import SpecFaults

__all__ = ["Check", "read_spec_as"]

Check = Callable[[Mapping[str, Any], Collection[str]], Sequence[str]]
"""From the fields that could be read, with defaults, and the names of those that are written, to
what is wrong with them beyond their types."""

_Spec = TypeVar("_Spec", bound=msgspec.Struct)


def read_spec_as(kind: type[_Spec], path: Path, check: Check, page: str) -> _Spec:
    """Read and check a spec; nothing is opened or measured.

    Args:
        kind: Its record.
        path: The file.
        check: What else must be right.
        page: What explains the fields.

    Raises:
        SpecFaults: Fields are unknown, missing or wrong; every one of them is told.
        UsageError: There is no such file, or it is no TOML.
    """
    try:
        raw = tomllib.loads(read_bytes(path, managed=False).decode())
    except UnicodeDecodeError:
        raise UsageError("a spec is a text in UTF-8", where=path) from None
    except (ValueError, RecursionError) as error:  # a number or a nesting that is beyond Python
        raise UsageError(f"it is no TOML: {error}", where=path, hint=f"see {page}") from None
    faults: list[str] = []
    found = _table(kind, raw, "", faults)
    unwritten = {
        field.name: field.default_factory() if callable(field.default_factory) else field.default
        for field in msgspec.structs.fields(kind)
        if not field.required and field.name not in raw
    }
    faults += check(unwritten | found, raw)
    if faults:
        raise SpecFaults(path, tuple(faults), page)
    return kind(**found)


def _table(
    kind: type[msgspec.Struct], raw: Mapping[str, Any], where: str, faults: list[str]
) -> dict[str, Any]:
    """The fields that could be read; the faults of the others are added."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    faults += [
        f"{where}{key}: no such field; {did_you_mean(key, fields)}"
        for key in raw
        if key not in fields
    ]
    found = {}
    for name, field in fields.items():
        if name in raw:
            value = _value(field.type, raw[name], where + name, faults)
            if value is not None:
                found[name] = value
        elif field.required:
            faults.append(f"{where}{name}: it is missing")
    return found


def _value(kind: Any, raw: Any, where: str, faults: list[str]) -> Any:
    """A value of a field, read as deep as records go, so that each fault is told by itself.

    None is a value that could not be read; of several records those remain that could.
    """
    plain = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
    if isinstance(raw, dict) and isinstance(plain, type) and issubclass(plain, msgspec.Struct):
        before = len(faults)
        found = _table(plain, raw, f"{where}.", faults)
        return plain(**found) if len(faults) == before else None
    inner = [a for a in get_args(plain) if isinstance(a, type) and issubclass(a, msgspec.Struct)]
    if inner and isinstance(raw, dict) and get_origin(plain) is dict and raw:
        read = {key: _value(inner[0], raw[key], f"{where}.{key}", faults) for key in raw}
        return {key: value for key, value in read.items() if value is not None}
    if inner and isinstance(raw, list) and get_origin(plain) is tuple and raw:
        return tuple(_value(inner[0], v, f"{where}[{at}]", faults) for at, v in enumerate(raw))
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        said = str(error).partition(" - at `$")[0]
        faults.append(f"{where}: {said[0].lower()}{said[1:]}")
        return None
