"""What the pages of targets say in words, and the rows that they show; written once."""

from collections.abc import Iterator, Sequence

from memruler.compare.sensitivity_record import (
    Agreement,
    Choice,
    Recommendation,
    RuleWinner,
    Sensitivity,
    SystemGap,
    TargetGap,
)
from memruler.compare.shift_cardinality import Cardinality, SizeBin
from memruler.compare.target_card import CardTarget, TargetCard
from memruler.compare.target_record import SHIFTED, PairShift, Shifts
from memruler.report import numbers

__all__ = [
    "agreement_words",
    "bin_name",
    "category_rows",
    "coverage_rows",
    "depth_rows",
    "flip_words",
    "headline",
    "leading",
    "line_words",
    "metric_name",
    "order_words",
    "outcome_words",
    "percent",
    "robust_rows",
    "rule_words",
    "shift_rows",
    "size_rows",
    "tied",
    "what",
    "winner_rows",
    "won_by",
]


_TIED = 3


def metric_name(metric: str, k: int) -> str:
    """`ndcg@60`, or `top1`, which has no cut-off."""
    return metric if metric == "top1" else f"{metric}@{k}"


def percent(share: float | None) -> str:
    """A share of queries; `-` where there is none."""
    return "-" if share is None else f"{100 * share:.1f} %"


def won_by(choice: Choice) -> str:
    """The winner of one target, or those that tie."""
    return tied(choice.winners)


def tied(names: Sequence[str]) -> str:
    """Names that tie; the first few of many."""
    more = f" = {len(names) - _TIED} more" if len(names) > _TIED else ""
    return " = ".join(names[:_TIED]) + more


def headline(found: Sensitivity) -> str:
    """What must be read first."""
    name = metric_name(found.metric, found.k)
    if len(found.systems) == 1:
        widest = max(found.shifts, key=_ndcg_share)
        share = _ndcg_share(widest)
        return (
            f"TARGETS: from {widest.a} to {widest.b}, nDCG changes on {percent(share)} of "
            f"{widest.whole.queries} queries"
        )
    words = {
        "same": f"{name} has the same winner under every target",
        "tied": f"{name} has a tie under some target and a winner under another",
        "changed": f"who wins on {name} depends on the target",
    }
    return f"TARGETS: {words[found.headline.outcome]}"


def what(found: Sensitivity) -> str:
    """The rule, the level and the populations, in a line."""
    systems = f"{len(found.systems)} system{'s' * (len(found.systems) != 1)}"
    return (
        f"credit rule {found.rule}, level {found.level}, {systems}; winners over the "
        f"{found.queries} of {found.common} common queries that every target serves"
    )


def shift_rows(shifts: Sequence[PairShift], k: int) -> Iterator[tuple[str, ...]]:
    """Pair, queries, shares changed (nDCG, MRR, recall, top-1), hit flips, mean shift of nDCG."""
    for pair in shifts:
        name = f"{pair.a} > {pair.b}"
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
    same = [metric_name(one.metric, one.k) for one in found if one.outcome == "same"]
    yield "same under all", ", ".join(same) or "none"


def outcome_words(one: Recommendation) -> str:
    """Whether who wins depends on the target, and who wins under each."""
    if one.outcome == "same":
        return f"same: {won_by(one.choices[0])} under every target"
    return f"{one.outcome}: {', '.join(f'{c.target} {won_by(c)}' for c in one.choices)}"


def order_words(card: TargetCard) -> Iterator[str]:
    """What the other rules of credit do to the order of one store's targets."""
    for rule in dict.fromkeys(one.rule for one in card.rules):
        mine = [one for one in card.rules if one.rule == rule]
        reason = next((one.reason for one in mine if one.reason is not None), None)
        turned = [
            f"{metric_name(one.metric, one.k)} ({', '.join(' / '.join(p) for p in one.turned)})"
            for one in mine
            if one.turned
        ]
        if reason is not None:
            yield f"credit rule {rule}: {reason}"
        elif turned:
            yield f"credit rule {rule} CHANGES the order of targets on {', '.join(turned)}"
        else:
            yield f"credit rule {rule} leaves the targets in the same order at k = {card.k}"


def leading(found: Sensitivity) -> str:
    """The metric whose changes are shown by depth and by query type."""
    whole = found.metric in SHIFTED and found.metric != "top1"
    return found.metric if whole else "ndcg"


def depth_rows(found: Sensitivity) -> Iterator[tuple[str, ...]]:
    """Cut-off, share changed of each pair of targets, and with several systems the outcome."""
    metric = leading(found)
    won = {one.k: one for one in found.recommendations if one.metric == metric}
    for k in found.cutoffs:
        shares = (_changed(pair.whole, metric, k) for pair in found.shifts)
        yield (str(k), *shares, *([won[k].outcome] if len(found.systems) > 1 else []))


def category_rows(found: Sensitivity) -> Iterator[tuple[str, ...]]:
    """Query type, its shared queries, share changed of each pair, and the outcome."""
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


def flip_words(gap: SystemGap) -> str:
    """One pair of systems that changes places, and between which targets."""
    told = ", ".join(f"{one.target} {_gap(one)}" for one in gap.gaps)
    return f"{metric_name(gap.metric, gap.k)}: {gap.b} minus {gap.a}: {told}"


def _gap(one: TargetGap) -> str:
    return "tie" if one.winner is None else f"{numbers.delta(one.gap)} ({one.winner})"


def size_rows(found: Sequence[Cardinality]) -> Iterator[tuple[str, ...]]:
    """Pair, k, queries, slope, t, r squared, and the mean shift where the size is the same."""
    for one in found:
        line = one.line
        level = next((part for part in one.bins if part.low == part.high == 0), None)
        yield (
            f"{one.a} > {one.b}",
            str(one.k),
            str(one.queries),
            "-" if line.slope is None else numbers.delta(line.slope),
            "-" if line.t is None else f"{line.t:.2f}",
            "-" if line.r2 is None else f"{line.r2:.3f}",
            "-" if level is None else f"{numbers.delta(level.mean)} ({level.queries})",
        )


def bin_name(part: SizeBin) -> str:
    """`+3`, `5 to 8`, `17 or more`."""
    if part.low is None:
        return f"{part.high} or less"
    if part.high is None:
        return f"{part.low} or more"
    if part.low == part.high:
        return numbers.signed(part.low)
    return f"{part.low} to {part.high}"


def line_words(found: Sequence[Cardinality]) -> Iterator[str]:
    """Why a line or its t is not there."""
    for one in found:
        if one.line.reason is not None:
            yield f"{one.a} > {one.b}, k = {one.k}: {one.line.reason}"


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
        yield label, f"{decided}; flips on {flips} of {len(one.recommendations)} metrics"
    for average in found.over_targets:
        if (average.metric, average.k) == (found.metric, found.k):
            told = f"{tied(average.winners)} ({numbers.mean(average.value)}); same winner as under "
            told += f"{_listed(average.agrees)}, another than under {_listed(average.differs)}"
            yield "average of targets", told
    for filtered in found.agreements:
        if filtered.k == max(found.cutoffs):
            label = "agree on hit" if filtered.on == "hit" else "agree on first rank"
            yield label, agreement_words(filtered, several=len(found.systems) > 1)


def agreement_words(one: Agreement, *, several: bool) -> str:
    """How many queries are left, how many of them still change, and who wins there."""
    left = (
        f"{one.agree} of {one.of} agree at k = {one.k}, and nDCG still changes on "
        f"{one.changed} of them ({percent(one.share)})"
    )
    if not several:
        return left
    if one.recommendation is None:
        return f"{left}; {one.reason}"
    return (
        f"{left}; over the {one.queries} that agree in every system {len(one.flips)} of "
        f"{one.flips_before} flips stay: {outcome_words(one.recommendation)}"
    )


def rule_words(one: RuleWinner) -> str:
    """What another rule does to who wins."""
    if one.used is None or one.other is None:
        return f"credit rule {one.rule}: {one.reason}"
    name = metric_name(one.metric, one.k)
    if not one.changed:
        return f"credit rule {one.rule} changes no winner on {name}"
    told = "; ".join(
        f"{mine.target}: {won_by(mine)}, by rule {one.rule} {won_by(its)}"
        for mine, its in zip(one.used.choices, one.other.choices, strict=True)
        if mine.target in one.changed
    )
    return f"credit rule {one.rule} CHANGES who wins on {name}: {told}"


def coverage_rows(targets: Sequence[CardTarget]) -> Iterator[tuple[str, ...]]:
    """Target, queries served, anchors kept, eligible items, shared items, forms."""
    for one in targets:
        forms = "-" if one.forms is None else numbers.counts(one.forms)
        yield (
            one.target,
            numbers.share(one.queries, one.of),
            numbers.share(one.gold.anchors, one.anchors_of),
            str(one.eligible),
            str(one.gold.several),
            str(one.gold.sharing),
            forms,
        )


def _ndcg_share(pair: PairShift) -> float:
    return pair.whole.depths[-1].of("ndcg").share if pair.whole.depths else -1.0


def _headline_of(rows: Sequence[Recommendation], found: Sensitivity) -> Recommendation | None:
    wanted = (found.metric, found.k)
    return next((one for one in rows if (one.metric, one.k) == wanted), None)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
