"""The rows that the pages of targets show; written once for the terminal and for Markdown."""

from collections.abc import Iterator, Sequence

from memruler.compare.sensitivity_record import Sensitivity
from memruler.compare.shift_cardinality import Cardinality
from memruler.compare.target_card import CardTarget
from memruler.compare.target_record import PairShift, Shifts
from memruler.compare.winner_record import Recommendation
from memruler.report import numbers
from memruler.report.targets_words import (
    agreement_name,
    agreement_words,
    leading,
    metric_name,
    outcome_words,
    percent,
    recount_name,
    recount_words,
    tied,
)

__all__ = [
    "COVERAGE",
    "anchor_rows",
    "category_rows",
    "coverage_rows",
    "depth_rows",
    "robust_rows",
    "shift_heads",
    "shift_rows",
    "size_rows",
    "unit",
    "winner_rows",
]


COVERAGE = ("queries", "anchors", "eligible", "several", "shared\nitem", "whole\nonly")
"""Heads of the numbers in `coverage_rows`, some on two lines."""


def shift_heads(systems: int) -> list[str]:
    """Heads of the numbers in `shift_rows`."""
    return [unit(systems), "nDCG", "MRR", "recall", "top-1", "hit flips", "mean nDCG"]


def unit(systems: int) -> str:
    """What is counted: over several systems a query counts once for each."""
    return "queries" if systems == 1 else "query x\nsystem"


def shift_rows(shifts: Sequence[PairShift], k: int) -> Iterator[tuple[str, ...]]:
    """Pair, queries, shares changed (nDCG, MRR, recall, top-1), hit flips, mean shift of nDCG."""
    for pair in shifts:
        name = f"{pair.a} to {pair.b}"
        whole = next((one for one in pair.whole.depths if one.k == k), None)
        if whole is None:
            yield (name, "0", *["-"] * 6)
            continue
        changed = (whole.of(m).share for m in ("ndcg", "mrr", "recall_micro", "top1"))
        hits = whole.of("recall_any").changed
        yield (
            name,
            str(pair.whole.queries),
            *map(percent, changed),
            str(hits),
            numbers.delta(whole.of("ndcg").mean),
        )


def winner_rows(found: Sequence[Recommendation]) -> Iterator[tuple[str, str]]:
    """The metrics that depend on the target, those alike in one row, and who wins; then others."""
    alike: dict[tuple[str, str], list[int]] = {}
    for one in found:
        if one.outcome != "same":
            alike.setdefault((one.metric, outcome_words(one)), []).append(one.k)
    for (metric, words), depths in alike.items():
        label = metric if metric == "top1" else f"{metric}@{','.join(map(str, depths))}"
        yield label, words
    same = [one for one in found if one.outcome == "same"]
    ties = [one for one in same if len(one.choices[0].winners) > 1]
    named = [metric_name(one.metric, one.k) for one in same if one not in ties]
    yield "same under all", ", ".join(named) or "none"
    if ties:
        yield "a tie under all", ", ".join(metric_name(one.metric, one.k) for one in ties)


def depth_rows(found: Sensitivity) -> Iterator[tuple[str, ...]]:
    """Cut-off, share changed of each pair of targets, and with several systems the outcome."""
    metric = leading(found)
    won = {one.k: one for one in found.recommendations if one.metric == metric}
    for k in found.cutoffs:
        shares = (_changed(pair.whole, metric, k) for pair in found.shifts)
        yield (str(k), *shares, *([won[k].outcome] if len(found.systems) > 1 else []))


def category_rows(found: Sensitivity) -> Iterator[tuple[str, ...]]:
    """Query type, its shared queries in each system, share changed of each pair, the outcome."""
    metric, k = leading(found), found.cutoffs[-1]
    won = {one.name: one for one in found.categories}
    for name in dict.fromkeys(c.name for pair in found.shifts for c in pair.categories):
        mine = [
            next((c.shifts for c in pair.categories if c.name == name), None)
            for pair in found.shifts
        ]
        shares = ("-" if one is None else _changed(one, metric, k) for one in mine)
        queries = max(one.queries for one in mine if one is not None)
        rows = won[name].recommendations if name in won else ()
        outcome = next((r.outcome for r in rows if (r.metric, r.k) == (metric, k)), "-")
        yield (name, str(queries), *shares, *([outcome] if len(found.systems) > 1 else []))


def _changed(shifts: Shifts, metric: str, k: int) -> str:
    return next((percent(one.of(metric).share) for one in shifts.depths if one.k == k), "-")


def size_rows(found: Sequence[Cardinality]) -> Iterator[tuple[str, ...]]:
    """Pair, k, queries, slope, t, r squared, and the mean shift where the size is the same.

    Where one target lies within the other the last says nothing, and stands as `nested`.
    """
    for one in found:
        line = one.line
        yield (
            f"{one.a} to {one.b}",
            str(one.k),
            str(one.queries),
            "-" if line.slope is None else numbers.delta(line.slope),
            "-" if line.t is None else f"{line.t:.2f}",
            "-" if line.r2 is None else f"{line.r2:.3f}",
            _at_same_size(one),
        )


def _at_same_size(one: Cardinality) -> str:
    if one.nested:
        return "nested"
    level = next((part for part in one.bins if part.low == part.high == 0), None)
    return "-" if level is None else f"{numbers.delta(level.mean)} ({level.queries})"


def anchor_rows(found: Sequence[Cardinality]) -> Iterator[tuple[str, ...]]:
    """Pair, k, and by whether either target drops an anchor: queries, changed, mean shift."""
    for one in found:
        if not one.anchors:
            continue
        cells = []
        for part in one.anchors:
            mean = "-" if part.mean is None else numbers.delta(part.mean)
            cells += [str(part.queries), str(part.changed), mean]
        yield (f"{one.a} to {one.b}", str(one.k), *cells)


def robust_rows(found: Sensitivity) -> Iterator[tuple[str, str]]:
    """What each other way of deciding does to the headline."""
    for one in found.aggregations:
        label = "mean over queries" if one.over == "queries" else f"mean over {one.over}"
        if one.reason is not None:
            yield label, one.reason
            continue
        mine = _headline_of(one.recommendations, found)
        flips = len({(gap.metric, gap.k) for gap in one.flips})
        decided = "recall_pooled has none" if mine is None else outcome_words(mine)
        yield label, f"{decided}; flips on {flips} of {len(one.recommendations)} metric x depth"
    yield from _recount_rows(found)
    for average in found.over_targets:
        if (average.metric, average.k) == (found.metric, found.k):
            tie = len(average.winners) > 1
            told = f"{tied(average.winners)}{' tie' * tie} ({numbers.mean(average.value)}); the "
            told += f"same {'ones tie' if tie else 'winner as'} under {_listed(average.agrees)}, "
            told += f"not so under {_listed(average.differs)}"
            yield "average of targets", told
    for filtered in found.agreements:
        if filtered.k == max(found.cutoffs):
            yield agreement_name(filtered), agreement_words(filtered, several=_several(found))


def _recount_rows(found: Sensitivity) -> Iterator[tuple[str, str]]:
    """The headline where everything is over the same anchors, in each way; a reason once."""
    told = dict.fromkeys(one.reason for one in found.recounts if one.reason is not None)
    if len(told) == 1 and all(one.reason is not None for one in found.recounts):
        yield "the same anchors", next(iter(told))
        return
    for one in found.recounts:
        yield recount_name(one), recount_words(found, one)


def _several(found: Sensitivity) -> bool:
    return len(found.systems) > 1


def coverage_rows(targets: Sequence[CardTarget]) -> Iterator[tuple[str, ...]]:
    """Target, queries served, anchors kept, eligible items, and of the anchors those with several.

    Then queries with an item of two anchors, anchors that only items of whole sessions serve, and
    the forms.
    """
    for one in targets:
        forms = "-" if one.forms is None else numbers.counts(one.forms)
        yield (
            one.target,
            numbers.share(one.queries, one.of),
            numbers.share(one.gold.anchors, one.anchors_of),
            str(one.eligible),
            str(one.gold.several),
            str(one.gold.sharing),
            "-" if one.gold.whole is None else str(one.gold.whole),
            forms,
        )


def _headline_of(rows: Sequence[Recommendation], found: Sensitivity) -> Recommendation | None:
    wanted = (found.metric, found.k)
    return next((one for one in rows if (one.metric, one.k) == wanted), None)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
