"""The means of a grading by hand: denominators, orders, ties, what a published print hides."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import InstrumentError
from memruler.judges.base import RefusedRequestError
from memruler.model.answers import AnswerItem, Graded
from memruler.model.corpus import TurnRef
from memruler.scoring.grade import grade_name
from memruler.scoring.grade_official import ordered
from memruler.scoring.grade_rows import grade_item
from memruler.scoring.grade_scores import About, evidence_families, scores_csv
from memruler.scoring.grade_summary import (
    item_value,
    judge_flips,
    parser_counts,
    summarise_grades,
)
from memruler.store.folder import check_stem
from memruler.store.grades import GradeRow

LOCOMO = ("single-hop", "multi-hop", "temporal", "open-domain", "adversarial")


def row(query, value, *, category="a", instance=0, repeat=0, draw=0, answerable=True, **graded):
    reason = graded.pop("reason", None if value is not None else "no judge")
    return GradeRow(
        instance=instance,
        query=query,
        repeat=repeat,
        draw=draw,
        instance_key=f"talk-{instance}",
        id=f"{instance}/{query}",
        category=category,
        answerable=answerable,
        graded=Graded(value=value, reason=reason, **graded),
    )


def summed(rows, *, corpus="tiny", exact=False, sample=False, official=True, answered=True):
    return summarise_grades(
        rows,
        answered={(r.instance, r.query, r.repeat): answered for r in rows},
        clusters={(r.instance, r.query): r.instance_key for r in rows},
        corpus=corpus,
        exact=exact,
        sample=sample,
        official=official,
    )


def test_a_mean_stands_beside_all_its_denominators():
    rows = [
        row(0, 1.0),
        row(1, 0.5, instance=1),
        row(2, None, reason="refused", label="odd"),
        row(3, None, category="b", reason="refused", instance=1),
    ]
    (whole, a, b), official = summed(rows)
    assert (whole.items, whole.answered, whole.scored) == (4, 4, 2)
    assert (whole.mean, whole.floor) == (0.75, 0.375)
    assert whole.unscored == {"refused": 2}
    assert whole.labels == {"odd": 1}
    assert (a.name, a.scored, a.floor) == ("a", 2, 0.5)
    assert (b.scored, b.mean, b.floor, b.no_interval) == (0, None, None, "0 scored items give none")
    assert official == ()


def test_an_exact_ruler_has_no_interval_and_a_draw_has_one():
    rows = [row(at, float(at % 2), instance=at) for at in range(40)]
    exact, draw = summed(rows, exact=True)[0][0], summed(rows)[0][0]
    assert (exact.interval, exact.no_interval) == (None, "the ruler is exact")
    assert draw.interval.clusters == 40
    assert draw.interval.low < 0.5 < draw.interval.high
    assert draw.interval.warnings == ()


def test_few_clusters_one_cluster_and_one_value_are_told():
    few = summed([row(at, float(at % 2), instance=at % 3) for at in range(12)])[0][0].interval
    assert few.clusters == 3
    assert any("3 clusters: below 30" in told for told in few.warnings)
    one = summed([row(at, float(at % 2)) for at in range(12)])[0][0].interval
    assert one.clusters == 12
    assert any(told.startswith("one cluster") for told in one.warnings)
    point = summed([row(at, 1.0, instance=at) for at in range(40)])[0][0].interval
    assert (point.low, point.high) == (1.0, 1.0)
    assert any("a point" in told for told in point.warnings)
    assert not any("moved" in told for told in (*few.warnings, *one.warnings, *point.warnings))


def test_a_sample_has_no_mean():
    (whole, *_), official = summed([row(0, 1.0), row(1, 0.0)], sample=True, corpus="locomo")
    assert (whole.mean, whole.floor, whole.interval, whole.scored) == (None, None, None, 2)
    assert "only a sample" in whole.no_interval
    assert official == ()


def test_locomo_prints_its_categories_in_its_order_and_the_mean_over_questions():
    values = {"single-hop": [1, 1, 0], "adversarial": [0], "temporal": [0.5], "multi-hop": [1]}
    values["open-domain"] = [0]
    rows = [
        row(at * 10 + n, float(value), category=name)
        for at, (name, own) in enumerate(values.items())
        for n, value in enumerate(own)
    ]
    slices, lines = summed(rows, corpus="locomo")
    assert tuple(one.name for one in slices) == ("all", *LOCOMO)
    assert tuple(line.name for line in lines) == (*LOCOMO, "overall")
    # 3.5 of 7, and not the mean of the five means.
    assert lines[-1].value == 0.5
    assert lines[-1].of == 7


TYPES = {
    "single-session-user": [1, 0],
    "single-session-preference": [1],
    "single-session-assistant": [1],
    "multi-session": [0, 0, 1, 1],
    "temporal-reasoning": [0],
    "knowledge-update": [1],
}


def longmemeval(missing=()):
    rows, at = [], 0
    for name, values in TYPES.items():
        for value in values:
            gone = at in missing
            rows.append(
                row(
                    at,
                    None if gone else float(value),
                    category=name,
                    instance=at,
                    answerable=at != 4,
                )
            )
            at += 1
    return summed(rows, corpus="longmemeval-s")


def test_longmemeval_prints_types_their_mean_all_and_abstention():
    slices, lines = longmemeval()
    assert [line.name for line in lines] == [*TYPES, "task-averaged", "overall", "abstention"]
    found = {line.name: line for line in lines}
    assert found["overall"].value == 0.6
    averaged = sum(Fraction(sum(v), len(v)) for v in TYPES.values()) / 6
    assert found["task-averaged"].value == pytest.approx(float(averaged), abs=1e-15)
    assert (found["abstention"].value, found["abstention"].of) == (0.0, 1)
    assert found["multi-session"].value == 0.5
    assert [one.name for one in slices] == ["all", *TYPES]


def test_longmemeval_hides_what_was_not_judged_and_the_floor_shows_it():
    _, lines = longmemeval(missing=(0, 6))
    found = {line.name: line for line in lines}
    assert (found["overall"].value, found["overall"].of, found["overall"].items) == (0.5, 8, 10)
    assert found["overall"].floor == 0.4
    assert "2 without a value are left out" in found["overall"].note
    assert found["multi-session"].value == pytest.approx(1 / 3)
    assert found["multi-session"].floor == 0.25


def test_a_type_without_a_value_leaves_no_mean_of_types():
    _, lines = longmemeval(missing=(2,))
    found = {line.name: line for line in lines}
    assert found["task-averaged"].value is None
    assert "5 of 6 types" in found["task-averaged"].note
    assert found["single-session-preference"].value is None


def test_unknown_categories_follow_the_known_ones():
    assert ordered("locomo", {"zz", "temporal", "aa", "single-hop"}) == [
        "single-hop",
        "temporal",
        "aa",
        "zz",
    ]
    assert ordered("jsonl", {"b", "a"}) == ["a", "b"]


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=9))
def test_several_labels_become_their_majority_and_a_tie_is_wrong(values):
    majority = float(values.count(1.0) > values.count(0.0))
    assert item_value(values, labels=True) == majority


def test_other_values_become_their_mean():
    assert item_value([0.5, 1.0], labels=False) == 0.75
    assert item_value([], labels=False) is item_value([], labels=True) is None


def test_shares_that_happen_to_be_0_and_1_for_one_item_stay_a_mean():
    # One item's draws are 0 and 1, another's are not: the column holds shares.
    rows = [row(0, v, repeat=at) for at, v in enumerate((0.0, 1.0))]
    rows += [row(1, v, repeat=at) for at, v in enumerate((0.0, 0.5))]
    assert summed(rows)[0][0].mean == pytest.approx((0.5 + 0.25) / 2)
    # Without the share they are labels, and a tie is wrong.
    assert summed(rows[:2])[0][0].mean == 0.0
    assert judge_flips([row(0, v, draw=d) for d, v in enumerate((0.0, 1.0))], 2).ties == 1
    shares = [row(at, v, draw=d) for at in (0, 1) for d, v in enumerate((float(at), 0.5))]
    assert judge_flips([*shares, row(2, 0.0), row(2, 1.0, draw=1)], 2).ties == 0


def test_a_judges_majority_comes_before_that_of_the_reader():
    # Reader's first answer: right, right, wrong. Second: wrong. Third: wrong.
    rows = [row(0, v, draw=d) for d, v in enumerate((1.0, 1.0, 0.0))]
    rows += [row(0, v, repeat=1, draw=d) for d, v in enumerate((0.0, 0.0, 0.0))]
    rows += [row(0, v, repeat=2, draw=d) for d, v in enumerate((0.0, 1.0, 0.0))]
    assert summed(rows)[0][0].mean == 0.0
    # Pooled it would be 3 of 9 as well; with two more the two rules part.
    rows += [row(0, v, repeat=3, draw=d) for d, v in enumerate((1.0, 1.0, 1.0))]
    rows += [row(0, v, repeat=4, draw=d) for d, v in enumerate((1.0, 1.0, 0.0))]
    assert summed(rows)[0][0].mean == 1.0


def test_flips_count_answers_and_ties():
    rows = [row(0, v, draw=d) for d, v in enumerate((1.0, 0.0))]
    rows += [row(1, v, draw=d) for d, v in enumerate((1.0, 1.0))]
    rows += [row(2, 1.0), row(2, None, draw=1)]
    found = judge_flips(rows, 2)
    assert (found.of, found.flipped, found.ties) == (2, 1, 1)
    assert judge_flips(rows, 1) is None


def test_the_strict_parser_is_held_against_the_one_in_use():
    rows = [
        row(0, 1.0, detail={"strict": 1.0}),
        row(1, 1.0, detail={"strict": 0.0}),
        row(2, 0.0, detail={"strict": None}),
        row(3, 0.0, detail={"strict": 1.0}),
        row(4, None, detail={"strict": 1.0}),
        row(5, 1.0),
    ]
    found = parser_counts(rows)
    assert (found.of, found.apart, found.undecided, found.higher) == (4, 3, 1, 1)
    assert parser_counts([row(0, 1.0)]) is None


def answer(query, **more):
    given = {"response": "yes", "question": "q", "gold": "g", "category": "a", "id": str(query)}
    return AnswerItem(instance=0, query=query, **{**given, **more})


def test_questions_that_share_a_gold_turn_are_one_family():
    items = [
        answer(0, evidence=(TurnRef(0, 0),), instance_key="t"),
        answer(1, evidence=(TurnRef(0, 0), TurnRef(3, 1)), instance_key="t"),
        answer(2, evidence=(TurnRef(3, 1),), instance_key="t"),
        answer(3, evidence=(TurnRef(5, 0),), instance_key="t"),
        answer(4, evidence=(), instance_key="t"),
        answer(5, evidence=(TurnRef(0, 0),), family="own", instance_key="t"),
    ]
    found = evidence_families(items)
    assert found[0, 0] == found[0, 1] == found[0, 2]
    assert len({found[0, at] for at in (0, 3, 4, 5)}) == 4
    assert found[0, 5] == "own"


def test_scores_hold_one_row_an_answer_and_nothing_that_breaks_a_line():
    rows = [
        row(0, 1.0),
        row(0, 0.0, draw=1),
        row(0, 1.0, draw=2),
        row(1, None, reason="a,\n\x1b[2J"),
    ]
    about = {
        (0, 0, 0): About("talk,0", answered=True, top=("k1", "k2")),
        (0, 1, 0): About("talk,0", answered=False, top=None),
    }
    about[0, 0, 0].family, about[0, 1, 0].family = "f", "g"
    head, first, second = scores_csv(rows, about, "accuracy").decode().splitlines()
    assert head == "id,repeat,accuracy,error,top,conversation,category,evidence"
    assert first == '"talk,0#0",0,1.0,,k1 k2,"talk,0",a,f'
    assert second == '"talk,0#1",0,,"a,\\n\\x1b[2J",,"talk,0",a,g'


class Scripted:
    name, metric, judged, accuracy = "scripted", "accuracy", True, True

    def __init__(self, outcome):
        self.outcome = outcome

    def sha256(self):
        return "0" * 64

    def grade(self, item, ask):
        del item, ask
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def test_what_cannot_be_scored_has_a_reason():
    graded = grade_item(Scripted(RefusedRequestError("too long")), answer(0), None)
    assert (graded.value, graded.reason) == (None, "too long")
    graded = grade_item(Scripted(Graded(value=1.0)), answer(0, response=None, error="down"), None)
    assert (graded.value, graded.reason) == (None, "down")
    graded = grade_item(Scripted(Graded(value=1.0)), answer(0, response=None), None)
    assert (graded.value, graded.reason) == (None, "there is no answer")
    # An answer that is empty was given.
    assert grade_item(Scripted(Graded(value=0.0)), answer(0, response=""), None).value == 0.0


@pytest.mark.parametrize("value", [1.5, -0.1, float("nan"), float("inf")])
def test_a_grader_that_gives_no_share_is_broken(value):
    with pytest.raises(InstrumentError, match="the grader scripted gave"):
        grade_item(Scripted(Graded(value=value)), answer(0), None)


def test_a_grader_that_gives_nothing_is_broken():
    with pytest.raises(InstrumentError, match="neither a value nor a reason"):
        grade_item(Scripted(Graded(value=None)), answer(0), None)


def test_a_reply_that_no_table_can_hold_is_escaped():
    graded = grade_item(Scripted(Graded(value=1.0, reply="\ud800" + "x" * 300)), answer(0), None)
    assert graded.reply.startswith("\\ud800x")
    assert len(graded.reply) == 200


@pytest.mark.parametrize("judge", ["a/b:c", "..", "x" * 200, "mödel", " "])
def test_a_usual_name_is_one_that_a_folder_can_have(judge):
    check_stem(grade_name("answer:memruler", judge, 30))
