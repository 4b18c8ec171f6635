"""The one number that a run or a comparison is judged by."""

from collections.abc import Sequence
from typing import get_args

from memruler.compare.record import Reason
from memruler.errors import UsageError
from memruler.metrics.names import METRICS, MetricName
from memruler.model.summary import Level

__all__ = ["HEADLINE", "LEVELS", "Cell", "choose_headline", "headline_cell"]

LEVELS: tuple[Level, ...] = get_args(Level)
"""Both levels, the one of the headline first."""

HEADLINE = "recall_all"
"""The metric that decides when nobody chose one: all gold inside the window."""

Cell = tuple[Level, int]
"""A level and a depth."""

_DEFAULT_K = 5


def headline_cell(cells: Sequence[Cell]) -> Cell:
    """The level and depth of the headline when nobody chose a depth.

    One rule: session level before turn level; there 5, or else the deepest there is.

    Args:
        cells: At least one.
    """
    level = min((level for level, _ in cells), key=LEVELS.index)
    depths = [k for at, k in cells if at == level]
    return level, _DEFAULT_K if _DEFAULT_K in depths else max(depths)


def choose_headline(asked: str | None, cells: Sequence[Cell]) -> MetricName | Reason:
    """The metric that decides: the one asked for, or `recall_all` by the rule of `headline_cell`.

    Args:
        asked: For instance `ndcg@10`; it is read at the level of `headline_cell`. None if
            nobody chose.
        cells: What is compared.

    Returns:
        The metric at its cut-off, or why it cannot decide.

    Raises:
        UsageError: `asked` is no metric that a single query has a value of.
    """
    name = None if asked is None else MetricName.parse(asked)
    if name is not None and METRICS[name.metric].kind != "per-query":
        raise UsageError(
            f"--metric {name}: a single query has no {name.metric}, so no query can change",
            hint=f"choose a metric that every query has, such as {HEADLINE}@{name.k}",
        )
    if not cells:
        return Reason(
            code="metric",
            what="there is no headline, since no cut-off compares",
            hint="choose other cut-offs",
        )
    level, k = headline_cell(cells)
    if name is None:
        return MetricName(HEADLINE, k)
    if (level, name.k) in cells:
        return name
    return Reason(
        code="metric",
        what=f"{name} is not compared at the {level} level",
        hint=f"choose --metric {name.metric}@{k}, or another --level",
    )
