import re

import msgspec
import pytest

from memruler.compare.beyond import SliceRow
from memruler.compare.gate import Gate
from memruler.report.figures.forest import forest
from memruler.stats import paired_bootstrap
from memruler.stats.calibration import Corrected

INTERVAL = paired_bootstrap([1] * 6 + [0] * 52 + [-1] * 2)
GATE = Gate(
    base="base",
    candidate="cand",
    ruler="interval",
    outcome="unresolved",
    why="under_powered",
    metric="score",
    cluster=None,
    delta=INTERVAL.mean,
    wins=6,
    ties=52,
    losses=2,
    counted=60,
    absent={"error: timeout": 3},
    interval=INTERVAL,
    threshold=-0.05,
    band=0.04,
    changed=(),
    degraded=(),
    notes=(),
    by="category",
    slices=(
        SliceRow(name="a", n=40, wins=4, losses=0, delta=0.1, test="mcnemar", p=0.1, adjusted=0.2),
        SliceRow(name="b", n=20, wins=2, losses=2, delta=0.0, test="mcnemar", p=1.0, adjusted=1.0),
    ),
)
EXACT = msgspec.structs.replace(
    GATE, ruler="exact", interval=None, band=None, threshold=0.0, outcome="pass", why=None
)


def intervals(parsed, figure):
    """Horizontal rules two units wide: how an interval is drawn. (left, right) in the plot."""
    found = []
    for node in parsed(figure.svg).iter("line"):
        if node.get("stroke-width") == "2" and node.get("x2") not in {None, "0"}:
            left = float(node.get("transform", "translate(0").partition("(")[2].split(",")[0])
            found.append(sorted((left, left + float(node.get("x2")))))
    return found


def test_deterministic_runs_have_points_and_never_an_interval(make_comparison, parsed, marks):
    comparison = make_comparison()
    figure = forest(comparison)
    assert "exact" in figure.title
    assert "Exact" in figure.caption
    assert intervals(parsed, figure) == []
    head = comparison.headline
    assert f"{head.counted} queries that both means are over, of {head.of}" in figure.caption
    wanted = {(head.level, head.k)}
    deltas = [d for d in comparison.deltas if (d.level, d.k) in wanted]
    macro = [m for m in comparison.macro if (m.level, m.k) in wanted]
    assert len(figure.table) == 1 + len(deltas) + len(macro)
    for m in macro:
        (row,) = (r for r in figure.table if r[2].startswith("mean of") and r[3] == m.metric)
        assert row[4:6] == [f"{m.base:.4f}", f"{m.candidate:.4f}"]
    told = {(row[2], row[3]): row for row in figure.table[1:]}
    for d in deltas:
        row = told[d.slice, d.metric]
        assert row[4:7] == [
            f"{d.base:.4f}",
            f"{d.candidate:.4f}",
            "=" if d.delta == 0 else f"{d.delta:+.4f}",
        ]
        assert row[7:] == [str(d.wins), str(d.losses), f"{d.counted}/{d.of}"]
    # Left of zero is worse, right of it better, and the scale is the same on both sides.
    drawn = marks(figure)
    assert drawn
    for fill, _, x, _ in drawn:
        side = "var(--good)" if x > 65.1 else "var(--bad)" if x < 64.9 else "var(--ink-soft)"
        assert fill == side


def test_positions_are_the_deltas(make_comparison, marks):
    comparison = make_comparison()
    head = comparison.headline
    every = [
        d.delta
        for d in comparison.deltas
        if (d.level, d.k, d.slice) == (head.level, head.k, "all")
        or (d.metric, d.level, d.k) == (head.metric, head.level, head.k)
    ]
    macro = next(
        m for m in comparison.macro if (m.metric, m.level, m.k) == ("recall_all", "session", 5)
    )
    span = max(0.01, 1.1 * max(map(abs, [*every, macro.delta])))
    first = marks(forest(comparison))[0]
    assert first[2] == pytest.approx(65 + 65 * head.delta / span, abs=0.02)


def test_an_exact_gate_has_none_either(parsed, texts):
    figure = forest(EXACT)
    assert "exact" in figure.title
    assert intervals(parsed, figure) == []
    assert [row[2:4] for row in figure.table[1:]] == [["-", "-"]] * 3
    assert "score" in " ".join(texts(figure))


def test_a_draw_has_its_interval_threshold_and_band(parsed, marks):
    figure = forest(GATE)
    (one,) = intervals(parsed, figure)
    span = 1.1 * max(abs(INTERVAL.low), abs(INTERVAL.high), 0.1)
    expected = [65 + 65 * end / span for end in (INTERVAL.low, INTERVAL.high)]
    assert one == pytest.approx(expected, abs=0.05)
    assert figure.table[1][2:4] == [f"{INTERVAL.low:+.4f}", f"{INTERVAL.high:+.4f}"]
    # The interval holds zero, so neither colour of a verdict is there; slices decide nothing.
    assert {fill for fill, *_ in marks(figure)} == {"var(--ink-soft)"}
    assert "95% interval over 60 groups" in figure.caption
    assert "0.04 to each side of zero" in figure.caption
    assert "63" not in figure.caption
    assert "(3 without)" in figure.caption
    dashed = [n for n in parsed(figure.svg).iter("line") if n.get("stroke-dasharray")]
    assert len(dashed) == 1
    shade = next(n for n in parsed(figure.svg).iter("path") if n.get("fill") == "var(--line)")
    left, width = map(float, re.match(r"M([\d.]+),0h([\d.]+)v", shade.get("d")).groups())
    # Around zero, wherever the threshold is.
    assert left + width / 2 == pytest.approx(65, abs=0.02)
    assert width == pytest.approx(2 * 65 * 0.04 / span, abs=0.02)


def test_a_slice_called_as_the_whole_has_its_own_row(texts):
    own = tuple(msgspec.structs.replace(part, name="all items") for part in GATE.slices[:1])
    assert {"all items", "all items (2)"} <= set(
        texts(forest(msgspec.structs.replace(GATE, slices=own)))
    )


def test_a_judge_corrected_gate_shows_both(parsed, marks):
    corrected = Corrected(
        value=0.2,
        low=0.1,
        high=0.3,
        observed=INTERVAL,
        j=0.8,
        corrected=True,
        reason=None,
        widening=1.2,
    )
    figure = forest(msgspec.structs.replace(GATE, corrected=corrected))
    assert len(intervals(parsed, figure)) == 2
    assert figure.table[2][:4] == ["judge corrected", "+0.2000", "+0.1000", "+0.3000"]
    assert "var(--good)" in {fill for fill, *_ in marks(figure)}


def test_hostile_text(make_comparison, hostile):
    figure = forest(make_comparison(hostile))
    assert "<script" not in figure.svg
    assert all(cell.isprintable() for row in figure.table for cell in row)
    assert figure.caption.isprintable()
