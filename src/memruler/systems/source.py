"""Loads `path/to/file.py:Class` from exactly the bytes whose digest is recorded."""

import hashlib
import sys
from collections.abc import Callable
from importlib.abc import SourceLoader
from importlib.util import module_from_spec, spec_from_file_location
from inspect import getsourcefile
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from memruler.errors import InstrumentError, UsageError
from memruler.plugins import did_you_mean
from memruler.store.faults import explained
from memruler.store.safe import open_read
from memruler.systems.guard import Guard

__all__ = ["Source", "load_class", "source_of"]


_LARGEST = 16 * 2**20
"""Bytes of a source file."""


class Source(NamedTuple):
    """A class (or function) that makes a system, its file, and the file's SHA-256."""

    factory: Callable[..., Any]
    file: str
    digest: str


class _Bytes(SourceLoader):
    """Compiles given bytes: no cached bytecode, no second read that could find other code."""

    def __init__(self, path: str, source: bytes) -> None:
        self._path = path
        self._source = source

    def get_filename(self, fullname: str) -> str:
        del fullname
        return self._path

    def get_data(self, path: str | bytes) -> bytes:
        del path
        return self._source


def load_class(path: Path, name: str) -> Source:
    """Import a file and find a class in it.

    Args:
        path: A Python file. It is imported alone: it cannot import its neighbours, since their
            code would not be in the digest.
        name: The class, or a function that makes a system.

    Raises:
        UsageError: There is no such file or class, or the file is no regular one.
        SystemUnderTestError: The file cannot be imported.
        InstrumentError: The file cannot be read.
    """
    source = _read(path)
    digest = hashlib.sha256(source).hexdigest()
    with Guard(str(path.absolute()))(f"importing {path.name}"):
        module = _import(path.absolute(), source, digest)
        found = vars(module).get(name)
        if not callable(found):
            hint = did_you_mean(name, _classes(module))
            raise UsageError(f"the file has no class {name}", where=path, hint=hint)
    return Source(found, str(path.absolute()), digest)


def _classes(module: ModuleType) -> list[str]:
    """The names of the classes that a module defines itself."""
    return [
        str(key)
        for key, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]


def _read(path: Path) -> bytes:
    """A source file; a pipe or a device would never end."""
    with open_read(path, managed=False) as file, explained("read the file", path):
        source = file.read(_LARGEST + 1)
    if len(source) > _LARGEST:
        raise UsageError(f"the system's file is larger than {_LARGEST >> 20} MiB", where=path)
    return source


def source_of(factory: Any, where: str) -> Source:
    """The source of an imported class, for a system that a package declares.

    Raises:
        UsageError: It is no class or function, or its source cannot be read.
    """
    try:
        file = getsourcefile(factory)
        source = _read(Path(file or ""))
    except (UsageError, InstrumentError, TypeError) as error:
        raise UsageError(
            "the source of the system cannot be read, so its identity is unknown", where=where
        ) from error
    return Source(factory, str(file), hashlib.sha256(source).hexdigest())


def _import(path: Path, source: bytes, digest: str) -> ModuleType:
    name = f"memruler_system_{digest[:16]}"
    spec = spec_from_file_location(name, path, loader=_Bytes(str(path), source))
    if spec is None or spec.loader is None:
        raise UsageError("the system's file is no Python file", where=path)
    module = module_from_spec(spec)
    # Registered before it runs: dataclasses and msgspec look their module up by name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)  # it may have removed itself
        raise
    return module
