"""Krippendorff's alpha: the published case, the referee, its relations, and what is refused."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.stats.agreement import fleiss_kappa, krippendorff_alpha

# Krippendorff (2011), section C: four observers, twelve units, "." where one is missing.
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
UNITS = [[None if r == "." else int(r) for r in unit] for unit in zip(*OBSERVERS, strict=True)]
LEVELS = ["nominal", "ordinal", "interval"]

TABLES = st.lists(
    st.lists(st.none() | st.integers(-2, 3), min_size=3, max_size=3), min_size=4, max_size=25
).filter(lambda rows: sum(sum(r is not None for r in row) > 1 for row in rows) > 1)


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_published(level, published):
    found = krippendorff_alpha(UNITS, level=level)
    assert round(found.value, 3) == published
    assert (found.n, found.left_out, found.raters, found.labels) == (11, 1, 4, 5)
    assert found.statistic == f"krippendorff-alpha-{level}"
    assert found.low < found.value < found.high


@pytest.mark.parametrize("level", LEVELS)
@given(rows=TABLES)
@settings(max_examples=60)
def test_referee_agrees(level, rows):
    referee = pytest.importorskip("krippendorff", reason="a referee only")
    paired = [row for row in rows if sum(r is not None for r in row) > 1]
    assume(len({r for row in paired for r in row if r is not None}) > 1)
    data = np.array([[np.nan if r is None else r for r in row] for row in paired]).T
    theirs = referee.alpha(reliability_data=data, level_of_measurement=level)
    assert krippendorff_alpha(rows, level=level, resamples=1000).value == pytest.approx(theirs)


def test_interval_against_a_plain_loop():
    referee = pytest.importorskip("krippendorff", reason="a referee only")
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 60)
    table = np.clip(truth[:, None] + rng.integers(-1, 2, (60, 3)), 1, 5)
    for level in LEVELS:
        drawn = [
            referee.alpha(
                reliability_data=table[rng.integers(0, 60, 60)].T, level_of_measurement=level
            )
            for _ in range(800)
        ]
        found = krippendorff_alpha(table, level=level)
        assert (found.low, found.high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.04)


@given(TABLES)
@settings(max_examples=25)
def test_two_values_are_the_same_at_every_level(rows):
    coarse = [[None if r is None else int(r > 0) for r in row] for row in rows]
    found = [krippendorff_alpha(coarse, level=level, resamples=1000) for level in LEVELS]
    if found[0].value is None:
        assert all(one.value is None and "every rating is" in one.reason for one in found)
        return
    for one in found[1:]:
        assert (one.value, one.low, one.high) == pytest.approx(
            (found[0].value, found[0].low, found[0].high)
        )
        assert one.undefined == found[0].undefined


def test_alpha_is_near_fleiss_where_nothing_is_missing():
    table = np.random.default_rng(6).integers(0, 3, (200, 3))
    n = 600
    fleiss, alpha = fleiss_kappa(table).value, krippendorff_alpha(table).value
    assert 1 - alpha == pytest.approx((1 - fleiss) * (n - 1) / n)


@pytest.mark.parametrize("move", [lambda v: 1e6 * v + 3e8, lambda v: -v / 7])
def test_interval_has_no_origin_and_no_unit(move):
    moved = [[None if r is None else move(r) for r in row] for row in UNITS]
    plain, other = (krippendorff_alpha(rows, level="interval") for rows in (UNITS, moved))
    assert (other.value, other.low, other.high) == pytest.approx(
        (plain.value, plain.low, plain.high)
    )


def test_ordinal_knows_order_alone():
    stretched = [[None if r is None else r**3 for r in row] for row in UNITS]
    assert krippendorff_alpha(stretched, level="ordinal") == krippendorff_alpha(
        UNITS, level="ordinal"
    )
    words = ["none", "poor", "fair", "good", "full"]
    named = [[None if r is None else words[r - 1] for r in row] for row in UNITS]
    assert krippendorff_alpha(named, level="ordinal", categories=words) == krippendorff_alpha(
        UNITS, level="ordinal"
    )


def test_interval_takes_any_number_of_values():
    referee = pytest.importorskip("krippendorff", reason="a referee only")
    rng = np.random.default_rng(7)
    table = rng.normal(50, 20, (100, 1)) + rng.normal(0, 10, (100, 3))
    theirs = referee.alpha(reliability_data=table.T, level_of_measurement="interval")
    assert krippendorff_alpha(table, level="interval").value == pytest.approx(theirs)


def test_interval_sees_that_a_resample_has_no_spread():
    """All but one item are the same value: as often undefined as with labels."""
    table = [[0.1, 0.1]] * 19 + [[0.1, 0.7]]
    found = krippendorff_alpha(table, level="interval")
    assert found.undefined == krippendorff_alpha(table).undefined > 0.3


@pytest.mark.parametrize(
    ("table", "level", "message"),
    [
        ([["a", "b"], ["a", "a"]], "interval", "'a' is no number"),
        ([["a", "b"], ["a", "a"]], "ordinal", "'a' is no number"),
        ([[1, float("inf")], [1, 1]], "interval", "no number"),
        ([[1, 2], [1, 1]], "ratio", "'ratio' is no level"),
        ([[at, at] for at in range(40)], "ordinal", "40 labels in order"),
    ],
)
def test_refused(table, level, message):
    with pytest.raises(UsageError, match=message):
        krippendorff_alpha(table, level=level)
