import io

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from memruler.compare.gate import Band, Gate
from memruler.compare.record import Difference
from memruler.report.terminal_gate import print_band, print_gate, render_band, render_gate
from memruler.stats import paired_bootstrap

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
    threshold=0.0,
    band=0.04,
    changed=(Difference(key="reader", base="r1", candidate="r2"),),
    degraded=(),
    notes=("a note",),
)
BAND = Band(
    base="one",
    candidate="other",
    metric="score",
    cluster="conv",
    band=8 / 60,
    interval=INTERVAL,
    degraded=(),
    notes=("a note",),
)


def page(render, record, **changes):
    out = io.StringIO()
    console = Console(file=out, width=80, highlight=False, markup=False, emoji=False)
    render(msgspec.structs.replace(record, **changes), console)
    return out.getvalue()


def words(text):
    return " ".join(text.split())


def test_a_gate():
    text = page(render_gate, GATE)
    assert text.startswith("UNRESOLVED  score +0.0667, 95 % -0.0167 to +0.1667\n")
    for line in (
        "items 60: 6 up, 52 the same, 2 down",
        "no value 3 items: error: timeout",
        "must exceed 0 ",
        "null band within 0.0400 of zero",
        "clusters 60 (each item stands alone)",
        "interval exact bootstrap distribution, no draws",
        'changed reader: "r1" -> "r2"',
        "note a note",
        "more items or clusters would tell",
    ):
        assert line in words(text)


@pytest.mark.parametrize(("outcome", "why"), [("pass", None), ("fail", None)])
def test_decided(outcome, why):
    text = page(render_gate, GATE, outcome=outcome, why=why, threshold=-0.02)
    assert text.startswith(f"{outcome.upper()}  score ")
    assert "must exceed -0.0200" in words(text)
    assert "unresolved" not in text


def test_the_noise_floor_is_told_apart():
    text = page(render_gate, GATE, why="noise_floor")
    assert "do not read it as a change" in words(text)
    assert "would tell" not in words(text)


def test_exact():
    changes = {"ruler": "exact", "outcome": "pass", "why": None, "interval": None, "band": None}
    text = page(render_gate, GATE, **changes)
    assert text.startswith("PASS  score +0.0667 (exact)\n")
    assert "null band" not in text
    assert "a fact, without an interval" in words(text)


def test_draws():
    drawn = paired_bootstrap([0.1234 * i % 1 for i in range(90)], [i // 5 for i in range(90)])
    text = words(page(render_gate, GATE, interval=drawn, cluster="conv"))
    assert "10000 resamples, seed 7; standard errors of the ends 0.0" in text
    assert "clusters 18 (conv)" in text
    assert "warning 18 clusters: below 30" in text


def test_an_end_at_zero_is_a_number():
    text = page(render_gate, GATE, interval=msgspec.structs.replace(INTERVAL, low=0.0), delta=0.0)
    assert text.startswith("UNRESOLVED  score 0, 95 % 0 to +0.1667\n")


def test_many_reasons_are_summed_up():
    text = page(render_gate, GATE, absent={f"error: {i}": 1 + (i == 99) for i in range(100)})
    assert text.count("no value") == 9
    assert words(text).index("no value 2 items: error: 99") < words(text).index("error: 0")
    assert "92 items: 92 other reasons (--json)" in words(text)


def test_degraded_comes_first():
    for render, record in ((render_gate, GATE), (render_band, BAND)):
        text = page(render, record, degraded=("toy \x1b[1membedder",))
        assert text.startswith("DEGRADED: do not trust these numbers\n  toy \\x1b[1membedder\n")


def test_a_band():
    text = page(render_band, BAND)
    assert text.startswith("band 0.1334  score +0.0667, 95 % -0.0167 to +0.1667\n")
    assert "between one and other" in words(text)
    assert "clusters 60 (conv)" in words(text)
    assert "next memruler gate BASE CANDIDATE --band 0.1334" in words(text)


@pytest.mark.parametrize(
    ("width", "told"),
    [(0.0, "0.0000"), (0.05, "0.0500"), (0.07, "0.0700"), (0.1 + 0.2, "0.3000"), (1e-6, "0.0001")],
)
def test_a_band_is_rounded_up(width, told):
    assert page(render_band, BAND, band=width).startswith(f"band {told} ")


def test_hostile_text_is_harmless_and_fits(hostile):
    changes = dict.fromkeys(("base", "candidate", "metric", "cluster"), hostile)
    texts = [
        page(
            render_gate,
            GATE,
            **changes,
            absent={hostile: 1},
            notes=(hostile,),
            degraded=(hostile,),
            changed=(Difference(key=hostile, base=hostile, candidate=hostile),),
        ),
        page(render_band, BAND, **changes, notes=(hostile,), degraded=(hostile,)),
    ]
    for text in texts:
        assert all(c.isprintable() or c == "\n" for c in text)
        assert all(cell_len(line) <= 80 for line in text.splitlines())
        assert "[bold]m[/bold]" in words(text)
        assert ":smile:" in words(text)


def test_numbers_of_any_size_fit():
    wide = msgspec.structs.replace(INTERVAL, low=-9e99, high=9e99, mean=1e99)
    for text in (
        page(render_gate, GATE, interval=wide, delta=1e99, threshold=9e99, band=9e99),
        page(render_band, BAND, interval=wide, band=9e99),
    ):
        assert all(cell_len(line) <= 80 for line in text.splitlines())


def test_printing(capsys):
    print_gate(GATE)
    print_band(BAND)
    printed = capsys.readouterr()
    assert printed.out.startswith("UNRESOLVED")
    assert "\nband 0.1334" in printed.out
    assert printed.err == ""
    assert not any(line.endswith(" ") for line in printed.out.splitlines())
