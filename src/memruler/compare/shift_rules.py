"""Whether another rule of credit would change who wins."""

from collections.abc import Iterator

import msgspec

from memruler.compare.robust_record import RuleWinner
from memruler.compare.shift_panel import Panel
from memruler.compare.shift_winners import cells, recommendation, table
from memruler.compare.target_rules import other_rules, rescored
from memruler.model.credit import CreditRule
from memruler.scoring.traced import Scored

__all__ = ["rule_winners"]


def rule_winners(panel: Panel) -> Iterator[RuleWinner]:
    """Hold the winners on every metric and cut-off against those under the other rules."""
    for rule in other_rules(panel.systems[0]):
        others: list[Scored] = []
        for one in panel.systems:
            made = rescored(one, rule)
            if isinstance(made, str):
                yield _none(rule, f"{one.traced.name}: {made}")
                break
            others.append(made)
        else:
            yield from _held(panel, rule, others)


def _held(panel: Panel, rule: CreditRule, others: list[Scored]) -> Iterator[RuleWinner]:
    # A rule can leave a query without an anchor that another one keeps.
    both = panel.systems[0].shared()[panel.rows[0]]
    for other, mine in zip(others, panel.rows, strict=True):
        both &= other.shared()[mine]
    if not both.any():
        yield _none(rule, "no query is served by every target in every system under both rules")
        return
    rows = tuple(mine[both] for mine in panel.rows)
    here = msgspec.structs.replace(panel, rows=rows)
    there = msgspec.structs.replace(here, systems=tuple(others))
    for metric, k in cells(panel):
        used, won = (recommendation(metric, k, table(side, metric, k)) for side in (here, there))
        yield RuleWinner(
            rule=rule,
            metric=metric,
            k=k,
            queries=int(both.sum()),
            used=used,
            other=won,
            changed=tuple(
                mine.target
                for mine, its in zip(used.choices, won.choices, strict=True)
                if mine.winners != its.winners
            ),
        )


def _none(rule: CreditRule, reason: str) -> RuleWinner:
    return RuleWinner(
        rule=rule,
        metric="ndcg",
        k=1,
        queries=0,
        used=None,
        other=None,
        changed=(),
        reason=reason,
    )
