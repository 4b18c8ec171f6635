"""A run on the terminal: the headline, a table a level, then what stands beside them."""

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from memruler.compare.target_part import TargetPart
from memruler.errors import printable
from memruler.model.summary import Level, Omitted, Summary
from memruler.report import numbers
from memruler.report.document import ReportDocument
from memruler.report.layout import banner, column_head, facts, heading, numeric_table
from memruler.report.table import print_table
from memruler.report.view import PER_QUERY, ceilings, floors, headline_of, levels_of, moved_headline

__all__ = ["render_run"]

_PAGE = "report.md"


def render_run(document: ReportDocument, folder: Path, console: Console) -> None:
    """Print a run.

    Args:
        document: Its report.
        folder: Where its report lies.
        console: Where to print; 80 columns suffice.
    """
    manifest, summary = document.manifest, document.summary
    if manifest.degraded:
        banner(console, "DEGRADED: do not trust these numbers", manifest.degraded)
    console.print(_headline(summary))
    if manifest.warnings:  # up here, since they put the number above in doubt
        console.print()
        facts(console, (("warning", warning) for warning in manifest.warnings))
    for level in levels_of(summary.slices[0].cutoffs):
        heading(console, f"{level} level (n/N: queries that found k distinct {level}s, of all)")
        _level(console, summary, level)
    if document.targets is not None:
        _targets(console, document.targets)
    console.print()
    facts(console, _facts(document))
    # By itself and unwrapped, so that it can be copied.
    console.print(Text(f"report: {printable(_near(folder), 4096)}"), soft_wrap=True)


def _near(folder: Path) -> Path:
    """The path from where the person is, if it is below there."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _headline(summary: Summary) -> Text:
    head = headline_of(summary)
    if head is None:
        return Text("no cut-off could be measured; the reasons are below", style="bold")
    name, row = head
    line = Text(f"{name} {numbers.mean(row.values['recall_all'])}", style="bold")
    line.append(
        f"  {row.level} level, target {summary.target}\n"
        f"over {row.counted} of {row.of} measurable queries in {summary.clusters} clusters; "
        f"population {printable(summary.population.name)}",
        style="not bold",
    )
    if row.counted < row.of:
        line.append(
            f"\n{name} {numbers.mean(row.padded['recall_all'])}  over all {row.of}, "
            "missing ranks counted as misses",
            style="bold",
        )
    return line


def _level(console: Console, summary: Summary, level: Level) -> None:
    table = numeric_table(["k"], [*map(column_head, PER_QUERY), "n/N"])
    for row in summary.slices[0].cutoffs:
        if row.level == level:
            means = (numbers.mean(row.values.get(metric)) for metric in PER_QUERY)
            table.add_row(str(row.k), *means, numbers.share(row.counted, row.of))
    console.print(table)


def _targets(console: Console, part: TargetPart) -> None:
    card = part.card
    heading(
        console,
        f"which form earns the credit (anchors: {card.level}s, k = {card.k}; short lists are read "
        "as they are, unlike above)",
    )
    rows = []
    for one in part.scores.targets:
        row = [one.target, *(["-"] * 5), f"{one.scored}/{part.scores.counted}"]
        if one.own.depths:
            deep = one.own.depths[-1]
            values = (one.own.top1, deep.recall_any, deep.recall_micro, deep.mrr, deep.ndcg)
            row[1:6] = map(numbers.mean, values)
        rows.append(row)
    heads = ["top1", "recall_any", "recall_micro", "mrr", "ndcg"]
    print_table(console, ["target"], [*map(column_head, heads), "queries"], rows)
    console.print(
        Text(f"more: memruler score RUN; what each admits: the target card in {_PAGE}", style="dim")
    )


def _facts(document: ReportDocument) -> Iterator[tuple[str, str]]:
    manifest, summary = document.manifest, document.summary
    corpus, system = manifest.fingerprint["corpus"], manifest.fingerprint["system"]
    yield (
        "corpus",
        f"{corpus['name']} {corpus['version']} ({corpus['tier']}, sha256 {corpus['sha256'][:12]})",
    )
    yield "system", f"{system['name']} {system['version']} (digest {system['digest'][:12]})"
    yield "population", numbers.population(summary.population, summary.clusters)
    yield "not measured", numbers.counts(summary.population.excluded)
    for level, number in summary.without_gold.items():
        yield "no gold", f"{number} measured queries have none at the {level} level"
    for message, number in summary.errors.items():
        yield "failed", f"{number} searches: {message}"
    if moved := moved_headline(summary):
        yield "headline", moved
    yield from _left_out(summary)
    yield from _bounds(summary)
    yield "store", numbers.store(summary.store)
    yield "hits", numbers.hits(summary.hits)
    yield "context", numbers.context(summary.context)
    yield "latency", numbers.latency(document.timing)
    yield "span", numbers.span(manifest.span_days)
    yield "determinism", numbers.determinism(manifest.determinism)
    for note in (*manifest.corpus_notes, *manifest.notes):
        yield "note", note


def _left_out(summary: Summary) -> Iterator[tuple[str, str]]:
    """What was left out; at each level the cut-offs that no query reached together."""
    longest: dict[Level, list[Omitted]] = {}
    for gone in summary.omitted:
        if gone.k is None:
            yield "left out", f"{gone.level} level: {gone.reason}"
        else:
            longest.setdefault(gone.level, []).append(gone)
    for level, group in longest.items():
        depths = ", ".join(str(gone.k) for gone in group)
        yield "left out", f"{level} level k={depths}: {group[0].reason}"


def _bounds(summary: Summary) -> Iterator[tuple[str, str]]:
    levels = levels_of(summary.slices[0].cutoffs)
    for level in levels:
        if high := ceilings(summary, level):
            yield "ceiling", f"recall_all at the {level} level is at most {numbers.by_depth(high)}"
    for level in levels:
        if low := floors(summary, level):
            what = f"recall_all at the {level} level over all, missing ranks counted as misses"
            yield "padded", f"{what}: {numbers.by_depth(low)}"
