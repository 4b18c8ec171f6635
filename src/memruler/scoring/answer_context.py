"""What a reader is shown of a run: each query with the texts of its hits, in order of rank.

The tables are read in step, since all of them are in the order of the corpus. In memory are the
texts of one instance and a batch of queries, however many there are.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from memruler.errors import FormatError, UsageError
from memruler.judges.readers.base import ReaderInput
from memruler.model.run import Manifest
from memruler.scoring.answer_lineage import LineageByInstance
from memruler.scoring.run_terms import terms_of
from memruler.store.folder import RunFolder
from memruler.store.tables import batches

__all__ = ["Asked", "asked", "require_depth"]

_QUERY = ["instance", "query", "text", "time"]
_TRACE = ["instance", "query", "repeat", "items", "error"]
_UNTOLD = "the system does not tell the text of any hit"


class Asked(NamedTuple):
    """One query as a reader is asked it.

    Attributes:
        instance, query: Positions.
        question: What the reader is shown; None where it cannot be asked.
        error: Why it cannot be asked: the search failed, or no text of a hit is known.
        items: Rows of the lineage table that it is given, best first.
        textless: Hits within k of which the text is not known.
        left_out: Hits within k beyond the limit of the context.
    """

    instance: int
    query: int
    question: ReaderInput | None
    error: str | None
    items: tuple[int, ...]
    textless: int
    left_out: int


def require_depth(manifest: Manifest, k: int) -> None:
    """Refuse more hits than every search was asked for.

    Raises:
        UsageError: k is deeper than the run.
    """
    limit = terms_of(manifest, manifest.stem).limit
    if k > limit:
        raise UsageError(
            f"no search of this run was asked for {k} hits, only for {limit}",
            where=f"-k {k}",
            hint=f"use -k {limit}, or measure with --limit {k}",
        )


def asked(folder: RunFolder, k: int, context_chars: int | None = None) -> Iterator[Asked]:
    """Yield the queries of a run in order, each with its context.

    Args:
        folder: A sealed run.
        k: Hits at most, from 1.
        context_chars: Characters of all texts together at most; the first hit that would exceed
            it is left out with all that follow, and no text is ever cut. None for no limit.

    Raises:
        FormatError: The tables do not fit together.
    """
    stored = _Texts(folder)
    for query, trace in zip_longest(_rows(folder, "queries", _QUERY), _first_draws(folder)):
        if query is None or trace is None or _key(query) != _key(trace):
            raise _mixed(folder, "the trace does not hold exactly one ranking per query, in order")
        if trace["error"] is None:
            yield _shown(query, trace["items"][:k], stored, context_chars)
        else:
            yield Asked(*_key(query), None, f"the search failed: {trace['error']}", (), 0, 0)


def _key(row: dict[str, Any]) -> tuple[int, int]:
    return row["instance"], row["query"]


def _mixed(folder: RunFolder, what: str) -> FormatError:
    return FormatError(what, where=folder.path, hint="measure it anew")


def _shown(query: dict[str, Any], rows: list[int], stored: "_Texts", limit: int | None) -> Asked:
    instance = query["instance"]
    known = [(row, text) for row in rows if (text := stored.text(instance, row)) is not None]
    items: list[int] = []
    context: list[str] = []
    chars = 0
    for row, text in known:
        chars += len(text)
        if limit is not None and chars > limit:
            break
        items.append(row)
        context.append(text)
    key = _key(query)
    textless = len(rows) - len(known)
    if rows and not known:
        return Asked(*key, None, _UNTOLD, (), textless, 0)
    question = ReaderInput(question=query["text"], asked=query["time"], context=tuple(context))
    return Asked(*key, question, None, tuple(items), textless, len(known) - len(items))


class _Texts:
    """The lineage's texts, an instance at a time and only onwards."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._lineage = LineageByInstance(folder, ["text"])
        self._instance = -1
        self._first = 0
        self._texts: list[str | None] = []

    def text(self, instance: int, row: int) -> str | None:
        """The text of a row of the lineage, which must belong to the instance.

        Raises:
            FormatError: It does not.
        """
        if instance != self._instance:
            self._instance = instance
            self._first, pieces = self._lineage.of(instance)
            self._texts = [text for piece in pieces for text in piece.column("text").to_pylist()]
        at = row - self._first
        if not 0 <= at < len(self._texts):
            raise _mixed(self._folder, "the trace names an item that its instance does not have")
        return self._texts[at]


def _rows(folder: RunFolder, table: str, columns: list[str]) -> Iterator[dict[str, Any]]:
    for batch in batches(folder, table, columns=columns):
        yield from batch.to_pylist()


def _first_draws(folder: RunFolder) -> Iterator[dict[str, Any]]:
    return (row for row in _rows(folder, "trace", _TRACE) if row["repeat"] == 0)
