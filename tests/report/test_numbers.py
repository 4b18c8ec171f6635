from hypothesis import given
from hypothesis import strategies as st

from memruler.model.summary import ContextSize, StoreCounts, Timing
from memruler.report import numbers


def test_absent_is_a_dash_and_never_nought():
    assert numbers.mean(None) == "-"
    assert numbers.mean(0.0) == "0.0000"


@given(st.floats(-1, 1))
def test_a_difference_never_looks_like_none_unless_it_is_none(value):
    shown = numbers.delta(value)
    assert (shown == "=") == (value == 0)
    if value:
        assert float(shown) != 0
        assert shown[0] == ("+" if value > 0 else "-")


def test_differences():
    assert numbers.delta(0.25) == "+0.2500"
    assert numbers.delta(-0.00002) == "-2e-05"


def test_counts_by_size():
    assert numbers.counts({"a": 1, "c": 5, "b": 5}) == "5 b, 5 c, 1 a"
    assert numbers.counts({}) == "none"


def test_what_a_store_lost():
    kept = StoreCounts(stored=9, lost={}, lost_gold={}, queries_hurt=0, known=True)
    assert numbers.store(kept) == "9 items, none refused or evicted"
    lossy = StoreCounts(
        stored=9, lost={"duplicate": 3}, lost_gold={"duplicate": 2}, queries_hurt=1, known=True
    )
    assert "3 duplicate; gold turns lost: 2 duplicate (1 measured queries hurt)" in numbers.store(
        lossy
    )
    unknown = StoreCounts(stored=9, lost={}, lost_gold={}, queries_hurt=0, known=False)
    assert "not known" in numbers.store(unknown)


def test_latency_names_its_basis_and_gives_no_percentile_of_a_batch():
    batch = Timing(
        mean_ms=1.5, p50_ms=None, p95_ms=None, queries=7, basis="batch", ingest_turns_per_s=None
    )
    assert numbers.latency(batch) == "mean 1.50 ms over 7 searches (batch)"


def test_context_names_each_way_of_counting():
    size = ContextSize(queries=7, chars_over_4=10.25, tokens=9.0, tokenizer="minilm")
    assert numbers.context(size) == (
        "about 10.2 tokens (characters / 4), 9.0 tokens a query (minilm), over 7 queries"
    )


def test_context_that_is_not_known_is_no_zero():
    size = ContextSize(queries=7, chars_over_4=None, tokens=None, tokenizer="not told")
    assert numbers.context(size).startswith("characters not known, no token count")
