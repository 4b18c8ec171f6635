"""Paired differences with a zero line: points between deterministic runs, else an interval."""

from typing import Final

from memruler.compare.gate import Gate
from memruler.compare.record import Comparison, Delta, MacroDelta
from memruler.report.figures.forest_gate import forest_gate
from memruler.report.figures.forest_rows import MOST, Row, span_of, spec, told, way
from memruler.report.figures.record import Figure, Missing
from memruler.report.figures.render import EN_SPACE, draw
from memruler.report.figures.words import number
from memruler.report.numbers import delta as signed_delta
from memruler.report.numbers import mean
from memruler.report.view import category_rows, macro_of

__all__ = ["forest"]

_ID: Final = "forest"
_TITLE: Final = "Paired differences"


def forest(result: Comparison | Gate) -> Figure | Missing | None:
    """The headline's difference in all and in each category, and every metric beside it.

    Between deterministic runs each point is a fact: no interval is drawn, whatever its size. A
    gate over draws has its interval, its threshold and its null band; its slices have points only,
    since none of them was given an interval.

    Args:
        result: What `compare` or `gate` found.
    """
    if isinstance(result, Gate):
        return forest_gate(_ID, _TITLE, result)
    return _of_comparison(result)


def _of_comparison(found: Comparison) -> Figure:
    head = found.headline
    parts = sorted(category_rows(found), key=lambda d: (-d.counted, d.slice))
    macro = macro_of(found)
    rows = [_delta("all queries", head)]
    if macro is not None:
        rows.append(_macro(macro))
    rows += [_delta(d.slice, d) for d in parts[:MOST]]
    others = [
        d for d in found.deltas if (d.level, d.k, d.slice) == (head.level, head.k, head.slice)
    ]
    metrics = [_delta(f"{d.metric}@{d.k}", d) for d in others]
    title = f"{head.metric}@{head.k}, {head.level} level"
    # One scale in both panels: equal lengths are equal differences.
    span = span_of([row["delta"] for row in (*rows, *metrics)])
    drawn = [(f"{title}, by category", spec(f"{title}, by category", rows, span))]
    if len(metrics) > 1:
        other = f"every metric at k={head.k}, {head.level} level"
        drawn.append((other, spec(other, metrics, span)))
    caption = (
        f"{found.candidate.name} minus {found.base.name}, over the {number(head.counted)} queries "
        f"that both means are over, of {number(head.of)} measured in {found.population.name}. "
        "Exact: both runs are deterministic, so each point is a fact and has no interval; that "
        "says nothing about other questions. Right of zero is better. Beside each point: the "
        "queries that went up, those that went down, and all that are counted."
    )
    if len(parts) > MOST:
        caption += f" The {MOST} largest of {number(len(parts))} categories are drawn."
    return draw(
        name=_ID, title=f"{_TITLE} (exact)", caption=caption, parts=drawn, table=_table(found)
    )


def _delta(label: str, d: Delta) -> Row:
    text = told(d.delta, d.wins, d.losses, d.counted)
    return {"row": label, "delta": d.delta, "text": text, "way": way(d.delta)}


def _macro(m: MacroDelta) -> Row:
    text = f"{signed_delta(m.delta)}{EN_SPACE}of {m.categories} means"
    return {"row": "mean of categories", "delta": m.delta, "text": text, "way": way(m.delta)}


def _table(found: Comparison) -> list[list[str]]:
    head = [
        "level",
        "k",
        "slice",
        "metric",
        "base",
        "candidate",
        "difference",
        "up",
        "down",
        "queries",
    ]
    body = [
        [
            d.level,
            str(d.k),
            d.slice,
            d.metric,
            mean(d.base),
            mean(d.candidate),
            signed_delta(d.delta),
            str(d.wins),
            str(d.losses),
            f"{d.counted}/{d.of}",
        ]
        for d in found.deltas
        if (d.level, d.k) == (found.headline.level, found.headline.k)
    ]
    body += [
        [
            m.level,
            str(m.k),
            f"mean of {m.categories} categories",
            m.metric,
            mean(m.base),
            mean(m.candidate),
            signed_delta(m.delta),
            "-",
            "-",
            str(m.counted),
        ]
        for m in found.macro
        if (m.level, m.k) == (found.headline.level, found.headline.k)
    ]
    return [head, *body]
