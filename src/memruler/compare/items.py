"""One side of a paired comparison: a value an item, wherever it comes from."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

__all__ = ["Items"]


class Items(msgspec.Struct, frozen=True, kw_only=True):
    """The items of one side, by id.

    Attributes:
        name: What to call it.
        source: A run folder or a file of scores.
        ids: Every item, in order.
        values: Metric to the values of the items that have one.
        absent: Metric to the reason why an item has none, for those that have none.
        keys: Cluster key (`conversation`, `category`, `evidence`, or a column) to each item's
            cluster.
        deterministic: Whether a second measurement would give the same values to the last bit.
        declared: What was measured with what: the fingerprint that must match.
        repeats: Most values that an item had, before they became one.
        majority: Metrics of labels 0 and 1 whose repeats disagreed and became one by majority.
        degraded: Why the measurement is not to be trusted.
    """

    name: str
    source: Literal["run", "file"]
    ids: tuple[str, ...]
    values: Mapping[str, Mapping[str, float]]
    absent: Mapping[str, Mapping[str, str]]
    keys: Mapping[str, Mapping[str, str]]
    deterministic: bool
    declared: Mapping[str, Any]
    repeats: int = 1
    majority: frozenset[str] = frozenset()
    degraded: tuple[str, ...] = ()
