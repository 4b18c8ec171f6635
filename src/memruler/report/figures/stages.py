"""At which stage missed queries were lost, as shares of those that have a value."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from memruler.model.failures import STAGES, Failures, StageCounts
from memruler.report.figures.record import Figure, Missing
from memruler.report.figures.render import INK, PAPER, SERIES, SOFT, Panel, draw
from memruler.report.figures.words import labels, number, stem_names
from memruler.report.numbers import share

__all__ = ["stages"]

_ID: Final = "failure-stages"
_TITLE: Final = "Where missed queries were lost"
_COLOURS: Final = dict(zip(STAGES, (*SERIES, SOFT, INK), strict=True))
_MOST: Final = 20
_WIDTH: Final = 205
_LETTER: Final = 7.0


_Drawn = Sequence[tuple[str, Failures]]


def stages(
    failures: Failures | Sequence[Failures], names: Sequence[str] = ()
) -> Figure | Missing | None:
    """Missed queries by stage: all and each category, a panel a run.

    Args:
        failures: What was filed, of one run or of several.
        names: What to call them; their stems without.

    Returns:
        None without any; `Missing` where nothing was missed, or no query has a value.
    """
    filed = [failures] if isinstance(failures, Failures) else list(failures)
    if not filed:
        return None
    if not any(one.all.missed for one in filed):
        scored = sum(one.all.scored for one in filed)
        reason = "no query was missed" if scored else "no query has a value"
        return Missing(id=_ID, title=_TITLE, reason=reason)
    drawn = list(zip(stem_names([one.run for one in filed], names), filed, strict=True))
    return draw(
        name=_ID,
        title=_TITLE,
        caption=_caption(drawn),
        parts=_panels(drawn),
        table=_table(drawn),
    )


def _rows(one: Failures) -> list[StageCounts]:
    """All, then the categories that have a value, the largest first."""
    mine = [counts for counts in one.categories if counts.scored]
    return [one.all, *sorted(mine, key=lambda row: (-row.scored, row.category or ""))]


def _panels(drawn: _Drawn) -> Iterator[Panel]:
    for label, one in drawn:
        rows = [row for row in _rows(one)[: _MOST + 1] if row.scored]
        # A category may be called as the first row is.
        shown = labels(["all queries", *(row.category or "" for row in rows[1:])])
        values: list[dict[str, Any]] = []
        ends: list[dict[str, Any]] = []
        for name, row in zip(shown, rows, strict=True):
            start = 0.0
            for stage in STAGES:
                number_of = row.stages.get(stage, 0)
                if not number_of:
                    continue
                end = start + number_of / row.scored
                text = number(number_of)
                fits = (end - start) * _WIDTH > len(text) * _LETTER + 4
                values.append(
                    {
                        "row": name,
                        "stage": stage,
                        "x": start,
                        "x2": end,
                        "text": text if fits else "",
                    }
                )
                start = end
            ends.append(
                {"row": name, "x": start, "text": f"{number(row.missed)} of {number(row.scored)}"}
            )
        if not values:
            continue  # nothing was missed: an empty scale of colours has no size
        title = f"{label}: {one.ruler}, k={one.k}"
        yield title, _spec(title, [end["row"] for end in ends], values, ends)


def _spec(
    title: str, order: list[str], values: list[dict[str, Any]], ends: list[dict[str, Any]]
) -> dict[str, Any]:
    there = [stage for stage in STAGES if any(value["stage"] == stage for value in values)]
    y = {
        "field": "row",
        "type": "nominal",
        "scale": {"domain": order, "paddingInner": 0.3},
        "axis": {"title": None, "labelColor": INK},
    }
    x = {
        "field": "x",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {
            "title": "share of the queries with a value",
            "grid": True,
            "values": [0, 0.25, 0.5, 0.75, 1],
            "format": "%",
        },
    }
    colour = {
        "field": "stage",
        "type": "nominal",
        "scale": {"domain": there, "range": [_COLOURS[stage] for stage in there]},
        "legend": {"symbolType": "square", "columns": 3},
    }
    return {
        "title": title,
        "padding": {"left": 12, "right": 26, "top": 4, "bottom": 4},  # a page's font may be wider
        "width": _WIDTH,
        "height": {"step": 28},
        "layer": [
            {
                "data": {"values": values},
                "mark": {"type": "bar", "stroke": PAPER, "strokeWidth": 1},
                "encoding": {"y": y, "x": x, "x2": {"field": "x2"}, "color": colour},
            },
            {
                "data": {"values": values},
                "transform": [{"calculate": "(datum.x + datum.x2) / 2", "as": "middle"}],
                "mark": {"type": "text", "color": PAPER},
                "encoding": {"y": y, "x": {**x, "field": "middle"}, "text": {"field": "text"}},
            },
            {
                "data": {"values": ends},
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {"y": y, "x": x, "text": {"field": "text"}},
            },
        ],
    }


def _caption(drawn: _Drawn) -> str:
    said = []
    for label, one in drawn:
        unscored = one.all.queries - one.all.scored
        said.append(
            f"{label}: {number(one.all.missed)} of {number(one.all.scored)} queries of "
            f"{one.population} are missed ({one.rule})"
            + (f"; {number(unscored)} have no value and are left out." if unscored else ".")
        )
    said.append(
        "Each missed query stands once, under the earliest stage that lost a part of its evidence; "
        "repairing that stage need not repair the query. Bars start at 0; what is not coloured was "
        "not missed."
    )
    if any(len(_rows(one)) > _MOST + 1 for _, one in drawn):
        said.append(f"The {_MOST} largest categories are drawn; the table has all.")
    return " ".join(said)


def _table(drawn: _Drawn) -> list[list[str]]:
    head = ["run", "category", *STAGES, "missed"]
    return [
        head,
        *(
            [
                label,
                (row.category or "(empty)") if at else "all queries",
                *(number(row.stages.get(stage, 0)) for stage in STAGES),
                share(row.missed, row.scored),
            ]
            for label, one in drawn
            for at, row in enumerate(_rows(one))
        ),
    ]
