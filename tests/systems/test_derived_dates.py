from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.systems.derived.dates import stated
from memruler.systems.derived.salience import names_in, weigh

MONDAY = datetime(2023, 5, 8)
NOBODY = frozenset()


def labels(clause, said=MONDAY):
    return [date.label for date in stated(clause, said)]


@pytest.mark.parametrize(
    ("clause", "label"),
    [
        ("born 1999-12-31", "31 December 1999"),
        ("on 7 May 2023 we met", "7 May 2023"),
        ("the 7th of May, 2023", "7 May 2023"),
        ("May 7th, 2023", "7 May 2023"),
        ("Sept 3", "3 September"),
        ("in Dec 2022", "December 2022"),
        ("June, 2021", "June 2021"),
        ("since 2016", "2016"),
        ("In May I ran", "May"),
    ],
)
def test_a_date_as_it_stands_needs_no_day_of_the_talk(clause, label):
    for said in (None, MONDAY):
        (found,) = stated(clause, said)
        assert found == (label, False)


@pytest.mark.parametrize(
    ("clause", "label"),
    [
        ("Yesterday I ran", "7 May 2023"),
        ("the day before yesterday", "6 May 2023"),
        ("last night", "7 May 2023"),
        ("this morning", "8 May 2023"),
        ("tomorrow", "9 May 2023"),
        ("two days ago", "6 May 2023"),
        ("a couple of weeks ago", "the week of 24 April 2023"),
        ("10 months ago", "July 2022"),
        ("five years ago", "2018"),
        ("last week", "the week of 1 May 2023"),
        ("next weekend", "the weekend of 20 May 2023"),
        ("last weekend", "the weekend of 6 May 2023"),
        ("this month", "May 2023"),
        ("last year", "2022"),
        ("last Monday", "1 May 2023"),
        ("next Monday", "15 May 2023"),
        ("last Sunday", "7 May 2023"),
        ("next Tuesday", "9 May 2023"),
        ("last May", "May 2022"),
        ("last June", "June 2022"),
        ("next April", "April 2024"),
    ],
)
def test_a_relative_date_hangs_on_the_day_of_the_talk(clause, label):
    assert stated(clause, MONDAY) == [(label, True)]
    assert stated(clause, None) == []


@pytest.mark.parametrize(
    "clause",
    [
        "recently",
        "this Friday",
        "a few days ago",
        "twenty two days ago",
        "forty-five days ago",
        "1.5 years ago",
        "half a year ago",
        "we may go",
        "31 February 2023",
        "2023-02-30",
        "45 May",
        "I have 2 cats",
        "holiday",
        "Mayor 5",
        "999 years agone",
    ],
)
def test_what_settles_no_date_is_none(clause):
    assert labels(clause) == []


def test_dates_come_in_order_once():
    assert labels("tomorrow or yesterday or tomorrow, 3 June") == [
        "9 May 2023",
        "7 May 2023",
        "3 June",
    ]


@pytest.mark.parametrize("said", [datetime(1, 1, 1), datetime(9999, 12, 31)])
def test_the_ends_of_the_calendar(said):
    for clause in ("999 years ago", "yesterday", "next week", "next month", "900 months ago"):
        assert all("10000" not in label for label in labels(clause, said))


@given(st.text(alphabet="last next 2023 May-7,agoyesterday weekd.", max_size=60), st.datetimes())
def test_any_text_has_dates_or_none(text, said):
    found = stated(text, said)
    assert len(set(found)) == len(found)
    assert set(stated(text, None)) <= {date for date in found if not date.relative}


def test_what_a_clause_is_worth():
    def points(clause, **facts):
        return weigh(clause, **{"dated": False, "speakers": NOBODY, **facts}).salience

    assert points("it was what it was") == 0
    assert points("Wow, thanks, that's really great!") == 0
    assert points("I painted a lake, the lake") == 2
    assert points("I met Anna's sister") == 1 + 2 + 1
    assert points("Anna met us") == 1 + 1  # a capital that opens a clause tells nothing
    assert points("we have two dogs and 3 cats") == 2 + 1 + 2 + 1
    assert points("we met yesterday", dated=True) == 2 + 3
    assert points("have you seen the old lake?") == 2
    assert points("you are kind, Mel", speakers=names_in("Mel Lee: ")) == 1
    assert points("私は公園に行った。") == 1
    assert points("🙂 ...") == 0
