"""Does a search change the memory, or what the next search finds?"""

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

from memruler.model.system import ExportsLineage, Hit
from memruler.studies.check.question import DECLARE, Asked, Family, Question
from memruler.studies.check.subject import FACTS, QUESTIONS, Store, Subject, session

__all__ = ["READS", "digests"]

_DEEP = 10
_READS = 30
_FLUSH = 0.2
"""Seconds in which what was changed reaches a file."""
_PASSING = (".log", ".lock", ".pid", "-shm", "LOCK", "LOG")
"""Ends of names of files that change without any change of what is stored."""


def digests(*folders: Path) -> dict[str, str]:
    """SHA-256 of every file below some folders, but for logs and locks."""
    found: dict[str, str] = {}
    for number, folder in enumerate(folders):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_symlink() or not path.is_file() or path.name.endswith(_PASSING):
                continue
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:
                digest = "unreadable"  # it went away meanwhile: that is a change too
            found[f"{number}/{path.relative_to(folder)}"] = digest
    return found


def _ask(subject: Subject) -> Iterator[Asked]:
    with subject.store() as store:
        store.write(session(0, FACTS[:4]), session(1, FACTS[4:]))
        asked = (*QUESTIONS, *FACTS)
        folders = (store.space.folder, subject.data)
        before = [_plain(store.ask(text, _DEEP)) for text in asked]
        # Twice without a search between: what changes now changes by itself.
        idle = digests(*folders)
        time.sleep(_FLUSH)
        still = digests(*folders)
        items = _items(store)
        for _ in range(_READS):
            store.ask(FACTS[-1], _DEEP)
        time.sleep(_FLUSH)
        read = digests(*folders)
        after = [_plain(store.ask(text, _DEEP)) for text in asked]
        kept = _items(store)
    moved = sum(one != other for one, other in zip(before, after, strict=True))
    counts = {"reads": _READS, "questions": len(asked), "other_ranking": moved}
    said = f"{moved} of {len(asked)} questions are answered otherwise after {_READS} reads of one"
    yield Asked("ranking", "no" if moved else "yes", said, counts)
    yield _store(idle, still, read)
    if items is None or kept is None:
        yield Asked("lineage", "not applicable", "it does not tell what it stores")
    else:
        said = f"{len(items)} items before the reads, {len(kept)} after"
        counts = {"before": len(items), "after": len(kept)}
        yield Asked("lineage", "yes" if items == kept else "no", said, counts)


def _store(idle: dict[str, str], still: dict[str, str], read: dict[str, str]) -> Asked:
    if not idle:
        return Asked("store", "not applicable", "no file of it lies within reach")
    changed = sum(still.get(name) != read.get(name) for name in still.keys() | read.keys())
    counts = {"files": len(idle), "changed": changed}
    said = f"{changed} of {len(still.keys() | read.keys())} files differ after {_READS} reads"
    if not changed:
        return Asked("store", "yes", said, counts)
    if idle != still:
        return Asked("store", "unknown", "its files also change where nothing is asked", counts)
    return Asked("store", "no", said, counts)


def _plain(hits: tuple[Hit, ...]) -> list[tuple[str, float | None]]:
    return [(hit.item, hit.score) for hit in hits]


def _items(store: Store) -> list[tuple[str, str, str]] | None:
    if not isinstance(store.memory, ExportsLineage):
        return None
    return [(item.id, item.status, item.text) for item in store.memory.lineage()]


READS = Family(
    "reads",
    (
        Question("ranking", "Do rankings stay as they are after many reads?", DECLARE),
        Question("store", "Do its files stay as they are?", DECLARE),
        Question("lineage", "Does what it says it stores stay as it is?", DECLARE),
    ),
    _ask,
)
