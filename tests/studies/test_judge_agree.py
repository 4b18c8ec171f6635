"""Two judges on the same answers: weights of a sample, and shares as numbers."""

from datetime import datetime
from pathlib import Path

import pytest

from memruler.model.answers import (
    AnswersManifest,
    Graded,
    GradesManifest,
    InstrumentIdentity,
)
from memruler.scoring.grade_load import Grades
from memruler.store.grades import GradeRow
from memruler.studies import judge_agree
from memruler.studies.judge_agree import agree

THEN = datetime(2026, 1, 1)


def who(model):
    return InstrumentIdentity(kind="openai-chat", model=model, prompt="p", prompt_sha256="0" * 64)


ANSWERS = AnswersManifest(
    version=1,
    name="x",
    run="r",
    run_tables={},
    run_fingerprint={},
    reader=who("reader"),
    started=THEN,
    finished=THEN,
)


def grading(name, values, *, sample=None, metric="accuracy"):
    manifest = GradesManifest(
        version=1,
        name=name,
        grader="g",
        grader_sha256="1" * 64,
        metric=metric,
        judge=who(name),
        answers=ANSWERS,
        answers_sha256="2" * 64,
        sample=sample,
        started=THEN,
        finished=THEN,
    )
    rows = tuple(
        GradeRow(
            instance=query % 3,
            query=query,
            repeat=0,
            draw=draw,
            instance_key=f"c{query % 3}",
            id=str(query),
            category="a",
            answerable=True,
            graded=Graded(value=value),
        )
        for query, drawn in values.items()
        for draw, value in enumerate(drawn if isinstance(drawn, tuple) else (drawn,))
    )
    return Grades(manifest=manifest, rows=rows)


@pytest.fixture
def held(monkeypatch):
    def run(one, other):
        sides = {"one": one, "other": other}
        monkeypatch.setattr(judge_agree, "load_grades", lambda path: sides[path.name])
        return agree(Path("one"), Path("other"))

    return run


def by(whose, **strata):
    named = {f"a / {label}": sizes for label, sizes in strata.items()}
    return {"number": 4, "of": 12, "seed": 7, "by": whose, "strata": named}


# 10 wrong and 2 right by the first judge; the second saw 2 of each.
FIRST = {query: float(query < 2) for query in range(12)}
SECOND = {0: 1.0, 1: 0.0, 2: 0.0, 3: 0.0}
DRAWN = by("category and the label of first", right=[2, 2], wrong=[10, 2])


def test_each_answer_weighs_as_many_as_it_stands_for_in_either_order(held):
    whole, part = grading("first", FIRST), grading("second", SECOND, sample=DRAWN)
    # Right ones weigh 1 (one of two the same), wrong ones 5 (both the same).
    assert held(whole, part).weighted == pytest.approx(11 / 12)
    assert held(part, whole).weighted == pytest.approx(11 / 12)
    assert held(whole, part).slices[0].same == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (DRAWN, DRAWN),
        (None, by("category and the label of third", right=[2, 2], wrong=[10, 2])),
        (None, by("category and the label of first", wrong=[12, 4])),
    ],
)
def test_without_weights_that_hold_there_is_no_weighted_share(held, one, other):
    found = held(grading("first", FIRST, sample=one), grading("second", SECOND, sample=other))
    assert found.weighted is None


def test_a_sample_by_category_alone(held):
    drawn = {"number": 4, "of": 12, "seed": 7, "by": "category", "strata": {"a": [12, 4]}}
    found = held(grading("first", FIRST), grading("second", SECOND, sample=drawn))
    assert found.weighted == found.slices[0].same / 4 == 0.75


def test_weighted_kappa_of_shares_goes_by_how_far_they_are_apart(held):
    one = {0: 0.0, 1: 0.1, 2: 1.0, 3: 1.0}
    other = {0: 0.1, 1: 0.1, 2: 1.0, 3: 0.0}
    found = held(grading("first", one, metric="rubric"), grading("second", other, metric="rubric"))
    # |i - j|: observed 0.1 + 0 + 0 + 1; expected over all 16 pairs of margins.
    observed = 1.1 / 4
    expected = sum(abs(a - b) for a in one.values() for b in other.values()) / 16
    assert found.slices[0].kappa.value == pytest.approx(1 - observed / expected)


def test_draws_of_shares_are_a_mean_even_where_they_are_0_and_1(held):
    one = {0: (0.0, 1.0), 1: (0.5, 0.5), 2: (1.0, 1.0)}
    other = {0: 0.5, 1: 0.5, 2: 1.0}
    found = held(grading("first", one, metric="rubric"), grading("second", other, metric="rubric"))
    assert found.slices[0].same == 3
