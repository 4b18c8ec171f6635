"""What becomes of texts that are empty, huge, odd, or there already?"""

from collections.abc import Iterator
from typing import NamedTuple

from memruler.errors import InstrumentError, MemrulerError, SystemUnderTestError
from memruler.model.system import ExportsLineage, Hit
from memruler.studies.check.question import DECLARE, TELLS, Asked, Family, Question, of
from memruler.studies.check.subject import FACTS, Store, Subject, session, shown

__all__ = ["TEXTS"]

_DEEP = 50
_HUGE = 2**20
_WAYS = {
    "kept": ("yes", "it was kept as it was written"),
    "refused": ("yes", "it was refused, and the memory says so"),
    "cut": ("no", "only a part of it was kept"),
    "changed": ("no", "it was kept, but not as it was written"),
    "dropped": ("no", "it was taken without a word and is not found"),
    "failed": ("no", "the write failed: a run would end there"),
    "unseen": ("unknown", "it was taken; whether it is kept does not show"),
}


class _Odd(NamedTuple):
    name: str
    text: str
    question: str


def _odds(word: str) -> tuple[_Odd, ...]:
    """The odd texts; each that holds anything holds the word, so that it can be looked for.

    Half a surrogate pair is not among them: no corpus can hold one.
    """
    return (
        _Odd("empty", "", "Is an empty text kept or refused aloud?"),
        _Odd("blank", " \t\n ", "Is a text of white space kept or refused aloud?"),
        _Odd("combining", f"Cafe\u0301 {word} A\u030a n\u0303 o\u0308", "Combining characters?"),
        _Odd("emoji", f"{word} \U0001f469\u200d\U0001f680 \U0001f1f5\U0001f1f9", "Emoji?"),
        _Odd("rtl", f"\u202e{word}\u202c \u05e9\u05dc\u05d5\u05dd", "Right-to-left text?"),
        _Odd("nul", f"before {word} \x00 after", "A NUL character?"),
        _Odd("huge", _huge(word), "A text of 1 MB?"),
    )


def _huge(word: str) -> str:
    text = " ".join(FACTS)
    return f"{word} " + (text + " ") * (_HUGE // len(text)) + f"The end of {word}."


def _ask(subject: Subject) -> Iterator[Asked]:
    left = list(_odds(""))
    while left:
        # All in one store, until one breaks it; the others then go on in a fresh one.
        with subject.store() as store:
            store.write(session(0, [FACTS[0]]))
            alive = True
            while left and alive:
                number = 30 + len(left)
                odd = next(o for o in _odds(subject.word(number)) if o.name == left[0].name)
                left.pop(0)
                try:
                    asked = _written(store, odd, subject.word(number), len(left) + 1)
                except InstrumentError as error:
                    asked, alive = Asked(odd.name, "crashed", str(error)), False
                yield asked
                alive = alive and asked.outcome != "crashed"
        if not alive:
            subject.end()
    yield _twice(subject)


def _written(store: Store, odd: _Odd, word: str, ordinal: int) -> Asked:
    """Write one, and see what is found of it and of what was there before."""
    unit = session(ordinal, [odd.text], speakers=("Ann",))
    said = ""
    try:
        store.write(unit)
    except SystemUnderTestError as error:
        way, said = "failed", f": {error}"
    else:
        way = _way(store, odd, word, unit.turns[0].key)
    try:
        hits = store.ask(FACTS[0], _DEEP)
    except MemrulerError as error:
        return Asked(odd.name, "crashed", f"no search works after it: {error}")
    if not any(FACTS[0] in (one or FACTS[0]) for one in shown(store, hits)):
        return Asked(odd.name, "crashed", "after it, what was stored before is no longer found")
    outcome, sentence = _WAYS[way]
    return Asked(odd.name, outcome, sentence + said)  # type: ignore[arg-type] # from the table


def _way(store: Store, odd: _Odd, word: str, key: str) -> str:
    if isinstance(store.memory, ExportsLineage):
        mine = [item for item in store.memory.lineage() if key in item.sources]
        if any(item.status == "refused" for item in mine):
            return "refused"
        if mine:
            return _compared(odd, [item.text for item in mine])
    hits = store.ask(word if odd.text.strip() else FACTS[0], _DEEP)
    texts = [
        said
        for hit, said in zip(hits, shown(store, hits), strict=True)
        if _is_it(hit, said, key, word if odd.text.strip() else None)
    ]
    known = [said for said in texts if said is not None]
    if known:
        return _compared(odd, known)
    if texts:
        return "unseen"
    return "dropped" if odd.text.strip() else "unseen"


def _is_it(hit: Hit, said: str | None, key: str, word: str | None) -> bool:
    return key in (hit.sources or (hit.item,)) or (word is not None and word in (said or ""))


def _compared(odd: _Odd, texts: list[str]) -> str:
    """Whether what is kept holds what was written; something may stand before it."""
    whole = "".join(texts)
    if not odd.text.strip():
        return "kept"
    if any(odd.text in text for text in texts) or odd.text.strip() in whole:
        return "kept"
    return "cut" if len(whole) < len(odd.text) * 0.9 else "changed"


def _twice(subject: Subject) -> Asked:
    """One text under two keys, in two sessions."""
    word = subject.word(29)
    text = f"{FACTS[1]} The number is {word}."
    with subject.store() as store:
        store.write(session(0, [FACTS[0], text]))
        try:
            store.write(session(1, [FACTS[2], text]))
        except SystemUnderTestError as error:
            return Asked("twice", "no", f"the second write failed: {error}")
        hits = store.ask(text, _DEEP)
        mine = [
            hit for hit, said in zip(hits, shown(store, hits), strict=True) if word in (said or "")
        ]
        keys = {key for hit in mine for key in hit.sources or ()}
    counts = {"written": 2, "found": len(mine)}
    said = f"{len(mine)} of 2 equal texts are found"
    if keys:
        said += f", which name {len(keys)} of their 2 keys"
        counts["keys"] = len(keys)
    if not mine:
        return Asked("twice", "unknown", "hits do not show their texts", counts)
    return Asked("twice", of(min(len(mine), 2), 2), said, counts)


TEXTS = Family(
    "texts",
    (
        *(Question(odd.name, odd.question, DECLARE) for odd in _odds("")),
        Question("twice", "Is an equal text under another key kept too?", TELLS),
    ),
    _ask,
)
