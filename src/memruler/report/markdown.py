"""Runs and comparisons as Markdown pages, with the whole provenance."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memruler.compare.fingerprint import flatten
from memruler.compare.record import Comparison
from memruler.compare.target_part import TargetPart
from memruler.report import numbers
from memruler.report.document import ReportDocument
from memruler.report.escape import code, md
from memruler.report.markdown_table import table
from memruler.report.markdown_targets import card_lines, score_lines
from memruler.report.view import (
    category_deltas,
    category_rows,
    ceilings,
    deltas_at,
    floors,
    headline_moves,
    headline_of,
    levels_of,
    macro_of,
    metrics_of,
    moved_headline,
    slice_rows,
)

__all__ = ["markdown_comparison", "markdown_run"]


def markdown_run(document: ReportDocument) -> str:
    """The report of a run."""
    return _page(
        "run.md.j2",
        m=document.manifest,
        s=document.summary,
        t=document.timing,
        card=Markup("\n".join(_target_lines(document.targets))),  # noqa: S704 - lines are escaped
        headline=headline_of(document.summary),
        moved=moved_headline(document.summary),
    )


def _target_lines(part: TargetPart | None) -> Iterator[str]:
    if part is not None:
        yield from score_lines(part.scores)
        yield from card_lines(part.card)


def _both_lines(comparison: Comparison) -> Iterator[str]:
    """Both runs under every target, and their cards."""
    if not comparison.by_target:
        return
    first = comparison.by_target[0]
    yield from (
        f"## Which form earns the credit, k = {first.k}",
        "",
        f"Over the {first.queries} queries that every target serves in both runs, per anchor.",
        "",
    )
    metrics = ("ndcg", "mrr", "recall_micro", "recall_any")
    heads = ["target", *(f"{name} {run}" for name in metrics for run in ("base", "candidate"))]
    rows = (
        [
            code(one.target),
            *(
                numbers.mean(side.get(name))
                for name in metrics
                for side in (one.base, one.candidate)
            ),
        ]
        for one in comparison.by_target
    )
    yield from table(heads, "l" + "r" * (len(heads) - 1), rows)
    for card in comparison.cards:
        yield from card_lines(card)


def markdown_comparison(comparison: Comparison, *, queries: int | None = 50) -> str:
    """The page of a comparison.

    Args:
        comparison: What to show.
        queries: How many of the queries that moved on the headline are listed; None for all.
    """
    moves = headline_moves(comparison)
    return _page(
        "comparison.md.j2",
        c=comparison,
        targets=Markup("\n".join(_both_lines(comparison))),  # noqa: S704 - lines are escaped
        moves=moves[:queries],
        hidden=len(moves) - len(moves[:queries]),
    )


def _page(name: str, **values: Any) -> str:
    return _environment().get_template(name).render(**values)


def _safe(value: Any) -> Any:
    # Whatever a template prints without saying how is hostile until escaped.
    return value if isinstance(value, Markup) else md(value)


def _json(value: Any) -> Markup:
    return code(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("memruler.report"),
        autoescape=True,
        finalize=_safe,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {"code": code, "json": _json, "flat": flatten}
    for figure in (numbers.mean, numbers.delta, numbers.signed):
        made.filters[figure.__name__] = _figure(figure)
    made.globals |= {
        "category_deltas": category_deltas,
        "category_rows": category_rows,
        "ceilings": ceilings,
        "deltas_at": deltas_at,
        "floors": floors,
        "levels_of": levels_of,
        "macro_of": macro_of,
        "metrics_of": metrics_of,
        "numbers": numbers,
        "slice_rows": slice_rows,
    }
    return made


def _figure(write: Callable[[Any], str]) -> Callable[[Any], Markup]:
    # Digits and signs need no escape, and are easier to read in the source without.
    return lambda value: Markup(write(value))  # noqa: S704 - a number
