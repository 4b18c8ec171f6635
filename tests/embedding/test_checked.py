import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memruler.embedding.cache import VectorCache
from memruler.embedding.checked import CheckedEmbedder, text_key
from memruler.embedding.toy import Toy
from memruler.errors import InstrumentError

ANY_TEXT = st.lists(st.text(max_size=12), max_size=12)


def _cache(embedder, **settings):
    return VectorCache(embedder.identity(), embedder.runtime(), **settings)


def test_rows_are_unit_vectors_of_their_texts():
    rows, real = CheckedEmbedder(Toy(), None).vectors(["one", "two words"])
    raw = Toy().embed(["one", "two words"])
    assert real.tolist() == [True, True]
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert np.allclose(rows * np.linalg.norm(raw, axis=1, keepdims=True), raw, atol=1e-6)


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000", "\x1f"])
def test_a_blank_text_is_never_sent(scripted, blank):
    embedder = scripted()
    checked = CheckedEmbedder(embedder, _cache(embedder))
    rows, real = checked.vectors([blank, "words", blank])
    assert real.tolist() == [False, True, False]
    assert not rows[[0, 2]].any()
    assert embedder.asked == ["words"]
    assert checked.usage.blank == 2


def test_nothing_but_blanks_and_nothing_at_all(scripted):
    embedder = scripted()
    checked = CheckedEmbedder(embedder, None)
    assert checked.vectors([" "])[0].shape == (1, 64)
    assert checked.vectors([])[0].shape == (0, 64)
    assert embedder.asked == []


def test_equal_texts_are_embedded_once(scripted, same_bits):
    embedder = scripted()
    checked = CheckedEmbedder(embedder, None)
    rows, _ = checked.vectors(["a", "b", "a", "a"])
    assert embedder.asked == ["a", "b"]
    assert same_bits(rows[0], rows[2])
    assert same_bits(rows[0], rows[3])


def _with(value):
    def spoil(vectors):
        vectors[-1, 3] = value
        return vectors

    return spoil


SPOILT = {
    "none": lambda _: None,
    "row of None": lambda v: [*v[:-1], None],
    "objects": lambda v: v.astype(object),
    "nan": _with(np.nan),
    "inf": _with(np.inf),
    "minus inf": _with(-np.inf),
    "zero": lambda v: v * [[1]] * (np.arange(len(v)) < len(v) - 1)[:, None].astype(np.float32),
    "wide": lambda v: np.hstack([v, v]),
    "narrow": lambda v: v[:, :-1],
    "missing row": lambda v: v[:-1],
    "extra row": lambda v: np.vstack([v, v[:1]]),
    "flat": lambda v: v.ravel(),
    "double": lambda v: v.astype(np.float64),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_what_is_no_vector_stops_the_run_and_is_not_kept(scripted, fault):
    embedder = scripted(SPOILT[fault])
    with pytest.raises(InstrumentError, match="gave") as caught:
        CheckedEmbedder(embedder, _cache(embedder)).vectors(["good", "bad\x1b[31m"])
    assert "\x1b" not in str(caught.value)
    sound = scripted()
    CheckedEmbedder(sound, _cache(sound)).vectors(["good", "bad\x1b[31m"])
    assert sound.asked == ["good", "bad\x1b[31m"]  # neither came from the cache


@settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(before=ANY_TEXT, texts=ANY_TEXT, order=st.randoms())
def test_batch_order_and_cache_state_change_no_bit(tmp_path, same_bits, before, texts, order):
    plain = CheckedEmbedder(Toy(), None)
    alone = {text: plain.vectors([text])[0][0] for text in texts}
    cached = CheckedEmbedder(Toy(), _cache(Toy(), folder=tmp_path / "vectors"))
    cached.vectors(before)
    for checked in (plain, cached, cached):
        shuffled = order.sample(texts, len(texts))
        rows, real = checked.vectors(shuffled)
        for row, text, is_real in zip(rows, shuffled, real, strict=True):
            assert same_bits(row, alone[text])
            assert is_real == bool(text.strip())
    cached.close()


def test_a_large_call_goes_block_by_block(scripted, same_bits):
    embedder = scripted()
    texts = [f"text {n}" for n in range(700)]
    rows, _ = CheckedEmbedder(embedder, _cache(embedder)).vectors(texts)
    again, _ = CheckedEmbedder(embedder, _cache(embedder)).vectors(texts[::-1])
    assert same_bits(rows, again[::-1])
    assert len(embedder.asked) == 700


def test_what_was_embedded_before_a_fault_is_kept(scripted):
    calls = []

    def fail_late(vectors):
        calls.append(len(vectors))
        return vectors if len(calls) == 1 else vectors * np.nan

    embedder = scripted(fail_late)
    texts = [f"text {n}" for n in range(300)]
    with pytest.raises(InstrumentError):
        CheckedEmbedder(embedder, _cache(embedder)).vectors(texts)
    sound = scripted()
    CheckedEmbedder(sound, _cache(sound)).vectors(texts)
    assert len(sound.asked) == 300 - calls[0]


def test_usage_counts(scripted):
    embedder = scripted()
    embedder.limit = 5
    checked = CheckedEmbedder(embedder, _cache(embedder))
    checked.vectors(["short", "longer than five", ""])
    checked.vectors(["short", "longer than five", "new"])
    usage = checked.usage
    assert (usage.embedded, usage.from_cache, usage.blank) == (3, 2, 1)
    assert usage.truncated == 2  # one text in each of two calls, with and without the cache
    assert usage.warnings == ()


def test_truncation_that_is_not_known_stays_unknown(scripted):
    embedder = scripted()
    embedder.limit = None
    for _ in range(2):
        checked = CheckedEmbedder(embedder, _cache(embedder))
        checked.vectors(["a"])
        assert checked.usage.truncated is None


def test_half_a_surrogate_pair_is_read_as_the_replacement_character(same_bits):
    checked = CheckedEmbedder(Toy(), None)
    rows, real = checked.vectors(["bad \ud83d", "bad \ufffd", "fine 🙂"])
    assert real.all()
    assert same_bits(rows[0], rows[1])
    assert checked.usage.repaired == 1


@given(st.text(), st.text())
def test_keys_differ_where_texts_do(one, other):
    assert (text_key(one)[1] == text_key(other)[1]) == (one == other)


def test_threads_may_share_it(scripted, same_bits):
    embedder = scripted()
    checked = CheckedEmbedder(embedder, _cache(embedder))
    texts = [f"text {n % 50}" for n in range(200)]
    expected, _ = CheckedEmbedder(Toy(), None).vectors(texts)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(checked.vectors(texts)[0])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(same_bits(rows, expected) for rows in results)
    assert len(embedder.asked) == 50
