"""Whether another rule of credit would put the targets of one store into another order."""

from collections.abc import Iterator
from itertools import combinations

import msgspec

from memruler.compare.target_record import SHIFTED, TOLERANCE
from memruler.compare.target_sums import exact_mean
from memruler.model.credit import CreditRule
from memruler.scoring.traced import Scored, score_traced

__all__ = ["RuleOrder", "other_rules", "rescored", "rule_orders"]


class RuleOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The targets of one store, in the order of one mean, under two rules of credit.

    Attributes:
        rule: The other rule.
        metric, k: Which mean; over the queries that every target serves under both rules.
        queries: How many these are.
        used, other: Target to its mean under the rule in use, and under the other one.
        turned: Pairs of targets whose order is not the same; a tie turns nothing.
        reason: Why there are no means; None where there are.
    """

    rule: CreditRule
    metric: str
    k: int
    queries: int
    used: dict[str, float]
    other: dict[str, float]
    turned: tuple[tuple[str, str], ...]
    reason: str | None = None


def other_rules(scored: Scored) -> tuple[CreditRule, ...]:
    """The two common rules, credit per anchor and per id, but for the one in use."""
    if scored.traced.level == "item" or not scored.traced.anchored:
        return ()  # each item counts by itself: there is nothing else to count by
    rules: tuple[CreditRule, ...] = ("anchor", "id")
    return tuple(rule for rule in rules if rule != scored.rule)


def rescored(scored: Scored, rule: CreditRule) -> Scored | str:
    """The same rankings under another rule, or why that has no meaning."""
    for target, gold in scored.traced.supports.items():
        if rule == "id" and gold.set_offsets is not None:
            return f"under {target} some items support only together, and rule id knows no sets"
    return score_traced(scored.traced, scored.cutoffs, rule)


def rule_orders(scored: Scored) -> Iterator[RuleOrder]:
    """Hold every mean at the deepest cut-off against the one under the other rules."""
    k = scored.cutoffs[-1]
    for rule in other_rules(scored):
        other = rescored(scored, rule)
        if isinstance(other, str):
            yield _none(rule, k, other)
            continue
        rows = scored.shared() & other.shared()
        queries = int(rows.sum())
        if not queries:
            yield _none(rule, k, "no query is served by every target under both rules")
            continue
        for metric in SHIFTED:
            used, means = (
                {
                    target: exact_mean(values.values[metric, k][rows])
                    for target, values in one.by_target.items()
                }
                for one in (scored, other)
            )
            yield RuleOrder(
                rule=rule,
                metric=metric,
                k=k,
                queries=queries,
                used=used,
                other=means,
                turned=tuple(
                    (a, b)
                    for a, b in combinations(used, 2)
                    if _sign(used[b] - used[a]) * _sign(means[b] - means[a]) < 0
                ),
            )


def _sign(gap: float) -> int:
    return 0 if abs(gap) <= TOLERANCE else (1 if gap > 0 else -1)


def _none(rule: CreditRule, k: int, reason: str) -> RuleOrder:
    return RuleOrder(
        rule=rule, metric="ndcg", k=k, queries=0, used={}, other={}, turned=(), reason=reason
    )
