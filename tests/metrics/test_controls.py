"""Rankings whose scores are known in advance: an oracle, and pure chance."""

import math

import numpy as np
import pytest

from memruler.metrics.definitions import discount
from memruler.metrics.vectorised import score_matrix

CUTOFFS = (1, 2, 3, 5, 10, 20, 40)
ITEMS = 40  # everything there is to rank, in every control below


def test_an_oracle_is_perfect_wherever_the_gold_fits():
    gold = np.arange(1, 13)
    relevance = np.arange(ITEMS) < gold[:, None]
    result = score_matrix(relevance, np.full(len(gold), ITEMS), gold, CUTOFFS)
    for k in CUTOFFS:
        fits = gold <= k
        assert np.array_equal(result.values("recall_all", k), fits.astype(float))
        assert np.array_equal(result.values("recall_micro", k), np.minimum(gold, k) / gold)
        assert np.array_equal(result.values("precision", k), np.minimum(gold, k) / k)
        for always_one in ("recall_any", "mrr", "ndcg"):
            assert np.all(result.values(always_one, k) == 1.0)


def test_the_opposite_of_an_oracle_finds_nothing_until_it_must():
    gold = np.arange(1, 13)
    relevance = np.arange(ITEMS) >= ITEMS - gold[:, None]
    result = score_matrix(relevance, np.full(len(gold), ITEMS), gold, CUTOFFS)
    for k in CUTOFFS[:-1]:  # at the last cut-off everything is inside
        none_yet = k <= ITEMS - gold
        for metric in ("recall_any", "recall_micro", "precision", "mrr", "ndcg"):
            assert np.all(result.values(metric, k)[none_yet] == 0.0)
    assert np.all(result.values("recall_all", ITEMS) == 1.0)


def chance(gold, k):
    """Expected values when every order of the items is equally likely (hypergeometric)."""
    none_in = [math.comb(ITEMS - gold, r) / math.comb(ITEMS, r) for r in range(k + 1)]
    first_at = [none_in[r - 1] - none_in[r] for r in range(1, k + 1)]
    share = gold / ITEMS
    gained = sum(discount(rank) for rank in range(1, k + 1)) * share
    ideal = sum(discount(rank) for rank in range(1, min(gold, k) + 1))
    return {
        "recall_all": math.comb(ITEMS - gold, k - gold) / math.comb(ITEMS, k) if k >= gold else 0,
        "recall_any": 1 - none_in[k],
        "recall_micro": k / ITEMS,
        "recall_pooled": k / ITEMS,
        "precision": share,
        "mrr": sum(p / rank for rank, p in enumerate(first_at, start=1)),
        "ndcg": gained / ideal,
    }


@pytest.mark.parametrize("gold", [1, 2, 5])
def test_chance_scores_what_chance_must_score(gold):
    seeds, each = 20, 2_000
    draws = seeds * each
    relevance = np.concatenate(
        [
            np.random.default_rng(seed).permuted(
                np.tile(np.arange(ITEMS) < gold, (each, 1)), axis=1
            )
            for seed in range(seeds)
        ]
    )
    result = score_matrix(relevance, np.full(draws, ITEMS), np.full(draws, gold), CUTOFFS)
    # Hoeffding: a mean of n values in [0, 1] misses by more than this with probability < 1e-9.
    bound = math.sqrt(math.log(2 / 1e-9) / (2 * draws))
    assert bound < 0.017
    for k in CUTOFFS:
        for metric, expected in chance(gold, k).items():
            aggregate = result.aggregate(metric, k)
            assert aggregate.counted == draws
            assert aggregate.value == pytest.approx(expected, abs=bound), (metric, k)
