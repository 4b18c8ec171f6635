"""The page of three runs or more: a table, and differences only where two of them compare."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from memruler.compare.fingerprint import flatten
from memruler.model.run import Manifest
from memruler.report import numbers
from memruler.report.document import ReportDocument
from memruler.report.html.environment import render
from memruler.report.html.facts import plain_json, ruler_words, thousands
from memruler.report.html.figures import side_by_side_figures
from memruler.report.html.parts import Section, Table, callout, compose, table
from memruler.report.html.reasons import reasons_body
from memruler.report.side_by_side import RunLine, SideBySide

__all__ = ["side_by_side_sections"]


def side_by_side_sections(
    found: SideBySide, folders: Sequence[Path], documents: Sequence[ReportDocument]
) -> Markup:
    """Everything that a page says of several runs.

    Args:
        found: What was found.
        folders: Their folders, in the same order.
        documents: Their reports.

    Raises:
        FormatError: A folder is no finished run.
        UsageError: What draws the figures is not installed.
    """
    manifests = [document.manifest for document in documents]
    sections = [
        Section(id="headlines", title="Headlines", body=_headlines(found)),
        *_figures(found, folders, documents),
        *_refusals(found),
        Section(id="left-out", title="Exclusions and warnings", body=_left_out(found, documents)),
        Section(id="provenance", title="Provenance", body=_provenance(found, manifests)),
        Section(id="comparability", title="Comparability card", body=_prints(found, manifests)),
    ]
    return compose(_hero(found), sections)


def _hero(found: SideBySide) -> Markup:
    first, *others = found.runs
    compared = sum(run.delta is not None for run in others)
    degraded = [f"{run.name}: {why}" for run in found.runs for why in run.degraded]
    return render(
        "hero.html.j2",
        eyebrow=f"{len(found.runs)} runs, side by side · baseline {first.name}",
        question="Which of these memories finds the evidence?",
        outcome=None,
        sign="",
        tone="",
        sentence=_compared(compared, len(others)),
        callouts=callout("bad", "Degraded: do not trust these numbers", degraded),
        value=None,
    )


def _compared(number: int, of: int) -> str:
    if number == of:
        return f"All {of} others compare with the baseline, and each difference is exact."
    if not number:
        return "None of the others compares with the baseline, so no difference is shown."
    return (
        f"{number} of the {of} others compare with the baseline. A difference stands beside these "
        "and no other."
    )


def _headlines(found: SideBySide) -> Markup:
    shared = {_over(run) for run in found.runs}
    rows = [_row(run, first=at == 0) for at, run in enumerate(found.runs)]
    heads = ["run", "system", "value", "counted", "difference", "higher", "lower"]
    what = "the headline of each run, and the differences to the baseline over shared queries"
    if len(shared) == 1:
        what = f"{shared.pop()}, and the difference to the baseline over the queries in both"
    else:
        heads.append("what it is")
        rows = [(*row, _over(run)) for row, run in zip(rows, found.runs, strict=True)]
    return table(
        Table(
            caption=f"Means over the queries counted, of all measurable ones: {what}",
            heads=heads,
            sides="llrrrrrw"[: len(heads)],
            rows=rows,
        )
    )


def _over(run: RunLine) -> str:
    head = "no cut-off" if run.metric is None else f"{run.metric} at the {run.level} level"
    return f"{head}, target {run.target}, population {run.population} of {run.corpus}"


def _row(run: RunLine, *, first: bool) -> tuple[str, ...]:
    counts = f"{thousands(run.counted)} of {thousands(run.of)}"
    own = (run.name, run.system, numbers.mean(run.value), counts)
    if run.delta is None:
        return (*own, "baseline" if first else "not comparable", "-", "-")
    return (*own, numbers.delta(run.delta.delta), str(run.delta.wins), str(run.delta.losses))


def _figures(
    found: SideBySide, folders: Sequence[Path], documents: Sequence[ReportDocument]
) -> list[Section]:
    """Curves stand together only where they are over the same questions."""
    corpora = {d.manifest.fingerprint["corpus"]["sha256"] for d in documents}
    members = {run.members for run in found.runs}
    if len(corpora) == 1 and len(members) == 1:
        return side_by_side_figures(folders, documents, [run.name for run in found.runs])
    why = "these runs are not over the same questions, so their curves would not compare"
    return [
        Section(
            id="recall-curve",
            title="Recall against depth",
            body=callout("plain", "Not shown", [why]),
        )
    ]


def _refusals(found: SideBySide) -> Iterator[Section]:
    refused = [run for run in found.runs if run.refused]
    if refused:
        parts = [
            Markup("<h3>{} against {}</h3>{}").format(
                found.runs[0].name, run.name, reasons_body(run.refused)
            )
            for run in refused
        ]
        yield Section(id="reasons", title="Not comparable, because", body=Markup().join(parts))


def _left_out(found: SideBySide, documents: Sequence[ReportDocument]) -> Markup:
    rows = [
        (
            run.name,
            thousands(document.summary.population.corpus_queries),
            thousands(document.summary.population.measured),
            numbers.counts(document.summary.population.excluded),
            numbers.counts(document.summary.errors),
        )
        for run, document in zip(found.runs, documents, strict=True)
    ]
    warnings = [f"{run.name}: {warning}" for run in found.runs for warning in run.warnings]
    heads = ("run", "queries", "measured", "not measured, by reason", "failed searches")
    return table(
        Table(caption="Who the means are over", heads=heads, sides="lrrww", rows=rows)
    ) + callout("warn", "Warnings", warnings)


def _provenance(found: SideBySide, manifests: Sequence[Manifest]) -> Markup:
    rows = []
    for run, manifest in zip(found.runs, manifests, strict=True):
        tool = manifest.tool
        dirty = " with uncommitted changes" if tool.get("dirty") else ""
        commit = f"{tool.get('commit') or 'not known'}{dirty}"
        started = manifest.started.isoformat(timespec="seconds")
        version = str(tool.get("version"))
        rows.append((run.name, started, version, commit, ruler_words(manifest.determinism)))
    heads = ("run", "started (UTC)", "memruler", "commit", "ruler")
    return table(Table(caption="The runs", heads=heads, sides="lllww", rows=rows))


def _prints(found: SideBySide, manifests: Sequence[Manifest]) -> Markup:
    flat = [flatten(manifest.fingerprint) for manifest in manifests]
    keys = dict.fromkeys(key for one in flat for key in one)
    rows = []
    for key in keys:
        cells = [plain_json(one[key]) if key in one else "absent" for one in flat]
        if len(set(cells)) > 1:
            rows.append((key, *cells))
    caption = f"{len(rows)} of {len(keys)} keys of the fingerprints differ; the others are equal"
    heads = ("key", *(run.name for run in found.runs))
    shown = table(Table(caption=caption, heads=heads, sides="l" + "w" * len(flat), rows=rows))
    return render("comparability.html.j2") + shown
