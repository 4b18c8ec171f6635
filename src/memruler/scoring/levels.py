"""One level of a run: hits become credit ids, and credit ids become metrics."""

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.metrics.vectorised import ScoredMatrix, score_matrix
from memruler.model.summary import Level
from memruler.scoring.load import Csr, RunArrays
from memruler.scoring.traced import SEARCH_FAILED
from memruler.targets.attribution import PADDING, UNATTRIBUTED
from memruler.targets.ranking import ranked, relevance

__all__ = ["SEARCH_FAILED", "LevelScores", "counted", "exclusions", "score_level"]


class LevelScores(msgspec.Struct, frozen=True, kw_only=True):
    """One level of a run.

    Attributes:
        level: What a rank is a rank of.
        excluded: Reason why a query has no value at this level, or None [Q].
        observed: Entries of each ranked list [Q].
        gold: Gold ids of each query; 0 where it is excluded for another reason than a failed
            search, which keeps its place in the padded means [Q].
        matrix: The metrics.
        without_gold: Queries that the population measures but that have no gold here.
        blind: Whether hits came back and not one has a credit id here: then nothing is scored,
            since a zero would say that the memory missed.
        unattributed: Hits without a credit id, of queries that the population measures; those of
            transformed forms aside.
        transformed: Hits of transformed forms, of the same queries.
    """

    level: Level
    excluded: NDArray[np.object_]
    observed: NDArray[np.int64]
    gold: NDArray[np.int64]
    matrix: ScoredMatrix
    without_gold: int
    blind: bool
    unattributed: int
    transformed: int


def counted(reasons: NDArray[np.object_]) -> NDArray[np.bool_]:
    """Which queries have no reason against them [Q]."""
    return np.fromiter((reason is None for reason in reasons), np.bool_, len(reasons))


def exclusions(run: RunArrays) -> NDArray[np.object_]:
    """Why a query does not count: the population's reason, or that its search failed [Q]."""
    reasons = run.excluded.copy()
    reasons[~counted(run.error) & counted(reasons)] = SEARCH_FAILED
    return reasons


def _keep(lists: Csr, keep: NDArray[np.bool_]) -> Csr:
    """The lists of the entries that are kept; empty ones for the others."""
    lengths = lists.lengths()
    flat = lists.flat[np.repeat(keep, lengths)]
    return Csr(flat, np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths * keep)]))


def score_level(run: RunArrays, level: Level, cutoffs: tuple[int, ...]) -> LevelScores:
    """Attribute every hit at one level and score every query.

    Args:
        run: A sealed run.
        level: What a rank is a rank of.
        cutoffs: Ascending, distinct, at least 1.
    """
    excluded = exclusions(run)
    measured = counted(excluded)
    without = measured & (run.gold[level].lengths() == 0)
    excluded[without] = f"no_{level}_gold"
    # One entry more: the row -1 of the hit matrix is padding.
    by_row = np.append(run.items.codes[level], PADDING)
    hits = by_row[run.hits]
    made = np.append(run.items.transformed, False)[run.hits[measured]]
    without_credit = hits[measured] == UNATTRIBUTED
    blind = 0 < int(without_credit.sum()) == int((hits[measured] != PADDING).sum())
    if blind:
        excluded[counted(excluded)] = f"no_hit_names_its_{level}"
    gold = _keep(run.gold[level], counted(run.excluded) & (not blind))
    names, observed = ranked(hits)
    matrix = score_matrix(
        relevance(names, gold.flat, gold.offsets), observed, gold.lengths(), cutoffs
    )
    return LevelScores(
        level=level,
        excluded=excluded,
        observed=observed,
        gold=gold.lengths(),
        matrix=matrix,
        without_gold=int(without.sum()),
        blind=blind,
        unattributed=int((without_credit & ~made).sum()),
        transformed=int(made.sum()),
    )
