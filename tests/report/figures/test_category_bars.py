import re

import msgspec
import pytest

from memruler.report.figures.category_bars import category_bars
from memruler.report.figures.record import Missing


def test_numbers_and_counts_are_those_of_the_summary(make_document, texts):
    document = make_document()
    figure = category_bars([document])
    slices = document.summary.slices
    rows = {(row[1], row[2]): row[3:] for row in figure.table[1:]}
    assert len(rows) == 6
    for part in slices:
        for cell in part.cutoffs:
            if cell.k == 5:
                told = [f"{cell.values['recall_all']:.4f}", "-", f"{cell.counted}/{cell.of}"]
                assert rows[part.name, cell.level] == told
    shown = texts(figure)
    # multi: one of two queries has both of its gold ids at the session level.
    assert "0.5000\u2002n=2" in shown
    assert "0.7500\u2002n=4" in shown
    assert "recall_all@5, session level" in shown


def test_bars_start_at_zero_and_end_at_the_value(make_document, parsed):
    document = make_document()
    figure = category_bars([document])
    svg = parsed(figure.svg).find("svg")
    bars = [n.get("d") for n in svg.iter("path") if n.get("fill") == "var(--series-1)"]
    assert len(bars) == 3
    # `all`, then the categories of equal size by name: multi 0.5, single 1; the plot is 190 wide.
    tips = [float(re.match(r"M0,[\d.]+h([\d.]+)v", d)[1]) for d in bars]
    assert tips == pytest.approx([0.75 * 190, 0.5 * 190, 190], abs=0.1)


def test_a_bar_is_the_mean_of_those_counted(make_document, queries_a, parsed):
    short = (queries_a[0]._replace(session="."), *queries_a[1:])
    figure = category_bars([make_document(short)])
    svg = parsed(figure.svg).find("svg")
    bars = [n.get("d") for n in svg.iter("path") if n.get("fill") == "var(--series-1)"]
    tips = [float(re.match(r"M0,[\d.]+h([\d.]+)v", d)[1]) for d in bars]
    # all: 2 of 3, multi: 1 of 2, single: 1 of 1, where one of two is too short.
    assert tips == pytest.approx([190 * 2 / 3, 95, 190], abs=0.1)


def test_two_runs_side_by_side(make_document, texts):
    document = make_document()
    figure = category_bars([document, document], ["base", "candidate"])
    assert {row[0] for row in figure.table[1:]} == {"base", "candidate"}
    assert texts(figure).count("0.5000\u2002n=2") >= 2
    assert {"base", "candidate"} <= set(texts(figure))


def test_a_category_whose_lists_are_too_short_is_told_and_not_zero(make_document, queries_a, texts):
    short = [q._replace(session="x") if q.category == "single" else q for q in queries_a]
    figure = category_bars([make_document(tuple(short))])
    rows = {(row[1], row[2]): row[3:] for row in figure.table[1:]}
    assert rows["single", "session"] == ["-", "-", "0/2"]
    assert "none of 2" in texts(figure)
    assert "shorter than 5" in figure.caption


def test_the_many_are_cut_and_said(make_document, queries_a, texts):
    many = [queries_a[0]._replace(category=f"c{at:02}") for at in range(25)]
    figure = category_bars([make_document((*many, queries_a[0]._replace(category="c00")))])
    assert "The 20 largest of 25" in figure.caption
    assert len({row[1] for row in figure.table[1:]}) == 26
    shown = texts(figure)
    assert "c18" in shown
    assert "c24" not in shown


def test_more_runs_than_colours_are_cut_and_said(make_document):
    figure = category_bars([make_document()] * 7)
    assert "The first 6 of 7 runs are drawn" in figure.caption
    assert len({row[0] for row in figure.table[1:]}) == 7


def test_one_category_or_none(make_document, queries_a):
    assert category_bars([]) is None
    one = make_document(tuple(q._replace(category="same") for q in queries_a))
    assert isinstance(category_bars([one]), Missing)
    summary = msgspec.structs.replace(
        one.summary,
        slices=tuple(msgspec.structs.replace(s, cutoffs=()) for s in one.summary.slices),
    )
    found = category_bars([msgspec.structs.replace(one, summary=summary)])
    assert isinstance(found, Missing)
    assert found.reason == "no cut-off was scored"


def test_hostile_names(make_document, queries_a, hostile, parsed):
    rows = [q._replace(category=hostile + q.category) for q in queries_a]
    figure = category_bars([make_document(tuple(rows))], [hostile])
    assert "<script" not in figure.svg
    labels = {n.text for n in parsed(figure.svg).iter("text") if n.text and "script" in n.text}
    assert len(labels) == 2
