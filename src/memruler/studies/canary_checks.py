"""The controls on one saved run: what the scoring must say of it, and of it made worse."""

from collections.abc import Iterator

import numpy as np

from memruler.compare.deltas import paired_delta, verdict
from memruler.compare.record import Delta
from memruler.metrics.names import MetricName
from memruler.model.summary import Level
from memruler.scoring.load import RunArrays
from memruler.stats.degrade import choose, degrade_rankings, degrade_scores, steps
from memruler.stats.power import one_query
from memruler.studies.canary_arms import (
    Arm,
    Found,
    by_definition,
    gold_hits,
    ideal,
    scored,
    with_hits,
)
from memruler.studies.canary_record import Check, LevelChecks, Step

__all__ = ["check_level"]

_IDEALS: dict[str, Found] = {
    "gold on top": "all",
    "all but one": "all but one",
    "gold out of sight": "none",
}


def check_level(
    run: RunArrays, level: Level, name: MetricName, seed: int
) -> tuple[tuple[Check, ...], LevelChecks]:
    """Ask the scoring about a run, about ideal ones, and about the run made worse.

    Args:
        run: A sealed run.
        level: What a rank is a rank of.
        name: A metric of zeros and ones.
        seed: Of the choice of queries.
    """
    told, found = by_definition(run, level, name), scored(run, level, name)
    there = set(np.flatnonzero(gold_hits(run, level).any(axis=1)).tolist())
    can_lose = [row for row, value in told.values.items() if value == 1 and row in there]
    made = tuple(_steps(run, level, name, can_lose, seed=seed)) if can_lose else ()
    worse = _worse(run, level, can_lose) if can_lose else run
    checks = (
        *_ideals(run, level, name),
        _agree(f"{level}: as defined", told, found, "queries as the definition says"),
        _itself(level, name, found),
        _made_worse(level, made, len(can_lose)),
        _reversed(level, name, scored(worse, level, name), found, made),
    )
    counted = len(told.values)
    return checks, LevelChecks(
        level=level,
        counted=counted,
        of=int((run.gold[level].lengths()[_rows(run)] > 0).sum()),
        mean=told.mean,
        degradable=len(can_lose),
        steps=made,
        smallest=one_query(counted) if counted else None,
    )


def _rows(run: RunArrays) -> list[int]:
    return [row for row, reason in enumerate(run.excluded) if reason is None]


def _delta(level: Level, name: MetricName, base: Arm, candidate: Arm) -> Delta | None:
    """The difference as `compare` takes it; None where the two do not count the same queries."""
    pairs = [(value, candidate.values.get(row)) for row, value in base.values.items()]
    whole = [(left, right) for left, right in pairs if right is not None]
    if not whole or len(whole) < len(pairs) or len(candidate.values) > len(pairs):
        return None
    return paired_delta(name.metric, (level, name.k), "all", len(whole), whole)


def _worse(run: RunArrays, level: Level, rows: list[int]) -> RunArrays:
    hits = degrade_rankings(run.hits, gold_hits(run, level), rows, len(run.items.codes[level]))
    return with_hits(run, hits)


def _steps(
    run: RunArrays, level: Level, name: MetricName, can_lose: list[int], *, seed: int
) -> Iterator[Step]:
    told, base = by_definition(run, level, name), scored(run, level, name)
    rows, counted = list(told.values), len(told.values)
    for number in steps(len(can_lose)):
        chosen = choose(can_lose, number, seed).tolist()
        # The definitions' own values, lowered: no part of the scoring has a say in them.
        lowered = degrade_scores(list(told.values.values()), np.searchsorted(rows, chosen))
        expected = paired_delta(
            name.metric,
            (level, name.k),
            "all",
            counted,
            list(zip(told.values.values(), lowered.tolist(), strict=True)),
        )
        found = _delta(level, name, base, scored(_worse(run, level, chosen), level, name))
        yield Step(
            queries=number,
            expected=expected.delta,
            found=None if found is None else found.delta,
            verdict=None if found is None else verdict(found),
        )


def _ideals(run: RunArrays, level: Level, name: MetricName) -> Iterator[Check]:
    for what, shown in _IDEALS.items():
        arm, must = ideal(run, level, name, shown)
        yield _agree(f"{level}: {what}", must, scored(arm, level, name), f"a mean of {must.mean:g}")


def _agree(what: str, must: Arm, found: Arm, expected: str) -> Check:
    right = sum(found.values.get(row) == value for row, value in must.values.items())
    beyond = len(found.values.keys() - must.values.keys())
    text = f"{right} of {len(must.values)} queries right"
    asked = bool(must.values or beyond)
    return Check(
        name=what,
        seen=right == len(must.values) and not beyond if asked else None,
        expected=expected,
        found=text + (f", {beyond} counted that do not count" if beyond else ""),
    )


def _itself(level: Level, name: MetricName, run: Arm) -> Check:
    delta = _delta(level, name, run, run)
    return Check(
        name=f"{level}: against itself",
        seen=None if delta is None else verdict(delta) == "unchanged" and delta.delta == 0,
        expected="unchanged",
        found="nothing counts" if delta is None else verdict(delta),
    )


def _made_worse(level: Level, made: tuple[Step, ...], can_lose: int) -> Check:
    right = sum(step.found == step.expected and step.verdict == "worse" for step in made)
    return Check(
        name=f"{level}: made worse",
        seen=right == len(made) if made else None,
        expected="each -m/counted, exactly, and worse",
        found=f"{right} of {len(made)} steps exact, 1 to {can_lose} queries"
        if made
        else "no query has anything to lose",
    )


def _reversed(
    level: Level, name: MetricName, worse: Arm, run: Arm, made: tuple[Step, ...]
) -> Check:
    """Base and candidate change places: the difference must turn its sign and nothing else."""
    delta = _delta(level, name, worse, run) if made else None
    found = None if delta is None else (delta.delta, verdict(delta))
    return Check(
        name=f"{level}: reversed",
        seen=found == (-made[-1].expected, "better") if made else None,
        expected=f"{-made[-1].expected:+.4f}, better" if made else "the opposite sign",
        found="no query has anything to lose"
        if not made
        else ("other queries count" if found is None else f"{found[0]:+.4f}, {found[1]}"),
    )
