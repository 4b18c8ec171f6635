"""Headlines over time: one figure for each population of a corpus, with every run below it."""

from collections import defaultdict
from collections.abc import Iterable

from markupsafe import Markup

from memruler.report.figures.record import Figure
from memruler.report.figures.trend import TrendPoint, trend
from memruler.report.web.listed import Listed
from memruler.report.web.render import part

__all__ = ["series_of", "trends"]

_FEWEST = 2

_Pointed = tuple[Listed, TrendPoint]


def series_of(runs: Iterable[Listed]) -> list[list[_Pointed]]:
    """Runs over one population of one corpus by name, in the order in which they began.

    Which of them a line may join is for the figure to say. A series has at least two runs; the
    longest stands first.

    Args:
        runs: Any; those without a headline are left out.
    """
    groups: defaultdict[tuple[str, str], list[_Pointed]] = defaultdict(list)
    for run in runs:
        if run.point is not None:
            groups[run.point.corpus, run.point.population].append((run, run.point))
    made = [sorted(group, key=_when) for group in groups.values() if len(group) >= _FEWEST]
    return sorted(made, key=lambda group: (-len(group), _when(group[0])))


def _when(pointed: _Pointed) -> tuple[str, str]:
    return pointed[1].started.isoformat(), pointed[1].run


def trends(runs: Iterable[Listed]) -> tuple[Markup, ...]:
    """A part of the page for each series; see `series_of`.

    Raises:
        UsageError: What draws the figures is not installed.
    """
    return tuple(_part(number, group) for number, group in enumerate(series_of(runs), 1))


def _part(number: int, group: list[_Pointed]) -> Markup:
    figure = trend([point for _, point in group])
    if not isinstance(figure, Figure):
        raise TypeError("two points and more make a figure")
    heads, *rows = figure.table
    # The figure's rows are in the same order: by start, then by name.
    keyed = [(run.key, row) for (run, _), row in zip(group, rows, strict=True)]
    return part(
        "series.html.j2", number=number, figure=figure, heads=heads, rows=keyed, run=group[0][0]
    )
