import numpy as np
import pytest

from memruler.embedding import minilm
from memruler.embedding.minilm import MiniLm
from memruler.embedding.pooling import pooling_name
from memruler.errors import InstrumentError

HIDDEN = np.array([[1, 2], [3, 9], [5, 1], [40, 50]], np.float32)


@pytest.mark.parametrize(
    ("vector", "name"),
    [
        ([3, 4], "mean-masked"),
        ([12.25, 15.5], "mean-unmasked"),
        ([1, 2], "cls"),
        ([5, 1], "last"),
        ([5, 9], "max"),
        ([3, 4.01], None),
        ([-3, -4], None),
    ],
)
def test_each_way_is_told_by_hand(vector, name):
    assert pooling_name(np.array(vector, np.float32), HIDDEN, 3) == name


WRONG = {
    "cls": lambda hidden, _: hidden[:, 0],
    "last": lambda hidden, _: hidden[:, -1],
    "max": lambda hidden, _: hidden.max(axis=1),
    "no known way": lambda hidden, _: hidden.mean(axis=1) + np.float32(0.1),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_model_that_pools_otherwise_is_refused(monkeypatch, name):
    pytest.importorskip("onnxruntime", reason="needs memruler[local]")
    monkeypatch.setattr(minilm, "masked_mean", WRONG[name])
    with pytest.raises(InstrumentError, match=f"pooled by {name}") as caught:
        MiniLm(threads=1)
    assert caught.value.exit_code == 3


def _padded(model, text):
    """The hidden states of a text with padding, as many a pipeline has them."""
    ids = np.zeros((1, 24), np.int64)
    tokens = model._ids(text)
    ids[0, : len(tokens)] = tokens
    return model._hidden(ids, (ids > 0).astype(np.int64))[0]


@pytest.mark.parametrize(
    ("name", "pool"),
    [("cls", lambda hidden: hidden[0]), ("mean-unmasked", lambda hidden: hidden.mean(axis=0))],
)
def test_a_vector_made_another_way_is_refused(monkeypatch, name, pool):
    pytest.importorskip("onnxruntime", reason="needs memruler[local]")
    monkeypatch.setattr(MiniLm, "_vector", lambda model, text: pool(_padded(model, text)))
    with pytest.raises(InstrumentError, match=f"pooled by {name} where mean-masked is due"):
        MiniLm(threads=1)


def test_a_tokenizer_that_pads_is_found_out(monkeypatch):
    pytest.importorskip("onnxruntime", reason="needs memruler[local]")
    monkeypatch.setattr(minilm, "load_tokenizer", _padding)
    with pytest.raises(InstrumentError, match="pooled by"):
        MiniLm(threads=1)


def _padding(max_tokens):
    from memruler.embedding.tokens import load_tokenizer  # noqa: PLC0415 - the one not patched

    tokenizer, digest = load_tokenizer(max_tokens)
    if max_tokens is not None:
        tokenizer.enable_padding(length=20)
    return tokenizer, digest
