"""The same queries of several systems side by side: what winners are taken over."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from memruler.compare.target_sums import exact_mean, exact_sum
from memruler.errors import Refusal
from memruler.scoring.traced import Scored

__all__ = ["MEASURED", "Panel", "panel", "rescored_panel", "unique_names"]

MEASURED = ("ndcg", "mrr", "recall_any", "recall_all", "recall_micro", "recall_pooled", "top1")
"""Every metric that two systems can be compared on."""

_Rows = NDArray[np.int64]
_SHOWN = 5


class Panel(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """N queries that every target serves in every system, in the order of the first system.

    Attributes:
        names: Of the systems, distinct.
        systems: Their values.
        targets: Names.
        rows: Where the queries stand in each system [N each].
        matched: The same of the `common` queries, in the same order [C each].
        asked: How many queries every system was asked.
        common: How many of them may be scored in every system, served by a target or not.
        notes: What does not quite match.
    """

    names: tuple[str, ...]
    systems: tuple[Scored, ...]
    targets: tuple[str, ...]
    rows: tuple[_Rows, ...]
    matched: tuple[_Rows, ...]
    asked: int
    common: int
    notes: tuple[str, ...] = ()

    def values(self, at: int, target: str, metric: str, k: int) -> NDArray[np.float64]:
        """The values of one system under one target, of a metric that a query has [N]."""
        return self.systems[at].by_target[target].values[metric, k][self.rows[at]]

    def first_rank(self, at: int, target: str, k: int) -> _Rows:
        """Rank of the first full support within the first `k`; 0 without one [N]."""
        first = self.systems[at].by_target[target].first[self.rows[at]]
        return np.where(first <= k, first, 0)

    def mean(
        self, at: int, target: str, metric: str, k: int, where: NDArray[np.bool_] | None = None
    ) -> float:
        """The mean of one system under one target.

        Args:
            at: Place of the system.
            target: Name of the target.
            metric: One of `MEASURED`.
            k: The cut-off.
            where: Only these of the queries [N]; at least one.
        """
        if metric == "recall_pooled":
            credit = self.systems[at].by_target[target]
            found, anchors = credit.found[k][self.rows[at]], credit.anchors[self.rows[at]]
            if where is not None:
                found, anchors = found[where], anchors[where]
            return exact_sum(found) / int(anchors.sum())
        values = self.values(at, target, metric, k)
        if where is not None:
            values = values[where]
        return exact_mean(values)


def panel(systems: Sequence[Scored]) -> Panel:
    """Match the queries of several systems by name.

    Args:
        systems: One or more of distinct names, scored at the same cut-offs under the same
            targets.

    Raises:
        Refusal: They are not about the same thing, or no query is shared.
        ValueError: Their cut-offs or targets are not the same.
    """
    first = systems[0]
    if any(_scoring(one) != _scoring(first) for one in systems):
        raise ValueError("systems are compared at the same cut-offs and under the same targets")
    names = [one.traced.name for one in systems]
    _require_same(names, systems)
    rows = _common(systems)
    asked = len(rows[0])
    if not asked:
        raise Refusal(
            ["the systems were asked no query in common"],
            where=_told(names),
            hint="queries are matched by name: give runs or traces over the same questions",
        )
    scored = _all([one.traced.counts() for one in systems], rows)
    rows = tuple(mine[scored] for mine in rows)
    common = len(rows[0])
    _require_same_gold(names, systems, rows)
    served = _all([one.shared() for one in systems], rows)
    if not served.any():
        raise Refusal(
            [f"none of the {common} common queries is served by every target in every system"],
            where="; ".join(_served(names, systems)),
            hint="leave out a target with --target",
        )
    kept = tuple(mine[served] for mine in rows)
    return Panel(
        names=tuple(names),
        systems=tuple(systems),
        targets=tuple(first.by_target),
        rows=kept,
        matched=rows,
        asked=asked,
        common=common,
        notes=(*_gold_notes(systems), *_category_notes(names, systems, kept)),
    )


def rescored_panel(side: Panel, systems: Sequence[Scored]) -> Panel | None:
    """The same systems with other gold, over the common queries that every target serves there.

    Args:
        side: What they are.
        systems: The same rankings, scored anew.

    Returns:
        None where every target serves no query in every system.
    """
    served = _all([one.shared() for one in systems], side.matched)
    if not served.any():
        return None
    rows = tuple(mine[served] for mine in side.matched)
    return msgspec.structs.replace(side, systems=tuple(systems), rows=rows)


def _all(masks: Sequence[NDArray[np.bool_]], rows: Sequence[_Rows]) -> NDArray[np.bool_]:
    """Which of the matched queries every system's own mask holds."""
    kept = np.ones(len(rows[0]), np.bool_)
    for mask, mine in zip(masks, rows, strict=True):
        kept &= mask[mine]
    return kept


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, told apart by a number where they repeat."""
    made: list[str] = []
    for name in names:
        unique, number = name, 1
        while unique in made:
            number += 1
            unique = f"{name}#{number}"
        made.append(unique)
    return made


def _scoring(one: Scored) -> tuple[object, ...]:
    return one.cutoffs, tuple(one.by_target)


def _told(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _require_same(names: Sequence[str], systems: Sequence[Scored]) -> None:
    first = systems[0]
    base = first.traced.identity
    reasons = []
    for name, one in zip(names, systems, strict=True):
        mine = one.traced.identity
        for word, own, its in (
            ("credit rule", one.rule, first.rule),
            ("level", one.traced.level, first.traced.level),
        ):
            if own != its:
                reasons.append(f"{name} is scored with {word} {own}, {names[0]} with {word} {its}")
        unlike = sorted(key for key in {*base, *mine} if base.get(key) != mine.get(key))
        if unlike:
            reasons.append(f"{name} is not over the same {' and '.join(unlike)} as {names[0]}")
    if reasons:
        raise Refusal(reasons, hint="compare systems over the same corpus and population")


def _common(systems: Sequence[Scored]) -> tuple[_Rows, ...]:
    """Where the queries that all systems were asked stand in each, in the order of the first."""
    query = _strings(systems[0])
    places = [np.arange(len(query))]
    known = np.ones(len(query), np.bool_)
    for one in systems[1:]:
        at = np.asarray(pc.index_in(query, value_set=_strings(one)).fill_null(-1), np.int64)
        known &= at >= 0
        places.append(at)
    return tuple(at[known] for at in places)


def _strings(one: Scored) -> Any:
    names = one.traced.query
    flat = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    return pc.cast(flat, pa.large_string())


def _require_same_gold(
    names: Sequence[str], systems: Sequence[Scored], rows: Sequence[_Rows]
) -> None:
    """Anchors are the questions' own: another number of them is other gold.

    They are so under every rule and target, also under rule `id`, which counts by items. Where an
    input does not know anchors, each item stands for itself, and stores differ as they should.
    """
    if not all(one.traced.anchored for one in systems):
        return
    base_target = next(iter(systems[0].by_target))
    base = systems[0].traced.supports[base_target].of[rows[0]]
    reasons = []
    for name, one, mine in zip(names, systems, rows, strict=True):
        for target in one.by_target:
            unlike = int((one.traced.supports[target].of[mine] != base).sum())
            if unlike:
                reasons.append(
                    f"{unlike} of {len(base)} common queries have another number of gold anchors "
                    f"in {name} under {target} than in {names[0]} under {base_target}"
                )
    if reasons:
        raise Refusal(reasons, hint="compare systems over the same gold")


def _gold_notes(systems: Sequence[Scored]) -> list[str]:
    if len(systems) == 1 or all(one.traced.anchored for one in systems):
        return []
    return ["whether the systems have the same gold is not known: an input does not tell anchors"]


def _served(names: Sequence[str], systems: Sequence[Scored]) -> list[str]:
    return [
        f"{name}: " + ", ".join(f"{t} serves {int(one.served(t).sum())}" for t in one.by_target)
        for name, one in zip(names[:_SHOWN], systems, strict=False)
    ]


def _category_notes(
    names: Sequence[str], systems: Sequence[Scored], rows: Sequence[_Rows]
) -> list[str]:
    def named(at: int) -> NDArray[np.object_]:
        traced = systems[at].traced
        return np.array([*traced.categories, ""], dtype=object)[traced.category[rows[at]]]

    base, found = named(0), []
    for at in range(1, len(systems)):
        unlike = int((named(at) != base).sum())
        if unlike:
            found.append(
                f"{unlike} queries have another category in {names[at]} than in {names[0]}; the "
                "categories of winners are those of the latter"
            )
    return found
