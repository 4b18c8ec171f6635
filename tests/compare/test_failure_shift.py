"""What moved between two filed runs, and whose it is."""

import pytest

from memruler.compare.failure_shift import failure_shift
from memruler.errors import Refusal
from memruler.scoring.failures import file_failures

TURNS = ("a blue car", "the dog barks", "tea at noon")
ITEMS = [(f"t{n}", "turn", (n,), f"Ann: {text}", None) for n, text in enumerate(TURNS)]
QUERIES = [
    ("A?", "blue", (0,), "c"),
    ("B?", "barks", (1,), "c"),
    ("C?", "noon", (2,), "d"),
    ("D?", "x", None, "e"),
]
FOUND = {"A?": ["t0"], "B?": ["t1"], "C?": ["t2"]}


@pytest.fixture
def filed(failure_runs):
    def build(ranking=FOUND, said=None, values=None, queries=QUERIES, items=ITEMS, **grade):
        one = failure_runs.conversation(0, TURNS, queries)
        path = failure_runs.run([one], failure_runs.system(items, ranking))
        if said is None:
            return file_failures(path)
        failure_runs.answer(path, said, kind=grade.pop("kind", "extractive"))
        failure_runs.grade(path, values, **grade)
        return file_failures(path, answered=True)

    return build


def test_moves_of_retrieval(filed):
    refused = [("t0", "turn", (0,), "Ann: a blue car", "duplicate"), *ITEMS[1:]]
    base = filed({"A?": ["t0"], "B?": ["t2"], "C?": ["t0"]})
    found = failure_shift(base, filed({"A?": ["t1"], "B?": ["t1"]}, items=refused))
    assert found.matrix == {
        "ranking": {"ranking": 1, "right": 1},
        "right": {"ingest": 1},
        "unscored": {"unscored": 1},
    }
    assert sum(sum(to.values()) for to in found.matrix.values()) == 4
    assert (found.lost, found.gained) == ({"ingest": 1}, {"ranking": 1})
    assert found.causes == {"lost": {"retrieval": 1}, "gained": {"retrieval": 1}}
    assert [(m.item.id, m.before, m.after) for m in found.moved] == [
        ("q0-0", "right", "ingest"),
        ("q0-1", "ranking", "right"),
    ]
    # What became right has its texts from the side in which it was missed.
    assert found.moved[1].item.stage == "ranking"


SAID = {"A?": "blue", "B?": "barks", "C?": "noon", "D?": "no"}
RIGHT = dict.fromkeys(SAID, 1.0)


def test_whose_a_regression_is(filed):
    base = filed(said=SAID, values=RIGHT)
    other = filed(
        {**FOUND, "C?": ["t1"]},
        said={**SAID, "A?": "red", "C?": "dawn"},
        values={**RIGHT, "A?": 0.0, "B?": 0.0, "C?": 0.0},
    )
    found = failure_shift(base, other)
    assert [(m.item.id, m.after, m.cause) for m in found.moved] == [
        ("q0-0", "reader", "reader"),  # the same texts, another answer
        ("q0-1", "reader", "grader"),  # the same texts, the same answer
        ("q0-2", "ranking", "retrieval"),  # other texts
    ]
    assert found.causes["lost"] == {"reader": 1, "grader": 1, "retrieval": 1}
    assert (found.moved[0].base_answer, found.moved[0].candidate_answer) == ("blue", "red")
    assert "the reader was given the same texts for 3 of 4 queries" in found.notes
    back = failure_shift(other, base)
    assert (back.causes["gained"], back.causes["lost"]) == (found.causes["lost"], {})
    assert back.gained == found.lost


def test_the_same_texts_in_another_order_are_other_texts(filed):
    base = filed({**FOUND, "A?": ["t0", "t1"]}, said=SAID, values=RIGHT)
    other = filed({**FOUND, "A?": ["t1", "t0"]}, said=SAID, values={**RIGHT, "A?": 0.0})
    assert failure_shift(base, other).causes["lost"] == {"retrieval": 1}


def test_other_ids_and_rows_with_the_same_texts_are_the_same_texts(filed):
    more = [("extra", "turn", (0,), "Ann: more", None), *ITEMS]
    base = filed(said=SAID, values=RIGHT)
    other = filed(said={**SAID, "A?": "red"}, values={**RIGHT, "A?": 0.0}, items=more)
    assert failure_shift(base, other).causes["lost"] == {"reader": 1}


def test_where_the_context_is_not_known_nobody_is_blamed(filed):
    base = filed(said=SAID, values=RIGHT, kind="file")
    other = filed(said=SAID, values={**RIGHT, "A?": 0.0}, kind="file")
    assert failure_shift(base, other).causes["lost"] == {"unknown": 1}


def test_a_lost_value_is_no_miss_and_is_said(filed):
    base = filed(said=SAID, values=RIGHT)
    other = filed(said=SAID, values={**RIGHT, "A?": None})
    found = failure_shift(base, other)
    assert (found.lost, found.moved, found.matrix["right"]["unscored"]) == ({}, (), 1)
    assert found.notes[-1] == "1 queries have a value on one side only"


def test_filters(filed):
    base = filed(said=SAID, values=RIGHT)
    other = filed(said=SAID, values=dict.fromkeys(SAID, 0.0))
    whole = failure_shift(base, other)
    assert (whole.selected, len(whole.moved)) == (4, 4)
    found = failure_shift(base, other, category="d", limit=1)
    assert [m.item.id for m in found.moved] == ["q0-2"]
    assert (found.selected, found.lost) == (1, whole.lost)
    assert failure_shift(base, other, stage="ranking").moved == ()


def test_what_cannot_be_held_against_each_other_is_refused(filed):
    graded = filed(said=SAID, values=RIGHT)
    cases = [
        (filed(), "one is of retrieval and the other of answers"),
        (filed(said=SAID, values=RIGHT, grader="x"), "graders are two: test:exact and x"),
        (filed(said=SAID, values=RIGHT, sha256="1"), "another version of itself"),
        (filed(said=SAID, values=RIGHT, metric="f1"), "the metrics are two"),
        (filed(said=SAID, values=RIGHT, queries=QUERIES[:3]), "another one|same queries"),
        (
            filed(said=SAID, values=RIGHT, queries=[("Z?", *QUERIES[0][1:]), *QUERIES[1:]]),
            "same queries",
        ),
    ]
    for other, reason in cases:
        with pytest.raises(Refusal, match=reason):
            failure_shift(graded, other)
