"""Runs that never took place: a saved run with other hits, to be scored like any other.

What each must score is told from the definitions, a query at a time, and by nothing that the
scoring itself uses: a ruler must not be its own referee.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.metrics import definitions
from memruler.metrics.names import METRICS, MetricName
from memruler.model.summary import Level
from memruler.scoring.levels import counted, exclusions, score_level
from memruler.scoring.load import RunArrays
from memruler.targets.attribution import UNATTRIBUTED
from memruler.targets.ranking import ranked_one, relevance_one

__all__ = ["Arm", "Found", "by_definition", "gold_hits", "ideal", "scored", "with_hits"]

_PADDING = -1

Found = Literal["all", "all but one", "none"]
"""How much of its gold an ideal run shows."""


class Arm(NamedTuple):
    """Values of the queries that count, by row of the run."""

    values: dict[int, float]

    @property
    def mean(self) -> float:
        """Over the queries that count; 0 where none does."""
        return sum(self.values.values()) / len(self.values) if self.values else 0.0


def scored(run: RunArrays, level: Level, name: MetricName) -> Arm:
    """The run as the scoring sees it: the ruler under test."""
    found = score_level(run, level, (name.k,)).matrix.values(name.metric, name.k)
    masked = np.ma.getmaskarray(found)
    return Arm({row: float(found.data[row]) for row in np.flatnonzero(~masked).tolist()})


def by_definition(run: RunArrays, level: Level, name: MetricName) -> Arm:
    """The run as the definitions see it, one query at a time."""
    values = {}
    for row in _measured(run, level).tolist():
        gold = _gold(run, level, row)
        ranks = relevance_one(ranked_one(_codes(run, level, row)), gold)
        if definitions.has_value(len(ranks), len(gold), name.k):
            values[row] = METRICS[name.metric].definition(ranks, len(gold), name.k)
    return Arm(values)


def gold_hits(run: RunArrays, level: Level) -> NDArray[np.bool_]:
    """[Q, L], which hits are gold of their own query at a level."""
    found = np.zeros(run.hits.shape, np.bool_)
    for row in _measured(run, level).tolist():
        codes = _codes(run, level, row)
        found[row, : len(codes)] = relevance_one(codes, _gold(run, level, row))
    return found


def with_hits(run: RunArrays, hits: NDArray[np.int64]) -> RunArrays:
    """The run with other hits; the item one past its last earns no credit anywhere."""
    items = run.items
    return msgspec.structs.replace(
        run,
        hits=hits,
        items=msgspec.structs.replace(
            items,
            codes={level: np.append(codes, UNATTRIBUTED) for level, codes in items.codes.items()},
            transformed=np.append(items.transformed, np.False_),
        ),
    )


def ideal(run: RunArrays, level: Level, name: MetricName, found: Found) -> tuple[RunArrays, Arm]:
    """A run that returns exactly the gold, and what it must score.

    Args:
        run: Gives the queries and their gold.
        level: What a rank is a rank of.
        name: What is scored.
        found: How much of the gold stands at the top; the rest stands below `k` worthless hits,
            out of sight.
    """
    gold, rows = run.gold[level], _measured(run, level)
    longest = int(gold.lengths().max(initial=0))
    worthless = len(gold.flat)
    hits = np.full((len(run.query), longest + name.k), _PADDING, np.int64)
    values = {}
    for row in rows.tolist():
        own = list(range(int(gold.offsets[row]), int(gold.offsets[row + 1])))
        top = {"all": len(own), "all but one": len(own) - 1, "none": 0}[found]
        ranking = [*own[:top], *[worthless] * name.k, *own[top:]]
        hits[row, : len(ranking)] = ranking
        ranks = [hit != worthless for hit in ranking]
        values[row] = METRICS[name.metric].definition(ranks, len(own), name.k)
    codes = {level: np.append(gold.flat, UNATTRIBUTED)}
    made = np.zeros(worthless + 1, dtype=np.bool_)
    items = msgspec.structs.replace(run.items, codes=codes, transformed=made)
    return msgspec.structs.replace(run, hits=hits, items=items), Arm(values)


def _measured(run: RunArrays, level: Level) -> NDArray[np.int64]:
    """Rows that the population measures, whose search did not fail, with gold at the level."""
    return np.flatnonzero(counted(exclusions(run)) & (run.gold[level].lengths() > 0))


def _gold(run: RunArrays, level: Level, row: int) -> Sequence[int]:
    lists = run.gold[level]
    codes: list[int] = lists.flat[lists.offsets[row] : lists.offsets[row + 1]].tolist()
    return codes


def _codes(run: RunArrays, level: Level, row: int) -> list[int]:
    hits = run.hits[row]
    codes: list[int] = run.items.codes[level][hits[hits != _PADDING]].tolist()
    return codes
