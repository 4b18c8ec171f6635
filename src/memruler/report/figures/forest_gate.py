"""The paired difference that a gate decided on, with its interval where it has one."""

from memruler.compare.gate import Gate
from memruler.report.figures.forest_rows import MOST, OPEN, Row, span_of, spec, sure, told, way
from memruler.report.figures.record import Figure
from memruler.report.figures.render import EN_SPACE, draw
from memruler.report.figures.words import number
from memruler.report.numbers import delta as signed_delta

__all__ = ["forest_gate"]


def forest_gate(name: str, title: str, found: Gate) -> Figure:
    """Draw a gate: all items, and its slices where it has any.

    Args:
        name: Id of the figure.
        title: Of the figure, to which is added whether it is exact.
        found: What the gate found.
    """
    label = "all items"
    text = told(found.delta, found.wins, found.losses, found.counted)
    rows: list[Row] = [{"row": label, "delta": found.delta, "text": text, "way": way(found.delta)}]
    if found.interval is not None:
        low, high = found.interval.low, found.interval.high
        rows[0] |= {"low": low, "high": high, "way": sure(low, high)}
    right = found.corrected
    if right is not None and right.corrected:
        rows.append(
            {
                "row": "judge corrected",
                "delta": right.value,
                "low": right.low,
                "high": right.high,
                "text": f"{signed_delta(right.value)}{EN_SPACE}(decides)",
                "way": sure(right.low, right.high),
            }
        )
    parts = sorted(found.slices, key=lambda row: (-row.n, row.name))
    rows += [
        {
            "row": part.name,
            "delta": part.delta,
            "text": told(part.delta, part.wins, part.losses, part.n),
            "way": way(part.delta) if found.interval is None else OPEN,
        }
        for part in parts[:MOST]
    ]
    ends = [row[key] for row in rows for key in ("delta", "low", "high") if key in row]
    span = span_of([*ends, found.threshold, found.band or 0.0])
    panel = spec(found.metric, rows, span, threshold=found.threshold, band=found.band)
    exact = found.interval is None
    return draw(
        name=name,
        title=f"{title} (exact)" if exact else f"{title} with their interval",
        caption=_caption(found),
        parts=[(f"{found.metric}: paired difference", panel)],
        table=_table(found),
    )


def _caption(found: Gate) -> str:
    absent = sum(found.absent.values())
    first = (
        f"{found.candidate} minus {found.base}, over {number(found.counted)} items with a value on "
        f"both sides{f' ({number(absent)} without)' if absent else ''}. Right of zero is better. "
        f"The difference must exceed the threshold, {found.threshold:+g}: {found.outcome}."
    )
    said = [first]
    if found.interval is None:
        said.append("Exact: both sides are deterministic, so each point is a fact.")
    else:
        cluster = found.cluster or "item"
        said.append(
            f"The line is the {found.interval.level:.0%} interval over "
            f"{number(found.interval.clusters)} groups resampled whole (by {cluster})."
        )
        if found.band:
            said.append(
                f"Shaded: the null band, {found.band:.4g} to each side of zero; a change of that "
                "size is seen where nothing was changed."
            )
        if found.slices:
            said.append("Slices have no interval of their own and decide nothing: grey circles.")
    return " ".join(said)


def _table(found: Gate) -> list[list[str]]:
    head = ["slice", "difference", "low", "high", "up", "down", "items"]
    ends = ["-", "-"]
    if found.interval is not None:
        ends = [f"{found.interval.low:+.4f}", f"{found.interval.high:+.4f}"]
    counts = [str(found.wins), str(found.losses), str(found.counted)]
    rows = [["all items", signed_delta(found.delta), *ends, *counts]]
    right = found.corrected
    if right is not None and right.corrected:
        own = [f"{right.low:+.4f}", f"{right.high:+.4f}"]
        rows.append(
            ["judge corrected", signed_delta(right.value), *own, "-", "-", str(found.counted)]
        )
    rows += [
        [p.name, signed_delta(p.delta), "-", "-", str(p.wins), str(p.losses), str(p.n)]
        for p in found.slices
    ]
    return [head, *rows]
