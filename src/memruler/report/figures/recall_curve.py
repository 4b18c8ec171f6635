"""Recall against depth, at both levels, with what each point is over."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from memruler.compare.headline import HEADLINE, LEVELS
from memruler.model.summary import Cutoff, Level
from memruler.report.document import ReportDocument
from memruler.report.figures.record import Figure, Missing
from memruler.report.figures.render import LINE, SERIES, SOFT, Panel, draw
from memruler.report.figures.words import MOST_RUNS, first_runs, number, run_names
from memruler.report.numbers import mean, share

__all__ = ["recall_curve"]

_ID: Final = "recall-curve"
_TITLE: Final = "Recall against depth"
_METRICS: Final = ("recall_all", "recall_micro", "recall_any")
_FLOOR: Final = "recall_all, padded"
_CEILING: Final = "most possible"
_DASHES: Final = ([1, 0], [7, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4])
_SHAPES: Final = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down")

_Rows = Mapping[tuple[Level, int], Cutoff]


def recall_curve(
    documents: Sequence[ReportDocument], names: Sequence[str] = ()
) -> Figure | Missing | None:
    """Recall over k: for one run a panel a level, for several one a level and metric.

    Every mean is that of the summary, over the queries whose list has k entries. Where some lists
    are shorter, the padded mean of `recall_all` stands beside it; where some queries have more than
    k gold ids, the most that `recall_all` can be.

    Args:
        documents: Reports of runs that may be shown together.
        names: What to call them; their stems without.

    Returns:
        None without documents; `Missing` where no cut-off was scored.
    """
    if not documents:
        return None
    labels = run_names(documents, names)
    runs = dict(zip(labels, map(_whole, documents), strict=True))
    levels = [
        level for level in LEVELS if any(at == level for rows in runs.values() for at, _ in rows)
    ]
    if not levels:
        return Missing(id=_ID, title=_TITLE, reason="no cut-off was scored")
    return draw(
        name=_ID,
        title=_TITLE,
        caption=_caption(documents, runs, levels) + first_runs(len(runs)),
        parts=_panels(dict(list(runs.items())[:MOST_RUNS]), levels),
        table=_table(runs),
    )


def _whole(document: ReportDocument) -> _Rows:
    return {(row.level, row.k): row for row in document.summary.slices[0].cutoffs}


def _panels(runs: Mapping[str, _Rows], levels: Sequence[Level]) -> Iterator[Panel]:
    if len(runs) == 1:
        (rows,) = runs.values()
        alone = [(name, name, rows) for name in _METRICS]
        for level in levels:
            yield _panel(level, f"{level} level", alone, [rows])
        return
    # The levels of a metric beside each other.
    for name in _METRICS:
        for level in levels:
            series = [(label, name, rows) for label, rows in runs.items()]
            yield _panel(level, f"{name}, {level} level", series, list(runs.values()))


def _panel(
    level: Level, title: str, series: Sequence[tuple[str, str, _Rows]], all_rows: Sequence[_Rows]
) -> Panel:
    depths = sorted({k for rows in all_rows for at, k in rows if at == level})
    ticks = {
        k: _tick(k, [rows[level, k] for rows in all_rows if (level, k) in rows]) for k in depths
    }
    values: list[dict[str, Any]] = []
    shown: list[str] = []
    for label, metric, rows in series:
        own = [rows[level, k] for k in depths if (level, k) in rows]
        found = [_point(label, "mean", ticks, row, row.values[metric]) for row in own]
        values += found
        shown += [label] if found else []
    for label, metric, rows in series:
        if metric != HEADLINE:
            continue
        own = [rows[level, k] for k in depths if (level, k) in rows]
        values += [
            _point(label, "padded", ticks, row, row.padded[HEADLINE])
            for row in own
            if row.counted < row.of
        ]
        values += [
            _point(label, "ceiling", ticks, row, row.attainable / row.counted)
            for row in own
            if row.attainable < row.counted
        ]
    return title, _spec(title, list(ticks.values()), shown, values)


def _tick(k: int, rows: Sequence[Cutoff]) -> str:
    """The label of a depth: below k what is counted, a line a run where they are not equal."""
    counts = [number(row.counted) for row in rows]
    told = counts[:1] if len(set(counts)) == 1 else counts
    return "|".join([str(k), *told])


def _point(
    label: str, kind: str, ticks: Mapping[int, str], row: Cutoff, value: float
) -> dict[str, Any]:
    return {"series": label, "kind": kind, "k": ticks[row.k], "value": value}


def _spec(
    title: str, ticks: list[str], shown: list[str], values: list[dict[str, Any]]
) -> dict[str, Any]:
    x = {
        "field": "k",
        "type": "ordinal",
        "scale": {"domain": ticks, "type": "point", "padding": 0.35},
        "axis": {
            "title": "depth k, and the queries counted, a line a run",
            "labelAngle": 0,
            "labelExpr": "split(datum.label, '|')",
            "labelOverlap": "greedy",
            "labelLineHeight": 15,
        },
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "nice": False},
        "axis": {
            "title": None,
            "grid": True,
            "values": [0, 0.2, 0.4, 0.6, 0.8, 1],
            "format": ".1f",
        },
    }
    size = len(shown)
    values = [{**value, "place": shown.index(value["series"])} for value in values]
    colour = {
        "field": "series",
        "type": "nominal",
        "scale": {"domain": shown, "range": list(SERIES[:size])},
    }
    shape = {**colour, "scale": {"domain": shown, "range": list(_SHAPES[:size])}}

    def layer(kind: str, mark: dict[str, Any], only: str = "", **more: Any) -> dict[str, Any]:
        return {
            "transform": [{"filter": f"datum.kind === '{kind}'{only}"}],
            "mark": mark,
            "encoding": {"x": x, "y": y, "color": colour, **more},
        }

    return {
        "title": title,
        "width": 320,
        "height": 220,
        "data": {"values": values},
        "layer": [
            layer(
                "ceiling",
                {"type": "tick", "thickness": 2, "size": 26, "orient": "horizontal"},
                color={"value": SOFT},
            ),
            layer("padded", {"type": "point", "size": 38, "strokeWidth": 1.5}, shape=shape),
            # A layer a line: a scale of dashes would draw them around the legend's symbols, too.
            *(
                layer(
                    "mean",
                    {"type": "line", "strokeWidth": 2, "strokeDash": dash},
                    only=f" && datum.place === {at}",
                )
                for at, dash in enumerate(_DASHES[:size])
            ),
            layer("mean", {"type": "point", "filled": True, "opacity": 1, "size": 48}, shape=shape),
        ],
        "config": {"axisX": {"domain": True, "domainColor": LINE}},
    }


def _caption(
    documents: Sequence[ReportDocument], runs: Mapping[str, _Rows], levels: Sequence[Level]
) -> str:
    people = dict.fromkeys(
        f"{number(d.summary.population.measured)} measured queries of {d.summary.population.name}"
        for d in documents
    )
    rows = [row for found in runs.values() for row in found.values() if row.level in levels]
    over = (
        f"Over {' and '.join(people)}. Each point is a mean over the queries whose list has at "
        "least k entries; their number stands below k."
    )
    said = [over]
    if any(row.counted < row.of for row in rows):
        said.append(
            "Hollow points: recall_all over all measured queries, short lists filled up with "
            "misses. Points at different k need not be over the same queries."
        )
    if any(row.attainable < row.counted for row in rows):
        said.append(
            "Short bars: the most that recall_all can be, since some queries have more gold than k."
        )
    said.append("The steps between depths are not to scale.")
    return " ".join(said)


def _table(runs: Mapping[str, _Rows]) -> list[list[str]]:
    head = ["run", "level", "k", *_METRICS, _FLOOR, _CEILING, "queries"]
    body = [
        [
            label,
            level,
            str(k),
            *(mean(row.values[name]) for name in _METRICS),
            mean(row.padded[HEADLINE]) if row.counted < row.of else "-",
            mean(row.attainable / row.counted) if row.attainable < row.counted else "-",
            share(row.counted, row.of),
        ]
        for label, rows in runs.items()
        for (level, k), row in rows.items()
    ]
    return [head, *body]
