"""A canary: did what was written land in the folder that the run gave, and nowhere else?"""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from memruler.errors import MemrulerError
from memruler.model.system import RunsElsewhere
from memruler.studies.check.places import changed_since, holders
from memruler.studies.check.question import BREAKS, Asked, Family, Question
from memruler.studies.check.subject import FACTS, Subject, session

__all__ = ["LANDING"]

_TICK = 2.0
"""Seconds by which a file system may date a change too early."""


def _ask(subject: Subject) -> Iterator[Asked]:
    system = subject.system()
    if isinstance(system, RunsElsewhere) and system.outlives():
        yield Asked("folder", "not applicable", "the server was started by others")
        return
    word = subject.word(40)
    begun = time.time() - _TICK
    with subject.store() as store:
        inside = (store.space.folder, subject.data)
        before = _size(inside)
        store.write(session(0, [f"{text} The canary is {word}." for text in FACTS[:4]]))
        store.ask(word)
        mine, grown = holders(_files(inside), word), _size(inside) - before
        # Some write only now.
        with suppress(MemrulerError):
            store.memory.close()
        mine, grown = mine or holders(_files(inside), word), max(grown, _size(inside) - before)
        # What it prints is kept beside its own folder, and is no stray.
        changed, partly = changed_since(begun, subject.root.parent)
        strays = holders(changed, word)
    counts = {"files_inside": len(mine), "files_outside": len(strays)}
    rest = "; only the first files of the known places were looked at" if partly else ""
    if strays:
        said = f"it stands in {len(strays)} files outside the run's folder: {_where(strays)}"
        yield Asked("folder", "no", said, counts)
    elif mine:
        said = f"it stands in {len(mine)} files of the run's folder and in no known place outside"
        yield Asked("folder", "yes", said + rest, counts)
    elif grown > 0:
        said = "the run's folder grew, but the text does not show in its files (compressed?)"
        yield Asked("folder", "unknown", said + rest, counts)
    else:
        said = "no file was written: it lives in memory"
        yield Asked("folder", "not applicable", said + rest, counts)


def _files(folders: tuple[Path, ...]) -> list[Path]:
    return [path for folder in folders if folder.is_dir() for path in folder.rglob("*")]


def _size(folders: tuple[Path, ...]) -> int:
    total = 0
    for path in _files(folders):
        with suppress(OSError):
            total += path.lstat().st_size if path.is_file() else 0
    return total


def _where(paths: list[Path]) -> str:
    """The folders, as a person knows them."""
    home = Path.home()
    named = [
        f"~/{path.parent.relative_to(home)}" if path.is_relative_to(home) else str(path.parent)
        for path in paths
    ]
    return ", ".join(dict.fromkeys(named))


LANDING = Family(
    "landing",
    (Question("folder", "Does what is written land in the run's own folder?", BREAKS),),
    _ask,
)
