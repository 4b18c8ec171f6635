"""Is the time of an event, once written, told with a hit?"""

from collections.abc import Iterator

from memruler.studies.check.question import TELLS, Asked, Family, Question
from memruler.studies.check.subject import FACTS, Subject, session, shown

__all__ = ["TIMES"]

_DEEP = 20


def _ask(subject: Subject) -> Iterator[Asked]:
    sessions = [session(3 * at, [text]) for at, text in enumerate(FACTS)]
    hits = told = right = known = 0
    with subject.store() as store:
        store.write(*sessions)
        for text in FACTS:
            found = store.ask(text, _DEEP)
            for hit, said in zip(found, shown(store, found), strict=True):
                hits += 1
                told += hit.time is not None
                written = [one.time for one in sessions if one.turns[0].text in (said or "")]
                if hit.time is not None and len(written) == 1:
                    known += 1
                    right += hit.time == written[0]
    counts = {"hits": hits, "with_time": told, "compared": known, "as_written": right}
    if not hits:
        yield Asked("kept", "unknown", "no search found anything", counts)
    elif not told and _nameless(subject):
        said = f"none of {hits} hits carries a time, and the memory's file names no place for it"
        yield Asked("kept", "unknown", said, counts)
    elif not told:
        yield Asked("kept", "no", f"none of {hits} hits carries a time", counts)
    elif not known:
        said = f"{told} of {hits} hits carry a time, but no text that says which was written"
        yield Asked("kept", "unknown", said, counts)
    else:
        good = told == hits and right == known
        said = f"{told} of {hits} hits carry a time, {right} of {known} that which was written"
        yield Asked("kept", "yes" if good else "no", said, counts)


def _nameless(subject: Subject) -> bool:
    file = subject.file
    return file is not None and all(listed.time is None for listed in file.search.result.lists)


TIMES = Family(
    "times", (Question("kept", "Does a hit carry the time that was written?", TELLS),), _ask
)
