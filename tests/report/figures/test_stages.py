import re

import msgspec
import pytest

from memruler.model.failures import STAGES, Failures, StageCounts
from memruler.report.figures.record import Missing
from memruler.report.figures.stages import stages


def counts(category, queries, unscored=0, **lost):
    return StageCounts(
        category=category,
        queries=queries,
        scored=queries - unscored,
        missed=sum(lost.values()),
        stages={stage: lost.get(stage, 0) for stage in STAGES},
        unscored={"no answer": unscored} if unscored else {},
    )


FILED = Failures(
    run="r",
    ruler="answers",
    answers="a",
    grade="g",
    grader="x",
    metric="score",
    rule="missed: score below 0.5",
    population="all",
    level="turn",
    k=10,
    all=counts(None, 100, 20, ranking=30, reader=20, ingest=10),
    categories=(
        counts("small", 20, 10, ranking=5),
        counts("big", 70, 0, ranking=25, reader=20, ingest=10),
        counts("none", 10, 10),
    ),
    filters={},
    selected=60,
    items=(),
    identity={},
    notes=(),
    degraded=(),
)


def spans(parsed, figure, panel=0):
    """Colour to (left, width) of its bars, in units of which 205 are all queries."""
    found = {}
    for node in parsed(figure.svg).findall("svg")[panel].iter("path"):
        bar = re.fullmatch(r"M(-?[\d.]+),[\d.]+h([\d.]+)v[\d.]+h-[\d.]+Z", node.get("d", ""))
        if bar and node.get("stroke") == "var(--paper)":
            found.setdefault(node.get("fill"), []).append((float(bar[1]), float(bar[2])))
    return found


def test_counts_and_shares(parsed, texts):
    figure = stages(FILED)
    assert figure.table[1] == [
        *("r", "all queries", "10", "0", "0", "30", "0", "20", "0", "0", "60/80")
    ]
    # By size of what has a value; a category without any is in neither.
    assert [row[1] for row in figure.table[1:]] == ["all queries", "big", "small"]
    drawn = spans(parsed, figure)
    # In pipeline order, one after the other, from 0: ingest, ranking, reader.
    assert drawn["var(--series-1)"][0] == pytest.approx((0, 205 * 10 / 80), abs=0.02)
    assert drawn["var(--series-4)"][0] == pytest.approx((205 / 8, 205 * 30 / 80), abs=0.02)
    assert drawn["var(--series-6)"][0] == pytest.approx((205 / 2, 205 * 20 / 80), abs=0.02)
    assert len(drawn) == 3
    shown = texts(figure)
    assert {"60 of 80", "55 of 70", "5 of 10", "30", "25"} <= set(shown)
    assert "60 of 80 queries of all are missed" in figure.caption
    assert "20 have no value" in figure.caption


def test_two_runs_of_one_stem_are_told_apart(texts):
    figure = stages([FILED, FILED])
    assert {row[0] for row in figure.table[1:]} == {"r", "r (2)"}
    named = stages([FILED, FILED], ["base", "candidate"])
    assert "candidate: answers, k=10" in texts(named)


def test_a_category_called_as_the_whole_has_its_own_row(texts):
    own = (counts("all queries", 8, ranking=5),)
    shown = texts(stages(msgspec.structs.replace(FILED, categories=own)))
    assert {"all queries", "all queries (2)", "60 of 80", "5 of 8"} <= set(shown)


def test_nothing_missed_is_no_failure_and_no_value_is_no_success():
    assert stages([]) is None
    fine = msgspec.structs.replace(FILED, all=counts(None, 5), categories=())
    found = stages(fine)
    assert isinstance(found, Missing)
    assert found.reason == "no query was missed"
    silent = stages(msgspec.structs.replace(FILED, all=counts(None, 5, 5), categories=()))
    assert isinstance(silent, Missing)
    assert silent.reason == "no query has a value"


def test_hostile_names(hostile, parsed):
    own = tuple(counts(f"{hostile}{at}", 5, ranking=2) for at in range(3))
    figure = stages(msgspec.structs.replace(FILED, run=hostile, categories=own))
    assert "<script" not in figure.svg
    assert all(cell.isprintable() for row in figure.table for cell in row)
    assert figure.caption.isprintable()
    assert len(spans(parsed, figure)["var(--series-4)"]) == 4
