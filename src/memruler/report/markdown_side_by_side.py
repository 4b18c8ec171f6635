"""A refusal, or several runs beside each other, as Markdown pages."""

from collections.abc import Iterator, Sequence

from memruler.compare.record import Reason, Refused
from memruler.report import numbers
from memruler.report.escape import code, md
from memruler.report.markdown_table import table
from memruler.report.side_by_side import SideBySide

__all__ = ["markdown_refusal", "markdown_side_by_side"]


def markdown_refusal(refused: Refused) -> str:
    """Why two runs do not compare."""
    lines = [
        f"# {code(refused.base)} against {code(refused.candidate)}",
        "",
        "**NOT COMPARABLE**: a difference would not mean what it looks like, so none is shown.",
        "",
        *_reasons(refused.reasons),
    ]
    return "\n".join(lines) + "\n"


def markdown_side_by_side(found: SideBySide) -> str:
    """A table of the headlines, and why some have no difference."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: SideBySide) -> Iterator[str]:
    yield from (f"# {len(found.runs)} runs beside {code(found.runs[0].name)}", "")
    for run in found.runs:
        for why in run.degraded:
            yield from (f"> **DEGRADED: do not trust {code(run.name)}.** {md(why)}", "")
    yield "The first is the baseline. A difference is exact, over the queries that count in both."
    yield ""
    rows = []
    for at, run in enumerate(found.runs):
        metric = "-" if run.metric is None else f"{code(run.metric)} {run.level}"
        row = [code(run.name), code(run.system), metric, numbers.mean(run.value)]
        row.append(numbers.share(run.counted, run.of))
        if run.delta is None:
            row += ["baseline" if at == 0 else "refused", "-", "-"]
        else:
            d = run.delta
            row += [numbers.delta(d.delta), str(d.wins), str(d.losses)]
        rows.append((*row, code(run.target), code(run.population)))
    heads = ("run", "system", "headline", "value", "counted", "difference", "up", "down")
    yield from table((*heads, "target", "population"), "lllrrrrrll", rows)
    for run in found.runs:
        if run.refused:
            yield from (f"## {code(run.name)} does not compare", "", *_reasons(run.refused))
        yield from (f"- Warning, {code(run.name)}: {md(warning)}" for warning in run.warnings)


def _reasons(reasons: Sequence[Reason]) -> Iterator[str]:
    for reason in reasons:
        yield f"- {code(reason.code)}: {md(reason.what)}. Instead: {md(reason.hint)}."
    yield ""
