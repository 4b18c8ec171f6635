"""Embeddings from a server with an OpenAI-compatible interface (Ollama, vLLM, llama.cpp, OpenAI).

One text a request, so that no vector depends on what else was asked; a few requests at a time.
The key is read by the SDK from `OPENAI_API_KEY` and appears in no identity, message or file.
"""

import importlib
import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from memruler.embedding.base import Vectors
from memruler.embedding.code import code_digest
from memruler.embedding.probes import PROBE
from memruler.errors import InstrumentError, UsageError
from memruler.model.system import EmbedderIdentity
from memruler.net.sdk import careful_http, key_from

__all__ = ["Endpoint"]

_BASE_URLS = ("MEMRULER_EMBED_BASE_URL", "OPENAI_BASE_URL")
_KEY = "OPENAI_API_KEY"
_NO_KEY = "none"
"""What is sent where there is no key: local servers ask for none, the SDK insists on one."""

_REQUESTS_AT_A_TIME = 4
_RETRIES = 4
_TIMEOUT_SECONDS = 120.0
_INSTALL = "pip install 'memruler[llm]'"
_CHECK_SERVER = "check that the server runs, serves this model, and supports /embeddings"
_FILE_NAME = re.compile(r"^(?:[/\\.~]|[A-Za-z]:)|\.gguf$", re.IGNORECASE)


class Endpoint:
    """A served model; see `Embedder`. One probe is sent at the start.

    The base URL is `MEMRULER_EMBED_BASE_URL`, else `OPENAI_BASE_URL`, else OpenAI's own, for
    which a key must be there.

    Args:
        model: The model's name on the server.

    Raises:
        UsageError: No model is named, or the base URL is none.
        InstrumentError: `memruler[llm]` is not installed, or the server does not answer the probe
            with a vector.
    """

    def __init__(self, model: str) -> None:
        if not model:
            raise UsageError("no model is named", hint="write openai:MODEL")
        self._model = model
        self._client, self._host = _connect()
        self._served: str | None = None
        self._dimension: int | None = None
        self._dimension = len(self._vector(PROBE))
        self._code_sha256 = code_digest(__name__)

    def identity(self) -> EmbedderIdentity:
        """The name as served, with the host; the weights are hidden, so there are no digests."""
        return EmbedderIdentity(
            kind="openai",
            model=f"{self._served} @ {self._host}",
            model_sha256=None,
            tokenizer_sha256=None,
            pooling="remote",
            dimension=self._dimension or 0,
            max_tokens=None,
            code_sha256=self._code_sha256,
        )

    def runtime(self) -> str:
        """The client; what the server runs on is hidden."""
        return f"openai {version('openai')}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        if not texts:
            return np.empty((0, self._dimension or 0), np.float32)
        pool = ThreadPoolExecutor(_REQUESTS_AT_A_TIME, "memruler-endpoint")
        try:
            return np.stack(list(pool.map(self._vector, texts)))
        finally:
            pool.shutdown(cancel_futures=True)  # after an error, ask nothing more

    def truncated(self, texts: Sequence[str]) -> None:
        """Not known: the server does not say."""
        del texts

    def _vector(self, text: str) -> Vectors:
        try:
            reply = self._client.embeddings.create(
                # The SDK's default, base64, is not spoken by every server.
                model=self._model,
                input=text,
                encoding_format="float",
            )
            served, data = str(reply.model or self._model), reply.data
            rows = [row.embedding for row in data]
        # The SDK's errors and, where a reply is no embedding at all, Python's own.
        except Exception as error:  # noqa: BLE001
            raise InstrumentError(
                f"the embedding server failed: {self._harmless(error)}",
                where=self._host,
                hint=_CHECK_SERVER,
            ) from None  # the cause may hold the key in its request's headers
        if len(rows) != 1:
            raise self._no_vector(f"{len(rows)} vectors for one text")
        return self._judged(rows[0], served)

    def _judged(self, numbers: Any, served: str) -> Vectors:
        """The numbers as a vector of the one width, by the one model."""
        if not isinstance(numbers, list) or not numbers or not all(map(_is_number, numbers)):
            raise self._no_vector("something that is no list of numbers")
        if self._dimension is not None and len(numbers) != self._dimension:
            raise self._no_vector(f"{len(numbers)} numbers instead of {self._dimension}")
        try:
            with np.errstate(over="ignore"):  # becomes infinite, and is then refused
                vector = np.array(numbers, np.float64).astype(np.float32)
        except OverflowError:  # a whole number beyond any float
            vector = np.array([np.inf], np.float32)
        if not np.isfinite(vector).all():
            raise self._no_vector("a number that is not finite")
        name = _file_name(served)
        if self._served is None:
            self._served = name
        elif name != self._served:
            raise self._no_vector(f"a vector of model {name} instead of {self._served}")
        return vector

    def _no_vector(self, what: str) -> InstrumentError:
        return InstrumentError(
            f"the embedding server gave {what}", where=self._host, hint=_CHECK_SERVER
        )

    def _harmless(self, error: Exception) -> str:
        """The error's text without the key, should the server have repeated it."""
        text = f"{type(error).__name__}: {error}"
        key = self._client.api_key
        return text.replace(key, "***") if key and key != _NO_KEY else text


def _connect() -> tuple[Any, str]:
    """The SDK's client, and host and port of its server."""
    url = next((os.environ[name] for name in _BASE_URLS if os.environ.get(name)), None)
    key = key_from(_KEY)
    if url is None and not key:
        raise UsageError(
            f"neither {_BASE_URLS[0]} nor {_KEY} is set",
            hint="set the first to a local server's address (http://127.0.0.1:11434/v1 for Ollama)",
        )
    try:
        openai = importlib.import_module("openai")
    except ImportError as error:
        raise InstrumentError(
            f"the package openai is not usable: {error}", hint=_INSTALL
        ) from error
    url = url or "https://api.openai.com/v1"
    try:
        parts = urlsplit(url)
        # Without user, password, path and query: those can hold a secret.
        host = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and url.isprintable()
    except ValueError:
        usable, host = False, ""
    if not usable:
        raise UsageError("the base URL of the embedding server is none", hint=f"see {_BASE_URLS}")
    client = openai.OpenAI(
        base_url=url,
        api_key=key or _NO_KEY,
        max_retries=_RETRIES,
        timeout=_TIMEOUT_SECONDS,
        http_client=careful_http(openai),
    )
    return client, host


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _file_name(served: str) -> str:
    """The model's name; of a path, as llama.cpp reports one, the last part only."""
    return re.split(r"[/\\]", served)[-1] if _FILE_NAME.search(served) else served
