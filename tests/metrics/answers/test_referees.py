"""Tau, assignment and overlaps against other people's implementations."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.metrics.answers import lexical
from memruler.metrics.answers.assignment import best_total
from memruler.metrics.answers.lexical import bleu_1, rouge_l, token_f1
from memruler.metrics.answers.ordering import ordering, tau_b
from memruler.metrics.answers.words import overlap_f1, plain_words

RANKS = st.integers(1, 12).flatmap(
    lambda size: st.tuples(
        *[st.lists(st.integers(0, 6), min_size=size, max_size=size) for _ in range(2)]
    )
)


@given(RANKS)
def test_tau_b_is_scipys(ranks):
    stats = pytest.importorskip("scipy.stats")
    found = tau_b(*ranks)
    if len(ranks[0]) < 2 or any(len(set(one)) == 1 for one in ranks):
        assert found is None
    else:
        assert found == pytest.approx(stats.kendalltau(*ranks).statistic, abs=1e-12)


def test_tau_b_by_hand():
    assert tau_b([1, 2, 3], [1, 2, 3]) == 1
    assert tau_b([1, 2, 3], [3, 2, 1]) == -1
    # Pairs: 2 alike, none opposite; one tied in the second list.
    assert tau_b([1, 2, 3], [1, 2, 2]) == pytest.approx(2 / math.sqrt(3 * 2))
    assert tau_b([], []) is tau_b([1], [1]) is tau_b([1, 1], [1, 2]) is None
    with pytest.raises(ValueError, match="two ranks"):
        tau_b([1, 2], [1])


def test_every_event_ordering_vector_is_matched(shared_samples):
    vectors = json.loads((shared_samples / "scorer_vectors.json").read_bytes())
    assert len(vectors["beam_event_ordering"]) == 10
    names = {"precision": "precision", "recall": "recall", "f1": "f1", "tau": "tau_b"}
    names |= {"tau_norm": "tau_norm", "final": "tau_norm_x_f1"}
    for vector in vectors["beam_event_ordering"]:
        found = ordering(vector["reference"], vector["system_aligned"])._asdict()
        for mine, theirs in names.items():
            if vector[theirs] is None:
                assert found[mine] is None, vector["name"]
            else:
                assert round(found[mine], 6) == vector[theirs], (vector["name"], mine)


@pytest.mark.parametrize("reference", [[], ["a", "b", "a"]])
def test_a_reference_that_orders_nothing(reference):
    with pytest.raises(ValueError, match="each once"):
        ordering(reference, ["a"])


@given(st.permutations("abcdef"), st.integers(0, 6), st.integers(0, 3))
def test_an_ordering_stays_in_its_range(said, kept, extra):
    found = ordering("abcdef", [*said[:kept], *(f"x{i}" for i in range(extra))])
    assert found.recall == kept / 6
    assert 0 <= found.f1 <= 1
    if found.tau is not None:
        assert -1 <= found.tau <= 1
        assert found.final == pytest.approx((found.tau + 1) / 2 * found.f1)


WORTH = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda size: st.lists(
        st.lists(
            st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)),
            min_size=size[1],
            max_size=size[1],
        ),
        min_size=size[0],
        max_size=size[0],
    )
)


@given(WORTH)
def test_the_best_assignment_is_scipys(worth):
    optimize = pytest.importorskip("scipy.optimize")
    rows, columns = optimize.linear_sum_assignment(worth, maximize=True)
    best = sum(worth[row][column] for row, column in zip(rows, columns, strict=True))
    assert best_total(worth) == pytest.approx(best, abs=1e-9)


def test_the_best_assignment_by_hand():
    assert best_total([]) == best_total([[]]) == 0
    # Greedy takes 0.9 first and then 0.1.
    assert best_total([[0.9, 0.8], [0.8, 0.1]]) == pytest.approx(1.6)
    assert best_total([[0.2, 0.7, 0.4]]) == 0.7
    assert best_total([[0.2], [0.7], [0.4]]) == 0.7


WORDS = st.lists(st.sampled_from(["red", "kite", "sea", "in", "oslo", "the"]), max_size=9)


class Blanks:
    """rouge-score's tokenizer replaced, so that only its arithmetic is compared."""

    def tokenize(self, text):
        return plain_words(text)


@given(WORDS, WORDS)
def test_token_f1_and_rouge_l_are_rouge_scores(said, gold):
    rouge = pytest.importorskip("rouge_score.rouge_scorer")
    pytest.importorskip("rapidfuzz")
    scorer = rouge.RougeScorer(["rouge1", "rougeL"], tokenizer=Blanks())
    said, gold = " ".join(said), " ".join(gold)
    found = scorer.score(gold, said)
    assert token_f1(said, gold) == pytest.approx(found["rouge1"].fmeasure, abs=1e-12)
    assert rouge_l(said, gold) == pytest.approx(found["rougeL"].fmeasure, abs=1e-12)


@given(WORDS, WORDS)
def test_bleu_1_is_its_formula(said, gold):
    pytest.importorskip("sacrebleu")
    left, right = plain_words(" ".join(said)), plain_words(" ".join(gold))
    matched = sum(min(left.count(word), right.count(word)) for word in set(left))
    brevity = 1.0
    if left and len(left) < len(right):
        brevity = math.exp(1 - len(right) / len(left))
    wanted = brevity * matched / len(left) if left and right else 0.0
    assert bleu_1(" ".join(said), " ".join(gold)) == pytest.approx(wanted, abs=1e-9)


def test_overlaps_by_hand():
    # 2 of 3 words said are 2 of the 4 of the gold.
    assert token_f1("The red kite, flies!", "a red kite in Oslo") == pytest.approx(4 / 7)
    assert token_f1("kites", "kite") == 0  # not stemmed
    assert overlap_f1([], []) == overlap_f1(["a"], []) == overlap_f1([], ["a"]) == 0
    assert overlap_f1(["a", "a", "b"], ["a", "b", "b"]) == pytest.approx(2 / 3)
    pytest.importorskip("rapidfuzz")
    assert token_f1("kite red", "red kite") == 1
    assert rouge_l("kite red", "red kite") == 0.5
    assert rouge_l("", "red") == rouge_l("red", "") == 0


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_has_scores_in_range(said, gold):
    for score in (token_f1, bleu_1, rouge_l):
        assert 0 <= score(said, gold) <= 1
    if plain_words(gold):
        assert token_f1(gold, gold) == rouge_l(gold, gold) == bleu_1(gold, gold) == 1


def test_a_library_that_is_not_there_gives_none_and_not_0(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(lexical.importlib, "import_module", absent)
    assert bleu_1("a red kite", "a red kite") is rouge_l("a red kite", "a red kite") is None
    assert bleu_1("", "") is rouge_l("", "") is None
    assert token_f1("a red kite", "a red kite") == 1
