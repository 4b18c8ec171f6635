import io

import msgspec
import pytest
from rich.console import Console

from memruler.compare.record import Difference
from memruler.compare.repeats import Repeats
from memruler.report.terminal_repeats import render_repeats
from memruler.stats.repeats import repeated_side
from memruler.stats.repeats_item import Repeat
from memruler.stats.repeats_pair import repeated_pair

YES, NO = Repeat(label=True), Repeat(label=False)
LOST = Repeat(label=None, reason="timed \x1b[31mout")


def known(repeat, *top):
    return msgspec.structs.replace(repeat, top=top)


BASE = {
    "q1": [known(YES, "s1"), known(NO, "s1"), known(YES, "s2")],
    "q2": [NO, NO],
    "q3": [LOST, LOST],
    "q4": [YES, NO],
    "q5": [known(NO, "s1")] * 2,
}
CANDIDATE = {**BASE, "q2": [YES, YES], "q3": [YES, YES], "q5": [known(YES, "s2")] * 2}
EMPTY = Repeats(
    base="base[bold]x[/bold]",
    candidate=None,
    label="correct\x1b[31m",
    cluster=None,
    side=None,
    pair=None,
    changed=(),
    notes=(),
)


def page(**changes):
    out = io.StringIO()
    console = Console(file=out, width=80, highlight=False, markup=False, emoji=False)
    render_repeats(msgspec.structs.replace(EMPTY, **changes), console)
    text = out.getvalue()
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    return text


def row(text, name):
    (line,) = [line for line in text.splitlines() if line.strip().startswith(name)]
    return line.strip().removeprefix(name).split()


def test_one_side():
    text = page(side=repeated_side(BASE))
    assert "[bold]x[/bold]" in text
    assert row(text, "right by majority") == ["0.2500", "(1/4)"]
    assert row(text, "ties, counted as wrong") == ["1/3"]
    assert row(text, "every draw erred") == ["1/5"]
    assert row(text, "draws an item") == ["2", "to", "3"]
    assert row(text, "flip rate") == ["0.5000", "(2/4)"]
    assert [row(text, f"moved: {kind}") for kind in ("reader", "retrieval", "unknown")] == [
        ["1/2"],
        ["0/2"],
        ["1/2"],
    ]
    assert row(text, "items with the same top") == ["1/2"]
    assert row(text, "pairs with the same top") == ["2/4"]
    assert row(text, "of these flipped") == ["1/2"]
    assert row(text, "other pairs flipped") == ["1/2"]
    assert "2 timed" in text


def test_two_sides():
    pair = repeated_pair(BASE, CANDIDATE, clusters=dict(zip(BASE, "aabbc", strict=True)))
    text = page(
        candidate="cand",
        cluster="talk",
        pair=pair,
        changed=(Difference(key="reader", base="r1", candidate="r2"),),
        notes=("a note " * 20,),
    )
    assert row(text, "right by majority") == ["0.2500", "(1/4)", "0.8000", "(4/5)"]
    assert row(text, "full") == ["4", "3", "1", "3", "+0.5000", "0", "+1.0000", "2/0"]
    assert row(text, "stable")[:6] == ["2", "2", "0", "2", "+1.0000", "+1.0000"]
    assert row(text, "errors")[:5] == ["5", "3", "1", "4", "+0.6000"]
    assert "discordance   0.5000 (2/4); what moved: 1 retrieval, 1 unknown" in text
    assert "items: 1 in the base only, 0 in the candidate only, 0 in both" in text
    assert row(text, "clustered by") == ["talk"]
    assert text.count("3 clusters: below 30") == 1
    assert 'reader: "r1" -> "r2"' in text


@pytest.mark.parametrize("draw", [YES, LOST])
def test_what_cannot_be_said_is_a_dash_with_a_reason(draw):
    one = {"q1": [draw]}
    text = page(candidate="cand", pair=repeated_pair(one, one))
    assert row(text, "flip rate") == ["-", "-"]
    assert row(text, "stable") == ["0", "-", "0", "0", "-", "-", "-", "0/0"]
    assert "none: no item has two repeats with a label" in text
    assert "stable: no item is unanimous" in text


def test_large_counts_fit():
    many = {f"q{i}": [YES, NO, YES] for i in range(20_000)}
    text = page(candidate="cand", pair=repeated_pair(many, many))
    assert "20000" in text
