"""Is what was written found after `settle`, and does it outlive `close`?"""

from collections.abc import Iterator

from memruler.errors import SystemUnderTestError
from memruler.studies.check.question import BREAKS, TELLS, Asked, Family, Question, of
from memruler.studies.check.subject import AT, FACTS, Store, Subject, session, shown

__all__ = ["WRITING"]

_DEEP = 50


def _ask(subject: Subject) -> Iterator[Asked]:
    words = [subject.word(number) for number in range(10, 14)]
    texts = [f"{FACTS[at]} The password is {word}." for at, word in enumerate(words)]
    with subject.store() as store:
        # One session at a time: a later one must not hide an earlier one.
        found = []
        for at, text in enumerate(texts):
            store.write(session(at, [text]))
            found.append(_there(store, text, words[at]))
        late = [_there(store, text, word) for text, word in zip(texts, words, strict=True)]
        known = [seen for seen in (*found, *late) if seen is not None]
        counts = {"searches": len(known), "found": sum(known)}
        said = f"{sum(known)} of {len(known)} searches for a text found it, within {_DEEP} hits"
        if known:
            yield Asked("found", of(sum(known), len(known)), said, counts)
        else:
            yield Asked("found", "unknown", "hits say neither their text nor their source")
        yield _outlives(subject, store, texts, words)


def _there(store: Store, text: str, word: str) -> bool | None:
    """Whether a text is found by itself; None where hits show neither texts nor keys."""
    hits = store.ask(text, _DEEP)
    texts = shown(store, hits)
    if any(word in (said or "") for said in texts):
        return True
    return None if hits and all(said is None for said in texts) else False


def _outlives(subject: Subject, store: Store, texts: list[str], words: list[str]) -> Asked:
    store.memory.close()
    try:
        again = Store(subject.reopened(store), store.space)
    except SystemUnderTestError as error:
        return Asked("outlives", "no", f"it could not be opened again: {error}")
    try:
        found = 0
        for text, word in zip(texts, words, strict=True):
            hits = again.memory.search(text, _DEEP, AT).hits
            found += any(word in (said or "") for said in shown(again, hits))
    finally:
        # Whoever made the store erases it; an open one would stand in the way.
        again.memory.close()
    said = f"{found} of {len(texts)} texts were found after it was closed and opened again"
    counts = {"written": len(texts), "found": found}
    return Asked("outlives", of(found, len(texts)), said, counts)


WRITING = Family(
    "writing",
    (
        Question("found", "Is everything written found after settle?", BREAKS),
        Question("outlives", "Does the data outlive close?", TELLS),
    ),
    _ask,
)
