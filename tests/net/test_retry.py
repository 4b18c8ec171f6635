from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.net.errors import HttpError
from memruler.net.retry import PATIENCE, Budget, retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 1.0),
        ("7", 7.0),
        (" 7 ", 7.0),
        ("1.5", 1.5),
        ("0", 0.2),
        ("-3", 0.2),
        ("3600", 60.0),
        ("inf", 60.0),
        ("nan", 1.0),
        ("soon", 1.0),
        ("", 1.0),
        ("Sun, 01 Mar 2026 12:00:09 GMT", 9.0),
        ("Sun, 01 Mar 2026 12:00:09 -0000", 9.0),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0.2),
        ("Mon, 01 Mar 2027 12:00:00 GMT", 60.0),
    ],
)
def test_retry_after_is_read_and_clamped(header, seconds):
    assert retry_after(header, NOW) == seconds


@given(st.text())
def test_no_header_breaks_it_or_leaves_the_bounds(header):
    assert 0.2 <= retry_after(header, NOW) <= 60.0


def test_waits_double_until_the_retries_are_spent():
    budget = Budget(retries=4)
    broken = HttpError("broken", status=503, transient=True)
    assert [budget.wait(broken) for _ in range(6)] == [0.5, 1.0, 2.0, 4.0, None, None]


def test_429_spends_no_retry():
    budget = Budget(retries=1)
    limited = HttpError("slow down", status=429, transient=True, retry_after=3.0)
    assert [budget.wait(limited) for _ in range(5)] == [3.0] * 5
    assert budget.wait(HttpError("broken", transient=True)) == 0.5
    assert budget.wait(HttpError("broken", transient=True)) is None


def test_patience_with_429_ends():
    budget = Budget()
    limited = HttpError("slow down", status=429, transient=True, retry_after=60.0)
    waits = [budget.wait(limited) for _ in range(12)]
    assert waits == [60.0] * 10 + [None] * 2
    assert sum(wait for wait in waits if wait) == PATIENCE


@pytest.mark.parametrize("error", [HttpError("no", status=404), ValueError("a bug")])
def test_what_will_not_pass_is_not_tried_again(error):
    assert Budget().wait(error) is None
