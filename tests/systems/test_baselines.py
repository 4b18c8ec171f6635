"""Recency, chance and the whole history, against what they must give."""

from collections import Counter
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import UsageError
from memruler.model.system import Namespace, SessionInput, TurnInput
from memruler.systems.baselines import Chance, Recency, Whole

AT = datetime(2024, 1, 1)


def memory(system, keys, folder=None):
    opened = system.open(Namespace("bench-x", folder))
    if keys:
        turns = tuple(TurnInput(key=key, text=f"said {key}", speaker="Ann") for key in keys)
        opened.ingest(SessionInput(key="s", turns=turns))
    opened.settle()
    return opened


def found(opened, text="?", k=5):
    return [hit.item for hit in opened.search(text, k, AT).hits]


def test_recency_gives_the_newest_first():
    assert found(memory(Recency(), "abcdefg"), k=3) == ["g", "f", "e"]
    assert found(memory(Recency(), "ab"), k=3) == ["b", "a"]
    assert found(memory(Recency(), ""), k=3) == []


@given(st.lists(st.text(min_size=1, max_size=3), unique=True, max_size=9), st.integers(1, 12))
def test_chance_draws_distinct_units_and_a_short_list_begins_a_longer_one(keys, k):
    keys = [key.encode("utf-8", "replace").decode() for key in keys]
    opened = memory(Chance(), keys)
    drawn = found(opened, "a question", k)
    assert len(drawn) == min(k, len(keys))
    assert not Counter(drawn) - Counter(keys)
    assert found(opened, "a question", k + 1)[: len(drawn)] == drawn


def test_chance_is_the_question_and_the_seed_and_nothing_else():
    keys = [f"k{number}" for number in range(50)]
    assert found(memory(Chance(3), keys)) == found(memory(Chance(3), keys))
    assert found(memory(Chance(3), keys)) != found(memory(Chance(4), keys))
    assert found(memory(Chance(3), keys), "a") != found(memory(Chance(3), keys), "b")


def test_chance_finds_as_often_as_chance_does():
    # One of 20 units is evidence; among k drawn it is there with probability k / 20. Over 4,000
    # questions that is within 5 standard errors of 0.25 with certainty for all that matters, and
    # the draw is fixed by the seed.
    opened = memory(Chance(), [f"k{number}" for number in range(20)])
    share = sum("k7" in found(opened, f"question {n}", 5) for n in range(4_000)) / 4_000
    assert abs(share - 0.25) < 5 * (0.25 * 0.75 / 4_000) ** 0.5


def test_the_whole_history_is_one_hit_that_descends_from_everything():
    opened = memory(Whole(), "abc")
    (hit,) = opened.search("?", 5, AT).hits
    assert (hit.kind, hit.sources) == ("history", ("a", "b", "c"))
    (item,) = opened.lineage()
    assert item.text == "said a\nsaid b\nsaid c"
    assert memory(Whole(), "").search("?", 5, AT).hits == ()


@pytest.mark.parametrize("system", [Recency(), Chance(), Whole()])
def test_no_depth_is_refused(system):
    with pytest.raises(UsageError, match="at least 1 hit"):
        memory(system, "ab").search("?", 0, AT)
