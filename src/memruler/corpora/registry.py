"""Names of corpora to corpora. A loader is imported only when its corpus is opened."""

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path

from memruler.corpora.cached import locate, tier_of
from memruler.corpora.pins import pin, pins
from memruler.corpora.source import Identify, Provenance, as_local_file
from memruler.corpora.whole_document import HEAD, public_corpus
from memruler.errors import UsageError
from memruler.model.corpus import Corpus

__all__ = ["BUNDLED", "names", "open_corpus"]

BUNDLED = Path(__file__).parent / "data" / "synthetic.jsonl"
"""The corpus that comes with memruler, written by `SyntheticCorpus()`."""

_Loader = Callable[[str, Path, Identify], Corpus]


def names() -> tuple[str, ...]:
    """Every name that `open_corpus` knows, as people should see them; `pins.pin` tells more."""
    return tuple(name for name in pins() if name in _LOADERS)


def open_corpus(name: str, path: Path | None = None) -> Corpus:
    """Open a corpus.

    Args:
        name: A name of `names()`.
        path: Its file; None for the one that is bundled or in the cache. A file that equals the
            pin is as good as the cached one; any other is a `local-file`.

    Raises:
        UsageError: The name is unknown, needs a path or a fetch first, or takes no path
            (`synthetic`: a file of one's own must not pass for the bundled one).
        CorpusError: The file cannot be read as this corpus.
        ChecksumError: The cached file is not the pinned one any more.
    """
    _refuse_file_name(name)
    pin(name)  # an unknown name ends here, with the near ones
    if name not in _LOADERS:
        raise UsageError(
            f"{name} holds a judge's texts and no conversations",
            hint="`memruler grade RUN --grader longmemeval:official` uses it",
        )
    load = _LOADERS[name]
    if path is not None and name == "synthetic":
        raise UsageError(
            "synthetic is bundled", where=path, hint="a file of your own is `jsonl --path FILE`"
        )
    if path is not None:
        return load(name, path, partial(_identify, name))
    if name == "synthetic":
        return load(name, BUNDLED, _identify_bundled)
    if name == "jsonl":
        raise UsageError(
            "jsonl stands for a file of your own", hint="name the file with `--path FILE`"
        )
    return load(name, locate(name).path, partial(_identify, name))


def _refuse_file_name(name: str) -> None:
    """Refuse the name of a file where that of a corpus belongs, and say how to name both."""
    if name in _LOADERS:
        return
    head = b""
    try:
        found = Path(name).is_file()
        if found:
            with Path(name).open("rb") as file:
                head = file.read(HEAD)
    except (OSError, ValueError):  # too long for a name, or not to be read; a NUL in it
        found = False
    if not found and not name.endswith((".json", ".jsonl")):
        return
    kind = public_corpus(head) or "jsonl"
    raise UsageError(
        f"no such corpus: {name!r}",
        hint=f"name the corpus, then its file: `{kind} --path {shlex.quote(name)}`",
    )


def _identify(name: str, sha256: str) -> Provenance:
    tier = tier_of(name, sha256)
    if tier == "local-file":
        return as_local_file(sha256)
    known = pin(name)
    return Provenance(tier, known.version or known.revision or "unknown")


def _identify_bundled(sha256: str) -> Provenance:
    del sha256  # installed with the code, and written into every manifest as it is
    return Provenance("bundled", pin("synthetic").label)


def _jsonl(name: str, path: Path, identify: Identify) -> Corpus:
    from memruler.corpora.jsonl import JsonlCorpus  # noqa: PLC0415 - late, as all loaders

    return JsonlCorpus(path, name=name, identify=identify)


def _locomo(name: str, path: Path, identify: Identify) -> Corpus:
    from memruler.corpora.locomo import LocomoCorpus  # noqa: PLC0415 - late, as all loaders

    del name  # it has one edition
    return LocomoCorpus(path, identify=identify)


def _longmemeval(name: str, path: Path, identify: Identify) -> Corpus:
    from memruler.corpora.longmemeval import LongMemEvalCorpus  # noqa: PLC0415 - late likewise

    variant = name.replace("oracle", "s") if "oracle" in name else None
    return LongMemEvalCorpus(path, name=name, retrieval_variant=variant, identify=identify)


_LOADERS: dict[str, _Loader] = {
    "synthetic": _jsonl,
    "locomo": _locomo,
    "longmemeval-s": _longmemeval,
    "longmemeval-m": _longmemeval,
    "longmemeval-oracle": _longmemeval,
    "longmemeval-s-original": _longmemeval,
    "longmemeval-m-original": _longmemeval,
    "longmemeval-oracle-original": _longmemeval,
    "jsonl": _jsonl,
}
