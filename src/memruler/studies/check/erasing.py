"""Is a namespace gone once it was erased, and only that one?"""

from collections.abc import Iterator
from contextlib import suppress

from memruler.errors import MemrulerError
from memruler.model.system import Erases
from memruler.studies.check.question import BREAKS, Asked, Family, Question
from memruler.studies.check.subject import FACTS, Store, Subject, session, shown

__all__ = ["ERASE"]

_DEEP = 50
_NAMES = ("empty", "reopened", "others")


def _ask(subject: Subject) -> Iterator[Asked]:
    one, two = subject.word(20), subject.word(21)
    with subject.store() as a:
        if not isinstance(a.memory, Erases):
            why = "it erases nothing itself; what lies in its folder goes with the run"
            for name in _NAMES:
                yield Asked(name, "not applicable", why)
            return
        a.write(session(0, [f"{text} The code is {one}." for text in FACTS[:4]]))
        before = _holds(a, one)
        with subject.store() as b:
            b.write(session(0, [f"{text} The code is {two}." for text in FACTS[:4]]))
            there = _holds(b, two)
            a.memory.erase()
            yield _empty(a, one, before)
            yield _again(subject, a, one)
            left = _holds(b, two)
        said = f"{left} of {there} items of another namespace are still there"
        counts = {"before": there, "after": left}
        yield Asked("others", "yes" if left == there else "no", said, counts)


def _empty(store: Store, word: str, before: int) -> Asked:
    try:
        left = _holds(store, word)
    except MemrulerError:
        # A server of its own is ended with its data: opening it again is the proof.
        return Asked("empty", "not applicable", "it cannot be asked once it is erased")
    counts = {"before": before, "after": left}
    said = f"{left} of {before} items were found after it was erased"
    return Asked("empty", "no" if left else "yes", said, counts)


def _again(subject: Subject, store: Store, word: str) -> Asked:
    with suppress(MemrulerError):
        store.memory.close()
    again = Store(subject.reopened(store), store.space)
    try:
        left = _holds(again, word)
    finally:
        if isinstance(again.memory, Erases):
            again.memory.erase()
        again.memory.close()
    said = f"{left} items were found after it was opened again"
    return Asked("reopened", "no" if left else "yes", said, {"after": left})


def _holds(store: Store, word: str) -> int:
    """Items that show a word, or of which nobody says what they show."""
    found: set[str] = set()
    for text in (word, f"{FACTS[0]} The code is {word}.", FACTS[1]):
        hits = store.ask(text, _DEEP)
        texts = shown(store, hits)
        found |= {
            h.item for h, said in zip(hits, texts, strict=True) if said is None or word in said
        }
    return len(found)


ERASE = Family(
    "erase",
    (
        Question("empty", "Does a search find nothing after an erasure?", BREAKS),
        Question("reopened", "Is it still empty once it is opened again?", BREAKS),
        Question("others", "Does another namespace keep what it holds?", BREAKS),
    ),
    _ask,
)
