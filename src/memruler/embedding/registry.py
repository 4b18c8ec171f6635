"""Names to embedders; a model's packages are imported only when it is asked for."""

from collections.abc import Callable
from difflib import get_close_matches

from memruler.embedding.base import Embedder
from memruler.embedding.cache import VectorCache
from memruler.embedding.checked import CheckedEmbedder
from memruler.embedding.drift import hold_against_cache
from memruler.errors import UsageError

__all__ = ["open_embedder"]


def open_embedder(name: str, *, cache: bool = True, threads: int | None = None) -> CheckedEmbedder:
    """Load an embedder.

    Args:
        name: `minilm`, `toy` (for tests only: the results are marked degraded), `openai:MODEL`,
            or `sentence-transformers:PATH_OR_NAME`.
        cache: Keep vectors on disk and use those that are there. The toy's are never kept.
        threads: Texts that `minilm` embeds at the same time; None for one a core.

    Raises:
        UsageError: The name is unknown.
        InstrumentError: The model or its packages are missing, or a part of its identity cannot
            be read, or a served model is not the one whose vectors are cached.
        ChecksumError: A model file is not the pinned one.
    """
    embedder = _load(name, threads)
    identity = embedder.identity()
    if not cache or identity.degraded:
        return CheckedEmbedder(embedder, None)
    vectors = VectorCache(identity, embedder.runtime())
    hold_against_cache(embedder, vectors)
    return CheckedEmbedder(embedder, vectors)


def _load(name: str, threads: int | None) -> Embedder:
    kind, colon, model = name.partition(":")
    plain: dict[str, Callable[[], Embedder]] = {"minilm": lambda: _minilm(threads), "toy": _toy}
    named: dict[str, Callable[[str], Embedder]] = {
        "openai": _openai,
        "sentence-transformers": _sentence,
    }
    if kind in named and colon:
        return named[kind](model)
    if name in plain:
        return plain[name]()
    forms = {**{word: word for word in plain}, **{word: f"{word}:MODEL" for word in named}}
    near = get_close_matches(kind, forms, n=1)
    raise UsageError(
        f"no such embedder: {name!r}",
        hint=f"did you mean {forms[near[0]]}?" if near else f"one of {', '.join(forms.values())}",
    )


def _minilm(threads: int | None) -> Embedder:
    from memruler.embedding.minilm import MiniLm  # noqa: PLC0415 - numpy and onnxruntime

    return MiniLm(threads)


def _toy() -> Embedder:
    from memruler.embedding.toy import Toy  # noqa: PLC0415 - only when asked for

    return Toy()


def _openai(model: str) -> Embedder:
    from memruler.embedding.endpoint import Endpoint  # noqa: PLC0415 - only when asked for

    return Endpoint(model)


def _sentence(model: str) -> Embedder:
    from memruler.embedding.sentence import Sentence  # noqa: PLC0415 - only when asked for

    return Sentence(model)
