"""Is k honoured?"""

from collections.abc import Iterator

from memruler.studies.check.question import BREAKS, DECLARE, TELLS, Asked, Family, Question, of
from memruler.studies.check.subject import FACTS, QUESTIONS, Subject, session

__all__ = ["DEPTH"]

_DEPTHS = (1, 5, 100)
_FULL = 5


def _ask(subject: Subject) -> Iterator[Asked]:
    asked = (*QUESTIONS, *FACTS)
    with subject.store() as store:
        store.write(session(0, FACTS))
        found = {k: [[hit.item for hit in store.ask(text, k)] for text in asked] for k in _DEPTHS}
    most = {k: max(map(len, lists)) for k, lists in found.items()}
    over = sum(len(items) > k for k, lists in found.items() for items in lists)
    counts = {f"most_at_{k}": most[k] for k in _DEPTHS} | {"lists": 3 * len(asked), "over": over}
    said = ", ".join(f"at most {most[k]} hits for k={k}" for k in _DEPTHS)
    yield Asked("most", "no" if over else "yes", f"{said}; {len(FACTS)} units stored", counts)
    twice = sum(len(set(items)) < len(items) for lists in found.values() for items in lists)
    said = f"{twice} of {3 * len(asked)} lists hold an item twice"
    yield Asked("once", "no" if twice else "yes", said, {"lists": 3 * len(asked), "twice": twice})
    full = sum(len(items) >= _FULL for items in found[_FULL])
    counts = {"lists": len(asked), "full": full}
    said = f"{full} of {len(asked)} lists are full at k=5, with {len(FACTS)} units stored"
    yield Asked("full", of(full, len(asked)), said, counts)
    same = sum(one == five[:1] for one, five in zip(found[1], found[5], strict=True))
    said = f"{same} of {len(asked)} lists at k=1 are the beginning of that at k=5"
    counts = {"lists": len(asked), "same": same}
    yield Asked("begins", of(same, len(asked)), said, counts)


DEPTH = Family(
    "depth",
    (
        Question("most", "Are there never more than k hits?", BREAKS),
        Question("once", "Does an item stand in a list at most once?", DECLARE),
        Question("full", "Is a list as long as k where enough is stored?", TELLS),
        Question("begins", "Is a short list the beginning of a longer one?", TELLS),
    ),
    _ask,
)
