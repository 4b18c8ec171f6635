"""What the pages of targets say in words; written once for the terminal and for Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from memruler.compare.robust_record import Agreement, Flip, Recount, RuleWinner, ServedAnchors
from memruler.compare.sensitivity_record import Sensitivity
from memruler.compare.shift_cardinality import Cardinality, SizeBin
from memruler.compare.target_card import TargetCard
from memruler.compare.target_record import SHIFTED, PairShift, TargetScores
from memruler.compare.winner_record import Choice, Recommendation, SystemGap, TargetGap
from memruler.report import numbers

__all__ = [
    "agreement_name",
    "agreement_words",
    "anchor_words",
    "bin_name",
    "decided_by",
    "flip_words",
    "headline",
    "leading",
    "line_words",
    "metric_name",
    "order_words",
    "outcome_words",
    "percent",
    "population",
    "recount_name",
    "recount_words",
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
    same = (
        f"the same systems tie on {name} under every target"
        if len(found.headline.choices[0].winners) > 1
        else f"{name} has the same winner under every target"
    )
    words = {
        "same": same,
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


def population(found: TargetScores) -> str:
    """Who may be scored, of those that were given."""
    left = found.queries - found.counted
    given = f", of {found.queries} given" if left else ""
    return f"{found.population}: {found.counted} queries that may be scored{given}"


def decided_by(found: Sensitivity) -> str | None:
    """The smallest gap that decides the headline; None where none does."""
    gaps = [(one.gap, one) for one in found.headline.choices if one.gap is not None]
    if not gaps:
        return None
    gap, one = min(gaps, key=lambda pair: pair[0])
    return f"smallest gap that decides: {numbers.delta(gap)}, for {won_by(one)} under {one.target}"


def anchor_words(found: Sensitivity) -> Iterator[str]:
    """Targets under which the systems have other gold anchors than each other."""
    for one in found.served:
        if one.same:
            continue
        over = "eligible items" if found.rule == "id" else "anchors"
        yield (
            f"NOT THE SAME ANCHORS under {one.target}: of {one.of}, {_each_system(one)} have an "
            f"eligible item, so these means are over different {over}"
        )


def _each_system(one: ServedAnchors) -> str:
    if len(one.served) <= _TIED:
        return " and ".join(f"{number} in {name}" for name, number in one.served.items())
    low, high = (pick(one.served, key=one.served.__getitem__) for pick in (min, max))
    return f"from {one.served[low]} in {low} to {one.served[high]} in {high}"


def recount_name(one: Recount) -> str:
    """How the same anchors are come by."""
    return {
        "dropped_missed": "dropped are misses",
        "served_by_all": "the same anchors",
    }[one.over]


def recount_words(found: Sensitivity, one: Recount) -> str:
    """The headline where everything is over the same anchors."""
    if one.reason is not None:
        return one.reason
    what = {
        "dropped_missed": "all {} anchors, the dropped ones counted as misses",
        "served_by_all": "only the {} anchors that every target keeps in every system",
    }[one.over].format(one.anchors)
    won = next(r for r in one.recommendations if (r.metric, r.k) == (found.metric, found.k))
    means = "; ".join(
        f"{c.target} " + ", ".join(numbers.mean(c.means[name]) for name in found.systems[:_TIED])
        for c in won.choices
    )
    zeros = "".join(
        f"; 0 for what {target} cannot serve: {_queries_of(mine)}"
        for target, mine in one.zeros.items()
    )
    several = len(found.systems) > 1
    who = f": {outcome_words(won)}" if several else ""
    return f"{what} ({one.queries} queries){who} ({means}){zeros}"


def _queries_of(numbers_of: Mapping[str, int]) -> str:
    told = [f"{number} queries of {name}" for name, number in numbers_of.items()]
    more = f" and of {len(told) - _TIED} more systems" if len(told) > _TIED else ""
    return ", ".join(told[:_TIED]) + more


def outcome_words(one: Recommendation) -> str:
    """Whether who wins depends on the target, and who wins under each."""
    if one.outcome == "same":
        tie = " tie" if len(one.choices[0].winners) > 1 else ""
        return f"same: {won_by(one.choices[0])}{tie} under every target"
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


def agreement_name(one: Agreement) -> str:
    """Which filter this is."""
    return "all find something" if one.on == "hit" else "same first rank"


def agreement_words(one: Agreement, *, several: bool) -> str:
    """How many queries are left, how many of them still change, and who wins there."""
    what = "where every target finds something" + (
        ", the first at the same rank" if one.on == "first_rank" else ""
    )
    pairs = " query x system pairs" if several else " queries"
    left = (
        f"{one.agree} of {one.of}{pairs} {what} within k = {one.k} (for {one.nothing} no target "
        f"finds anything)"
    )
    if one.share is not None:
        left += f"; nDCG still changes on {one.changed} of these ({percent(one.share)})"
    if not several:
        return left
    if one.recommendation is None or one.flips is None:
        return f"{left}; {one.reason}"
    return (
        f"{left}; over the {one.queries} queries that agree in every system: "
        f"{outcome_words(one.recommendation)}; flips: {_flips('kept', one.flips.kept)}, "
        f"{_flips('gone', one.flips.gone)}, {_flips('new', one.flips.new)}"
    )


def _flips(word: str, flips: Sequence[Flip]) -> str:
    named = [" / ".join(map(" ".join, zip(f.targets, f.winners, strict=True))) for f in flips]
    if not named:
        return f"none {word}"
    more = f", and {len(named) - _TIED} more" if len(named) > _TIED else ""
    return f"{len(named)} {word} ({', '.join(named[:_TIED])}{more})"


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
