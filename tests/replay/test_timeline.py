from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.model.corpus import Instance, Query, Session, Turn
from memruler.replay.timeline import instance_clock, span_days

CLOCK = datetime(2026, 11, 29, 12)
MAY, JUNE, LATE = datetime(2023, 5, 1), datetime(2023, 6, 1, 6), datetime(2023, 12, 1)
DATES = st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1))


def build(*sessions, asked=None):
    turn = (Turn(position=0, speaker="A", text="x"),)
    built = tuple(
        Session(position=i, time=time, turns=turn if full else ())
        for i, (time, full) in enumerate(sessions)
    )
    query = Query(position=0, text="?", category="c", evidence=(), time=asked)
    return Instance(position=0, key="i", sessions=built, queries=(query,))


def test_now_pins_every_item_to_the_question():
    instance = build((MAY, True), (None, True), asked=LATE)
    clock = instance_clock(instance, "now", CLOCK)
    assert clock.at == LATE
    assert [clock.item_time(s) for s in instance.sessions] == [LATE, LATE]


def test_now_without_a_question_time_takes_the_newest_session():
    assert instance_clock(build((MAY, True), (JUNE, True)), "now", CLOCK).at == JUNE


def test_anchored_puts_the_newest_session_at_the_question_and_keeps_the_gaps():
    instance = build((MAY, True), (JUNE, True), (None, True), asked=LATE)
    clock = instance_clock(instance, "anchored", CLOCK)
    assert clock.at == LATE
    assert [clock.item_time(s) for s in instance.sessions] == [LATE - (JUNE - MAY), LATE, None]


def test_anchored_without_a_question_time_keeps_the_written_dates():
    instance = build((MAY, True), (JUNE, True))
    clock = instance_clock(instance, "anchored", CLOCK)
    assert clock.at == JUNE
    assert [clock.item_time(s) for s in instance.sessions] == [MAY, JUNE]


def test_a_session_after_the_question_is_shifted_back_to_it():
    clock = instance_clock(build((MAY, True), (LATE, True), asked=JUNE), "anchored", CLOCK)
    assert clock.item_time(build((LATE, True)).sessions[0]) == JUNE


def test_literal_asks_at_the_machines_clock():
    clock = instance_clock(build((MAY, True), asked=LATE), "literal", CLOCK)
    assert clock.at == CLOCK
    assert clock.pinned is None


@pytest.mark.parametrize("timeline", ["now", "anchored"])
def test_a_session_without_turns_does_not_count(timeline):
    instance = build((MAY, True), (LATE, False))
    assert instance_clock(instance, timeline, CLOCK).at == MAY
    assert span_days(instance) == 0


@pytest.mark.parametrize("timeline", ["now", "anchored", "literal"])
def test_nothing_dated_falls_back_on_the_clock(timeline):
    instance = build((None, True))
    assert instance_clock(instance, timeline, CLOCK).at == CLOCK
    assert span_days(instance) is None


def test_span_is_in_days():
    assert span_days(build((MAY, True), (JUNE, True))) == 31.25


@given(st.lists(DATES, min_size=1, max_size=6), st.integers(-3000, 3000))
def test_shifting_every_date_shifts_no_age(dates, days):
    shift = timedelta(days=days)
    plain = build(*((d, True) for d in dates))
    moved = build(*((d + shift, True) for d in dates))
    for timeline in ("now", "anchored"):
        a = instance_clock(plain, timeline, CLOCK)
        b = instance_clock(moved, timeline, CLOCK)
        ages = [a.at - a.item_time(s) for s in plain.sessions]
        assert ages == [b.at - b.item_time(s) for s in moved.sessions]
