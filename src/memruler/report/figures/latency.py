"""How long searches took: their distribution, with the percentiles of the summary."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.model.summary import Timing
from memruler.report.figures.record import Figure, Missing
from memruler.report.figures.render import LINE, SERIES, Panel, draw
from memruler.report.figures.words import MOST_RUNS, first_runs, folder_names, number
from memruler.scoring.timing import latencies, timing
from memruler.store.folder import RunFolder

__all__ = ["latency"]

_ID: Final = "latency"
_TITLE: Final = "Search latency"
_STEPS: Final = 120
_WIDE: Final = 20
_DASHES: Final = ([1, 0], [7, 3], [2, 2], [8, 3, 2, 3], [12, 4], [4, 4])


class _Times(msgspec.Struct, frozen=True, eq=False):
    at: int
    label: str
    told: Timing
    values: NDArray[np.float64]
    batches: int


def latency(runs: Sequence[Path], names: Sequence[str] = ()) -> Figure | Missing | None:
    """The share of searches done within a time, a line a run.

    Runs whose queries were searched in batches are not drawn with the others: a share of a batch
    is no latency. Each has one value a batch there.

    Args:
        runs: Run folders, sealed.
        names: What to call them; the names of their folders without.

    Raises:
        FormatError: One is no sealed run.
    """
    if not runs:
        return None
    labels = folder_names(runs, names)
    found = [_times(at, runs[at], label) for at, label in enumerate(labels)]
    there = [one for one in found if len(one.values)]
    if not there:
        return Missing(id=_ID, title=_TITLE, reason="no search ended without an error")
    return draw(
        name=_ID,
        title=_TITLE,
        caption=_caption(there) + first_runs(len(there)),
        parts=_panels(there[:MOST_RUNS]),
        table=_table(found),
    )


def _times(at: int, path: Path, label: str) -> _Times:
    folder = RunFolder.open(path)
    found = latencies(folder)
    return _Times(at, label, timing(folder), found.values, found.batches)


def _panels(found: Sequence[_Times]) -> Iterator[Panel]:
    single = [one for one in found if not one.batches]
    batched = [one for one in found if one.batches]
    for title, group in (
        ("each search by itself", single),
        ("batches: a query's share of its batch", batched),
    ):
        if group:
            yield title, _spec(title, group)


def _legend(one: _Times) -> str:
    p50, p95 = one.told.p50_ms, one.told.p95_ms
    return (
        one.label if p50 is None or p95 is None else f"{one.label}: p50 {p50:.3g}, p95 {p95:.3g} ms"
    )


def _steps(values: NDArray[np.float64]) -> list[tuple[float, float]]:
    """The distribution at no more than a few shares: all values where there are few."""
    ranked = np.sort(values)
    places = np.unique(np.linspace(0, len(ranked) - 1, min(len(ranked), _STEPS)).astype(np.int64))
    return [(float(ranked[at]), (int(at) + 1) / len(ranked)) for at in places]


def _spec(title: str, group: Sequence[_Times]) -> dict[str, Any]:
    curves = [
        {"run": _legend(one), "place": one.at, "ms": ms, "share": share}
        for one in group
        for ms, share in _steps(one.values)
    ]
    marks = [
        {"run": _legend(one), "ms": value, "share": share}
        for one in group
        for value, share in ((one.told.p50_ms, 0.5), (one.told.p95_ms, 0.95))
        if value is not None
    ]
    low = min(float(one.values.min()) for one in group)
    high = max(float(one.values.max()) for one in group)
    wide = low > 0 and high / low > _WIDE
    x = {
        "field": "ms",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False} if wide else {"domainMin": 0},
        "axis": {
            "title": f"milliseconds{' (logarithmic)' if wide else ''}",
            "format": "~g",
            "ticks": True,
            "tickColor": LINE,
            "tickCount": 5,
            "labelOverlap": "greedy",
        },
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {
            "title": None,
            "grid": True,
            "format": "%",
            "values": [0, 0.25, 0.5, 0.75, 1],
        },
    }
    labels = [_legend(one) for one in group]
    colour = {
        "field": "run",
        "type": "nominal",
        "scale": {"domain": labels, "range": [SERIES[one.at % len(SERIES)] for one in group]},
        "legend": {"symbolType": "stroke", "columns": 1, "labelLimit": 320},
    }
    place = {"x": x, "y": y, "color": colour}
    return {
        "title": title,
        "width": 320,
        "height": 220,
        "layer": [
            *(
                {
                    "data": {"values": curves},
                    "transform": [{"filter": f"datum.place === {one.at}"}],
                    "mark": {
                        "type": "line",
                        "interpolate": "step-after",
                        "strokeWidth": 2,
                        "strokeDash": _DASHES[one.at % len(_DASHES)],
                    },
                    "encoding": place,
                }
                for one in group
            ),
            {
                "data": {"values": marks},
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 55},
                "encoding": place,
            },
        ],
        "config": {"axisX": {"domain": True, "domainColor": LINE}},
    }


def _caption(found: Sequence[_Times]) -> str:
    said = ["The share of searches that were done within a time; points are p50 and p95."]
    for one in found:
        batched = (
            f"{number(one.batches)} batches; a query has its share of its batch, so there are no "
            "percentiles"
            if one.batches
            else "each by itself"
        )
        said.append(f"{one.label}: {number(len(one.values))} searches that count, {batched}.")
    said.append(
        "Wall time of one machine at one time: two runs differ in it by chance. `memruler time` "
        "compares two systems."
    )
    return " ".join(said)


def _table(found: Sequence[_Times]) -> list[list[str]]:
    head = ["run", "mean ms", "p50 ms", "p95 ms", "least ms", "most ms", "searches", "basis"]
    return [
        head,
        *(
            [
                one.label,
                *map(_ms, (one.told.mean_ms, one.told.p50_ms, one.told.p95_ms)),
                *(
                    (_ms(float(one.values.min())), _ms(float(one.values.max())))
                    if len(one.values)
                    else ("-", "-")
                ),
                number(len(one.values)),
                one.told.basis,
            ]
            for one in found
        ),
    ]


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
