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
from memruler.embedding.code import code_digest
from memruler.embedding.pooling import masked_mean, pooling_name
from memruler.embedding.tokens import load_tokenizer
from memruler.embedding.windows import WINDOW, first_ids
from memruler.errors import InstrumentError
from memruler.model.system import EmbedderIdentity

__all__ = ["MAX_TOKENS", "MiniLm"]

MAX_TOKENS = 256
"""The model's own limit (`max_seq_length` of its published configuration), in WordPieces."""

_POOLING = "mean-masked"
"""The model's own, and so the one that must be found."""

_PROBE = "One short text shows how tokens become a vector."
_PROBE_TOKENS = 24
"""Length the probe is padded to; it has fewer tokens, or padding would show nothing."""


class MiniLm:
    """The model, loaded; see `Embedder`.

    Args:
        threads: Texts that are embedded at the same time; None for one a core. No result
            depends on it.

    Raises:
        InstrumentError: `memruler[local]` is not installed, the model cannot be loaded, or it
            does not pool as it should.
        ChecksumError: A model file is not the pinned one.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or _cores()
        data = MINILM_MODEL.load()
        self._session = _session(data)
        self._model_sha256 = hashlib.sha256(data).hexdigest()
        self._tokenizer, self._tokenizer_sha256 = load_tokenizer(MAX_TOKENS)
        self._counter, _ = load_tokenizer(None)
        self._code_sha256 = code_digest(__name__)
        self._pooling = self._found_pooling()

    def identity(self) -> EmbedderIdentity:
        """Digests of what was loaded; dimension, limit and pooling as the live objects show.

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
            pooling=self._pooling,
            dimension=dimension,
            max_tokens=int(truncation["max_length"]),
            code_sha256=self._code_sha256,
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
        most = MAX_TOKENS - len(self._around())
        return sum(len(first_ids(self._counter, text, most + 1)) > most for text in texts)

    def _vector(self, text: str) -> Vectors:
        ids = np.array([self._ids(text)], np.int64)
        mask = np.ones_like(ids)
        vector: Vectors = masked_mean(self._hidden(ids, mask), mask)[0]
        return vector

    def _ids(self, text: str) -> list[int]:
        """The ids that the model reads: all, or as many as its limit allows."""
        if len(text) <= WINDOW:
            return list(self._tokenizer.encode(text).ids)
        first, last = self._around()
        limit = self._tokenizer.truncation["max_length"]
        return [first, *first_ids(self._counter, text, limit - 2), last]

    def _around(self) -> list[int]:
        """The ids before and after every text."""
        return list(self._tokenizer.encode("").ids)

    def _hidden(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Vectors:
        """The model's last hidden state, shape (texts, tokens, dimension)."""
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            (hidden,) = self._session.run(None, feed)
        # onnxruntime raises classes of its own that share no public base.
        except Exception as error:
            raise InstrumentError(f"the local model failed: {error}", hint=INSTALL_LOCAL) from error
        states: Vectors = hidden
        return states

    def _found_pooling(self) -> str:
        """How a probe's vector comes from its tokens, whatever the code says of itself.

        Raises:
            InstrumentError: Not by the model's own pooling.
        """
        encoding = self._tokenizer.encode(_PROBE)
        # By the tokenizer's own mask: were it to pad, the padding must not pass for tokens.
        tokens = encoding.ids[: sum(encoding.attention_mask)]
        ids = np.zeros((1, _PROBE_TOKENS), np.int64)
        ids[0, : len(tokens)] = tokens
        mask = (np.arange(_PROBE_TOKENS) < len(tokens)).astype(np.int64)[None]
        hidden = self._hidden(ids, mask)[0]
        found = pooling_name(self._vector(_PROBE), hidden, len(tokens))
        if found != _POOLING:
            raise InstrumentError(
                f"the local model's vectors are pooled by {found or 'no known way'}"
                f" where {_POOLING} is due",
                hint="undo the change to memruler.embedding, or reinstall memruler",
            )
        return found


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
