"""A sentence-transformers model, by local folder or by name.

One text a call and one thread, so that a vector depends on its text alone (torch's matrix products
depend on both). The identity is read from the live modules: a hash over every tensor in use and
over the tokenizer, not over the files they once came from.
"""

import hashlib
import importlib
import json
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from memruler.embedding.base import Vectors
from memruler.embedding.code import code_digest
from memruler.errors import InstrumentError, UsageError
from memruler.model.system import EmbedderIdentity

__all__ = ["Sentence"]

_INSTALL = "pip install 'memruler[sentence-transformers]'"
_PROBE = "probe"


class Sentence:
    """The model, loaded on the processor; see `Embedder`.

    A default prompt of the model is not used: which prefix a text gets is the run's text form.
    torch is limited to one thread in the whole process.

    Args:
        model: A folder, or a name that sentence-transformers knows how to get.

    Raises:
        UsageError: No model is named.
        InstrumentError: The package is not installed, the model cannot be loaded, or a part of
            its identity cannot be read.
    """

    def __init__(self, model: str) -> None:
        if not model:
            raise UsageError("no model is named", hint="write sentence-transformers:PATH_OR_NAME")
        try:
            package = importlib.import_module("sentence_transformers")
            importlib.import_module("torch").set_num_threads(1)
        except ImportError as error:
            raise InstrumentError(
                f"the package sentence-transformers is not usable: {error}", hint=_INSTALL
            ) from error
        # A path stays on this machine; its last part names the model in reports.
        local = Path(model).expanduser()
        self._name = local.resolve().name if local.exists() else model
        try:
            self._model: Any = package.SentenceTransformer(
                str(local) if local.exists() else model, device="cpu", trust_remote_code=False
            )
        except Exception as error:  # its loaders raise whatever their formats raise
            raise InstrumentError(
                f"sentence-transformers cannot load the model: {error}",
                where=model,
                hint="check the folder or the name",
            ) from error
        self._identity = self._read_identity()

    def identity(self) -> EmbedderIdentity:
        """Read from the live modules when the model was loaded."""
        return self._identity

    def runtime(self) -> str:
        """Versions, and the processor."""
        names = ("sentence-transformers", "transformers", "torch", "tokenizers")
        return " ".join([*(f"{name} {_version(name)}" for name in names), platform.machine()])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        rows = [self._vector(text) for text in texts]
        return np.stack(rows) if rows else np.empty((0, self._identity.dimension), np.float32)

    def truncated(self, texts: Sequence[str]) -> int:
        """See `Embedder.truncated`."""
        limit = self._identity.max_tokens or 0
        encode = self._model.tokenizer.encode
        return sum(len(encode(text, truncation=False, verbose=False)) > limit for text in texts)

    def _vector(self, text: str) -> Vectors:
        try:
            rows = self._model.encode(
                [text], prompt="", batch_size=1, show_progress_bar=False, convert_to_numpy=True
            )
        except Exception as error:  # as in the constructor
            raise InstrumentError(
                f"the sentence-transformers model failed: {error}", where=self._name
            ) from error
        vector: Vectors = np.asarray(rows)[0].astype(np.float32)
        return vector

    def _read_identity(self) -> EmbedderIdentity:
        limit = getattr(self._model, "max_seq_length", None)
        if not isinstance(limit, int) or limit < 1:
            raise _unreadable("its longest sequence", self._name)
        return EmbedderIdentity(
            kind="sentence-transformers",
            model=self._name,
            model_sha256=_weights_digest(self._model, self._name),
            tokenizer_sha256=_tokenizer_digest(self._model, self._name),
            pooling=_pooling(self._model, self._name),
            dimension=len(self._vector(_PROBE)),
            max_tokens=limit,
            code_sha256=code_digest(__name__),
        )


def _weights_digest(model: Any, name: str) -> str:
    """SHA-256 over every tensor's name, type, shape and bytes, by name."""
    try:
        tensors = sorted(model.state_dict().items())
        if not tensors:
            raise _unreadable("its weights", name)
        digest = hashlib.sha256()
        for key, tensor in tensors:
            flat = tensor.detach().cpu().contiguous().reshape(-1)
            head = f"{key} {tensor.dtype} {tuple(tensor.shape)}\n"
            digest.update(head.encode())
            # As bytes, since numpy knows no bfloat16.
            digest.update(flat.view(importlib.import_module("torch").uint8).numpy())
    except (AttributeError, TypeError, RuntimeError, ValueError) as error:
        raise _unreadable("its weights", name) from error
    return digest.hexdigest()


def _tokenizer_digest(model: Any, name: str) -> str:
    """SHA-256 over the tokenizer in use, without the truncation and padding of the last call."""
    try:
        state = json.loads(model.tokenizer.backend_tokenizer.to_str())
        state = {key: value for key, value in state.items() if key not in {"truncation", "padding"}}
    except (AttributeError, TypeError, ValueError) as error:
        raise _unreadable("its tokenizer", name) from error
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _pooling(model: Any, name: str) -> str:
    """The chain of modules after the transformer, for instance `mean+Normalize`."""
    chain = list(_stages(model, name))
    if not any(pooled for pooled, _ in chain):
        raise _unreadable("how it pools", name)
    return "+".join(stage for _, stage in chain)


def _stages(model: Any, name: str) -> Iterator[tuple[bool, str]]:
    """Each module after the first: whether it pools, and what it is called."""
    try:
        modules = list(model)[1:]
    except TypeError as error:
        raise _unreadable("its modules", name) from error
    for module in modules:
        modes = getattr(module, "pooling_mode", None)  # since release 5.2
        if modes is None and hasattr(module, "get_pooling_mode_str"):
            modes = module.get_pooling_mode_str()
        if isinstance(modes, str):
            yield True, modes
        elif isinstance(modes, list | tuple) and modes:
            yield True, ",".join(map(str, modes))
        else:
            yield False, type(module).__name__


def _unreadable(part: str, name: str) -> InstrumentError:
    return InstrumentError(
        f"the model does not tell {part}, so its results could not be told from another's",
        where=name,
        hint="use a model with a transformer, a fast tokenizer and a pooling module",
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
