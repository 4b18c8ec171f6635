"""Cases of credit that a person can work out, with their values by the definition."""

import msgspec

from memruler.exchange.bundle_record import Fixture, FixtureSupport
from memruler.metrics.credit import Credit, Support, credit_one
from memruler.model.credit import CreditRule

__all__ = ["FIXTURE_METRICS", "fixtures", "value_of"]

FIXTURE_METRICS = (
    "found",
    "top1",
    "recall_any",
    "recall_all",
    "recall_micro",
    "mrr",
    "ndcg",
)
"""What a fixture gives of `memruler.metrics.credit.Credit`."""

_One = tuple[FixtureSupport, ...]


def _any(*items: str) -> _One:
    return tuple(FixtureSupport(items=(item,)) for item in items)


_TWO = (_any("a"), _any("b"))
_CASES: tuple[tuple[str, CreditRule, str, tuple[_One, ...], int, str], ...] = (
    ("the only anchor first", "anchor", "a x", (_any("a"),), 2, "1 / 1"),
    ("the only anchor second", "anchor", "x a", (_any("a"),), 2, "1/log2(3) / 1"),
    ("nothing found", "anchor", "x y", (_any("a"),), 2, "0 / 1"),
    (
        "two anchors, one found",
        "anchor",
        "a x",
        _TWO,
        2,
        "1 / (1 + 1/log2(3))",
    ),
    ("any form of an anchor will do, and counts once", "anchor", "a b", (_any("a", "b"),), 2, "1"),
    (
        "each form by itself",
        "id",
        "x b",
        (_any("a", "b"),),
        2,
        "1/log2(3) / (1 + 1/log2(3))",
    ),
    (
        "one item of two anchors gains once: a perfect list is under 1",
        "anchor",
        "a",
        (_any("a"), _any("a")),
        5,
        "1 / (1 + 1/log2(3))",
    ),
    ("the same under the corrected rule", "cover", "a", (_any("a"), _any("a")), 5, "2 / 2"),
    (
        "a partial support",
        "anchor",
        "a b",
        ((FixtureSupport(items=("a",), grade=0.5), FixtureSupport(items=("b",))),),
        2,
        "(0.5 + 0.5/log2(3)) / 1",
    ),
    (
        "two items that support only together",
        "anchor",
        "a x b",
        ((FixtureSupport(items=("a", "b")),),),
        3,
        "1/log2(4) / 1",
    ),
    ("a cut-off before the anchor", "anchor", "x a", (_any("a"),), 1, "0 / 1"),
)


def fixtures() -> tuple[Fixture, ...]:
    """All cases, with their values."""
    found = []
    for name, rule, ranking, anchors, k, working in _CASES:
        case = Fixture(
            name=name,
            rule=rule,
            ranking=tuple(ranking.split()),
            anchors=anchors,
            k=k,
            expected={},
            working=working,
        )
        credit = value_of(case)
        expected = {metric: float(getattr(credit, metric)) for metric in FIXTURE_METRICS}
        found.append(msgspec.structs.replace(case, expected=expected))
    return tuple(found)


def value_of(case: Fixture) -> Credit:
    """The value of a case by the definition.

    Raises:
        ValueError: It has no value: no anchor, or no cut-off.
    """
    anchors = [
        [Support(frozenset(one.items), one.grade) for one in supports] for supports in case.anchors
    ]
    return credit_one(case.ranking, anchors, case.k, case.rule)
