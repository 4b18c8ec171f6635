"""What graders share: why an item has no value, golds as texts, and the digest of their code."""

import hashlib
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from memruler.model.answers import AnswerItem, Graded

__all__ = ["code_sha256", "golds", "unanswered"]


def unanswered(item: AnswerItem) -> Graded:
    """The item without a value, since there is no answer to score."""
    return Graded(value=None, reason=f"no answer: {item.error or 'the reader gave none'}")


def golds(item: AnswerItem) -> list[str]:
    """Every accepted answer: the raw gold's texts where it is a list, else the one gold.

    Of an object only `answer` and `aliases` are, each a text or a list; a rubric is no answer.
    """
    raw = item.gold_raw
    if isinstance(raw, dict):
        return list(_texts([raw.get("answer"), *_listed(raw.get("aliases"))]))
    found = list(_texts(raw)) if isinstance(raw, list) else []
    return found or ([item.gold] if item.gold is not None else [])


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _texts(values: Sequence[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, list):
            yield from _texts(value)
        elif value is not None and not isinstance(value, dict):
            yield str(value)


def _source(name: str) -> str:
    return Path(str(import_module(f"memruler.{name}").__file__)).read_text("utf-8")


def code_sha256(modules: Sequence[str], *texts: str) -> str:
    """SHA-256 over the sources of memruler's modules and other texts that shape a value.

    Args:
        modules: Names below `memruler`.
        texts: Rubrics' digests, the name and version of a stemmer.
    """
    digest = hashlib.sha256()
    for name in sorted(modules):
        source = _source(name)
        digest.update(f"{name}\0{len(source)}\0{source}".encode())
    for text in texts:
        digest.update(f"{len(text)}\0{text}".encode())
    return digest.hexdigest()
