"""Holds a cell of a study against the first one: nothing may differ but what the cells set."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from memruler.compare.comparable import reasons
from memruler.compare.fingerprint import Differences, differences, flatten
from memruler.compare.load import LoadedRun
from memruler.compare.refusal import Incomparable
from memruler.model.summary import Level
from memruler.studies.spec_base import RUN_KEYS

__all__ = ["require_comparable"]

_UNDECLARED = "between two cells only what the spec sets apart may differ"


def require_comparable(
    first: LoadedRun,
    run: LoadedRun,
    under_test: Mapping[str, Sequence[str]],
    levels: tuple[Level, ...],
    idle: str,
) -> None:
    """Refuse a cell that cannot be compared with the first one.

    Args:
        first: The first cell.
        run: The other one.
        under_test: Name of what is under test between the two, to the settings that it sets.
        levels: Levels at which both must count the same queries.
        idle: What to do where something under test changes nothing.

    Raises:
        Incomparable: Something else differs, or a cell is not deterministic; every reason.
    """
    found = _differences(under_test, first, run)
    refused = reasons(first, run, found, levels)
    hints = {"undeclared": _UNDECLARED, "nothing-changed": idle}
    if refused:
        advised = [
            msgspec.structs.replace(reason, hint=hints.get(reason.code, reason.hint))
            for reason in refused
        ]
        raise Incomparable(first.name, run.name, advised)


def _differences(
    under_test: Mapping[str, Sequence[str]], base: LoadedRun, run: LoadedRun
) -> Differences:
    """The differences of two cells; what is under test is idle if nothing that it sets differs."""
    sides = base.manifest.fingerprint, run.manifest.fingerprint
    known = {key for side in sides for key in flatten(side)}
    by_name = {
        name: [part for part in _parts(keys) if any(_within(part, key) for key in known)]
        for name, keys in under_test.items()
    }
    found = differences(*sides, [part for parts in by_name.values() for part in parts])
    idle = tuple(
        name
        for name, parts in by_name.items()
        if not any(_within(part, d.key) for part in parts for d in found.declared)
    )
    return msgspec.structs.replace(found, idle=idle)


def _parts(keys: Sequence[str]) -> Iterator[str]:
    """Parts of the fingerprint that settings are in."""
    for key in keys:
        if key in RUN_KEYS or key.startswith("text."):
            yield f"ingest.{key}"
        else:
            # The whole table of a dotted setting: an empty one is a value, and no part.
            yield f"system.settings.{key.partition('.')[0]}"
            if key == "embedder":
                yield key


def _within(part: str, key: str) -> bool:
    return key == part or key.startswith(f"{part}.")
