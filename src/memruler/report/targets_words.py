"""What the pages of targets say in words; written once for the terminal and for Markdown."""

from collections.abc import Iterator, Sequence

from memruler.compare.robust_record import Agreement, Flip, Recount, RuleWinner, ServedAnchors
from memruler.compare.sensitivity_record import Sensitivity
from memruler.compare.shift_cardinality import Cardinality, SizeBin
from memruler.compare.target_card import TargetCard
from memruler.compare.target_record import SHIFTED, PairShift
from memruler.compare.winner_record import Choice, Recommendation, SystemGap, TargetGap
from memruler.report import numbers

__all__ = [
    "agreement_words",
    "bin_name",
    "flip_words",
    "headline",
    "leading",
    "line_words",
    "metric_name",
    "order_words",
    "outcome_words",
    "percent",
    "rule_words",
    "tied",
    "what",
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
    means = "winners" if len(found.systems) > 1 else "means"
    return (
        f"credit rule {found.rule}, level {found.level}, {systems}; {means} over the "
        f"{found.queries} of {found.common} common queries that every target serves"
    )


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


def flip_words(gap: SystemGap) -> str:
    """One pair of systems that changes places, and between which targets."""
    told = ", ".join(f"{one.target} {_gap(one)}" for one in gap.gaps)
    return f"{metric_name(gap.metric, gap.k)}: {gap.b} minus {gap.a}: {told}"


def _gap(one: TargetGap) -> str:
    return "tie" if one.winner is None else f"{numbers.delta(one.gap)} ({one.winner})"


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
            yield f"{one.a} to {one.b}, k = {one.k}: {one.line.reason}"


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


def _ndcg_share(pair: PairShift) -> float:
    return pair.whole.depths[-1].of("ndcg").share if pair.whole.depths else -1.0
