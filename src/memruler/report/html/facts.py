"""The parts that pages of runs and comparisons share: who was measured, targets, provenance."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from memruler.compare.fingerprint import flatten
from memruler.compare.target_card import TargetCard
from memruler.compare.target_record import TargetScores
from memruler.errors import printable
from memruler.model.run import Determinism, Manifest
from memruler.model.summary import Omitted
from memruler.report import numbers, targets_view, targets_words
from memruler.report.html.parts import Table, facts_table, table

__all__ = [
    "FIXED",
    "card_body",
    "clusters_of",
    "fingerprint_rows",
    "omitted_table",
    "plain_json",
    "provenance_body",
    "ruler_words",
    "score_table",
    "thousands",
    "window",
]

FIXED = ("corpus", "population", "ruler")
"""Parts of a fingerprint that can never be the change under test."""

_LONGEST = 2_000


def thousands(number: int) -> str:
    """A count with separators: `1,531`."""
    return f"{number:,}"


def plain_json(value: Any) -> str:
    """A value of a manifest as one line; control characters become visible."""
    return printable(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str), _LONGEST)


def window(level: str, k: int) -> str:
    """`the first 5 sessions`."""
    return f"the first {k} {level}s" if k > 1 else f"the first {level}"


def ruler_words(measured: Determinism | None) -> str:
    """Whether a run's numbers are facts, or a draw without an interval."""
    if measured is None or not measured.queries:
        return "not known: whether the ranking repeats was not measured, so no interval can be told"
    if measured.identical == measured.queries:
        asked = f"{thousands(measured.queries)} of {thousands(measured.of)} queries"
        where = "another process" if measured.other_process else "fresh stores"
        return f"exact: {asked}, asked again in {where}, ranked identically; no interval"
    apart = measured.queries - measured.identical
    return (
        f"one draw: {apart} of {measured.queries} queries ranked differently when asked again, and "
        "one run has no interval"
    )


def omitted_table(omitted: Sequence[Omitted]) -> Markup:
    """Cut-offs and levels that are not there; nothing where none is missing."""
    if not omitted:
        return Markup()
    rows = [(gone.level, "all" if gone.k is None else str(gone.k), gone.reason) for gone in omitted]
    return table(
        Table(
            caption="Cut-offs that are not shown, and why",
            heads=("level", "k", "reason"),
            sides="lrw",
            rows=rows,
        )
    )


def score_table(scores: TargetScores) -> Markup:
    """One store's means under each target, at the deepest cut-off."""
    heads = ("target", "queries", "k", "top1", "recall_any", "recall_all", "recall_micro", "mrr")
    rows = []
    for one in scores.targets:
        for depth in one.own.depths[-1:]:
            values = (one.own.top1, depth.recall_any, depth.recall_all, depth.recall_micro)
            rows.append(
                (
                    one.target,
                    numbers.share(one.own.queries, one.counted),
                    str(depth.k),
                    *map(numbers.mean, (*values, depth.mrr, depth.ndcg)),
                )
            )
    what = f"Means per {scores.level}, over the queries that each target serves"
    return table(
        Table(
            caption=f"{what}. Population {targets_words.population(scores)}",
            heads=(*heads, "ndcg"),
            sides="l" + "r" * len(heads),
            rows=rows,
        )
    )


def card_body(card: TargetCard) -> Markup:
    """The target card of one store."""
    served = [
        (row[0], one.admits, *row[1:-1], row[-1])
        for one, row in zip(card.targets, targets_view.coverage_rows(card.targets), strict=True)
    ]
    heads = ("target", "admits", *(head.replace("\n", " ") for head in targets_view.COVERAGE))
    shifts = [
        (
            f"{one.a} to {one.b}",
            str(one.queries),
            *map(targets_words.percent, (one.ndcg, one.mrr, one.recall, one.top1)),
            str(one.hit_flips),
            "-" if one.mean is None else numbers.delta(one.mean),
        )
        for one in card.pairs
    ]
    others = [*targets_words.order_words(card)]
    others += [f"not {target}: {reason}" for target, reason in card.unserved.items()]
    parts = [
        table(
            Table(
                caption=f"What each target admits in the store of {card.name}, at every k",
                heads=(*heads, "here"),
                sides="lwrrrrrrw",
                rows=served,
            )
        ),
        table(
            Table(
                caption=f"Share of the queries that both targets serve whose value changes, "
                f"k = {card.k}",
                heads=["pair", *(h.replace("\n", " ") for h in targets_view.shift_heads(1))],
                sides="lrrrrrrr",
                rows=shifts,
            )
        ),
        facts_table(
            f"What the values rest on: credit rule {card.rule}, level {card.level}",
            (
                *((one.point, one.says) for one in card.statements),
                *(("other rules", told) for told in others),
            ),
        ),
    ]
    return Markup().join(parts)


def clusters_of(number: int) -> str:
    """How many clusters the measured queries come from."""
    return f"{number} conversation{'s' * (number != 1)} with a measured query"


def fingerprint_rows(manifest: Manifest) -> Iterator[tuple[str, str, str]]:
    """Key, value, and whether two runs may differ in it."""
    for key, value in flatten(manifest.fingerprint).items():
        fixed = key.partition(".")[0] in FIXED
        rule = "must be equal" if fixed else "equal, or declared"
        yield key, plain_json(value), rule.replace(" ", "\N{NO-BREAK SPACE}")


def provenance_body(manifest: Manifest) -> Markup:
    """What was run, with what, where and when."""
    parts = [
        facts_table("What made this run", _made(manifest)),
        _settings("Settings chosen by a person", manifest.chosen, "everything was left at default"),
        _settings("Settings left at their default", manifest.defaulted, "none"),
    ]
    return Markup().join(parts)


def _settings(caption: str, settings: dict[str, Any], none: str) -> Markup:
    rows = [(key, plain_json(value)) for key, value in settings.items()]
    return facts_table(caption, rows or [("-", none)])


def _made(manifest: Manifest) -> Iterator[tuple[str, str]]:
    tool = manifest.tool
    yield "run", f"{manifest.stem}; format {manifest.schema_version}, {manifest.state}"
    yield "memruler", f"{tool.get('version')}"
    dirty = ", with uncommitted changes" if tool.get("dirty") else ""
    yield "code commit", f"{tool.get('commit') or 'not known'}{dirty}"
    for key, value in tool.items():
        if key not in {"version", "commit", "dirty"}:
            yield f"code {key}", plain_json(value)
    yield "started", f"{manifest.started.isoformat(timespec='seconds')} (UTC)"
    if manifest.finished is not None:
        took = (manifest.finished - manifest.started).total_seconds()
        told = f"{manifest.finished.isoformat(timespec='seconds')} (UTC), after {took:,.1f} s"
        yield "finished", f"{told}; resumed {manifest.resumed} times"
    yield "machine", ", ".join(f"{key} {value}" for key, value in manifest.machine.items())
    yield "packages", ", ".join(f"{key} {value}" for key, value in manifest.packages.items())
    yield "counts", ", ".join(f"{thousands(v)} {key}" for key, v in manifest.counts.items())
    yield "corpus span", numbers.span(manifest.span_days)
    yield "determinism", numbers.determinism(manifest.determinism)
    yield "clock of the timeline `literal`", manifest.clock.isoformat(timespec="seconds")
