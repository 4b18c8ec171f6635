"""The metrics by name, and the text form of a metric at a cut-off: `recall_all@5`.

A name says what is computed and how deep. Level and target are parameters of a score, never part
of the name.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from memruler.errors import UsageError
from memruler.metrics import definitions

__all__ = ["LARGEST_CUTOFF", "METRICS", "Metric", "MetricName", "parse_cutoffs"]

LARGEST_CUTOFF = 1_000_000
"""Deeper than any list a memory returns; keeps a slip of the keyboard from costing memory."""

# ASCII only and no leading zero, so that every cut-off has exactly one text form.
_CUTOFF = re.compile(r"[1-9][0-9]{0,6}")


@dataclass(frozen=True)
class Metric:
    """A metric of the registry.

    Attributes:
        name: As printed, without a cut-off.
        definition: Its function in `memruler.metrics.definitions`.
        description: One line for people.
        kind: `per-query`: each query has a value and a run has their mean. `pooled`: only a set
            of queries has a value.
    """

    name: str
    definition: Callable[..., float]
    description: str
    kind: Literal["per-query", "pooled"] = "per-query"


METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metric in (
            Metric("recall_all", definitions.recall_all, "1 if all gold is within the first k"),
            Metric("recall_any", definitions.recall_any, "1 if any gold is within the first k"),
            Metric("recall_micro", definitions.recall_micro, "share of the query's gold found"),
            Metric("precision", definitions.precision, "share of the first k that is gold"),
            Metric("mrr", definitions.mrr, "1 / rank of the first gold within the first k, or 0"),
            Metric("ndcg", definitions.ndcg, "discounted gain over the best attainable one"),
            Metric(
                "recall_pooled",
                definitions.recall_pooled,
                "share of all queries' gold found, each gold id weighing the same",
                "pooled",
            ),
        )
    }
)
"""Every metric, the headline first."""


@dataclass(frozen=True, order=True)
class MetricName:
    """A metric at a cut-off; `str` prints it and `parse` reads it back.

    Args:
        metric: A key of `METRICS`.
        k: Depth, from 1 to `LARGEST_CUTOFF`.

    Raises:
        UsageError: The metric is unknown, or the cut-off is out of range.
    """

    metric: str
    k: int

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise UsageError(f"unknown metric '{self.metric}'", hint=_hint(self.metric))
        _checked_cutoff(str(self.k))

    def __str__(self) -> str:
        return f"{self.metric}@{self.k}"

    @classmethod
    def parse(cls, text: str) -> "MetricName":
        """Read `recall_all@5`.

        Raises:
            UsageError: The metric is unknown, or the cut-off is missing or not a number from 1
                to `LARGEST_CUTOFF`.
        """
        metric, at, k = text.partition("@")
        if metric in METRICS and not at:
            raise UsageError(
                f"metric '{metric}' has no cut-off", hint=f"write it with a depth: {metric}@5"
            )
        # The name is judged first: it is what a person mistypes, and the hint is about it.
        return cls(metric, _checked_cutoff(k) if metric in METRICS else 1)


def parse_cutoffs(text: str) -> tuple[int, ...]:
    """Read a list of cut-offs: `1,3,5,10,20`.

    Order and repeats carry no meaning and spaces are allowed.

    Returns:
        The cut-offs, ascending and distinct; at least one.

    Raises:
        UsageError: A part is not a whole number from 1 to `LARGEST_CUTOFF`.
    """
    return tuple(sorted({_checked_cutoff(part.strip()) for part in text.split(",")}))


def _checked_cutoff(text: str) -> int:
    if not _CUTOFF.fullmatch(text) or int(text) > LARGEST_CUTOFF:
        raise UsageError(
            f"'{text}' is not a cut-off",
            hint=f"a cut-off is a whole number from 1 to {LARGEST_CUTOFF}, such as 5",
        )
    return int(text)


def _hint(name: str) -> str:
    close = difflib.get_close_matches(name.lower(), METRICS, n=3)
    return f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(METRICS)}"
