"""The target card: what scores under targets rest on, said beside them."""

from collections.abc import Iterator
from itertools import combinations

import msgspec

from memruler.compare.shift_pairs import pair_shift
from memruler.compare.target_gold import GoldCounts, forms_admitted, gold_counts
from memruler.compare.target_record import SCHEMA_VERSION, PairShift
from memruler.compare.target_rules import RuleOrder, rule_orders
from memruler.compare.target_scores import excluded_by_reason
from memruler.compare.target_words import Statement, admits, statements
from memruler.model.credit import CreditLevel, CreditRule
from memruler.scoring.traced import Scored

__all__ = ["CardPair", "CardTarget", "TargetCard", "target_card"]


class CardTarget(msgspec.Struct, frozen=True, kw_only=True):
    """One target.

    Attributes:
        target: Its name.
        admits: Which stored forms it admits, in words.
        forms: Kind to the number of distinct items that may earn credit; None where the input
            does not tell kinds.
        queries, of: Queries with a value, of all that may be scored under some target.
        excluded: The others of the whole input, by reason.
        anchors_of: Gold anchors of those `of` queries: turns or sessions, under every rule of
            credit. Under rule `id` values are over the `eligible` items instead.
        gold: What is kept of them.
        eligible: Items that may earn credit, summed over the queries.
    """

    target: str
    admits: str
    forms: dict[str, int] | None
    queries: int
    of: int
    excluded: dict[str, int]
    anchors_of: int
    gold: GoldCounts
    eligible: int


class CardPair(msgspec.Struct, frozen=True, kw_only=True):
    """How much depends on which of two targets earns credit, at the deepest cut-off.

    Attributes:
        a, b: The two.
        queries: Those that both serve.
        ndcg, mrr, recall, top1: Share of these whose value changes (recall: `recall_micro`); None
            without a query.
        hit_flips: Queries with a hit under one and none under the other.
        mean: Mean of nDCG under `b` minus under `a`; None without a query.
    """

    a: str
    b: str
    queries: int
    ndcg: float | None
    mrr: float | None
    recall: float | None
    top1: float | None
    hit_flips: int
    mean: float | None


class TargetCard(msgspec.Struct, frozen=True, kw_only=True):
    """Which stored form earned the credit, and what would change if another one did.

    Attributes:
        schema_version: That of the records of targets.
        name: Of the system or setting.
        rule: How credit was counted.
        level: What an anchor is.
        population: Name of the set of queries.
        k: The deepest cut-off, at which `pairs` and `rules` are.
        shared: Queries that every target serves.
        statements: What papers leave open, one point each.
        targets: In the order asked for.
        pairs: Every two targets.
        rules: What another rule of credit would do to the order of the targets.
        unserved: Target to the reason why this store cannot be asked for it.
    """

    schema_version: int = SCHEMA_VERSION
    name: str
    rule: CreditRule
    level: CreditLevel
    population: str
    k: int
    shared: int
    statements: tuple[Statement, ...]
    targets: tuple[CardTarget, ...]
    pairs: tuple[CardPair, ...]
    rules: tuple[RuleOrder, ...]
    unserved: dict[str, str]


def target_card(scored: Scored) -> TargetCard:
    """Write the card of one store.

    Args:
        scored: The values of every query.
    """
    traced = scored.traced
    targets = tuple(_target(scored, target) for target in scored.by_target)
    shared = int(scored.shared().sum())
    return TargetCard(
        name=traced.name,
        rule=scored.rule,
        level=traced.level,
        population=traced.population,
        k=scored.cutoffs[-1],
        shared=shared,
        statements=tuple(
            statements(scored, {one.target: one.gold for one in targets}, shared=shared)
        ),
        targets=targets,
        pairs=tuple(_pairs(scored)),
        rules=tuple(rule_orders(scored)),
        unserved=traced.unserved,
    )


def _target(scored: Scored, target: str) -> CardTarget:
    traced, gold = scored.traced, scored.traced.supports[target]
    counts, served = traced.counts(), scored.served(target)
    return CardTarget(
        target=target,
        admits=admits(target, traced.origin, traced.level),
        forms=None if traced.forms is None else forms_admitted(gold, counts, traced.forms),
        queries=int(served.sum()),
        of=int(counts.sum()),
        excluded=excluded_by_reason(traced, served),
        anchors_of=int(gold.of[counts].sum()),
        gold=gold_counts(gold, counts, traced.forms if traced.level != "session" else None),
        eligible=int(gold.eligible()[counts].sum()),
    )


def _pairs(scored: Scored) -> Iterator[CardPair]:
    for a, b in combinations(scored.by_target, 2):
        yield _pair(pair_shift([scored], a, b, cutoffs=scored.cutoffs[-1:]))


def _pair(found: PairShift) -> CardPair:
    whole = found.whole
    deepest = whole.depths[-1] if whole.depths else None
    return CardPair(
        a=found.a,
        b=found.b,
        queries=whole.queries,
        ndcg=None if deepest is None else deepest.of("ndcg").share,
        mrr=None if deepest is None else deepest.of("mrr").share,
        recall=None if deepest is None else deepest.of("recall_micro").share,
        top1=None if deepest is None else deepest.of("top1").share,
        hit_flips=0 if deepest is None else deepest.of("recall_any").changed,
        mean=None if deepest is None else deepest.of("ndcg").mean,
    )
