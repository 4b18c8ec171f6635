"""Reads a remote memory's file and says everything that is wrong with it at once."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memruler.errors import UsageError
from memruler.store.safe import read_bytes
from memruler.systems.remote.hiding import spelt_out
from memruler.systems.remote.spec import RemoteSpec
from memruler.systems.remote.template import FIELDS, names_in

__all__ = ["read_remote", "with_settings"]

_LARGEST = 2**20


def read_remote(path: Path) -> tuple[RemoteSpec, bytes]:
    """The file as a record, and its bytes, which are part of the memory's identity.

    Raises:
        UsageError: It cannot be read, is no TOML, has an unknown or missing field, or says
            something that cannot work; every such fault is told.
    """
    raw = read_bytes(path)
    if len(raw) > _LARGEST:
        raise UsageError("the memory's file is larger than 1 MiB", where=path)
    try:
        spec = msgspec.convert(tomllib.loads(raw.decode()), RemoteSpec)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the memory's file is no TOML: {error}", where=path) from error
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the memory's file: {error}", where=path, hint="docs/remote.md lists the fields"
        ) from error
    faults = list(_faults(spec))
    if faults:
        raise UsageError("the memory's file: " + "; ".join(faults), where=path)
    return spec, raw


def with_settings(spec: RemoteSpec, given: Mapping[str, str]) -> RemoteSpec:
    """The record with settings that a person typed, converted to the type of the default.

    Raises:
        UsageError: An unknown setting or a value of another type.
    """
    found = dict(spec.settings)
    for name, text in given.items():
        if name not in found:
            known = ", ".join(sorted(found)) or "it has none"
            raise UsageError(f"{spec.name} has no setting {name}", hint=f"known: {known}")
        try:
            found[name] = msgspec.convert(text, type(found[name]), strict=False)
        except msgspec.ValidationError as error:
            kind = type(found[name]).__name__
            raise UsageError(f"{name} takes a value of type {kind}", where=text) from error
    return msgspec.structs.replace(spec, settings=found)


def _faults(spec: RemoteSpec) -> Iterator[str]:
    yield from _one(spec, "write", ("http", "mcp", "hook"), at_least=1)
    yield from _one(spec, "search", ("http", "mcp"), at_least=1)
    yield from _one(spec, "erase", ("http", "mcp"), at_least=0)
    needs_http = spec.write.hook or any(p.http for p in (spec.write, spec.search, spec.erase))
    needs_mcp = any(p.mcp for p in (spec.write, spec.search, spec.erase))
    if needs_http and spec.http is None:
        yield "it calls over HTTP, but has no [http] with a url"
    if needs_mcp and spec.mcp is None:
        yield "it calls MCP tools, but has no [mcp]"
    if spec.mcp is not None and spec.mcp.url is None and spec.server is None:
        yield "[mcp] has no url, and there is no [server] to speak with over its standard streams"
    if spec.erase.http is None and spec.erase.mcp is None and not _fresh(spec):
        yield 'nothing erases a namespace: add [erase], or a [server] with per = "namespace"'
    for listed in spec.search.result.lists:
        yield from _pattern(listed.pattern)
        if listed.id is None and listed.text is None:
            yield "a list of hits needs `id` or `text`"
    for table, place in (
        (spec.server, "server"), (spec.write, "write"), (spec.search, "search"),
        (spec.erase, "erase"), (spec.http, ""), (spec.mcp, ""),
    ):  # fmt: skip
        yield from _placeholders(spec, table, place)
    yield from spelt_out(spec)


def _fresh(spec: RemoteSpec) -> bool:
    return spec.server is not None and spec.server.per == "namespace"


def _one(spec: RemoteSpec, name: str, ways: tuple[str, ...], *, at_least: int) -> Iterator[str]:
    part = getattr(spec, name)
    there = [way for way in ways if getattr(part, way) is not None]
    if not at_least <= len(there) <= 1:
        yield f"[{name}] needs {'exactly' if at_least else 'at most'} one of {', '.join(ways)}"


def _pattern(pattern: str | None) -> Iterator[str]:
    if pattern is None:
        return
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        yield f"pattern {pattern!r}: {error}"
    else:
        if groups != 1:
            yield f"pattern {pattern!r} needs exactly one group"


def _placeholders(spec: RemoteSpec, table: Any, place: str) -> Iterator[str]:
    known = FIELDS.get(place, frozenset()) | FIELDS["server"]
    for name in dict.fromkeys(names_in(msgspec.to_builtins(table))):
        kind, colon, rest = name.partition(":")
        if (colon and kind == "env") or (not colon and name in known):
            continue
        if colon and kind == "setting" and rest in spec.settings:
            continue
        yield f"unknown placeholder {{{name}}}" + (f" in [{place}]" if place else "")
