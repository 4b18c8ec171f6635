"""The width of what is printed."""

import pytest

from memruler.report.layout import WIDTH, stdout_console


@pytest.mark.parametrize(
    ("columns", "width"), [(0, 60), (20, 60), (40, 60), (59, 60), (70, 70), (80, 80), (500, WIDTH)]
)
def test_the_width_is_within_its_bounds(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert stdout_console().width == width


@pytest.mark.parametrize("columns", [0, 20, 40, 50])
def test_a_comparison_keeps_its_numbers_whole(monkeypatch, capsys, make_comparison, columns):
    from memruler.report.terminal import print_comparison  # noqa: PLC0415 - rich reads COLUMNS

    monkeypatch.setenv("COLUMNS", str(columns))
    print_comparison(make_comparison())
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 60
    assert "recall_all@5 0.7500 -> 0.7500" in printed.replace("\n", " ")
