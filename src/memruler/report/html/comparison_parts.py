"""What a page says of two runs that compare, section by section; and of two that do not."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from memruler.compare.record import ChangedQuery, Comparison, Delta, Difference, Side
from memruler.model.run import Manifest
from memruler.model.summary import Level
from memruler.report import numbers
from memruler.report.html.environment import render
from memruler.report.html.facts import (
    card_body,
    clusters_of,
    omitted_table,
    plain_json,
    provenance_body,
    thousands,
)
from memruler.report.html.parts import Section, Table, callout, facts_table, table
from memruler.report.view import (
    category_deltas,
    category_rows,
    deltas_at,
    headline_moves,
    levels_of,
    macro_of,
)

__all__ = [
    "QUESTION",
    "comparability",
    "deltas",
    "differences_table",
    "hero",
    "left_out",
    "moved",
    "provenance",
    "targets",
]

QUESTION = "Did this change make the memory better or worse?"

_SAID = {
    "better": ("good", "▲", "Better"),
    "worse": ("bad", "▼", "Worse"),
    "unchanged": ("", "=", "Unchanged"),
}
_SIDES = ("baseline", "candidate")
_LISTED = 50
_MINUS = "\N{MINUS SIGN}"


def hero(found: Comparison) -> Markup:
    """The question, the verdict in words, the headline and all that it stands on."""
    tone, sign, outcome = _SAID[found.verdict]
    head = found.headline
    metric = f"{head.metric}@{head.k}"
    same = head.counted - head.wins - head.losses
    sentence = Markup(
        "Of {} questions, <strong>{} score higher</strong> with the candidate, <strong>{} score "
        "lower</strong>, and {} the same."
    ).format(*map(thousands, (head.counted, head.wins, head.losses, same)))
    beside = f"over {thousands(head.counted)} of {thousands(head.of)} measured questions"
    return render(
        "hero.html.j2",
        eyebrow=f"Baseline {found.base.name} · candidate {found.candidate.name}",
        question=QUESTION,
        outcome=outcome + (" on shared queries" if found.shared_only else ""),
        sign=sign,
        tone=tone,
        sentence=sentence,
        callouts=callout("bad", "Degraded: do not trust these numbers", found.degraded)
        + callout("plain", "About this corpus", found.corpus_notes),
        value="0" if head.delta == 0 else numbers.delta(head.delta).replace("-", _MINUS),
        metric=metric,
        means=f"{numbers.mean(head.base)} → {numbers.mean(head.candidate)}",
        beside=beside,
        marks=(round(head.base * 1000, 1), round(head.candidate * 1000, 1)),
        terms=list(_terms(found)),
    )


def _terms(found: Comparison) -> Iterator[tuple[str, str]]:
    head, people = found.headline, found.population
    yield (
        "Population",
        (
            f"{people.name}, {thousands(people.measured)} measured of "
            f"{thousands(people.corpus_queries)} queries"
        ),
    )
    yield "Clusters", clusters_of(found.clusters)
    yield "Target", f"{found.target}: which stored forms earn credit"
    yield "Level", f"{head.level}s, the first {head.k} distinct ones"
    if found.floor is not None:
        own = (head.base_counted, head.candidate_counted, head.counted)
        counts = map(thousands, own)
        yield "Counted", "{} in the baseline, {} in the candidate, {} in both".format(*counts)
    padded = found.padded
    if padded is not None and min(head.base_counted, head.candidate_counted) < padded.of:
        yield (
            "Padded",
            f"{_means(padded)} over all {thousands(padded.of)}, missing ranks counted as misses",
        )
    if found.floor is not None:
        yield (
            "Floor",
            (
                f"{_means(found.floor)} over all {thousands(found.floor.of)}; a list shorter than "
                f"{found.floor.k} scores 0"
            ),
        )
    yield "Changed", ", ".join(d.key for d in found.changed) or "nothing was declared"
    yield "Ruler", "exact: both runs are deterministic, so the difference is a fact; no interval"


def _means(row: object) -> str:
    base, candidate, delta = (getattr(row, name) for name in ("base", "candidate", "delta"))
    return f"{numbers.mean(base)} → {numbers.mean(candidate)} ({numbers.delta(delta)})"


def deltas(found: Comparison) -> Section:
    """Every exact difference with its counts."""
    parts: list[Markup] = []
    for level in levels_of(found.deltas):
        grid = deltas_at(found, level)
        parts += [Markup("<h3>{} level</h3>").format(level.capitalize()), _grid(found, level, grid)]
        if level == found.headline.level:
            parts.append(_by_category(found))
        by = category_deltas(found, level)
        if by:
            parts.append(
                render(
                    "more.html.j2",
                    label=f"Every metric by category, {level} level",
                    body=_category_grid(level, by),
                )
            )
    return Section(id="differences", title="Every difference", body=Markup().join(parts))


def _grid(found: Comparison, level: Level, grid: Sequence[Sequence[Delta]]) -> Markup:
    rows: list[tuple[str, ...]] = []
    lead: list[int] = []
    for row in grid:
        if (level, row[0].k) == (found.headline.level, found.headline.k):
            lead.append(len(rows) + 2)
        k, first = str(row[0].k), row[0]
        rows += [
            (k, "baseline", *(numbers.mean(d.base) for d in row), str(first.base_counted)),
            (
                k,
                "candidate",
                *(numbers.mean(d.candidate) for d in row),
                str(first.candidate_counted),
            ),
            (k, "difference", *(_moved(d) for d in row), str(first.counted)),
        ]
    return table(
        Table(
            caption=f"Means over the queries that found k distinct {level}s, of "
            f"{thousands(grid[0][0].of)}; a difference with the queries that score higher / lower",
            heads=("k", "", *(d.metric for d in grid[0]), "counted"),
            sides="rl" + "r" * (len(grid[0]) + 1),
            rows=rows,
            lead=tuple(lead),
        )
    )


def _moved(d: Delta) -> str:
    return f"{numbers.delta(d.delta)} ({d.wins}/{d.losses})"


def _by_category(found: Comparison) -> Markup:
    head = found.headline
    rows = [
        (
            d.slice,
            numbers.mean(d.base),
            numbers.mean(d.candidate),
            numbers.delta(d.delta),
            *map(str, (d.wins, d.losses, d.counted, d.of)),
        )
        for d in category_rows(found)
    ]
    macro = macro_of(found)
    if macro is not None:
        means = (numbers.mean(macro.base), numbers.mean(macro.candidate))
        name = f"macro mean of {macro.categories} categories"
        rows.append((name, *means, numbers.delta(macro.delta), "", "", str(macro.counted), ""))
    return table(
        Table(
            caption=f"{head.metric}@{head.k} at the {head.level} level, by category",
            heads=(
                "category",
                "baseline",
                "candidate",
                "difference",
                "higher",
                "lower",
                "counted",
                "of",
            ),
            sides="lrrrrrrr",
            rows=rows,
        )
    )


def _category_grid(level: Level, grid: Sequence[Sequence[Delta]]) -> Markup:
    return table(
        Table(
            caption=f"Differences at the {level} level by category and depth; queries that score "
            "higher / lower",
            heads=("category", "k", *(d.metric for d in grid[0]), "counted", "of"),
            sides="lr" + "r" * (len(grid[0]) + 2),
            rows=[
                (
                    row[0].slice,
                    str(row[0].k),
                    *map(_moved, row),
                    str(row[0].counted),
                    str(row[0].of),
                )
                for row in grid
            ],
        )
    )


def moved(found: Comparison) -> Section:
    """The queries that moved on the headline, those that got worse first."""
    moves = headline_moves(found)
    head = found.headline
    name = f"{head.metric}@{head.k}"
    some = f"; the first {_LISTED} are listed" if len(moves) > _LISTED else ""
    caption = (
        f"{thousands(len(moves))} questions moved on {name}{some}. "
        f"{thousands(len(found.queries))} changed at some metric, level or cut-off"
    )
    rows = [_query(query, head.level, name) for query in moves[:_LISTED]]
    shown = Table(
        caption=caption,
        heads=("", "question", "category", "baseline", "candidate", "where"),
        sides="lwlrrw",
        rows=rows,
    )
    body = table(shown) if rows else Markup("<p>{}.</p>").format(caption)
    return Section(id="moved", title="Questions that moved", body=body)


def _query(query: ChangedQuery, level: Level, name: str) -> tuple[str, ...]:
    base, candidate = query.changes[level][name]
    sign = "▲\N{NO-BREAK SPACE}up" if query.headline == "up" else "▼\N{NO-BREAK SPACE}down"
    where = f"{query.instance} #{query.query}"
    values = (numbers.mean(base), numbers.mean(candidate))
    return (sign, query.text[:400], query.category, *values, where)


def targets(found: Comparison) -> Section | None:
    """Both runs under every target; None where neither store transforms what it hears."""
    if not found.by_target:
        return None
    first = found.by_target[0]
    metrics = ("ndcg", "mrr", "recall_micro", "recall_any")
    rows = []
    for one in found.by_target:
        cells = [numbers.mean(side.get(m)) for m in metrics for side in (one.base, one.candidate)]
        rows.append((one.target, *cells))
    both = Table(
        caption=f"Over the {thousands(first.queries)} queries that every target serves in both "
        f"runs, per anchor, k = {first.k}",
        heads=("target", *(f"{m}, {run}" for m in metrics for run in ("baseline", "candidate"))),
        sides="l" + "r" * 8,
        rows=rows,
    )
    cards = [
        Markup("<h3>{}</h3>{}").format(f"Target card of the {side}: {card.name}", card_body(card))
        for side, card in zip(_SIDES, found.cards, strict=True)
    ]
    body = table(both) + Markup().join(cards)
    return Section(id="target-card", title="Target cards", body=body)


def left_out(found: Comparison, manifests: Sequence[Manifest] = ()) -> Section:
    """Who is not in the means, what is missing, and what to know.

    Args:
        found: What was found.
        manifests: Of the two runs, for their warnings; empty leaves these out.
    """
    people = found.population
    rows = [(reason, thousands(number)) for reason, number in people.excluded.items()]
    parts = [
        table(
            Table(
                caption=f"Of {thousands(people.corpus_queries)} queries of the corpus, "
                f"{thousands(people.measured)} are measured in both; the others by reason",
                heads=("not measured, because", "queries"),
                sides="wr",
                rows=rows or [("every query was measured", "0")],
            )
        ),
        omitted_table(found.omitted),
        *(
            callout("warn", f"Warnings of the {side}", manifest.warnings)
            for side, manifest in zip(_SIDES, manifests, strict=False)
        ),
        callout("plain", "Notes", found.notes),
    ]
    return Section(id="left-out", title="Exclusions and warnings", body=Markup().join(parts))


def provenance(found: Comparison, manifests: Sequence[Manifest] = ()) -> Section:
    """What stands beside the means of each run.

    Args:
        found: What was found.
        manifests: Of the two runs, for all that they were made with; empty leaves it out.
    """
    sides = (found.base, found.candidate)
    rows = [(label, *(tell(side) for side in sides)) for label, tell in _BESIDE]
    body = table(
        Table(
            caption="The two runs",
            heads=("", "baseline", "candidate"),
            sides="lww",
            rows=rows,
        )
    )
    body += facts_table("Corpus of both", [(k, plain_json(v)) for k, v in found.corpus.items()])
    for side, manifest in zip(_SIDES, manifests, strict=False):
        label = f"Versions, settings and machine of the {side}"
        body += render("more.html.j2", label=label, body=provenance_body(manifest))
    return Section(id="provenance", title="Provenance", body=body)


def _tool(side: Side) -> str:
    dirty = " with uncommitted changes" if side.tool.get("dirty") else ""
    return f"{side.tool.get('version')}, commit {side.tool.get('commit') or 'not known'}{dirty}"


_BESIDE = (
    ("run", lambda side: side.name),
    ("measured as", lambda side: side.stem),
    ("started (UTC)", lambda side: side.started.isoformat(timespec="seconds")),
    ("memruler", _tool),
    ("context", lambda side: numbers.context(side.context)),
    ("hits", lambda side: numbers.hits(side.hits)),
    ("lost by the store", numbers.losses),
)


def comparability(found: Comparison) -> Section:
    """What may differ and does, and that all else is equal."""
    body = render("comparability.html.j2")
    if found.changed:
        body += differences_table(found.changed, "Declared as the change under test")
        body += Markup("<p>Every other key of the two fingerprints is equal.</p>")
    else:
        body += Markup("<p>No change was declared, and the two fingerprints are equal.</p>")
    return Section(id="comparability", title="Comparability card", body=body)


def differences_table(found: Sequence[Difference], caption: str) -> Markup:
    """Keys that do not hold the same value in both runs."""
    rows = [
        (
            d.key,
            "absent" if d.missing == "base" else plain_json(d.base),
            "absent" if d.missing == "candidate" else plain_json(d.candidate),
        )
        for d in found
    ]
    return table(
        Table(
            caption=caption,
            heads=("key", "baseline", "candidate"),
            sides="lww",
            rows=rows,
        )
    )
