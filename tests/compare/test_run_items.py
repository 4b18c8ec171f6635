import pytest

from memruler.compare.load import load
from memruler.compare.run_items import run_items
from memruler.model.run import Determinism


def items(path):
    return run_items(path, load(path, "a"))


def test_every_query_and_why_one_has_no_value(make_run, queries_a):
    short = (queries_a[0]._replace(turn="x."), *queries_a[1:])
    found = items(make_run("base", short))
    assert found.ids == ("conv-1#0", "conv-1#1", "conv-1#2", "conv-2#0", "conv-2#1")
    assert found.values["session:recall_all@5"] == {
        "conv-1#0": 1.0,
        "conv-1#1": 1.0,
        "conv-1#2": 1.0,
        "conv-2#0": 0.0,
    }
    assert found.absent["session:recall_all@5"] == {"conv-2#1": "unanswerable"}
    assert found.absent["turn:recall_all@5"] == {
        "conv-1#0": "its list is shorter than the cut-off",
        "conv-2#1": "unanswerable",
    }
    assert found.absent["turn:recall_all@1"] == {"conv-2#1": "unanswerable"}
    assert len(found.values) == 2 * 3 * 6
    assert found.declared["population"]["name"] == "answerable"
    assert (found.source, found.repeats, found.degraded) == ("run", 1, ())


def test_conversations_and_categories(make_run):
    keys = items(make_run("base")).keys
    assert list(keys["conversation"].values()) == ["conv-1"] * 3 + ["conv-2"] * 2
    assert list(keys["category"].values()) == ["single", "single", "multi", "multi", "single"]


@pytest.mark.parametrize(
    ("measured", "want"),
    [
        (Determinism(instances=1, queries=3, identical=3, of=3, other_process=True), True),
        (Determinism(instances=1, queries=3, identical=2, of=3, other_process=True), False),
        (Determinism(instances=0, queries=0, identical=0, of=3, other_process=True), False),
        (None, False),
    ],
)
def test_deterministic_only_if_measured_so(make_run, measured, want):
    assert items(make_run("base", fields={"determinism": measured})).deterministic is want


def test_degraded_is_kept(make_run):
    assert items(make_run("base", fields={"degraded": ("toy",)})).degraded == ("toy",)


def families(make_run, query, *spec, **more):
    """Groups of positions within `conv-1`, in order."""
    queries = tuple(query("x....", "x....", turns=turns, **more) for turns in spec)
    groups = {}
    for position, family in enumerate(items(make_run("base", queries)).keys["evidence"].values()):
        groups.setdefault(family, []).append(position)
    return list(groups.values())


@pytest.mark.parametrize(
    ("turns", "want"),
    [
        # Each alone: other turns, and two without evidence.
        ([((0, 0),), ((0, 1),), (), ()], [[0], [1], [2], [3]]),
        # 0 and 2 share (1, 4).
        ([((1, 4),), ((4, 1),), ((0, 0), (1, 4))], [[0, 2], [1]]),
        # A chain: 0-3 over (5, 0), 3-1 over (6, 0); 2 and 4 are another family.
        (
            [((5, 0),), ((6, 0),), ((7, 0),), ((5, 0), (6, 0)), ((7, 0), (8, 0))],
            [[0, 1, 3], [2, 4]],
        ),
        # Two chains are joined by the last one.
        (
            [((0, 0),), ((0, 0), (1, 0)), ((2, 0),), ((2, 0), (3, 0)), ((1, 0), (3, 0))],
            [[*range(5)]],
        ),
    ],
)
def test_families_share_gold_turns(make_run, query, turns, want):
    assert families(make_run, query, *turns) == want


def test_families_end_with_their_conversation(make_run, query):
    queries = tuple(
        query("x....", "x....", turns=((0, 0),), instance=f"conv-{i}") for i in (1, 1, 2)
    )
    found = items(make_run("base", queries)).keys["evidence"]
    assert found["conv-1#0"] == found["conv-1#1"] != found["conv-2#0"]


def test_a_corpus_of_its_own_families(make_run, query):
    turns = ((0, 0),)
    queries = (
        query("x....", "x....", turns=turns, family="f"),
        query("x....", "x....", turns=turns, family="g"),
        query("x....", "x....", turns=((9, 9),), family="f"),
        query("x....", "x....", turns=turns, family="f", instance="conv-2"),
    )
    found = items(make_run("base", queries)).keys["evidence"]
    assert found == {
        "conv-1#0": "conv-1/f",
        "conv-1#1": "conv-1/g",
        "conv-1#2": "conv-1/f",
        "conv-2#0": "conv-2/f",
    }
