"""From scores per query to the summary that reports and comparisons read."""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memruler.metrics.names import METRICS
from memruler.model.summary import (
    ContextSize,
    Cutoff,
    HitCounts,
    Macro,
    Omitted,
    PopulationCounts,
    Slice,
    StoreCounts,
    Summary,
)
from memruler.scoring.levels import SEARCH_FAILED, LevelScores, counted, exclusions
from memruler.scoring.load import RunArrays
from memruler.scoring.slices import slice_name

__all__ = ["SUMMARY_VERSION", "summarise"]

SUMMARY_VERSION = 1


def _members_digest(run: RunArrays, mask: NDArray[np.bool_]) -> str:
    """SHA-256 over the positions of the queries in `mask`, in corpus order."""
    keys = (run.instance[mask] << 32) | run.query[mask]
    return hashlib.sha256(np.sort(keys).astype("<i8").tobytes()).hexdigest()


def _cutoffs(
    run: RunArrays, levels: Sequence[LevelScores], among: NDArray[np.bool_]
) -> tuple[Cutoff, ...]:
    found: list[Cutoff] = []
    for scores in levels:
        matrix = scores.matrix
        for k in matrix.cutoffs:
            values = {name: matrix.aggregate(name, k, among) for name in METRICS}
            first = values["recall_all"]
            if first is None:
                continue
            counted = matrix.counted(k) & among
            found.append(
                Cutoff(
                    level=scores.level,
                    k=k,
                    counted=first.counted,
                    of=first.of,
                    members=_members_digest(run, counted),
                    attainable=int((matrix.attainable(k) & among).sum()),
                    values={n: v.value for n, v in values.items() if v is not None},
                    padded={
                        name: full.value
                        for name in METRICS
                        if (full := matrix.aggregate(name, k, among, padded=True)) is not None
                    },
                )
            )
    return tuple(found)


def _macro(categories: Sequence[Slice]) -> tuple[Macro, ...]:
    by_depth: dict[tuple[str, int], list[Cutoff]] = {}
    for category in categories:
        for cutoff in category.cutoffs:
            by_depth.setdefault((cutoff.level, cutoff.k), []).append(cutoff)
    return tuple(
        Macro(
            level=group[0].level,
            k=group[0].k,
            categories=len(group),
            values={
                name: math.fsum(cutoff.values[name] for cutoff in group) / len(group)
                for name in group[0].values
            },
        )
        for _, group in sorted(by_depth.items())
    )


def _omitted(levels: Sequence[LevelScores], limit: int, turnless: bool) -> tuple[Omitted, ...]:
    found: list[Omitted] = []
    for scores in levels:
        if scores.blind:
            found.append(
                Omitted(
                    level=scores.level,
                    k=None,
                    reason=_blind(scores),
                )
            )
            continue
        if not (scores.gold > 0).any():
            found.append(
                Omitted(
                    level=scores.level, k=None, reason="no measured query has gold at this level"
                )
            )
            continue
        longest = int(scores.observed[scores.gold > 0].max(initial=0))
        found.extend(
            Omitted(
                level=scores.level,
                k=k,
                reason=f"no query found {k} distinct {scores.level}s; the most is {longest}"
                if k <= limit
                else f"deeper than the {limit} hits that were asked for (--limit)",
            )
            for k in scores.matrix.cutoffs
            if not scores.matrix.counted(k).any()
        )
    if turnless:
        found.append(Omitted(level="turn", k=None, reason="a whole session is stored as one item"))
    return tuple(found)


def _blind(scores: LevelScores) -> str:
    if scores.transformed:
        return (
            f"{scores.transformed} hits are transformed forms, which the target raw does not "
            "credit: `memruler score` has the other targets"
        )
    return (
        f"none of {scores.unattributed} hits names its {scores.level}: a zero would say that they "
        "all missed"
    )


def _repeated(hits: NDArray[np.int64]) -> int:
    """Entries that name an item which stood in the same list before [Q, L]; -1 is padding."""
    inside = np.sort(hits, axis=1)
    return int(((inside[:, 1:] == inside[:, :-1]) & (inside[:, 1:] >= 0)).sum())


def _population(run: RunArrays, excluded: NDArray[np.object_]) -> PopulationCounts:
    part = run.manifest.fingerprint["population"]
    measured = counted(excluded)
    return PopulationCounts(
        name=part["name"],
        rule=part["rule"],
        corpus_queries=len(run.query),
        members=run.manifest.counts["members"],
        measured=int(measured.sum()),
        partial_gold=int((measured & (run.status == "partial")).sum()),
        excluded=dict(sorted(Counter(r for r in excluded if r is not None).items())),
        digest=part["digest"],
    )


def summarise(
    run: RunArrays,
    levels: Sequence[LevelScores],
    *,
    tables: dict[str, str],
    target: str,
    store: StoreCounts,
    context: ContextSize,
    turnless: bool,
) -> Summary:
    """Put everything scored into one record.

    Args:
        run: The run.
        levels: Its scores; the session level first.
        tables: Digests of what was scored and of the scores.
        target: Which stored forms earned credit.
        store: What was kept and lost.
        context: Size of what came back.
        turnless: Whether the run has no turn level at all.
    """
    excluded = exclusions(run)
    measured = counted(excluded)
    everyone = np.ones(len(run.query), dtype=bool)
    categories = [
        Slice(
            name=slice_name(name),
            queries=int((measured & (run.category == name)).sum()),
            cutoffs=_cutoffs(run, levels, run.category == name),
        )
        for name in sorted(set(run.category[counted(run.excluded)]))
    ]
    whole = Slice(name="all", queries=int(measured.sum()), cutoffs=_cutoffs(run, levels, everyone))
    failed = Counter(run.error[excluded == SEARCH_FAILED].tolist())
    return Summary(
        schema_version=SUMMARY_VERSION,
        tables=tables,
        target=target,
        population=_population(run, excluded),
        clusters=len(set(run.instance[measured].tolist())),
        slices=(whole, *categories),
        macro=_macro(categories),
        omitted=_omitted(levels, run.manifest.fingerprint["retrieval"]["limit"], turnless),
        hits=HitCounts(
            total=int((run.hits[measured] >= 0).sum()),
            unattributed={scores.level: scores.unattributed for scores in levels},
            tied=int((run.tied & measured).sum()),
            transformed=levels[0].transformed,
            repeated=_repeated(run.hits[measured]),
        ),
        without_gold={s.level: s.without_gold for s in levels if s.without_gold},
        store=store,
        context=context,
        errors=dict(sorted(failed.items())),
    )
