"""What a run scores under every target, for the reports of stores that transform what they hear."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from memruler.compare.target_card import TargetCard, target_card
from memruler.compare.target_record import TargetScores
from memruler.compare.target_scores import means_over, target_scores
from memruler.model.credit import CreditLevel
from memruler.scoring.from_run import traced_from_run
from memruler.scoring.traced import Scored, score_traced
from memruler.targets.forms import NAMED

__all__ = ["TargetPart", "UnderTarget", "scored_run", "target_part", "turned", "under_targets"]

_TARGETS = tuple(NAMED[name] for name in ("raw", "source", "canonical"))


class TargetPart(msgspec.Struct, frozen=True, kw_only=True):
    """Which stored form earned the credit: in the report of every store that transforms.

    Attributes:
        scores: What the run scores under each target, per anchor.
        card: What each target admits here, and what the choice moves.
    """

    scores: TargetScores
    card: TargetCard


class UnderTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs under one target, over the queries that every target serves in both.

    Attributes:
        target: Its name.
        k: The cut-off.
        queries: How many.
        base, candidate: Metric without the cut-off to its mean; empty without a query.
    """

    target: str
    k: int
    queries: int
    base: dict[str, float]
    candidate: dict[str, float]


def scored_run(path: Path, granularity: str, cutoffs: Sequence[int]) -> Scored:
    """A run under the three targets, per anchor.

    Args:
        path: The run folder, sealed.
        granularity: Of the run: where whole sessions are its items, they are the anchors.
        cutoffs: Those deeper than was asked for are left out.
    """
    level: CreditLevel = "session" if granularity == "session" else "turn"
    traced = traced_from_run(path, _TARGETS, level)
    reached = tuple(sorted(k for k in cutoffs if k <= traced.deepest()))
    return score_traced(traced, reached or (traced.deepest(),), "anchor")


def target_part(path: Path, granularity: str, cutoffs: Sequence[int]) -> TargetPart:
    """The part of a report; see `scored_run`."""
    scored = scored_run(path, granularity, cutoffs)
    return TargetPart(scores=target_scores(scored), card=target_card(scored))


def under_targets(
    runs: tuple[Path, Path], granularity: str, k: int
) -> tuple[tuple[UnderTarget, ...], tuple[TargetCard, ...]]:
    """Both runs of a comparison under every target that both can be asked for, and their cards.

    Args:
        runs: Run folders over the same queries.
        granularity: Of both.
        k: The cut-off.
    """
    base, candidate = (scored_run(path, granularity, (k,)) for path in runs)
    rows = base.shared() & candidate.shared()
    told = []
    for target in base.by_target:
        if target not in candidate.by_target:
            continue
        values = []
        for one in (base, candidate):
            means = means_over(one.by_target[target], rows)
            deep = means.depths[-1] if means.depths else None
            names = ("recall_any", "recall_micro", "mrr", "ndcg")
            values.append({} if deep is None else {name: getattr(deep, name) for name in names})
        told.append(
            UnderTarget(
                target=target,
                k=base.cutoffs[-1],
                queries=int(rows.sum()),
                base=values[0],
                candidate=values[1],
            )
        )
    return tuple(told), (target_card(base), target_card(candidate))


def turned(told: Sequence[UnderTarget]) -> Iterator[str]:
    """One sentence where the sign of a difference depends on the target."""
    for metric in ("ndcg", "recall_any"):
        deltas = {
            one.target: one.candidate[metric] - one.base[metric]
            for one in told
            if metric in one.base
        }
        if any(delta > 0 for delta in deltas.values()) and any(d < 0 for d in deltas.values()):
            signs = ", ".join(f"{name} {delta:+.4f}" for name, delta in deltas.items())
            yield (
                f"the sign of the difference depends on the target: {metric}@{told[0].k} {signs}; "
                "the verdict is that of raw"
            )
