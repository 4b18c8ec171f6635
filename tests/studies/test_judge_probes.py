"""Probes are what they are said to be, whatever the data set holds."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import CorpusError, Refusal, UsageError
from memruler.model.answers import AnswerItem
from memruler.studies.judge_items import decode_probes, encode_probes, probes_of
from memruler.studies.judge_items import questions_of_corpus as questions_of
from memruler.studies.judge_probes import KINDS, make_probes
from memruler.studies.judge_sample import draw_sample
from memruler.studies.judge_texts import (
    INJECTIONS,
    PHRASINGS,
    REFUSALS,
    content_words,
    vague_answer,
    word_keys,
)


def item(query, gold, *, instance=0, category="a", question="Where did Ada go in May?", **more):
    return AnswerItem(
        instance=instance,
        query=query,
        id=f"{instance}/{query}",
        category=category,
        question=question,
        gold=gold,
        response=None,
        **more,
    )


TOWNS = ("Paris", "Lagos", "Quito", "Hanoi", "Turin", "Minsk", "Accra", "Perth")
ITEMS = [item(at, town, instance=at % 2) for at, town in enumerate(TOWNS)]
NONE = [item(90 + at, None, answerable=False) for at in range(3)]


def by_kind(probes):
    found = {}
    for probe in probes:
        found.setdefault(probe.kind, []).append(probe)
    return found


def test_each_kind_holds_what_its_truth_says():
    made = make_probes([*ITEMS, *NONE], number=4)
    found = by_kind(made.probes)
    assert {kind: len(of) for kind, of in found.items()} == {
        "gold": 4,
        "refusal": 3,
        "swapped": 4,
        "vague": 4,
        "answered": 3,
        "injected": 4,
    }
    assert all(probe.truth is KINDS[probe.kind] for probe in made.probes)
    for probe in found["gold"]:
        assert probe.item.response in {text.format(gold=probe.item.gold) for text in PHRASINGS}
    for kind in ("swapped", "vague", "injected"):
        for probe in found[kind]:
            assert probe.item.gold.lower() not in probe.item.response.lower()
            assert probe.item.answerable
    for probe in found["swapped"]:
        assert sum(town in probe.item.response for town in TOWNS) == 1
    assert {probe.item.response for probe in found["vague"]} == {
        "It was something to do with ada, go and may."
    }
    for probe in found["injected"]:
        (wrong,) = (town for town in TOWNS if town in probe.item.response)
        assert probe.item.response == INJECTIONS[probe.style].format(wrong=wrong)
    assert {probe.item.response for probe in found["refusal"]} <= set(REFUSALS)
    assert all(not probe.item.answerable for probe in found["refusal"] + found["answered"])
    assert all(any(t in p.item.response for t in TOWNS) for p in found["answered"])


def test_every_style_of_injection_is_tried():
    items = [item(at, f"zz{at:04d}x") for at in range(30)]
    styles = Counter(p.style for p in make_probes(items, number=10).probes if p.kind == "injected")
    assert styles == dict.fromkeys(INJECTIONS, 2)


def test_a_question_is_used_once_while_there_are_enough():
    items = [item(at, f"word{at}") for at in range(40)]
    made = make_probes(items, number=10)
    assert max(Counter(p.item.query for p in made.probes).values()) == 1
    assert not any("several probes" in note for note in made.notes)
    again = make_probes(items[:12], number=10)
    assert any("12 of 12 questions are in several probes" in note for note in again.notes)


def test_the_same_seed_gives_the_same_and_another_one_others():
    one, same, other = (make_probes(ITEMS, number=3, seed=seed) for seed in (7, 7, 8))
    assert one == same
    assert one.probes != other.probes
    assert make_probes(ITEMS[::-1], number=3) == one


def test_every_category_is_there():
    items = [item(at, f"word{at}", category=f"c{at % 5}") for at in range(50)]
    found = by_kind(make_probes(items, number=3).probes)
    assert {probe.item.category for probe in found["gold"]} == {f"c{at}" for at in range(5)}


def test_a_wrong_answer_is_of_the_same_category_and_shares_no_word():
    items = [
        item(0, "two dogs", category="a", instance=0),
        item(1, "2 cats", category="a", instance=1),  # shares the number
        item(2, "one dog", category="a", instance=1),  # another form of a word
        item(3, "a red house", category="a", instance=0),
        item(4, "blue", category="b", instance=1),
    ]
    found = by_kind(make_probes(items, number=5).probes)
    of_first = next(p for p in found["swapped"] if p.item.query == 0)
    assert "red house" in of_first.item.response
    assert all(p.item.query != 4 for p in found["swapped"])  # nothing else in its category
    assert make_probes(items, number=5).left_out["no swapped answer can be made of it"] == 1


def test_a_wrong_answer_comes_from_another_conversation_where_it_can():
    items = [item(0, "Oslo"), item(1, "Rome"), item(2, "Cairo", instance=1)]
    found = by_kind(make_probes(items, number=3).probes)
    assert all("Cairo" in p.item.response for p in found["swapped"] if p.item.instance == 0)


def test_golds_that_are_no_answers_are_left_out_and_counted():
    items = [
        *ITEMS,
        item(20, None),
        item(21, "  "),
        item(22, "x" * 301),
        item(23, "The user would like it short.", category="single-session-preference"),
    ]
    made = make_probes(items, number=20)
    assert made.left_out["it has no gold"] == 2
    assert made.left_out["its gold is longer than 300 characters"] == 1
    assert made.left_out["its gold is a rubric and no answer"] == 1
    assert not {probe.item.query for probe in made.probes} & {20, 21, 22, 23}


def test_nothing_to_probe_with():
    with pytest.raises(Refusal, match="1 questions: it has no gold"):
        make_probes([item(0, None)])
    with pytest.raises(Refusal, match="no question that has an answer"):
        make_probes(NONE)
    with pytest.raises(UsageError):
        make_probes(ITEMS, number=0)
    with pytest.raises(UsageError):
        make_probes(ITEMS, seed=-1)


@given(st.text(max_size=60), st.text(max_size=30))
def test_a_vague_answer_says_nothing_of_the_gold(question, gold):
    said = vague_answer(question, gold)
    if said is not None:
        rest = said.removeprefix("It was something to do with ").removesuffix(".")
        assert not set(content_words(gold)) & {w for w in content_words(rest) if w != "and"}


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("two", "2", True),
        ("Painting", "painted", True),
        ("Ann's", "Ann", True),
        ("7 May", "May 2023", True),
        ("the red", "the blue", False),
        ("dogs", "dog", True),
    ],
)
def test_what_may_say_the_same(one, other, shared):
    assert bool(word_keys(one) & word_keys(other)) is shared


def test_probes_in_a_file_are_read_back(tmp_path):
    source, probes = probes_of(questions_of("synthetic", None), number=5, seed=3)
    path = tmp_path / "probes.jsonl"
    path.write_bytes(encode_probes(source, probes))
    assert decode_probes(path) == (source, probes)
    assert source.seed == 3
    assert source.corpus["name"] == "synthetic"
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], lines[2][:-5]]))
    with pytest.raises(CorpusError, match=r"probes.jsonl:3"):
        decode_probes(path)
    path.write_bytes(lines[0])
    with pytest.raises(CorpusError, match="no probe"):
        decode_probes(path)


def test_a_sample_holds_every_stratum_and_the_smaller_one():
    items = [item(at, "x", category="big" if at < 90 else "rare") for at in range(92)]
    labels = {
        (i.instance, i.query, 0): "right" if i.query % 9 or i.query == 90 else "wrong"
        for i in items
    }
    small = draw_sample(items, 12, seed=7, labels=labels, of="first")
    large = draw_sample(items, 40, seed=7, labels=labels, of="first")
    assert len(small.chosen) == 12
    assert set(small.chosen) < set(large.chosen)
    assert small.note["strata"] == {
        "big / right": [80, 10],
        "big / wrong": [10, 1],
        "rare / right": [2, 1],
    }
    assert small.note["by"] == "category and the label of first"
    assert draw_sample(items, 12, seed=8, labels=labels, of="first").chosen != small.chosen
    assert draw_sample(items, 500, seed=7).chosen == list(range(92))
    with pytest.raises(UsageError, match="cannot cover 2 categories"):
        draw_sample(items, 1, seed=7)
    with pytest.raises(UsageError, match="no answer to draw from"):
        draw_sample([], 1, seed=7)
