"""How much text a search returned, by a rule of thumb and by a real tokenizer."""

import math

import numpy as np
from numpy.typing import NDArray

from memruler.embedding.tokens import token_counter
from memruler.model.summary import ContextSize
from memruler.scoring.load import RunArrays
from memruler.store.folder import RunFolder
from memruler.store.tables import batches

__all__ = ["context_size"]

_CHARS_PER_TOKEN = 4


def context_size(folder: RunFolder, run: RunArrays, measured: NDArray[np.bool_]) -> ContextSize:
    """The mean over measured queries of what one search returned.

    Each distinct item is counted once by the tokenizer, however many queries return it; special
    tokens are not counted. The tokenizer reads the stored text.

    Args:
        folder: The run folder, for the texts.
        run: The same run as arrays.
        measured: Which queries count [Q]; at least one.
    """
    queries = int(measured.sum())
    chars = run.context_chars[measured]
    known = bool((chars >= 0).all())
    tokens, name = _tokens(folder, run, measured)
    return ContextSize(
        queries=queries,
        chars_over_4=int(chars.sum()) / _CHARS_PER_TOKEN / queries if known else None,
        tokens=None if tokens is None else tokens / queries,
        tokenizer=name,
    )


def _tokens(
    folder: RunFolder, run: RunArrays, measured: NDArray[np.bool_]
) -> tuple[float | None, str]:
    counter = token_counter()
    if counter is None:
        return None, "no tokenizer: install memruler[local]"
    hits = run.hits[measured]
    uses = np.bincount(hits[hits >= 0], minlength=len(run.items.instance))
    total, start = [], 0
    for batch in batches(folder, "lineage", columns=["text"]):
        wanted = np.flatnonzero(uses[start : start + batch.num_rows])
        found = batch.column(0).take(wanted).to_pylist()
        texts = [text for text in found if text is not None]
        if len(texts) < len(found):
            return None, "the system does not tell the text of every hit"
        total.append(int(np.dot(counter.count(texts), uses[start + wanted])))
        start += batch.num_rows
    return math.fsum(total), counter.name
