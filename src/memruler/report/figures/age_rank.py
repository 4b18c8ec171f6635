"""Whether evidence is found less well the older it is when the question is asked."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.model.corpus import Corpus
from memruler.report.figures.record import Figure, Missing
from memruler.report.figures.render import LINE, PAPER, SERIES, SOFT, Panel, draw
from memruler.report.figures.words import folder_names, number
from memruler.scoring.failure_corpus import require_own_corpus
from memruler.scoring.failures import UNSCORED, Filed, file_failures
from memruler.store.tables import read_table

__all__ = ["age_rank"]

_ID: Final = "age-rank"
_TITLE: Final = "Rank of evidence by its age"
_BINS: Final = 6
_DAY: Final = 86_400.0
_DEPTHS: Final = (1, 5, 10)
_MISS: Final = "not found"


class _Ages(msgspec.Struct, frozen=True, eq=False):
    """Anchors of measured queries: rank (0 where not found), age; without one: `absent`."""

    label: str
    rank: NDArray[np.int64]
    age: NDArray[np.float64]
    absent: int
    k: int
    level: str
    queries: int


def age_rank(
    runs: Sequence[Path], names: Sequence[str] = (), corpus: Corpus | None = None
) -> Figure | Missing | None:
    """The rank at which each gold turn was first found, by its age.

    Every gold turn of every measured query counts once: its rank is the best of the hits that come
    from it, whatever their form. Its age is the time from its session to the question. A run does
    not hold when its sessions took place, so that is read from the corpus; no system is asked.

    Args:
        runs: Run folders, sealed, over one corpus.
        names: What to call them; the names of their folders without.
        corpus: The one that they were measured on.

    Returns:
        None without runs; `Missing` where no corpus is given, or it has no times.

    Raises:
        FormatError: One is no sealed run.
        UsageError: The corpus is another one.
    """
    if not runs:
        return None
    if corpus is None:
        reason = "a run does not hold when its sessions took place, and its corpus is not at hand"
        return Missing(id=_ID, title=_TITLE, reason=reason)
    labels = folder_names(runs, names)
    filed = [file_failures(path) for path in runs]
    for one in filed:
        require_own_corpus(one.manifest, corpus)
    times = _session_times(corpus, max(int(one.run.instance.max(initial=0)) for one in filed))
    found = [_ages(one, times, label) for one, label in zip(filed, labels, strict=True)]
    drawn = [one for one in found if len(one.age)]
    if not drawn:
        reason = "no evidence of a measured query has a time, or no question has one"
        return Missing(id=_ID, title=_TITLE, reason=reason)
    edges = _edges(np.concatenate([one.age for one in drawn]))
    return draw(
        name=_ID,
        title=_TITLE,
        caption=_caption(drawn),
        parts=_panels(drawn, edges),
        table=_table(drawn, edges),
    )


def _session_times(corpus: Corpus, last: int) -> dict[tuple[int, int], float]:
    """Seconds of each dated session; the corpus is read an instance at a time."""
    found: dict[tuple[int, int], float] = {}
    for instance in corpus:
        if instance.position > last:
            break
        for session in instance.sessions:
            if session.time is not None:
                stamp = np.datetime64(session.time, "us").astype(np.int64)
                found[instance.position, session.position] = float(stamp) / 1e6
    return found


def _ages(filed: Filed, times: dict[tuple[int, int], float], label: str) -> _Ages:
    table = read_table(filed.folder, "queries", columns=["time"])
    column = table.column("time").combine_chunks()
    asked = np.asarray(column, dtype="datetime64[us]")
    asked = np.where(np.isnat(asked), np.nan, asked.astype(np.int64) / 1e6)
    anchors = filed.anchors
    mine = filed.state[anchors.query] != UNSCORED
    places = zip(filed.gold.instance.tolist(), filed.gold.session.tolist(), strict=True)
    said = np.array([times.get(place, np.nan) for place in places], dtype=np.float64)
    age = (asked[anchors.query] - said) / _DAY
    there = mine & np.isfinite(age)
    limit = int(filed.k)
    rank = np.where(anchors.rank > limit, 0, anchors.rank)
    return _Ages(
        label,
        rank[there].astype(np.int64),
        age[there],
        int((mine & ~there).sum()),
        limit,
        filed.level,
        len(np.unique(anchors.query[there])),
    )


def _edges(age: NDArray[np.float64]) -> NDArray[np.float64]:
    """Edges of bins with about as many in each; equal ages are never parted."""
    inner = np.quantile(age, np.linspace(0, 1, _BINS + 1))
    return np.unique(np.concatenate([inner[:1], np.round(inner[1:-1], 1), inner[-1:]]))


def _bins(one: _Ages, edges: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.clip(np.searchsorted(edges, one.age, side="right") - 1, 0, max(len(edges) - 2, 0))


def _bands(k: int) -> list[tuple[str, int, int]]:
    """Names and ends of bands of ranks, down to the depth that was asked for."""
    ends = [*(depth for depth in _DEPTHS if depth < k), k]
    found, low = [], 1
    for end in ends:
        found.append((f"rank {low}" if low == end else f"rank {low} to {end}", low, end))
        low = end + 1
    return [*found, (_MISS, 0, 0)]


def _counts(
    one: _Ages, edges: NDArray[np.float64]
) -> Iterator[tuple[str, int, list[tuple[str, int]]]]:
    """Each bin: its label, how many, and how many in each band."""
    bins = _bins(one, edges)
    for at in range(max(len(edges) - 1, 1)):
        low, high = edges[at], edges[min(at + 1, len(edges) - 1)]
        rank = one.rank[bins == at]
        parts = [
            (name, int(((rank >= first) & (rank <= last)).sum()))
            for name, first, last in _bands(one.k)
        ]
        yield f"{low:.0f}\u2013{high:.0f}", len(rank), parts


def _panels(found: Sequence[_Ages], edges: NDArray[np.float64]) -> Iterator[Panel]:
    for one in found:
        values: list[dict[str, Any]] = []
        ticks = []
        for label, total, parts in _counts(one, edges):
            tick = f"{label}|n={number(total)}"
            ticks.append(tick)
            start = 0.0
            for name, count in parts:
                if count:
                    end = start + count / total
                    text = f"{count / total:.0%}" if end - start > 0.08 else ""  # noqa: PLR2004
                    values.append({"bin": tick, "band": name, "y": start, "y2": end, "text": text})
                    start = end
        title = f"{one.label}: first hit of each gold {one.level}"
        yield title, _spec(title, ticks, [name for name, _, _ in _bands(one.k)], values)


def _spec(
    title: str, ticks: list[str], bands: list[str], values: list[dict[str, Any]]
) -> dict[str, Any]:
    x = {
        "field": "bin",
        "type": "ordinal",
        "scale": {"domain": ticks, "paddingInner": 0.12},
        "axis": {
            "title": "days from the evidence to the question",
            "labelAngle": 0,
            "labelExpr": "split(datum.label, '|')",
            "labelOverlap": False,
            "labelLineHeight": 15,
        },
    }
    y = {
        "field": "y",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"title": None, "format": "%", "values": [0, 0.25, 0.5, 0.75, 1], "grid": True},
    }
    colours = [*SERIES[: len(bands) - 1], LINE]
    band = {
        "field": "band",
        "type": "nominal",
        "scale": {"domain": bands, "range": colours},
        "legend": {"symbolType": "square", "columns": 3},
    }
    return {
        "title": title,
        "width": 340,
        "height": 220,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "bar", "stroke": PAPER, "strokeWidth": 1},
                "encoding": {"x": x, "y": y, "y2": {"field": "y2"}, "color": band},
            },
            {
                "transform": [{"calculate": "(datum.y + datum.y2) / 2", "as": "middle"}],
                "mark": {"type": "text", "fontSize": 11},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "middle"},
                    "text": {"field": "text"},
                    "color": {
                        "condition": {"test": f"datum.band === '{_MISS}'", "value": SOFT},
                        "value": PAPER,
                    },
                },
            },
        ],
    }


def _caption(found: Sequence[_Ages]) -> str:
    said = []
    for one in found:
        absent = f"; {number(one.absent)} without a time are left out" if one.absent else ""
        said.append(
            f"{one.label}: {number(len(one.age))} gold {one.level}s of {number(one.queries)} "
            f"measured queries, each by the best rank among the first {one.k} hits of a form that "
            f"comes from it{absent}."
        )
    said.append(
        "Bins hold about as many each, so they are not equally wide. Old and new evidence may "
        "differ in more than age, such as in the category of the question: this shows no cause."
    )
    return " ".join(said)


def _table(found: Sequence[_Ages], edges: NDArray[np.float64]) -> list[list[str]]:
    bands = list(dict.fromkeys(name for one in found for name, _, _ in _bands(one.k)))
    bands = [*(name for name in bands if name != _MISS), _MISS]
    head = ["run", "days", *bands, "all"]
    body = []
    for one in found:
        for label, total, parts in _counts(one, edges):
            told = dict(parts)
            cells = [number(told[name]) if name in told else "-" for name in bands]
            body.append([one.label, label, *cells, number(total)])
    return [head, *body]
