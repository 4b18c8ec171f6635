"""A file that tells where stored items come from, for a system that does not.

One JSON object a line:

    {"instance": "conv-26", "id": "m17", "kind": "fact", "turns": [[3, 12]]}
    {"instance": "conv-26", "id": "m18", "kind": "summary", "sessions": [3]}

Positions are 0-based, as in `lineage.parquet`; `sessions` is for items of whole sessions.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import replace
from numpy.typing import NDArray

from memruler.errors import CorpusError
from memruler.scoring.traced import MOST_NAMES, Notice
from memruler.store.folder import RunFolder
from memruler.store.safe import open_read
from memruler.store.tables import batches, read_table
from memruler.targets.attribution import ItemSources
from memruler.targets.eligible import Forms

__all__ = ["mapped"]

_HINT = "see docs/lineage.md"
_NO_KIND = "unknown"
_LONGEST = 1 << 20  # bytes of a line
_POSITION = Meta(ge=0, lt=2**31)

_Position: TypeAlias = Annotated[int, _POSITION]


class _Origin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    instance: str
    id: str
    kind: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
    turns: tuple[tuple[_Position, _Position], ...] = ()
    sessions: tuple[_Position, ...] = ()


def mapped(
    path: Path, folder: RunFolder, forms: Forms, *, exported: bool
) -> tuple[Forms, bool, tuple[Notice, ...]]:
    """Fill in what a run does not know about its items.

    An item that the system told the origin of keeps it; where the file says something else, that is
    counted. Items that the file names and the run has never seen are added: they are stored, and
    were never returned.

    Args:
        path: The file.
        folder: The run.
        forms: Its items, as the run knows them.
        exported: Whether these are all that the store holds.

    Returns:
        The items, added ones last; whether the file names every item of the run, so that it may be
        taken for the whole store; and what was odd.

    Raises:
        CorpusError: A line cannot be read, names an instance that the run does not have, or an
            item twice; or items are not in a run whose system told all that it holds.
    """
    places = _instances(folder)
    told: dict[tuple[int, str], _Origin] = {}
    for number, origin in _lines(path):
        place = places.get(origin.instance)
        if place is None:
            raise _fault(path, number, f"the run has no instance {origin.instance!r}")
        if (place, origin.id) in told:
            raise _fault(path, number, f"the item {origin.id!r} stands there twice")
        told[place, origin.id] = origin
    found = _matched(folder, forms, told)
    # Where a system told all that it holds, the file need not repeat it.
    lacking = found.unknown if exported else found.unnamed
    added = [name for _, name in told]
    if exported and added:
        shown = ", ".join(repr(name) for name in added[:MOST_NAMES])
        raise CorpusError(
            f"{len(added)} items are not in the run, whose system told all that it holds: {shown}",
            where=path,
            hint="name items by their ids in lineage.parquet",
        )
    notices = tuple(
        Notice(kind=kind, what=what, count=len(names), names=tuple(names[:MOST_NAMES]))
        for kind, what, names in (
            ("lineage-conflict", "items have another origin in the lineage file", found.conflicts),
            ("unknown-item", "items of the run are not in the lineage file", lacking),
            ("never-returned", "items of the lineage file were never returned by the run", added),
        )
        if names
    )
    return _merged(forms, found, told), not found.unnamed, notices


def _lines(path: Path) -> Iterator[tuple[int, _Origin]]:
    with open_read(path, managed=False) as file:
        number = 0
        while line := file.readline(_LONGEST + 1):
            number += 1
            if len(line) > _LONGEST:
                raise _fault(path, number, f"the line is longer than {_LONGEST} bytes")
            if not line.strip():
                continue
            try:
                origin = msgspec.json.decode(line, type=_Origin)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise _fault(path, number, str(error)) from None
            if not origin.turns and not origin.sessions:
                raise _fault(path, number, "neither `turns` nor `sessions`: leave the item out")
            yield number, origin


def _fault(path: Path, number: int, what: str) -> CorpusError:
    return CorpusError(what, where=f"{path}, line {number}", hint=_HINT)


def _instances(folder: RunFolder) -> dict[str, int]:
    table = read_table(folder, "ingest", columns=["instance", "key"])
    keys: list[Any] = table.column("key").to_pylist()
    places: list[Any] = table.column("instance").to_pylist()
    return dict(zip(keys, places, strict=True))


_Told: TypeAlias = dict[tuple[int, str], _Origin]


class _Found(NamedTuple):
    """What the file says of the items that the run knows.

    Attributes:
        filled: Rows whose sources were not known.
        named: Rows whose sources were known, and their kind was not.
        conflicts: Ids of items of which the run knows something else.
        unnamed: Ids of items that the file lacks.
        unknown: Those of them whose sources are not known.
    """

    filled: dict[int, _Origin]
    named: dict[int, _Origin]
    conflicts: list[str]
    unnamed: list[str]
    unknown: list[str]


def _matched(folder: RunFolder, forms: Forms, told: _Told) -> _Found:
    """What is matched is taken out of `told`: the rest are items that the run has never seen."""
    known = np.diff(forms.sources.session_offsets) > 0
    found = _Found({}, {}, [], [], [])
    row = 0
    for batch in batches(folder, "lineage", columns=["instance", "id"]):
        ids: list[Any] = batch.column("id").to_pylist()
        places: list[Any] = batch.column("instance").to_pylist()
        for place, name in zip(places, ids, strict=True):
            origin = told.pop((place, name), None)
            kind = forms.kinds[forms.kind[row]]
            if origin is None:
                found.unnamed.append(name)
                if not known[row]:
                    found.unknown.append(name)
            else:
                other = kind not in (_NO_KIND, origin.kind)
                if not known[row]:
                    found.filled[row] = replace(origin, kind=kind) if other else origin
                elif forms.origin(row) != _sources(origin):
                    other = True
                elif not other:
                    found.named[row] = origin
                if other:
                    found.conflicts.append(name)
            row += 1
    return found


_Sources: TypeAlias = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]


def _sources(origin: _Origin) -> _Sources:
    whole = set(origin.sessions)
    turns = sorted({(session, turn) for session, turn in origin.turns if session not in whole})
    return tuple(sorted(whole.union(session for session, _ in turns))), tuple(turns)


def _merged(forms: Forms, found: _Found, added: _Told) -> Forms:
    names = {name: place for place, name in enumerate(forms.kinds)}
    new = [*found.filled.values(), *added.values()]
    end = len(forms.kind)
    rows = np.array([*found.filled, *range(end, end + len(added))], np.int64)
    kind = np.concatenate([forms.kind, np.zeros(len(added), np.int64)])
    for row, origin in zip(
        [*rows.tolist(), *found.named], [*new, *found.named.values()], strict=True
    ):
        kind[row] = names.setdefault(origin.kind, len(names))
    instance = np.concatenate([forms.instance, [place for place, _ in added]]).astype(np.int64)
    sources = [_sources(origin) for origin in new]
    s = forms.sources
    sessions, session = _spliced(s.session_offsets, s.sessions, rows, [one for one, _ in sources])
    turns, said = _spliced(
        s.turn_offsets, s.turn_sessions, rows, [[x for x, _ in two] for _, two in sources]
    )
    _, place = _spliced(
        s.turn_offsets, s.turn_turns, rows, [[y for _, y in two] for _, two in sources]
    )
    return Forms(
        instance=instance,
        kind=kind,
        kinds=tuple(names),
        sources=ItemSources(
            session_offsets=sessions,
            sessions=session,
            turn_offsets=turns,
            turn_sessions=said,
            turn_turns=place,
        ),
    )


def _spliced(
    offsets: NDArray[np.integer], flat: NDArray[np.integer], rows: NDArray[np.int64], lists: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists with those of some rows, which were empty or are new, put in."""
    lengths = np.zeros(max(len(offsets) - 1, int(rows.max(initial=-1)) + 1), np.int64)
    lengths[: len(offsets) - 1] = np.diff(offsets)
    old = np.repeat(np.arange(len(lengths)), lengths)
    sizes = np.array([len(one) for one in lists], np.int64)
    owner = np.concatenate([old, np.repeat(rows, sizes)])
    values = np.concatenate([flat, [value for one in lists for value in one]]).astype(np.int64)
    lengths[rows] += sizes
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return ends, values[np.argsort(owner, kind="stable")]
