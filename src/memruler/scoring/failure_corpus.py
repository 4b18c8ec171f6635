"""Evidence as it was said, from the corpus, where the store does not hold it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from memruler.errors import UsageError
from memruler.model.corpus import Corpus, Session, Turn
from memruler.model.run import Manifest
from memruler.targets.eligible import Gold

__all__ = ["corpus_texts", "require_own_corpus"]


def require_own_corpus(manifest: Manifest, corpus: Corpus) -> None:
    """Refuse a corpus that is not the one that the run was measured on.

    Raises:
        UsageError: Its bytes are others.
    """
    told = manifest.fingerprint["corpus"]
    if corpus.info.sha256 != told["sha256"]:
        raise UsageError(
            f"the corpus is not the one of the run, which has SHA-256 {told['sha256']}",
            where=corpus.info.name,
            hint="name the file that was measured",
        )


def corpus_texts(
    corpus: Corpus, gold: Gold, anchors: NDArray[np.integer]
) -> Iterator[tuple[int, str]]:
    """Yield some anchors with their texts; the corpus is read an instance at a time.

    Args:
        corpus: The run's, see `require_own_corpus`.
        gold: The anchors.
        anchors: Which are wanted. What the corpus does not have is left out.
    """
    order = anchors[np.argsort(gold.instance[anchors], kind="stable")]
    owners = gold.instance[order]
    if not len(order):
        return
    last = int(owners[-1])
    for instance in corpus:
        if instance.position > last:
            return
        mine = order[slice(*np.searchsorted(owners, [instance.position, instance.position + 1]))]
        for anchor in mine.tolist():
            place = int(gold.session[anchor])
            if not 0 <= place < len(instance.sessions):
                continue
            turn = None if gold.turn is None else int(gold.turn[anchor])
            text = _text(instance.sessions[place], turn)
            if text is not None:
                yield anchor, text


def _text(session: Session, turn: int | None) -> str | None:
    if turn is None:
        return "\n".join(map(_said, session.turns))
    return _said(session.turns[turn]) if 0 <= turn < len(session.turns) else None


def _said(turn: Turn) -> str:
    caption = f" [image: {turn.caption}]" if turn.caption else ""
    return f"{turn.speaker}: {turn.text}{caption}"
