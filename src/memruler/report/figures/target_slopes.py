"""What one store scores under each target, over the queries that all of them serve."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from memruler.compare.target_record import Depth, TargetScores
from memruler.report.document import ReportDocument
from memruler.report.figures.record import Figure, Missing
from memruler.report.figures.render import INK, LINE, SERIES, Panel, draw
from memruler.report.figures.words import number, run_names
from memruler.report.numbers import mean

__all__ = ["target_slopes"]

_ID: Final = "target-slopes"
_TITLE: Final = "One store under three targets"
_METRICS: Final = ("recall_any", "recall_micro", "recall_all", "ndcg")
_DEPTH: Final = 5
_LEAST: Final = 2

_Row = tuple[str, Depth]


def target_slopes(
    documents: Sequence[ReportDocument], names: Sequence[str] = ()
) -> Figure | Missing | None:
    """The means of each run from target to target, a panel a run.

    Only the queries that every target serves are in it, so that nothing but the target changes.

    Args:
        documents: Reports of runs.
        names: What to call them; their stems without.

    Returns:
        None where no run stores anything but what was said; `Missing` where fewer than two targets
        have a mean.
    """
    told = [
        (label, document.targets.scores)
        for label, document in zip(run_names(documents, names), documents, strict=True)
        if document.targets is not None
    ]
    if not told:
        return None
    drawn = [(label, scores) for label, scores in told if len(_rows(scores)) >= _LEAST]
    if not drawn:
        reason = "no query is served by two targets or more"
        return Missing(id=_ID, title=_TITLE, reason=reason)
    return draw(
        name=_ID,
        title=_TITLE,
        caption=_caption(drawn),
        parts=_panels(drawn),
        table=_table(drawn),
    )


def _rows(scores: TargetScores) -> list[_Row]:
    """Each target with its means at depth 5, or the deepest where 5 was not asked for."""
    k = _DEPTH if _DEPTH in scores.cutoffs else max(scores.cutoffs, default=0)
    return [
        (result.target, depth)
        for result in scores.targets
        for depth in result.shared.depths
        if depth.k == k
    ]


def _panels(drawn: Sequence[tuple[str, TargetScores]]) -> Iterator[Panel]:
    for label, scores in drawn:
        rows = _rows(scores)
        values = [
            {
                "metric": metric,
                "target": target,
                "value": getattr(depth, metric),
                "text": mean(getattr(depth, metric)),
            }
            for target, depth in rows
            for metric in _METRICS
        ]
        k = rows[0][1].k
        title = f"{label}: {scores.level}s at k={k}, n={number(scores.shared)}"
        yield title, _spec(title, [target for target, _ in rows], values)


def _spec(title: str, targets: list[str], values: list[dict[str, Any]]) -> dict[str, Any]:
    x = {
        "field": "target",
        "type": "ordinal",
        "scale": {"domain": targets, "padding": 0.35},
        "axis": {"title": None, "labelAngle": 0, "labelColor": INK},
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
    colour = {
        "field": "metric",
        "type": "nominal",
        "scale": {"domain": list(_METRICS), "range": list(SERIES[: len(_METRICS)])},
        "legend": {"columns": 2},
    }
    shapes = ["circle", "square", "diamond", "triangle-up"]
    shape = {**colour, "scale": {"domain": list(_METRICS), "range": shapes}}
    place = {"x": x, "y": y, "color": colour}
    return {
        "title": title,
        "width": 320,
        "height": 240,
        "data": {"values": values},
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 2}, "encoding": place},
            {
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 50},
                "encoding": {**place, "shape": shape},
            },
        ],
        "config": {"axisX": {"domain": True, "domainColor": LINE}},
    }


def _caption(drawn: Sequence[tuple[str, TargetScores]]) -> str:
    first = (
        "The same rankings; only the rule changes which stored forms earn credit. "
        "A slope is no gain or loss of the memory."
    )
    said = [first]
    said += [
        f"{label}: over the {number(scores.shared)} of {number(scores.counted)} queries of "
        f"{scores.population} that every target serves."
        for label, scores in drawn
    ]
    said += [
        f"{label} cannot be asked for {target}: {reason}."
        for label, scores in drawn
        for target, reason in scores.unserved.items()
    ]
    return " ".join(said)


def _table(drawn: Sequence[tuple[str, TargetScores]]) -> list[list[str]]:
    head = ["run", "target", "k", *_METRICS, "queries"]
    return [
        head,
        *(
            [
                label,
                target,
                str(depth.k),
                *(mean(getattr(depth, metric)) for metric in _METRICS),
                number(scores.shared),
            ]
            for label, scores in drawn
            for target, depth in _rows(scores)
        ),
    ]
