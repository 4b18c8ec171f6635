"""What changes between systems when only the target does: shifts, flips, who would be chosen."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import msgspec

from memruler.compare.sensitivity_record import Sensitivity
from memruler.compare.shift_cardinality import cardinalities
from memruler.compare.shift_pairs import pair_shift
from memruler.compare.shift_panel import MEASURED, Panel, panel, unique_names
from memruler.compare.shift_recount import recounts, served_anchors
from memruler.compare.shift_robust import aggregations, agreements
from memruler.compare.shift_rules import rule_winners
from memruler.compare.shift_winners import (
    by_category,
    cells,
    gaps,
    over_targets,
    recommendation,
    table,
)
from memruler.compare.target_card import target_card
from memruler.compare.target_scores import target_scores
from memruler.errors import Refusal, UsageError
from memruler.metrics.names import parse_cutoffs
from memruler.scoring.traced import Scored

__all__ = ["headline_metric", "sensitivity"]

_FEWEST_TARGETS = 2


def headline_metric(asked: str | None, cutoffs: Sequence[int]) -> tuple[str, int]:
    """The metric that leads: the one asked for, or nDCG at the deepest cut-off.

    Args:
        asked: For instance `mrr@20`, `top1`, or `recall_any` (at the deepest cut-off).
        cutoffs: What is scored, ascending.

    Returns:
        Its name and depth; the depth of `top1` is 1.

    Raises:
        UsageError: It is unknown, or not scored at that depth.
    """
    if asked is None:
        return "ndcg", cutoffs[-1]
    name, at, depth = asked.partition("@")
    if name not in MEASURED:
        raise UsageError(
            f"unknown metric '{name}'", where="--metric", hint=f"known: {', '.join(MEASURED)}"
        )
    if name == "top1":
        if at and depth != "1":
            raise UsageError("top1 has no cut-off", where="--metric", hint="write --metric top1")
        return name, 1
    if not at:
        return name, cutoffs[-1]
    found = parse_cutoffs(depth)
    if len(found) != 1 or found[0] not in cutoffs:
        raise UsageError(
            f"nothing is scored at {asked}",
            where="--metric",
            hint=f"choose one of -k {','.join(map(str, cutoffs))}, or add it there",
        )
    return name, found[0]


def sensitivity(systems: Sequence[Scored], metric: str | None = None) -> Sensitivity:
    """Say what changes when only the target does.

    Args:
        systems: Systems or settings, at least one, scored at the same cut-offs by one rule. A
            target that one of them cannot be asked for is left out of all.
        metric: What leads; see `headline_metric`.

    Raises:
        Refusal: Fewer than two targets are left, the systems are not about the same thing, or no
            query is served by every target in every system.
        UsageError: `metric` is unknown or not scored.
    """
    head = headline_metric(metric, systems[0].cutoffs)
    kept, left_out = _alike(systems)
    side = panel(kept)
    means = {cell: table(side, *cell) for cell in cells(side)}
    pairs = list(combinations(side.targets, 2))
    several = len(kept) > 1
    return Sensitivity(
        systems=side.names,
        targets=side.targets,
        rule=kept[0].rule,
        level=kept[0].traced.level,
        population=kept[0].traced.population,
        cutoffs=kept[0].cutoffs,
        metric=head[0],
        k=head[1],
        asked=side.asked,
        common=side.common,
        queries=len(side.rows[0]),
        headline=recommendation(*head, means[head]),
        served=tuple(served_anchors(side)),
        shifts=tuple(pair_shift(kept, a, b) for a, b in pairs),
        cardinality=tuple(cardinalities(kept, pairs, kept[0].cutoffs)),
        recommendations=tuple(recommendation(*cell, found) for cell, found in means.items()),
        gaps=tuple(gap for cell, found in means.items() for gap in gaps(*cell, found)),
        categories=tuple(by_category(side)) if several else (),
        aggregations=tuple(aggregations(side)) if several else (),
        recounts=tuple(recounts(side)),
        over_targets=tuple(over_targets(*cell, found) for cell, found in means.items())
        if several
        else (),
        agreements=tuple(agreements(side)),
        rules=tuple(rule_winners(side)) if several else (),
        scores=tuple(map(target_scores, kept)),
        cards=tuple(map(target_card, kept)),
        left_out=left_out,
        notes=(*side.notes, *_notes(kept, side)),
    )


def _alike(systems: Sequence[Scored]) -> tuple[list[Scored], dict[str, dict[str, str]]]:
    """The systems under distinct names and with the targets that all of them have."""
    names = unique_names([one.traced.name for one in systems])
    targets = [t for t in systems[0].by_target if all(t in one.by_target for one in systems)]
    asked = dict.fromkeys(t for one in systems for t in (*one.by_target, *one.traced.unserved))
    left_out = {
        target: {
            name: one.traced.unserved.get(target, "it was not asked for it")
            for name, one in zip(names, systems, strict=True)
            if target not in one.by_target
        }
        for target in asked
        if target not in targets
    }
    if len(targets) < _FEWEST_TARGETS:
        reasons = [
            f"{target} cannot be asked of {name}: {why}"
            for target, whys in left_out.items()
            for name, why in whys.items()
        ]
        raise Refusal(
            reasons or ["nothing can depend on the target where there is only one"],
            hint="give two targets or more that every system can be asked for: --target raw,source",
        )
    return [
        msgspec.structs.replace(
            one,
            traced=msgspec.structs.replace(
                one.traced, name=name, supports={t: one.traced.supports[t] for t in targets}
            ),
            by_target={t: one.by_target[t] for t in targets},
        )
        for name, one in zip(names, systems, strict=True)
    ], left_out


def _notes(systems: Sequence[Scored], side: Panel) -> Iterator[str]:
    for one in systems:
        queries = len(one.traced.reason)
        if queries > side.asked:
            yield (
                f"{queries - side.asked} of the {queries} queries of {one.traced.name} were not "
                "asked of every system"
            )
    if side.asked > side.common:
        yield (
            f"{side.asked - side.common} of the {side.asked} queries that every system was asked "
            f"may not be scored in each ({_reasons(systems)})"
        )
    queries = len(side.rows[0])
    if queries < side.common:
        yield (
            f"{side.common - queries} of the {side.common} common queries are not served by every "
            "target in every system, and count for no winner"
        )
    for one in systems:
        for notice in one.traced.notices:
            named = f" ({', '.join(notice.names)})" if notice.names else ""
            yield f"{one.traced.name}: {notice.what}: {notice.count}{named}"


def _reasons(systems: Sequence[Scored]) -> str:
    names = dict.fromkeys(
        traced.reasons[code]
        for traced in (one.traced for one in systems)
        for code in sorted(set(traced.reason.tolist()) - {-1})
    )
    return ", ".join(names)
