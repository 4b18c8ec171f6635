"""Abstention of saved runs: scores and answers, by hand."""

import numpy as np
import pytest

from memruler.errors import Refusal, UsageError
from memruler.scoring.abstention import abstention
from memruler.scoring.abstention_scores import signal_of

TURNS = ("a blue car", "the dog barks")
RAW = [("t0", "turn", (0,), "Ann: a blue car", None), ("t1", "turn", (1,), "Ann: dog", None)]


@pytest.fixture
def scored(failure_runs):
    """A run of conversations; each query is (question, answerable, scores of its hits)."""

    def build(*conversations, limit=20):
        rankings, scores, instances = {}, {}, []
        for at, queries in enumerate(conversations):
            asked = []
            for name, answerable, found in queries:
                rankings[name] = ["t0", "t1"][: len(found)]
                scores[name] = found
                asked.append((name, "x", (0,) if answerable else None, f"c{at}"))
            instances.append(failure_runs.conversation(at, TURNS, asked))
        return failure_runs.run(
            instances, failure_runs.system(RAW, rankings, scores=scores), limit=limit
        )

    return build


TWO = (
    [("A?", True, [5.0, 1.0]), ("B?", False, [2.0, 1.5]), ("C?", True, [2.0])],
    [("D?", True, [4.0, 0.0]), ("E?", False, [1.0, 0.5]), ("F?", False, [])],
)


def test_scores_by_hand(scored):
    found = abstention(scored(*TWO))
    assert (found.answerable, found.unanswerable, found.reader) == (3, 3, None)
    top = found.retrieval
    # with: 5, 2, 4; without: 2, 1, -inf. 8.5 of 9 pairs.
    assert top.auroc == pytest.approx(8.5 / 9)
    assert (top.queries, top.empty, top.unscored, top.distinct) == (6, 1, {}, 4)
    # below 2: 2/3 - 0; below 4: 3/3 - 1/3: equal, and the first refuses less.
    assert (top.best.threshold, top.best.youden) == (2.0, pytest.approx(2 / 3))
    best = top.best.counts
    assert (best.refused_unanswerable, best.refused_answerable) == (2, 0)
    assert (best.precision, best.recall, best.over_refusal) == (1, pytest.approx(2 / 3), 0)
    assert [p.threshold for p in top.sweep] == [1.0, 2.0, 4.0, 5.0, None]
    assert top.sweep[0].counts.refused_unanswerable == 1  # the one without a hit
    assert top.sweep[-1].counts.refused_answerable == 3
    # Held out: conversation 0 by conversation 1 (below 4), and the other way (below 5).
    held = top.held_out
    assert (held.folds, held.of, held.skipped) == (2, 2, 0)
    assert (held.lowest, held.highest) == (4.0, 5.0)
    counts = held.counts
    assert (counts.refused_unanswerable, counts.unanswerable) == (3, 3)
    assert (counts.refused_answerable, counts.answerable) == (2, 3)
    assert [(c.name, c.refused_unanswerable, c.unanswerable) for c in top.categories] == [
        ("c0", 0, 1),
        ("c1", 2, 2),
    ]
    assert top.categories[0].absent == {"precision": "nothing was refused"}


def test_the_other_way_round_is_said_and_not_turned(scored):
    found = abstention(scored([("A?", True, [1.0]), ("B?", False, [3.0]), ("C?", True, [2.0])]))
    assert found.retrieval.auroc == 0
    assert "AUROC 0.0000 is below 0.5" in found.notes[0]
    assert found.retrieval.held_out is None
    assert "one conversation" in found.retrieval.no_held_out


def test_a_little_the_other_way_is_said_too(scored):
    queries = [("A?", True, [1.0]), ("B?", False, [2.0]), ("C?", True, [3.0]), ("D?", False, [4.0])]
    found = abstention(scored(queries))
    assert found.retrieval.auroc == 0.25
    assert "AUROC 0.2500" in found.notes[0]
    assert abstention(scored(*TWO)).notes == ()


def test_of_several_draws_the_first_counts(scored, failure_runs):
    path = scored(*TWO)
    failure_runs.answer(path, {f"{q}?": ["blue", "unknown"] for q in "ABCDEF"})
    found = abstention(path).reader
    assert (found.queries, found.all.refused_unanswerable) == (6, 0)


def test_margin_and_mean(scored):
    path = scored(*TWO)
    margin = abstention(path, signal="margin").retrieval
    # with: 4, 4; without: 0.5, 0.5, -inf; C? has one hit alone.
    assert (margin.auroc, margin.queries) == (1.0, 5)
    assert margin.unscored == {"one hit alone has no margin": 1}
    mean = abstention(path, signal="mean", k=2).retrieval
    # with: 3, 2, 2; without: 1.75, 0.75, -inf.
    assert (mean.auroc, mean.k, mean.best.threshold) == (1.0, 2, 2.0)
    with pytest.raises(UsageError, match="asked for 21 hits"):
        abstention(path, signal="mean", k=21)


@pytest.mark.parametrize(
    ("scores", "signal", "found"),
    [
        ([], "top1", -np.inf),
        ([None], "top1", "a hit has no score"),
        ([1.0, None], "top1", 1.0),
        ([1.0, None], "margin", "a hit has no score"),
        ([float("nan")], "top1", "a score is not finite"),
        ([float("inf")], "mean", "a score is not finite"),
        ([3.0, 1.0, 8.0], "margin", 2.0),
        ([3.0, 1.0, 8.0], "mean", 2.0),
    ],
)
def test_signals(scores, signal, found):
    assert signal_of(scores, signal, 2) == found


@pytest.mark.parametrize(
    ("queries", "reason"),
    [
        ([("A?", True, [None]), ("B?", False, [None])], "no query has a signal"),
        ([("A?", True, [1.0]), ("B?", False, [1.0])], "the signal is the same in all 2"),
        ([("A?", True, [1.0]), ("B?", True, [2.0])], "one without an answer"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_what_to_do(scored, queries, reason):
    with pytest.raises(Refusal, match=reason) as caught:
        abstention(scored(queries))
    assert caught.value.hint


def test_a_readers_refusals(scored, failure_runs):
    path = scored(*TWO)
    said = {
        "A?": "I do not know that",
        "B?": "Not mentioned in the conversation",
        "C?": "blue",
        "D?": "red",
        "E?": "a dog",
        "F?": None,
    }
    failure_runs.answer(path, said)
    wide, official = (abstention(path, rule=rule).reader for rule in ("wide", "official"))
    assert (wide.queries, wide.unscored) == (5, {"it broke": 1})
    assert (wide.all.refused_unanswerable, wide.all.unanswerable) == (1, 2)
    assert (wide.all.refused_answerable, wide.all.answerable) == (1, 3)
    assert (wide.all.precision, wide.all.recall, wide.all.f1) == (0.5, 0.5, 0.5)
    assert official.all.refused_answerable == 0
    assert (official.all.precision, official.all.over_refusal) == (1, 0)
    assert [(c.name, c.answerable, c.unanswerable) for c in wide.categories] == [
        ("c0", 2, 1),
        ("c1", 1, 1),
    ]


def test_a_judges_labels_say_which_unanswerable_were_refused(scored, failure_runs):
    path = scored(*TWO)
    failure_runs.answer(path, dict.fromkeys("ABCDEF", "x") | {f"{q}?": "a dog" for q in "ABCDEF"})
    failure_runs.grade(path, {"A?": 0.0, "B?": 1.0, "D?": 1.0, "E?": 1.0})  # F? has no value
    found = abstention(path, grade="g").reader
    assert (found.grade, found.queries, found.unscored) == ("g", 5, {"not judged": 1})
    assert (found.all.refused_unanswerable, found.all.unanswerable) == (2, 2)
    assert found.all.refused_answerable == 0  # a wrong answer is no refusal


def test_of_several_verdicts_the_majority_counts(scored, failure_runs):
    path = scored(*TWO)
    failure_runs.answer(path, {f"{q}?": "a dog" for q in "ABCDEF"})
    verdicts = {"B?": [1.0, 0.0, 0.0], "E?": [0.0, 1.0, 1.0], "F?": [None, 1.0, 0.0]}
    failure_runs.grade(path, verdicts)
    counts = abstention(path, grade="g").reader.all
    # B? no, E? yes, F? is tied and so no.
    assert (counts.refused_unanswerable, counts.unanswerable) == (1, 3)


def test_a_reader_that_draws_has_its_note_and_a_rule_has_none(scored, failure_runs):
    path = scored(*TWO)
    failure_runs.answer(path, {f"{q}?": "unknown" for q in "ABCDEF"}, name="rule")
    failure_runs.answer(path, {f"{q}?": "unknown" for q in "ABCDEF"}, name="file", kind="file")
    failure_runs.grade(path, {"B?": 1.0}, answers="rule")
    assert abstention(path, answers="rule").notes == ()
    assert abstention(path, answers="rule", grade="g").notes == ()  # no judge had a say
    (note,) = abstention(path, answers="file").notes
    assert "single draw" in note


def test_precision_among_queries_of_one_kind_says_nothing(scored, failure_runs):
    path = scored([("A?", True, [2.0]), ("B?", True, [3.0])])
    failure_runs.answer(path, {"A?": "unknown", "B?": "blue"})
    counts = abstention(path).reader.all
    assert (counts.precision, counts.f1, counts.over_refusal) == (None, None, 0.5)
    assert counts.absent["precision"] == counts.absent["f1"]
    assert "one kind" in counts.absent["precision"]


def test_a_reader_is_measured_where_the_scores_cannot_be(scored, failure_runs):
    path = scored([("A?", True, [None]), ("B?", True, [None])])
    failure_runs.answer(path, {"A?": "unknown", "B?": "blue"})
    found = abstention(path)
    assert found.retrieval is None
    assert found.no_retrieval.startswith("no query has a signal")
    assert found.reader.all.over_refusal == 0.5
    assert found.reader.all.absent["recall"] == "no query without an answer"
    assert (found.reader.all.recall, found.reader.all.balanced_accuracy) == (None, None)
