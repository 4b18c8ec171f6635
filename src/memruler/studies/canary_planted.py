"""An arm that lost gold on purpose: measured, sealed, scored and compared like any other run."""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from memruler.compare.exact import compare
from memruler.compare.load import QueryKey, load, names
from memruler.compare.record import Comparison
from memruler.compare.refusal import Incomparable
from memruler.metrics.names import MetricName
from memruler.replay.inputs import instance_inputs
from memruler.replay.instance import Tick
from memruler.replay.plan import Plan
from memruler.replay.run import measure
from memruler.replay.timeline import instance_clock
from memruler.scoring.load import RunArrays
from memruler.scoring.score import score
from memruler.stats.degrade import choose
from memruler.store.folder import RunFolder
from memruler.studies.canary_arms import by_definition
from memruler.studies.canary_record import Check, Planted
from memruler.studies.canary_system import LossySystem

__all__ = ["plant_loss"]

_NAMES = ("planted: every one at 0", "planted: compared")


class _Loss(NamedTuple):
    """Keys that each instance loses, and the queries whose gold they are."""

    keys: dict[int, frozenset[str]]
    queries: tuple[QueryKey, ...]


def plant_loss(
    plan: Plan,
    base: Path,
    run: RunArrays,
    name: MetricName,
    *,
    number: int,
    seed: int,
    tick: Tick,
) -> tuple[tuple[Check, ...], Planted | None]:
    """Measure an arm whose store never got the gold turns of some queries, and compare it.

    Args:
        plan: What the base run measured.
        base: Its folder, scored.
        run: The same as arrays.
        name: A metric of zeros and ones.
        number: Queries that lose their gold; fewer where fewer have anything to lose.
        seed: Of their choice.
        tick: Told about progress.

    Raises:
        SystemUnderTestError: The system failed.
    """
    if plan.settings.granularity == "session":
        return _not_asked("a whole session is stored as one item"), None
    can_lose = [r for r, value in by_definition(run, "turn", name).values.items() if value == 1]
    if not can_lose:
        return _not_asked("no query has anything to lose"), None
    rows = choose(can_lose, min(number, len(can_lose)), seed).tolist()
    loss = _loss(plan, run, rows)
    arm = msgspec.structs.replace(plan, system=LossySystem(plan.system, loss.keys), spec=None)
    with RunFolder.claim(base.parent, "planted") as folder:
        measure(arm, folder, tick)
        score(folder, (name.k,))
    try:
        found = _compared(base, folder.path, name)
    except Incomparable as refusal:
        return _not_asked("; ".join(refusal.reasons)), None
    return _judged(found, base, folder.path, loss, name)


def _compared(base: Path, arm: Path, name: MetricName) -> Comparison:
    """Compare at the turn level; over shared queries where a list became too short to count."""
    ask = partial(
        compare,
        base,
        arm,
        changed=("system",),
        cutoffs=(name.k,),
        levels=("turn",),
        metric=str(name),
    )
    try:
        return ask()
    except Incomparable as refusal:
        if {reason.code for reason in refusal.record.reasons} != {"members"}:
            raise
    return ask(shared=True)


def _loss(plan: Plan, run: RunArrays, rows: Sequence[int]) -> _Loss:
    gold = run.gold["turn"]
    wanted: dict[int, list[tuple[int, set[tuple[int, int]]]]] = {}
    for row in rows:
        codes = gold.flat[gold.offsets[row] : gold.offsets[row + 1]].tolist()
        places = {(code >> 32, code & 0xFFFFFFFF) for code in codes}
        wanted.setdefault(int(run.instance[row]), []).append((int(run.query[row]), places))
    keys, queries = {}, []
    settings = plan.settings
    for instance in islice(iter(plan.corpus), settings.instances):
        if instance.position not in wanted:
            continue
        clock = instance_clock(instance, settings.timeline, run.manifest.clock)
        inputs = instance_inputs(instance, clock, settings.text, settings.granularity)
        gone = {place for _, places in wanted[instance.position] for place in places}
        keys[instance.position] = frozenset(
            key for key, place in inputs.positions.items() if tuple(place) in gone
        )
        queries += [QueryKey(instance.key, query) for query, _ in wanted[instance.position]]
    return _Loss(keys, tuple(queries))


def _judged(
    found: Comparison, base: Path, arm: Path, loss: _Loss, name: MetricName
) -> tuple[tuple[Check, ...], Planted]:
    values = load(arm, names(base, arm)[1]).scores["turn"].columns[str(name)]
    after = [values.get(query) for query in loss.queries]
    hurt = set(loss.queries)
    planted = Planted(
        queries=len(loss.queries),
        turns=sum(map(len, loss.keys.values())),
        zero=after.count(0.0),
        short=after.count(None),
        others=sum(QueryKey(q.instance, q.query) not in hurt for q in found.queries),
        delta=found.headline.delta,
        verdict=found.verdict,
    )
    return (_all_at_zero(planted), _told(planted, found)), planted


def _all_at_zero(planted: Planted) -> Check:
    asked = planted.queries - planted.short
    return Check(
        name=_NAMES[0],
        seen=planted.zero == asked if asked else None,
        expected=f"{asked} queries at 0",
        found=f"{planted.zero} at 0" + (f", {planted.short} too short" if planted.short else ""),
    )


def _told(planted: Planted, found: Comparison) -> Check:
    seen: bool | None = planted.verdict == "worse" and planted.delta < 0
    # What made room for others may lift as many: then a mean cannot tell, and must not be blamed.
    if not seen and found.headline.wins >= max(planted.zero, 1):
        seen = None
    return Check(
        name=_NAMES[1],
        seen=seen,
        expected="worse",
        found=f"{planted.verdict} ({planted.delta:+.4f}: {found.headline.losses} down, "
        f"{found.headline.wins} up)",
    )


def _not_asked(why: str) -> tuple[Check, ...]:
    return tuple(Check(name=name, seen=None, expected="worse", found=why) for name in _NAMES)
