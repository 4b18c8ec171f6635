"""What a page says of one run, section by section."""

from collections.abc import Iterator

from markupsafe import Markup

from memruler.model.summary import Cutoff, Level, Summary
from memruler.report import numbers
from memruler.report.document import ReportDocument
from memruler.report.html.environment import render
from memruler.report.html.facts import (
    card_body,
    clusters_of,
    fingerprint_rows,
    omitted_table,
    provenance_body,
    ruler_words,
    score_table,
    thousands,
    window,
)
from memruler.report.html.parts import Section, Table, callout, facts_table, table
from memruler.report.view import (
    ceilings,
    floors,
    headline_of,
    levels_of,
    metrics_of,
    moved_headline,
    slice_rows,
)

__all__ = ["QUESTION", "comparability", "hero", "left_out", "provenance", "scores", "targets"]

QUESTION = "How well does this memory find the evidence?"


def hero(document: ReportDocument, name: str) -> Markup:
    """The question, the answer in a sentence, the headline and all that it stands on."""
    manifest, summary = document.manifest, document.summary
    head = headline_of(summary)
    corpus, system = manifest.fingerprint["corpus"], manifest.fingerprint["system"]
    values = {
        "eyebrow": f"Run {name} · {system['name']} on {corpus['name']}",
        "question": QUESTION,
        "outcome": None,
        "sign": "",
        "tone": "",
        "callouts": _doubts(document),
        "value": None,
        "metric": "",
        "means": None,
        "beside": "",
        "marks": (),
        "terms": (),
    }
    if head is None:
        values["sentence"] = "No cut-off could be measured; the reasons are below."
        return render("hero.html.j2", **values)
    metric, row = head
    mean = row.values["recall_all"]
    return render(
        "hero.html.j2",
        **values
        | {
            "sentence": _sentence(row),
            "value": numbers.mean(mean),
            "metric": metric,
            "beside": f"over {thousands(row.counted)} of {thousands(row.of)} measurable questions",
            "marks": (round(mean * 1000, 1),),
            "terms": list(_terms(document, row)),
        },
    )


def _sentence(row: Cutoff) -> Markup:
    # `recall_all` is 0 or 1 for a query, so that the mean is a count of queries.
    found = round(row.values["recall_all"] * row.counted)
    what = window(row.level, row.k)
    return Markup(
        "For <strong>{} of {} questions</strong>, all of the evidence is in {} that the memory "
        "returns."
    ).format(thousands(found), thousands(row.counted), what)


def _terms(document: ReportDocument, row: Cutoff) -> Iterator[tuple[str, str]]:
    summary, people = document.summary, document.summary.population
    yield (
        "Population",
        (
            f"{people.name}, {thousands(people.measured)} measured of "
            f"{thousands(people.corpus_queries)} queries"
        ),
    )
    yield "Clusters", clusters_of(summary.clusters)
    yield "Target", f"{summary.target}: which stored forms earn credit"
    yield "Level", f"{row.level}s, the first {row.k} distinct ones"
    if row.counted < row.of:
        padded = numbers.mean(row.padded["recall_all"])
        short = thousands(row.of - row.counted)
        yield (
            "Short lists",
            (
                f"{short} questions got fewer than {row.k} {row.level}s; {padded} over all "
                f"{thousands(row.of)}, missing ranks counted as misses"
            ),
        )
    if row.attainable < row.counted:
        most = numbers.mean(row.attainable / row.counted)
        yield "Ceiling", f"{most}: the others have more evidence than {row.k} {row.level}s hold"
    yield "Ruler", ruler_words(document.manifest.determinism)


def _doubts(document: ReportDocument) -> Markup:
    manifest = document.manifest
    moved = moved_headline(document.summary)
    return Markup().join(
        (
            callout("bad", "Degraded: do not trust these numbers", manifest.degraded),
            callout("warn", "Warning", manifest.warnings),
            callout("warn", "Another headline than usual", [] if moved is None else [moved]),
            callout("plain", "About this corpus", manifest.corpus_notes),
        )
    )


def scores(summary: Summary) -> Section:
    """Every mean of a run with its denominators."""
    parts: list[Markup] = [render("metrics.html.j2")]
    for level in levels_of(summary.slices[0].cutoffs):
        rows = [row for row in summary.slices[0].cutoffs if row.level == level]
        parts += [Markup("<h3>{} level</h3>").format(level.capitalize()), _grid(summary, rows)]
        if floors(summary, level):
            parts.append(_padded(rows))
        high = ceilings(summary, level)
        if high:
            parts.append(
                Markup("<p class='soft small'>{}</p>").format(
                    f"Ceiling: recall_all at the {level} level is at most "
                    f"{numbers.by_depth(high)}; other queries have more gold than the window holds."
                )
            )
        parts += [_categories(summary, level, row) for row in rows]
    return Section(id="scores", title="Scores at every cut-off", body=Markup().join(parts))


def _grid(summary: Summary, rows: list[Cutoff]) -> Markup:
    metrics = metrics_of(rows)
    level = rows[0].level
    head = headline_of(summary)
    lead = tuple(i for i, row in enumerate(rows) if head is not None and row == head[1])
    return table(
        Table(
            caption=f"Means over the queries that found at least k distinct {level}s (counted), of "
            f"all measurable ones; target {summary.target}, population {summary.population.name}",
            heads=("k", *metrics, "counted", "of", "attainable"),
            sides="r" * (len(metrics) + 4),
            rows=[
                (
                    str(row.k),
                    *(numbers.mean(row.values.get(name)) for name in metrics),
                    *map(str, (row.counted, row.of, row.attainable)),
                )
                for row in rows
            ],
            lead=lead,
        )
    )


def _padded(rows: list[Cutoff]) -> Markup:
    metrics = metrics_of(rows)
    return table(
        Table(
            caption=f"The same over all {thousands(rows[0].of)} measurable queries, missing ranks "
            "and failed searches counted as misses (the convention of trec_eval)",
            heads=("k", *metrics, "of"),
            sides="r" * (len(metrics) + 2),
            rows=[
                (str(row.k), *(numbers.mean(row.padded.get(m)) for m in metrics), str(row.of))
                for row in rows
            ],
        )
    )


def _categories(summary: Summary, level: Level, row: Cutoff) -> Markup:
    metrics = metrics_of([row])
    rows = []
    for name, part, queries in slice_rows(summary, level, row.k):
        if part is None:
            rows.append((name, *(["-"] * len(metrics)), "0", str(queries)))
        else:
            means = (numbers.mean(part.values.get(metric)) for metric in metrics)
            rows.append((name, *means, str(part.counted), str(part.of)))
    for one in summary.macro:
        if (one.level, one.k) == (level, row.k):
            means = (numbers.mean(one.values.get(metric)) for metric in metrics)
            rows.append((f"macro mean of {one.categories} categories", *means, "", ""))
    shown = table(
        Table(
            caption=f"By category at the {level} level, k = {row.k}",
            heads=("category", *metrics, "counted", "of"),
            sides="l" + "r" * (len(metrics) + 2),
            rows=rows,
        )
    )
    return render("more.html.j2", label=f"By category, {level} level, k = {row.k}", body=shown)


def left_out(document: ReportDocument) -> Section:
    """Who is not in the means, what is missing, what was lost, and what to know."""
    summary, manifest = document.summary, document.manifest
    people = summary.population
    rows = [(reason, thousands(number)) for reason, number in people.excluded.items()]
    rows += [
        (f"search failed: {message}", thousands(number))
        for message, number in summary.errors.items()
    ]
    excluded = Table(
        caption=f"Of {thousands(people.corpus_queries)} queries of the corpus, "
        f"{thousands(people.measured)} are measured; the others by reason",
        heads=("not measured, because", "queries"),
        sides="wr",
        rows=rows or [("every query was measured", "0")],
    )
    parts = [
        table(excluded),
        omitted_table(summary.omitted),
        facts_table("What was stored, returned and lost", _kept(document)),
        callout("warn", "Warnings", manifest.warnings),
        callout("plain", "Notes", manifest.notes),
    ]
    return Section(id="left-out", title="Exclusions and warnings", body=Markup().join(parts))


def _kept(document: ReportDocument) -> Iterator[tuple[str, str]]:
    summary = document.summary
    for level, number in summary.without_gold.items():
        yield "no gold", f"{number} measured queries have none at the {level} level"
    yield "store", numbers.store(summary.store)
    yield "hits", numbers.hits(summary.hits)
    yield "context", numbers.context(summary.context)
    yield "search latency", numbers.latency(document.timing)
    speed = document.timing.ingest_turns_per_s
    yield "ingest", "not measured" if speed is None else f"{speed:,.1f} turns a second"


def targets(document: ReportDocument) -> Section | None:
    """Which stored form earns the credit; None for a store of what was said."""
    part = document.targets
    if part is None:
        return None
    body = score_table(part.scores) + card_body(part.card)
    return Section(id="target-card", title="Target card", body=body)


def provenance(document: ReportDocument) -> Section:
    """Where the numbers come from."""
    return Section(id="provenance", title="Provenance", body=provenance_body(document.manifest))


def comparability(document: ReportDocument) -> Section:
    """What another run must share with this one before the two compare."""
    summary = document.summary
    rows = list(fingerprint_rows(document.manifest))
    body = render("comparability.html.j2") + table(
        Table(
            caption=f"Fingerprint of this run: {len(rows)} keys. Target {summary.target}; digest "
            f"of the population's members {summary.population.digest[:16]}",
            heads=("key", "value", "in another run"),
            sides="lwl",
            rows=rows,
        )
    )
    return Section(id="comparability", title="Comparability card", body=body)
