from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.stats.bootstrap import paired_bootstrap
from memruler.stats.proportion import wilson
from memruler.studies.audit_record import Sampled
from memruler.studies.audit_share import justified_share
from memruler.studies.audit_weights import weights_of


def drawn(strata, **about):
    return Sampled(
        **{
            "run": "r",
            "corpus": "c",
            "corpus_sha256": "0",
            "target": "source",
            "against": "raw",
            "level": "turn",
            "rule": "anchor",
            "k": 60,
            "seed": 7,
            "wanted": 9,
            "contested": 99,
            "gaining": 50,
            "drawn_from": "gaining",
            "queries": 9,
            "without": (),
            "no_evidence": 0,
            "no_item": 0,
            "cut": 0,
            "strata": strata,
            **about,
        }
    )


def columns(*categories, **about):
    names = {"run": "r", "corpus": "c", "target": "source"} | about
    return {name: [one] * len(categories) for name, one in names.items()} | {
        "category": list(categories)
    }


def test_a_case_stands_for_its_share_of_its_category():
    weights = weights_of(columns("a", "b", "a"), [drawn({"a": (30, 2), "b": (5, 1)})])
    assert weights == [15.0, 5.0, 15.0]


def test_categories_are_found_as_cells_show_them():
    assert weights_of(columns("a\\x1b"), [drawn({"a\x1b": (3, 1)})]) == [3.0]


@pytest.mark.parametrize(
    "rows", [("a", "a"), ("a", "b", "b"), ("a", "a", "b", "c"), ("a", "a", "b", "b")]
)
def test_rows_that_were_not_drawn_have_no_weights(rows):
    found = weights_of(columns(*rows), [drawn({"a": (30, 2), "b": (5, 1)})])
    assert "not those that a note says" in found


def test_a_target_that_was_drawn_twice_has_no_weights():
    twice = [drawn({"a": (3, 1)}), drawn({"a": (3, 1)}, seed=8)]
    assert weights_of(columns("a", "a"), twice) == "r was sampled twice under source"


def test_without_a_note_there_are_no_weights():
    assert weights_of(columns("a"), []) == "no note says how the cases were drawn"


def test_a_rare_category_weighs_little():
    """90 credits of `a` and 10 of `b`, two cases each: one of `a` is justified, both of `b`."""
    share = justified_share([True, False, True, True], list("pqrs"), [45.0, 45.0, 5.0, 5.0])
    assert share.value == 3 / 4
    assert share.weighted.value == pytest.approx(float(Fraction(45 + 5 + 5, 100)))
    assert share.weighted.low <= share.weighted.value <= share.weighted.high
    assert share.no_weights is None


CASES = st.lists(
    st.tuples(st.booleans(), st.integers(0, 4), st.sampled_from([1, 2, 5])), min_size=1, max_size=25
)


@settings(max_examples=40)
@given(CASES)
def test_a_weight_is_that_many_cases(cases):
    """Whole weights are as if each case stood that many times in its query."""
    said, queries, weights = zip(*cases, strict=True)
    share = justified_share(said, queries, [float(one) for one in weights])
    many = [(label, query) for label, query, times in cases for _ in range(times)]
    assert share.weighted.value == pytest.approx(sum(label for label, _ in many) / len(many))
    if len(set(queries)) < 2:
        assert (share.weighted.low, share.weighted.high) == (None, None)
    elif len(set(said)) == 1:
        alike = len(set(queries))
        assert (share.weighted.low, share.weighted.high) == wilson(alike * said[0], alike)
    elif len(set(weights)) > 1:
        wanted = paired_bootstrap(
            [float(label) for label, _ in many], [query for _, query in many], exact=False
        )
        assert share.weighted.low == pytest.approx(wanted.low)
        assert share.weighted.high == pytest.approx(wanted.high)
    else:
        assert (share.weighted.low, share.weighted.high) == (share.low, share.high)


def test_nothing_decided_weighs_nothing():
    share = justified_share([], [], [])
    assert (share.weighted, share.no_weights) == (None, "no case is decided")


def test_why_there_are_no_weights_is_kept():
    share = justified_share([True, False], ["p", "q"], "no note")
    assert (share.weighted, share.no_weights) == (None, "no note")


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=30), st.integers(1, 9))
def test_weights_sum_to_what_was_drawn_from(categories, times):
    counts = Counter(categories)
    strata = {name: (number * times, number) for name, number in counts.items()}
    weights = weights_of(columns(*categories), [drawn(strata)])
    assert sum(weights) == pytest.approx(times * len(categories))
