"""Do equal stores give equal rankings? It is measured, never declared."""

import hashlib
from collections.abc import Iterator, Sequence

from memruler.studies.check.question import DECLARE, Asked, Family, Question
from memruler.studies.check.subject import FACTS, QUESTIONS, Subject, session, shown

__all__ = ["ASKED", "REPEATS", "Seen", "differing", "elsewhere", "rankings"]

_DEEP = 10
ASKED = (*QUESTIONS, *FACTS)
"""Questions of these probes, in order."""

Seen = tuple[tuple[str, float | None], ...]
"""Digest of origin and text, and score, of each hit: a store may issue ids at random."""


def rankings(subject: Subject, rounds: int = 1) -> list[list[Seen]]:
    """What a fresh store answers, asked so many times."""
    with subject.store() as store:
        store.write(session(0, FACTS[:4]), session(1, FACTS[4:]))
        found: list[list[Seen]] = []
        for _ in range(rounds):
            one: list[Seen] = []
            for text in ASKED:
                hits = store.ask(text, _DEEP)
                texts = shown(store, hits)
                # Where neither is known, only the id is left to tell items apart by.
                named = [
                    (hit.sources, said) if hit.sources or said is not None else hit.item
                    for hit, said in zip(hits, texts, strict=True)
                ]
                digests = [hashlib.sha256(repr(name).encode()).hexdigest()[:16] for name in named]
                one.append(tuple((d, hit.score) for d, hit in zip(digests, hits, strict=True)))
            found.append(one)
        return found


def differing(one: Sequence[Seen], other: Sequence[Seen]) -> tuple[int, int]:
    """Questions with another order of hits, and those where only a score differs."""
    orders = scores = 0
    for mine, theirs in zip(one, other, strict=True):
        if [item for item, _ in mine] != [item for item, _ in theirs]:
            orders += 1
        elif mine != theirs:
            scores += 1
    return orders, scores


def _told(name: str, one: Sequence[Seen], other: Sequence[Seen], where: str) -> Asked:
    orders, scores = differing(one, other)
    counts = {"questions": len(one), "other_order": orders, "other_score": scores}
    said = f"{orders} of {len(one)} questions were answered in another order {where}"
    if scores:
        said += f", {scores} with other scores"
    return Asked(name, "no" if orders or scores else "yes", said, counts)


def _ask(subject: Subject) -> Iterator[Asked]:
    first, again = rankings(subject, rounds=2)
    yield _told("search", first, again, "when asked again")
    (other,) = rankings(subject)
    yield _told("store", first, other, "by an equal fresh store")


def elsewhere(first: Sequence[Seen], other: Sequence[Seen]) -> Asked:
    """The answer to the question that takes two processes."""
    return _told("process", first, other, "in another process with another hash seed")


REPEATS = Family(
    "repeats",
    (
        Question("search", "Does a question asked twice get the same answer?", DECLARE),
        Question("store", "Do equal fresh stores give equal rankings?", DECLARE),
        Question("process", "And in another process?", DECLARE),
    ),
    _ask,
)
