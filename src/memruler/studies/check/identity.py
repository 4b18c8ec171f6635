"""Are ids stable, and do they lead back to what was written?"""

from collections import Counter
from collections.abc import Iterator

from memruler.model.system import ExportsLineage, Hit, SessionInput
from memruler.studies.check.question import BREAKS, DECLARE, Asked, Family, Question
from memruler.studies.check.subject import FACTS, QUESTIONS, Store, Subject, session, shown

__all__ = ["IDS"]

_DEEP = 20


def _ask(subject: Subject) -> Iterator[Asked]:
    given = (session(0, FACTS[:4]), session(1, FACTS[4:]))
    with subject.store() as store:
        store.write(*given)
        asked = (*FACTS, *QUESTIONS)
        first = [store.ask(text, _DEEP) for text in asked]
        second = [store.ask(text, _DEEP) for text in asked]
        yield _stable(store, first, second)
        yield _attributed(store, given, [hit for hits in first for hit in hits])


def _stable(store: Store, first: list[tuple[Hit, ...]], second: list[tuple[Hit, ...]]) -> Asked:
    """Held together by text: an order that changes is another probe's business."""
    texts, items, moved = dict[str, set[str]](), set[str](), 0
    for hits in (*first, *second):
        for hit, said in zip(hits, shown(store, hits), strict=True):
            items.add(hit.item)
            if said is not None:
                texts.setdefault(said, set()).add(hit.item)
    moved = sum(len(ids) > 1 for ids in texts.values())
    counts = {"items": len(items), "texts": len(texts), "several_ids": moved}
    if not items:
        return Asked("stable", "unknown", "no search found anything", counts)
    if not texts:
        gone = {h.item for hits in first for h in hits} ^ {h.item for hits in second for h in hits}
        said = f"{len(gone)} of {len(items)} ids came in one round of searches and not in the other"
        return Asked("stable", "no" if gone else "yes", said, counts)
    said = f"{moved} of {len(texts)} texts came back under several ids, in two rounds of searches"
    return Asked("stable", "no" if moved else "yes", said, counts)


def _attributed(store: Store, given: tuple[SessionInput, ...], hits: list[Hit]) -> Asked:
    """As a run attributes: by the keys that came back, by an id that is one, by the exact text."""
    keys = {unit.key for one in given for unit in one.turns} | {one.key for one in given}
    units = {unit.text.strip() for one in given for unit in one.turns}
    stored: dict[str, tuple[str, ...]] = {}
    if isinstance(store.memory, ExportsLineage):
        stored = {item.id: item.sources for item in store.memory.lineage()}
    ways: Counter[str] = Counter()
    for hit, said in zip(hits, shown(store, hits), strict=True):
        sources = stored.get(hit.item) or hit.sources or ()
        if sources:
            ways["by_source" if keys.issuperset(sources) else "unknown"] += 1
        elif hit.item in keys:
            ways["by_id"] += 1
        else:
            ways["by_text" if said is not None and said.strip() in units else "unknown"] += 1
    known = len(hits) - ways["unknown"]
    counts = {"hits": len(hits), **{way: ways[way] for way in ("by_source", "by_id", "by_text")}}
    how = ", ".join(f"{ways[way]} {way.replace('_', ' ')}" for way in counts if ways[way])
    said = f"{known} of {len(hits)} hits lead back to what was written" + f" ({how})" * bool(how)
    if not hits:
        return Asked("attributed", "unknown", "no search found anything", counts)
    if known == len(hits):
        return Asked("attributed", "yes", said, counts)
    return Asked("attributed", "no", said, counts, DECLARE if known else BREAKS)


IDS = Family(
    "ids",
    (
        Question("stable", "Does an item keep its id from search to search?", BREAKS),
        Question("attributed", "Does every hit lead back to what was written?", BREAKS),
    ),
    _ask,
)
