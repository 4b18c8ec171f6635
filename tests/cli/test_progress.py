"""Progress: what a plain line says, and that nothing moves where nothing may."""

import io
import sys

import pytest

from memruler.cli.progress import Pace, duration, moves, progress, working
from memruler.cli.specs import cell_progress


class _Terminal(io.StringIO):
    def isatty(self):
        return True


class _Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return _Clock()


def terminal_for(monkeypatch):
    """Called inside a test: pytest sets stderr anew between its phases."""
    stream = _Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stream


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 05 min")],
)
def test_duration(seconds, told):
    assert duration(seconds) == told


def test_a_line_has_rate_and_time_left(clock, capsys):
    pace = Pace("instances", 40, clock=clock)
    for done, now in ((1, 5), (2, 10), (3, 19), (12, 20)):
        clock.now = now
        pace.at(done)
        pace.tell()
    # 2 in 10 s leaves 38 at 0.2 a second; 12 in 20 s leaves 28 at 0.6 a second.
    assert capsys.readouterr().err.splitlines() == [
        "2 of 40 instances in 10 s, 0.2 a second, 3 min 10 s left",
        "12 of 40 instances in 20 s, 0.6 a second, 47 s left",
    ]
    pace.at(40)
    clock.now = 50
    pace.end()
    assert capsys.readouterr().err == "40 of 40 instances in 50 s, 0.8 a second\n"


def test_what_was_done_before_does_not_count_for_the_rate(clock):
    pace = Pace("cases", clock=clock)
    clock.now = 10
    pace.at(101, 200)  # the first 100 were there
    assert pace.line() == "101 of 200 cases in 10 s, 0.1 a second, 16 min 30 s left"


def test_what_is_short_says_nothing(clock, capsys):
    pace = Pace("instances", 4, clock=clock)
    for done in range(5):
        clock.now += 1
        pace.at(done)
        pace.tell()
    pace.end()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("variables", "drawn"),
    [
        ({}, True),
        ({"CI": ""}, True),
        ({"CI": "false"}, True),
        ({"CI": "true"}, False),
        ({"CI": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"CI": "true", "FORCE_COLOR": "1"}, False),
    ],
)
def test_who_gets_lines_that_move(monkeypatch, variables, drawn):
    terminal = terminal_for(monkeypatch)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert moves() is drawn
    with progress(2) as tick, working("more"):
        tick("instance", 1, 0)
    with cell_progress() as tick:
        tick("cell a", 0, 2)
    assert ("\x1b" in terminal.getvalue()) is drawn
    assert (terminal.getvalue() == "") is not drawn


def test_no_terminal_gets_nothing_that_moves(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("CI", raising=False)
    with progress(2) as tick:
        tick("instance", 1, 0)
    assert capsys.readouterr().err == ""


def test_a_bar_shows_counts_and_no_markup(monkeypatch):
    terminal = terminal_for(monkeypatch)
    with progress(8, "answers") as tick:
        tick("instance", 3, 0)
        tick("[red]search[/red] \x1b[2J", 5, 9)
    shown = terminal.getvalue()
    assert "answers" in shown
    assert "3/8" in shown
    assert "[red]search[/red]" in shown
    assert "\x1b[2J" not in shown


def test_a_cell_that_wants_to_steer_the_terminal(monkeypatch):
    terminal = terminal_for(monkeypatch)
    with cell_progress() as tick:
        tick("cell a\x1b[2J", 3, 8)
        tick("search", 1, 9)
    assert "\x1b[2J" not in terminal.getvalue()
    assert "search 1/9; 3 of 8 cells" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert max(map(len, terminal.getvalue().split("\r\x1b[K"))) < 100
