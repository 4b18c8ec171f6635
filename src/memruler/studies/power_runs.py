"""Two finished runs as a pilot."""

from pathlib import Path
from typing import Literal

import numpy as np

from memruler.compare.headline import LEVELS, choose_headline, headline_cell
from memruler.compare.load import LoadedRun, load, names
from memruler.compare.record import Reason
from memruler.errors import Refusal
from memruler.metrics.names import MetricName
from memruler.model.summary import Level
from memruler.studies.power import Pilot

__all__ = ["RunCluster", "pilot_of_runs"]

RunCluster = Literal["conversation", "category"]


def pilot_of_runs(
    base: Path, candidate: Path, *, metric: str | None = None, cluster: RunCluster | None = None
) -> Pilot:
    """Read the paired values of two runs over the same queries.

    Unlike a comparison it asks for no declared change: what differs between the sides is the
    kind of change whose spread the pilot shows.

    Args:
        base: A run folder.
        candidate: Another one.
        metric: Such as `ndcg@10`; None for the headline.
        cluster: What queries are grouped by; None where each stands alone.

    Raises:
        FormatError: A folder is no finished and scored run.
        UsageError: The metric is unknown.
        Refusal: The two did not ask the same queries, or share no scored cut-off.
    """
    left, right = map(load, (base, candidate), names(base, candidate))
    if left.queries != right.queries:
        raise Refusal(
            ["the two runs did not ask the same queries, so their scores are no pairs"],
            hint="measure both over the same corpus",
        )
    level, name = _metric(left, right, metric)
    columns = [run.scores[level].columns[str(name)] for run in (left, right)]
    keys = [key for key in left.queries if key in columns[0] and key in columns[1]]
    return Pilot(
        base=left.name,
        candidate=right.name,
        metric=f"{name} at the {level} level",
        cluster=cluster,
        deltas=np.array([columns[1][key] - columns[0][key] for key in keys]),
        clusters=None
        if cluster is None
        else [
            key.instance if cluster == "conversation" else left.queries[key].category
            for key in keys
        ],
        deterministic=all(map(_deterministic, (left, right))),
    )


def _metric(left: LoadedRun, right: LoadedRun, asked: str | None) -> tuple[Level, MetricName]:
    shared = left.cutoffs().keys() & right.cutoffs().keys()
    cells = sorted(shared, key=lambda cell: (LEVELS.index(cell[0]), cell[1]))
    found = choose_headline(asked, cells)
    if isinstance(found, Reason):
        raise Refusal([found.what], hint=found.hint)
    return headline_cell(cells)[0], found


def _deterministic(run: LoadedRun) -> bool:
    measured = run.manifest.determinism
    return measured is not None and 0 < measured.queries == measured.identical
