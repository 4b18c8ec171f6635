"""Do two namespaces stay apart, also where their keys are the same?"""

from collections.abc import Iterator

from memruler.errors import SystemUnderTestError
from memruler.studies.check.question import BREAKS, DECLARE, Asked, Family, Question
from memruler.studies.check.subject import FACTS, Store, Subject, session, shown

__all__ = ["ISOLATION"]

_DEEP = 50


def _ask(subject: Subject) -> Iterator[Asked]:
    one, two = subject.word(1), subject.word(2)
    # The same keys in both, as runs give them; the second has fewer, so that a key alone can tell.
    first = [f"{text} The word of the day is {one}." for text in FACTS[:6]]
    second = [f"{text} The word of the day is {two}." for text in FACTS[4:8]]
    with subject.store() as a:
        a.write(session(0, first))
        before = _held(a, one)
        with subject.store() as b:
            empty, refused = _empty(b, (first[0], FACTS[0], one))
            b.write(session(0, second))
            strange = _strange(b, one, (first[0], one), len(second))
            strange += _strange(a, two, (second[0], two), len(first))
            after = _held(a, one)
    if refused is not None:
        yield Asked("empty", "no", f"a search of an empty memory failed: {refused}")
    elif empty:
        said = f"3 searches of an empty memory gave {empty} hits"
        yield Asked("empty", "no", said, {"hits": empty}, BREAKS)
    else:
        yield Asked("empty", "yes", "3 searches gave no hit", {"hits": 0})
    counts = {"searches": 4, "strange_hits": strange}
    said = f"4 searches for the other's text and word, {strange} hits of the other"
    yield Asked("between", "no" if strange else "yes", said, counts)
    counts = {"before": before, "after": after}
    said = f"{after} of {before} items were still there after equal keys were written elsewhere"
    if not before:
        yield Asked("keys", "unknown", "nothing was found before the other was written", counts)
    else:
        yield Asked("keys", "yes" if after == before else "no", said, counts)


def _empty(store: Store, texts: tuple[str, ...]) -> tuple[int, str | None]:
    """Hits in a memory that nothing was written to, and why it refused to be asked."""
    try:
        return sum(len(store.ask(text)) for text in texts), None
    except SystemUnderTestError as error:
        return 0, str(error)


def _held(store: Store, word: str) -> int:
    """How many items of its own a namespace shows."""
    hits = store.ask(f"{FACTS[0]} The word of the day is {word}.", _DEEP)
    hits += store.ask(word, _DEEP)
    return len({hit.item for hit in hits})


def _strange(store: Store, word: str, texts: tuple[str, ...], own: int) -> int:
    """Hits that are the other's: its word stands in them, or their key was never written here."""
    found = 0
    for text in texts:
        hits = store.ask(text, _DEEP)
        for hit, said in zip(hits, shown(store, hits), strict=True):
            keys = hit.sources or ()
            beyond = any(key[-4:].isdecimal() and int(key[-4:]) >= own for key in keys)
            found += word in (said or "") or (said is None and beyond)
    return found


ISOLATION = Family(
    "isolation",
    (
        Question("empty", "Does a search of an empty memory find nothing?", DECLARE),
        Question("between", "Does a search see only its own namespace?", BREAKS),
        Question("keys", "Do equal keys in two namespaces stay apart?", BREAKS),
    ),
    _ask,
)
