import numpy as np
import pytest

from memruler.errors import Refusal
from memruler.stats.power_repeats import split_repeats


def test_by_hand():
    split = split_repeats([[1, 0], [0, 1], [1, 1], [0, 0]])
    assert split.within == pytest.approx(1 / 16)
    assert split.between == pytest.approx((4 / 3 * 0.5 - 0.5) / 16)
    assert split.enough == 6
    at = {row.repeats: row for row in split.rows}
    assert at[2].error == pytest.approx(np.sqrt(4 / 3 * 0.5) / 4)
    assert at[1].within == pytest.approx(6 / 7)


def test_more_repeats_never_hurt_and_end_at_the_items():
    rng = np.random.default_rng(5)
    split = split_repeats(rng.normal(0, 0.3, (200, 1)) + rng.normal(0, 0.6, (200, 3)))
    errors = [row.error for row in split.rows]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] > np.sqrt(split.between)
    assert next(row.within for row in split.rows if row.repeats >= split.enough) <= 0.5


def test_items_that_do_not_differ_gain_by_every_repeat():
    # All items have the mean 0.5: whatever differs, differs within them.
    split = split_repeats([[1, 0], [0, 1], [1, 0], [0, 1]])
    assert split.between == 0
    assert split.enough is None
    assert all(row.within == 1 for row in split.rows)


def test_repeats_that_never_differ_need_no_second():
    split = split_repeats([[1, 1], [0, 0], [1, 1], [0, 0], [-1, -1]])
    assert split.within == 0
    assert split.enough == 1


@pytest.mark.parametrize(
    ("deltas", "message"),
    [
        ([1, 0, 1], "one draw of each item"),
        ([[1], [0], [1]], "one draw of each item"),
        ([[1, 0]], "1 items in 1 cluster"),
        ([[1, 1], [1, 1]], "no spread"),
    ],
)
def test_refusals(deltas, message):
    with pytest.raises(Refusal, match=message):
        split_repeats(deltas)
