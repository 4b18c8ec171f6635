"""Where the gold answer stands word for word: in what was given, or in the evidence as said.

One pass over the lineage, a batch at a time: a text is looked at for all queries that need it, and
then let go.
"""

from hashlib import blake2b

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.scoring.failure_words import normal, stands
from memruler.store.folder import RunFolder
from memruler.store.tables import batches

__all__ = ["Needed", "Words", "find_words"]

_Ints = NDArray[np.int64]
_DIGEST = 8


class Needed(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Pairs of a query and a row of the lineage whose text matters to it [P]."""

    query: _Ints
    row: _Ints


class Words(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What was found for Q queries.

    Attributes:
        context: The gold answer stands in a text that was given [Q].
        textless: A text that was given is not known [Q].
        evidence: The gold answer stands in the evidence as it was said [Q].
        told: Of the pairs of the evidence, those whose text is known.
        digest: Of the text of each given row; 0 where it was not asked for or is not known [N].
    """

    context: NDArray[np.bool_]
    textless: NDArray[np.bool_]
    evidence: NDArray[np.bool_]
    told: NDArray[np.bool_]
    digest: NDArray[np.uint64]


def find_words(
    folder: RunFolder, gold: list[tuple[str, ...]], given: Needed, said: Needed, items: int
) -> Words:
    """Look the gold answers up.

    Args:
        folder: The run.
        gold: Parts of each query's gold answer, see `failure_words`; empty where there is none.
        given: What each query was given.
        said: The evidence of each query as the store holds it.
        items: N.
    """
    queries = len(gold)
    context, textless, evidence = (np.zeros(queries, np.bool_) for _ in range(3))
    told = np.zeros(len(said.row), np.bool_)
    digest = np.zeros(items, np.uint64)
    order, place = np.argsort(given.row, kind="stable"), np.argsort(said.row, kind="stable")
    given_rows, said_rows = given.row[order], said.row[place]
    start = 0
    for batch in batches(folder, "lineage", columns=["text"]):
        stop = start + batch.num_rows
        mine = order[slice(*np.searchsorted(given_rows, [start, stop]))]
        ours = place[slice(*np.searchsorted(said_rows, [start, stop]))]
        rows = np.union1d(given.row[mine], said.row[ours])
        texts = dict(
            zip(rows.tolist(), batch.column(0).take(rows - start).to_pylist(), strict=True)
        )
        plain = {row: normal(text) for row, text in texts.items() if text is not None}
        for row in np.unique(given.row[mine]).tolist():
            digest[row] = _digest(texts[row])
        for pair in mine.tolist():
            query, text = int(given.query[pair]), plain.get(int(given.row[pair]))
            if text is None:
                textless[query] = True
            elif not context[query]:
                context[query] = stands(gold[query], text)
        for pair in ours.tolist():
            query, text = int(said.query[pair]), plain.get(int(said.row[pair]))
            told[pair] = text is not None
            if text is not None and not evidence[query]:
                evidence[query] = stands(gold[query], text)
        start = stop
    return Words(context=context, textless=textless, evidence=evidence, told=told, digest=digest)


def _digest(text: str | None) -> int:
    if text is None:
        return 0
    data = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=_DIGEST).digest(), "little") | 1
