"""What follows from the probes: the card's short answers, and whether the file's claims hold."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from memruler.model.card import Claim, Outcome, Probe
from memruler.systems.remote.spec import RemoteSpec

__all__ = ["Short", "claims_of", "judged"]

_KNOWN: dict[Outcome, bool] = {"yes": True, "no": False}


class Short(NamedTuple):
    """The short answers of a card; see `memruler.model.card.Card`."""

    reads_change: bool | None
    deterministic: bool | None
    event_time: bool | None
    erases: bool | None


def judged(probes: Iterable[Probe]) -> Short:
    """The short answers that follow from the probes."""
    found = {probe.name: _KNOWN.get(probe.outcome) for probe in probes}
    quiet = _all(found, "reads.ranking", "reads.store", "reads.lineage")
    return Short(
        reads_change=None if quiet is None else not quiet,
        deterministic=_all(found, "repeats.search", "repeats.store", "repeats.process"),
        event_time=found.get("times.kept"),
        erases=_all(found, "erase.empty", "erase.reopened"),
    )


def _all(found: Mapping[str, bool | None], *names: str) -> bool | None:
    """False where one is; None where nobody knows any; True where those that are known are."""
    values = [found.get(name) for name in names]
    if False in values:
        return False
    return True if True in values else None


def claims_of(file: RemoteSpec | None, probes: Iterable[Probe]) -> tuple[Claim, ...]:
    """The capabilities that a memory's file claims, held against what was measured."""
    if file is None:
        return ()
    return tuple(_claims(file, {probe.name: probe.outcome for probe in probes}))


def _claims(file: RemoteSpec, found: Mapping[str, Outcome]) -> Iterator[Claim]:
    said = file.capabilities
    twice = _KNOWN.get(found.get("texts.twice", "unknown"))
    measured: tuple[tuple[str, Any, bool | None], ...] = (
        ("dedup", said.dedup, None if twice is None else not twice),
        ("event_time", said.event_time, _KNOWN.get(found.get("times.kept", "unknown"))),
    )
    for what, claimed, seen in measured:
        if claimed is not None:
            yield Claim(
                what=what,
                said=_word(claimed),
                measured=None if seen is None else _word(seen),
                holds=None if seen is None else seen == claimed,
            )


def _word(value: bool) -> str:
    return "yes" if value else "no"
