"""Which code made a vector: a digest of memruler's own source, for identity and cache key.

A model's hash does not say how its output becomes a vector. Whoever changes the pooling, the
repair of a text or the cut at the longest sequence makes another embedder, and must neither be
given the old one's cached vectors nor be compared with it unnoticed.
"""

import hashlib
import re
from importlib.resources import files

from memruler.errors import InstrumentError

__all__ = ["code_digest"]

_PACKAGE = "memruler.embedding"
_IMPORT = re.compile(rf"^\s*from {re.escape(_PACKAGE)}\.(\w+) import", re.MULTILINE)
_SHARED = "checked"
"""Every embedder stands behind it. What it imports refuses, counts or keeps vectors, so its
imports are not followed."""


def code_digest(module: str) -> str:
    """SHA-256 (64 hex digits) over the source of an embedder and all it imports in this room.

    Args:
        module: The `__name__` of the embedder's module.

    Raises:
        InstrumentError: A source cannot be read.
    """
    sources = {_SHARED: _source(_SHARED)}
    pending = [module.rpartition(".")[2]]
    while pending:
        name = pending.pop()
        if name not in sources:
            sources[name] = _source(name)
            pending += _IMPORT.findall(sources[name])
    digest = hashlib.sha256()
    for name, text in sorted(sources.items()):
        body = text.encode()
        digest.update(f"{name}\0{len(body)}\0".encode() + body)
    return digest.hexdigest()


def _source(name: str) -> str:
    try:
        # With universal newlines: a checkout on Windows is the same code.
        return (files(_PACKAGE) / f"{name}.py").read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InstrumentError(
            "the source of the embedder cannot be read, so its vectors could not be told from"
            " another version's",
            where=f"{_PACKAGE}.{name}",
            hint="install memruler with its source files",
        ) from error
