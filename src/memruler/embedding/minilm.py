"""all-MiniLM-L6-v2 on this machine's processor, through onnxruntime: the default embedder.

One text a run, one thread a run. On processors a padded batch is slower than single texts and
changes the last bits; here a vector depends on its text alone, and the cores are kept busy by a
pool of threads over one session (a session's `run` may be called from many threads).
"""

import hashlib
import importlib
import os
import platform
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memruler.embedding.assets import INSTALL_LOCAL, MINILM_MODEL
from memruler.embedding.base import Vectors
from memruler.embedding.tokens import load_tokenizer
from memruler.errors import InstrumentError
from memruler.model.system import EmbedderIdentity

__all__ = ["MAX_TOKENS", "MiniLm", "masked_mean"]

MAX_TOKENS = 256
"""The model's own limit (`max_seq_length` of its published configuration), in WordPieces."""


def masked_mean(hidden: NDArray[np.float32], mask: NDArray[np.int64]) -> Vectors:
    """Mean over the real tokens of each text; padding does not count.

    Args:
        hidden: The model's last hidden state, shape (texts, tokens, dimension).
        mask: 1 for a token, 0 for padding, shape (texts, tokens); at least one 1 in each row.
    """
    weights = mask[:, :, None].astype(np.float64)
    # float64, so that the order of summation cannot reach the float32 result's visible digits.
    means: Vectors = ((hidden * weights).sum(axis=1) / weights.sum(axis=1)).astype(np.float32)
    return means


class MiniLm:
    """The model, loaded; see `Embedder`.

    Args:
        threads: Texts that are embedded at the same time; None for one a core. No result
            depends on it.

    Raises:
        InstrumentError: `memruler[local]` is not installed, or the model cannot be loaded.
        ChecksumError: A model file is not the pinned one.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or _cores()
        data = MINILM_MODEL.load()
        self._session = _session(data)
        self._model_sha256 = hashlib.sha256(data).hexdigest()
        self._tokenizer, self._tokenizer_sha256 = load_tokenizer(MAX_TOKENS)
        self._counter, _ = load_tokenizer(None)

    def identity(self) -> EmbedderIdentity:
        """Digests of the bytes that were loaded; dimension and limit as the live objects say.

        Raises:
            InstrumentError: The session or the tokenizer does not say.
        """
        dimension = self._session.get_outputs()[0].shape[-1]
        truncation = self._tokenizer.truncation
        if not isinstance(dimension, int) or truncation is None:
            raise InstrumentError(
                "the local model does not tell its dimension or its truncation",
                hint=INSTALL_LOCAL,
            )
        return EmbedderIdentity(
            kind="onnx",
            model="all-MiniLM-L6-v2 (int8 weights)",
            model_sha256=self._model_sha256,
            tokenizer_sha256=self._tokenizer_sha256,
            pooling="mean-masked",
            dimension=dimension,
            max_tokens=int(truncation["max_length"]),
        )

    def runtime(self) -> str:
        """Versions and the processor's instruction sets, which decide on the last bits."""
        found = np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", [])
        parts = [f"{name} {version(name)}" for name in ("onnxruntime", "tokenizers", "numpy")]
        return " ".join([*parts, platform.machine(), *found])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        if len(texts) <= 1 or self._threads == 1:
            rows = [self._vector(text) for text in texts]
        else:
            pool = ThreadPoolExecutor(self._threads, "memruler-embed")
            try:
                rows = list(pool.map(self._vector, texts))
            finally:
                pool.shutdown(cancel_futures=True)  # an interrupt does not wait for the rest
        return np.stack(rows) if rows else np.empty((0, self.identity().dimension), np.float32)

    def truncated(self, texts: Sequence[str]) -> int:
        """See `Embedder.truncated`."""
        encoded = self._counter.encode_batch_fast(list(texts))
        return sum(len(encoding) > MAX_TOKENS for encoding in encoded)

    def _vector(self, text: str) -> Vectors:
        encoding = self._tokenizer.encode(text)
        mask = np.array([encoding.attention_mask], np.int64)
        feed = {
            "input_ids": np.array([encoding.ids], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([encoding.type_ids], np.int64),
        }
        try:
            (hidden,) = self._session.run(None, feed)
        # onnxruntime raises classes of its own that share no public base.
        except Exception as error:
            raise InstrumentError(f"the local model failed: {error}", hint=INSTALL_LOCAL) from error
        vector: Vectors = masked_mean(hidden, mask)[0]
        return vector


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _session(model: bytes) -> Any:
    """An inference session of one thread over `model`.

    Raises:
        InstrumentError: onnxruntime is not installed or refuses the model.
    """
    # It looks telemetry hosts up while it is imported unless this is set before.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        ort = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise InstrumentError(
            f"the package onnxruntime is not usable: {error}", hint=INSTALL_LOCAL
        ) from error
    ort.disable_telemetry_events()
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    try:
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # as in `_vector`
        raise InstrumentError(
            f"onnxruntime cannot load the model: {error}", hint=INSTALL_LOCAL
        ) from error
