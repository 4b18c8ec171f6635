"""Counts tokens for context sizes, with the tokenizer that the local model carries."""

import hashlib
import importlib
from collections.abc import Sequence
from typing import Any

from memruler.embedding.assets import INSTALL_LOCAL, MINILM_TOKENIZER
from memruler.embedding.windows import WINDOW, id_parts
from memruler.errors import ChecksumError, InstrumentError

__all__ = ["TokenCounter", "load_tokenizer", "token_counter"]


class TokenCounter:
    """Counts WordPiece tokens, without truncation and without `[CLS]` and `[SEP]`.

    Attributes:
        name: How a report names this count.
    """

    def __init__(self, tokenizer: Any, sha256: str) -> None:
        self._tokenizer = tokenizer
        self.name = f"all-MiniLM-L6-v2 WordPiece ({sha256[:12]})"

    def count(self, texts: Sequence[str]) -> list[int]:
        """How many tokens each text has; 0 for an empty one."""
        if any(len(text) > WINDOW for text in texts):
            return [sum(map(len, id_parts(self._tokenizer, text))) for text in texts]
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding) for encoding in encoded]


def load_tokenizer(max_tokens: int | None) -> tuple[Any, str]:
    """The pinned tokenizer, with no padding, and the SHA-256 of the bytes it was made from.

    Args:
        max_tokens: Truncate to this many tokens, special ones included; None for no truncation.

    Raises:
        InstrumentError: A package is missing, or the tokenizer cannot be read.
        ChecksumError: The tokenizer file is not the pinned one.
    """
    try:
        tokenizers = importlib.import_module("tokenizers")
    except ImportError as error:
        raise InstrumentError(
            f"the package tokenizers is not usable: {error}", hint=INSTALL_LOCAL
        ) from error
    data = MINILM_TOKENIZER.load()
    tokenizer = tokenizers.Tokenizer.from_buffer(data)
    # The file asks for padding to 128 and truncation to 128: neither is the model's.
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if max_tokens is not None:
        tokenizer.enable_truncation(max_tokens)
    return tokenizer, hashlib.sha256(data).hexdigest()


def token_counter() -> TokenCounter | None:
    """A counter, or None when `memruler[local]` is not installed.

    Raises:
        ChecksumError: The tokenizer file is installed but is not the pinned one.
    """
    try:
        return TokenCounter(*load_tokenizer(None))
    except ChecksumError:
        raise
    except InstrumentError:
        return None
