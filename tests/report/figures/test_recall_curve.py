import re

import msgspec
import pytest

from memruler.report.figures.recall_curve import recall_curve
from memruler.report.figures.record import Figure, Missing


def cells(document, level):
    return {c.k: c for c in document.summary.slices[0].cutoffs if c.level == level}


def means(found, colour):
    """What the filled symbols of one colour say, by height: 220 units are 1."""
    return [round(1 - y / 220, 3) for fill, _, _, y in found if fill == colour]


def test_numbers_are_those_of_the_summary(make_document, marks, texts):
    document = make_document()
    figure = recall_curve([document])
    assert isinstance(figure, Figure)
    head, *rows = figure.table
    for level in ("session", "turn"):
        own = cells(document, level)
        told = {row[2]: dict(zip(head, row, strict=True)) for row in rows if row[1] == level}
        assert list(told) == [str(k) for k in own]
        for k, cell in own.items():
            row = told[str(k)]
            for name in ("recall_any", "recall_micro", "recall_all"):
                assert row[name] == f"{cell.values[name]:.4f}"
            assert row["queries"] == f"{cell.counted}/{cell.of}"
    for panel, level in enumerate(("session", "turn")):
        found = marks(figure, panel)
        for at, name in enumerate(("recall_all", "recall_micro", "recall_any"), 1):
            expected = [cell.values[name] for cell in cells(document, level).values()]
            drawn = means(found, f"var(--series-{at})")
            assert drawn == pytest.approx(expected, abs=1e-3)
    assert {"session level", "turn level", "1", "3", "5", "4", "0.0", "1.0"} <= set(texts(figure))
    assert "4 measured queries of answerable" in figure.caption


def test_ceilings_are_where_gold_exceeds_k_only(make_document, queries_a):
    document = make_document()
    table = recall_curve([document]).table
    at = table[0].index("most possible")
    # One of four queries has two gold ids.
    assert [(row[2], row[at]) for row in table[1:4]] == [("1", "0.7500"), ("3", "-"), ("5", "-")]
    assert "most that recall_all can be" in recall_curve([document]).caption
    single = make_document((*queries_a[:2], *queries_a[3:]))
    assert "most that recall_all" not in recall_curve([single]).caption


def test_a_ceiling_is_over_the_counted_queries(make_document, queries_a, parsed):
    empty = (queries_a[0]._replace(session="", turn=""), *queries_a[1:])
    figure = recall_curve([make_document(empty)])
    # Three are counted at k=1, of which two have no more than one gold id; four are measured.
    assert figure.table[1][figure.table[0].index("most possible")] == "0.6667"
    bars = [n for n in parsed(figure.svg).find("svg").iter() if n.get("fill") == "var(--ink-soft)"]
    heights = [re.match(r"M[\d.]+,([\d.]+)h26v2h", n.get("d", "")) for n in bars]
    (top,) = (float(found[1]) for found in heights if found)
    assert 1 - (top + 1) / 220 == pytest.approx(2 / 3, abs=1e-3)


def test_short_lists_bring_the_padded_mean(make_document, queries_a, marks):
    short = (queries_a[0]._replace(session="x"), *queries_a[1:])
    document = make_document(short)
    figure = recall_curve([document])
    row = next(row for row in figure.table if row[1:3] == ["session", "5"])
    cell = cells(document, "session")[5]
    assert cell.counted == 3
    assert row[figure.table[0].index("recall_all, padded")] == f"{cell.padded['recall_all']:.4f}"
    hollow = [y for fill, stroke, _, y in marks(figure) if not fill and stroke]
    padded = [c.padded["recall_all"] for k, c in cells(document, "session").items() if k > 1]
    assert [1 - y / 220 for y in hollow] == pytest.approx(padded, abs=1e-3)
    filled = means(marks(figure), "var(--series-1)")
    counted = [c.values["recall_all"] for c in cells(document, "session").values()]
    assert filled == pytest.approx(counted, abs=1e-3)
    assert counted[1:] != pytest.approx(padded, abs=1e-3)
    assert "Hollow points" in figure.caption
    assert "Hollow points" not in recall_curve([make_document()]).caption


def test_two_runs_are_a_panel_a_level_and_metric(make_document, marks, parsed, texts):
    document = make_document()
    figure = recall_curve([document, document], ["base", "candidate"])
    assert len(parsed(figure.svg).findall("svg")) == 6
    # The headline's metric stands first.
    titles = [text for text in texts(figure) if text.endswith(" level")]
    assert titles[:2] == ["recall_all, session level", "recall_all, turn level"]
    expected = [c.values["recall_all"] for c in cells(document, "session").values()]
    for colour in ("var(--series-1)", "var(--series-2)"):
        assert means(marks(figure), colour) == pytest.approx(expected, abs=1e-3)
    assert {row[0] for row in figure.table[1:]} == {"base", "candidate"}


def test_more_runs_than_colours_are_cut_and_said(make_document, texts):
    document = make_document()
    figure = recall_curve([document] * 8)
    assert "The first 6 of 8 runs are drawn" in figure.caption
    assert len({row[0] for row in figure.table[1:]}) == 8
    assert "base (6)" in texts(figure)
    assert "base (7)" not in texts(figure)


def test_nothing_to_show(make_document):
    assert recall_curve([]) is None
    document = make_document()
    bare = [msgspec.structs.replace(s, cutoffs=()) for s in document.summary.slices]
    summary = msgspec.structs.replace(document.summary, slices=tuple(bare))
    found = recall_curve([msgspec.structs.replace(document, summary=summary)])
    assert isinstance(found, Missing)
    assert found.reason == "no cut-off was scored"
