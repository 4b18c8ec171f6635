"""One number of many runs over time; only runs that could be compared are joined."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

import msgspec

from memruler.errors import printable
from memruler.model.run import Manifest
from memruler.model.summary import Summary
from memruler.report.figures.record import Figure, Missing
from memruler.report.figures.render import LINE, SERIES, SOFT, Panel, draw
from memruler.report.figures.words import number
from memruler.report.numbers import mean, share
from memruler.report.view import headline_of

__all__ = ["TrendPoint", "trend", "trend_point"]

_ID: Final = "trend"
_TITLE: Final = "Runs over time"
_MOST: Final = 6
_SHAPES: Final = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down")
_FIXED: Final = ("corpus", "population", "ruler")


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One run in a trend.

    Attributes:
        run: What to call it.
        started: When it began (UTC).
        metric: What `value` is a mean of, with its level: `session:recall_all@5`.
        value: The mean, in [0, 1].
        counted, of: What the mean is over.
        system, corpus, population: Their names.
        group: Equal for two runs only if nothing but a declared change of one system may stand
            between them: its name, the corpus, the population, the ruler, the queries counted, and
            what is measured.
        doubt: Why the run is not joined to any other; None where it may be.
    """

    run: str
    started: datetime
    metric: str
    value: float
    counted: int
    of: int
    system: str
    corpus: str
    population: str
    group: str
    doubt: str | None = None


def trend_point(manifest: Manifest, summary: Summary, run: str) -> TrendPoint | None:
    """The headline of one run; None where no cut-off was scored."""
    head = headline_of(summary)
    if head is None:
        return None
    shown, row = head
    metric = f"{row.level}:{shown}"
    parts = {key: manifest.fingerprint.get(key) for key in _FIXED}
    corpus = parts["corpus"] if isinstance(parts["corpus"], dict) else {}
    # The name and the version of a corpus are labels; its bytes and what was taken of it are not.
    parts["corpus"] = {k: v for k, v in corpus.items() if k not in {"tier", "version"}}
    system = manifest.fingerprint.get("system")
    name = str(system.get("name", "unknown")) if isinstance(system, dict) else "unknown"
    same = [name, parts, metric, row.members, row.counted, summary.target, summary.schema_version]
    text = json.dumps(same, sort_keys=True, default=str)
    return TrendPoint(
        run=run,
        started=manifest.started,
        metric=metric,
        value=row.values[shown.partition("@")[0]],
        counted=row.counted,
        of=row.of,
        system=name,
        corpus=str(corpus.get("name", "unknown")),
        population=summary.population.name,
        group=sha256(text.encode()).hexdigest()[:12],
        doubt=_doubt(manifest),
    )


def _doubt(manifest: Manifest) -> str | None:
    measured = manifest.determinism
    if manifest.degraded:
        return "degraded"
    if measured is None or not measured.queries:
        return "determinism not measured"
    return None if measured.identical == measured.queries else "not deterministic"


def trend(points: Sequence[TrendPoint]) -> Figure | Missing | None:
    """Points by when their runs began, a panel a metric; lines within a group only.

    Args:
        points: In any order.

    Returns:
        None without points; `Missing` for a single one.
    """
    if not points:
        return None
    if len(points) == 1:
        return Missing(id=_ID, title=_TITLE, reason="there is one run only")
    ranked = sorted(points, key=lambda point: (point.started, point.run))
    return draw(
        name=_ID,
        title=_TITLE,
        caption=_caption(ranked),
        parts=_panels(ranked),
        table=_table(ranked),
    )


def _groups(points: Sequence[TrendPoint]) -> dict[str, str]:
    """Group to its label; the groups with the most runs first."""
    sizes: dict[str, list[TrendPoint]] = {}
    for point in points:
        sizes.setdefault(point.group, []).append(point)
    ranked = sorted(sizes.items(), key=lambda item: (-len(item[1]), item[0]))
    return {
        group: f"{chr(ord('A') + at) if at < 26 else at + 1}: "  # noqa: PLR2004 - letters
        f"{printable(own[0].system, 40)} ({len(own)})"
        for at, (group, own) in enumerate(ranked)
    }


def _panels(points: Sequence[TrendPoint]) -> Iterator[Panel]:
    labels = _groups(points)
    span = points[-1].started - points[0].started
    form = (
        "%Y-%m-%d"
        if span > timedelta(days=4)
        else "%d %b %H:%M"
        if span > timedelta(hours=4)
        else "%H:%M:%S"
    )
    for metric in dict.fromkeys(point.metric for point in points):
        mine = [point for point in points if point.metric == metric]
        groups = [label for group, label in labels.items() if any(p.group == group for p in mine)]
        # Beyond the colours there are, a group is drawn without one; the table tells which.
        named = groups[:_MOST]
        values = []
        for point in mine:
            label = labels[point.group]
            own = label if label in named else "others"
            values.append(
                {
                    "at": point.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
                    "value": point.value,
                    "group": own,
                    "line": point.doubt is None and label in named,
                    "sure": point.doubt is None,
                }
            )
        domain = [*named, *(["others"] if len(groups) > _MOST else [])]
        yield metric, _spec(metric, domain, values, form)


def _spec(title: str, groups: list[str], values: list[dict[str, Any]], form: str) -> dict[str, Any]:
    x = {
        "field": "at",
        "type": "temporal",
        "scale": {"type": "utc", "padding": 12},
        "axis": {
            "title": "start of the run (UTC)",
            "labelOverlap": "greedy",
            "labelSeparation": 12,
            "format": form,
            "tickCount": 4,
            "ticks": True,
            "tickColor": LINE,
        },
    }
    y = {
        "field": "value",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {
            "title": None,
            "grid": True,
            "values": [0, 0.2, 0.4, 0.6, 0.8, 1],
            "format": ".1f",
        },
    }
    colours = [*SERIES, SOFT][: len(groups)]
    colours = [*colours[:-1], SOFT] if groups[-1] == "others" else colours
    colour = {
        "field": "group",
        "type": "nominal",
        "scale": {"domain": groups, "range": colours},
        "legend": {"columns": 1, "labelLimit": 340},
    }
    shapes = [*_SHAPES, "stroke"][: len(groups)]
    shape = {**colour, "scale": {"domain": groups, "range": shapes}}
    place = {"x": x, "y": y, "color": colour}
    point = {"type": "point", "size": 55, "opacity": 1}
    return {
        "title": title,
        "width": 360,
        "height": 220,
        "data": {"values": values},
        "layer": [
            {
                "transform": [{"filter": "datum.line"}],
                "mark": {"type": "line", "strokeWidth": 1.5},
                "encoding": place,
            },
            {
                "transform": [{"filter": "datum.sure"}],
                "mark": {**point, "filled": True},
                "encoding": {**place, "shape": shape},
            },
            {
                "transform": [{"filter": "!datum.sure"}],
                "mark": {**point, "filled": False},
                "encoding": {**place, "shape": shape},
            },
        ],
        "config": {"axisX": {"domain": True, "domainColor": LINE}},
    }


def _caption(points: Sequence[TrendPoint]) -> str:
    groups = len({point.group for point in points})
    doubtful = [point.doubt for point in points if point.doubt is not None]
    first = (
        f"{number(len(points))} runs in {number(groups)} groups. A line joins runs of one "
        "system, one corpus, one population, one ruler and the same counted queries, and no "
        "others; what else differs between them is for a comparison to say."
    )
    said = [first]
    if doubtful:
        kinds = ", ".join(
            f"{number(doubtful.count(kind))} {kind}" for kind in dict.fromkeys(doubtful)
        )
        said.append(f"Hollow points are joined to none: {kinds}.")
    return " ".join(said)


def _table(points: Sequence[TrendPoint]) -> list[list[str]]:
    labels = _groups(points)
    head = ["started (UTC)", "run", "group", "metric", "value", "queries", "in doubt"]
    return [
        head,
        *(
            [
                f"{point.started:%Y-%m-%d %H:%M:%S}",
                point.run,
                labels[point.group],
                point.metric,
                mean(point.value),
                share(point.counted, point.of),
                point.doubt or "-",
            ]
            for point in points
        ),
    ]
