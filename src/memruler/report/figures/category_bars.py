"""The headline metric by category, with how many queries each mean is over."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from memruler.compare.headline import HEADLINE, LEVELS
from memruler.model.summary import Cutoff, Level
from memruler.report.document import ReportDocument
from memruler.report.figures.record import Figure, Missing
from memruler.report.figures.render import EN_SPACE, INK, SERIES, SOFT, Panel, draw
from memruler.report.figures.words import MOST_RUNS, distinct, first_runs, number, run_names
from memruler.report.numbers import mean, share
from memruler.report.view import headline_of

__all__ = ["category_bars"]

_ID: Final = "category-bars"
_TITLE: Final = "Recall by category"
_MOST: Final = 20

_Parts = Mapping[str, tuple[Mapping[tuple[Level, int], Cutoff], int]]
"""Slice to its cut-offs and to its queries."""


def category_bars(
    documents: Sequence[ReportDocument], names: Sequence[str] = ()
) -> Figure | Missing | None:
    """`recall_all` of every category at the headline's depth, a panel a level.

    Args:
        documents: Reports of runs that may be shown together.
        names: What to call them; their stems without.

    Returns:
        None without documents; `Missing` where the corpus has one category or none, or no cut-off
        was scored.
    """
    if not documents:
        return None
    head = headline_of(documents[0].summary)
    if head is None:
        return Missing(id=_ID, title=_TITLE, reason="no cut-off was scored")
    runs = dict(zip(run_names(documents, names), map(_parts, documents), strict=True))
    ranked = _categories(runs)
    if len(ranked) < 2:  # noqa: PLR2004 - one bar would say what the headline says
        return Missing(id=_ID, title=_TITLE, reason="the queries are all of one category")
    k = head[1].k
    shown = ["all", *ranked[:_MOST]]
    levels = [
        level
        for level in LEVELS
        if any((level, k) in cells for parts in runs.values() for cells, _ in parts.values())
    ]
    return draw(
        name=_ID,
        title=_TITLE,
        caption=_caption(runs, levels, k, len(ranked)) + first_runs(len(runs)),
        parts=_panels(dict(list(runs.items())[:MOST_RUNS]), levels, k, shown),
        table=_table(runs, levels, k, ["all", *ranked]),
    )


def _parts(document: ReportDocument) -> _Parts:
    return {
        part.name if at else "all": ({(c.level, c.k): c for c in part.cutoffs}, part.queries)
        for at, part in enumerate(document.summary.slices)
        # A category that is called `all` would pass for the whole.
        if at == 0 or part.name != "all"
    }


def _categories(runs: Mapping[str, _Parts]) -> list[str]:
    """Every category, that with the most queries first."""
    sizes: dict[str, int] = {}
    for parts in runs.values():
        for name, (_, queries) in parts.items():
            sizes[name] = max(queries, sizes.get(name, 0))
    sizes.pop("all", None)
    return sorted(sizes, key=lambda name: (-sizes[name], name))


def _panels(
    runs: Mapping[str, _Parts], levels: Sequence[Level], k: int, shown: Sequence[str]
) -> Iterator[Panel]:
    labels = distinct(shown)
    for level in levels:
        values: list[dict[str, Any]] = []
        for run, parts in runs.items():
            for name in shown:
                cells, queries = parts.get(name, ({}, 0))
                values.append(_bar(run, labels[name], cells.get((level, k)), queries))
        title = f"{HEADLINE}@{k}, {level} level"
        yield title, _spec(title, list(labels.values()), list(runs), values)


def _bar(run: str, label: str, row: Cutoff | None, queries: int) -> dict[str, Any]:
    if row is None:
        return {"run": run, "category": label, "text": f"none of {number(queries)}"}
    full = row.attainable == row.counted
    return {
        "run": run,
        "category": label,
        "value": row.values[HEADLINE],
        "ceiling": None if full else row.attainable / row.counted,
        "text": f"{mean(row.values[HEADLINE])}{EN_SPACE}n={number(row.counted)}",
    }


def _spec(
    title: str, labels: list[str], runs: list[str], values: list[dict[str, Any]]
) -> dict[str, Any]:
    many = len(runs) > 1
    y = {
        "field": "category",
        "type": "nominal",
        "scale": {"domain": labels, "paddingInner": 0.35, "paddingOuter": 0.1},
        "axis": {"title": None, "labelColor": INK, "labelLimit": 160},
    }
    offset = {"yOffset": {"field": "run", "type": "nominal", "scale": {"domain": runs}}}
    place = {"y": y, **(offset if many else {})}
    x = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"title": None, "grid": True, "values": [0, 0.5, 1], "format": ".1f"},
    }
    end = {key: value for key, value in x.items() if key != "field"}
    colour = {
        "field": "run",
        "type": "nominal",
        "scale": {"domain": runs, "range": list(SERIES[: len(runs)])},
        "legend": {"symbolType": "square"} if many else None,
    }
    there = [{"filter": "isValid(datum.value)"}]
    return {
        "title": title,
        "padding": {"left": 12, "right": 26, "top": 4, "bottom": 4},  # a page's font may be wider
        "width": 190,
        "height": {"step": 17 if many else 26},
        "data": {"values": values},
        "layer": [
            {
                "transform": there,
                "mark": {"type": "bar", "cornerRadiusEnd": 2},
                "encoding": {**place, "x": x, "color": colour},
            },
            {
                "transform": [{"filter": "isValid(datum.ceiling)"}],
                "mark": {"type": "tick", "thickness": 2, "color": SOFT},
                "encoding": {**place, "x": {**x, "field": "ceiling"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 10},
                # One column right of the axis: values can be read down, and cover no bar.
                "encoding": {**place, "x": {**end, "datum": 1}, "text": {"field": "text"}},
            },
        ],
    }


def _caption(runs: Mapping[str, _Parts], levels: Sequence[Level], k: int, categories: int) -> str:
    rows = [
        cells[level, k]
        for parts in runs.values()
        for cells, _ in parts.values()
        for level in levels
        if (level, k) in cells
    ]
    first = (
        f"Share of queries with all of their gold among the first {k}; n is how many queries each "
        "mean is over. Categories by size."
    )
    said = [first]
    if any(row.attainable < row.counted for row in rows):
        said.append(
            f"Short upright bars: the most that can be, since some have more gold than {k}."
        )
    if any(row.counted < row.of for row in rows):
        said.append(
            f"Queries whose list is shorter than {k} are in no mean; the table counts them."
        )
    if categories > _MOST:
        said.append(f"The {_MOST} largest of {number(categories)} are drawn; the table has all.")
    said.append("A category of few queries moves a lot when one query does.")
    return " ".join(said)


def _table(
    runs: Mapping[str, _Parts], levels: Sequence[Level], k: int, names: Sequence[str]
) -> list[list[str]]:
    head = ["run", "category", "level", f"{HEADLINE}@{k}", "most possible", "queries"]
    body = []
    for run, parts in runs.items():
        for name in names:
            cells, queries = parts.get(name, ({}, 0))
            for level in levels:
                row = cells.get((level, k))
                told = (
                    ["-", "-", share(0, queries)]
                    if row is None
                    else [
                        mean(row.values[HEADLINE]),
                        mean(row.attainable / row.counted) if row.attainable < row.counted else "-",
                        share(row.counted, row.of),
                    ]
                )
                body.append([run, name, level, *told])
    return [head, *body]
