"""Does the local embedder load, are its files the pinned ones, and does it tell meanings apart?"""

import os
from collections.abc import Iterator

from memruler.embedding.assets import MINILM_MODEL, MINILM_TOKENIZER
from memruler.errors import ChecksumError, InstrumentError
from memruler.studies.doctor_packages import install
from memruler.studies.doctor_record import Finding

__all__ = ["model"]

_AREA = "model"
_TEXTS = (
    "The cat sleeps on the sofa.",
    "A kitten is napping on the couch.",
    "Interest rates were raised by the central bank.",
)
"""A statement, the same in other words, and one on something else."""


def model(pip: str) -> Iterator[Finding]:
    """The model's files by checksum, a probe, and whether its runtime's telemetry is off.

    Args:
        pip: The command line that calls pip.
    """
    do = install(pip, "local")
    whole = True
    for name, asset in (("weights", MINILM_MODEL), ("tokenizer", MINILM_TOKENIZER)):
        try:
            asset.locate()
        except InstrumentError:
            whole = False
            found = f"the package {asset.package.replace('_', '-')} is not installed"
            yield Finding(area=_AREA, name=name, state="missing", found=found, do=do)
            continue
        try:
            size = len(asset.load())
        except (ChecksumError, InstrumentError) as error:
            whole = False
            yield Finding(
                area=_AREA,
                name=name,
                state="broken",
                found=f"{error.what} [{error.where}]",
                do=f"{do} --force-reinstall",
            )
        else:
            told = f"{size:,} bytes, SHA-256 {asset.sha256[:12]} as pinned"
            yield Finding(area=_AREA, name=name, state="ok", found=told)
    if whole:
        yield from _probe(do)


def _probe(do: str) -> Iterator[Finding]:
    from memruler.embedding.registry import open_embedder  # noqa: PLC0415 - only with its files

    try:
        embedder = open_embedder("minilm", cache=False, threads=1)
        vectors, _ = embedder.vectors(_TEXTS)
        embedder.close()
    except ImportError as error:
        yield Finding(area=_AREA, name="embedding", state="missing", found=str(error), do=do)
        return
    except InstrumentError as error:
        absent = isinstance(error.__cause__, ModuleNotFoundError)
        yield Finding(
            area=_AREA,
            name="embedding",
            state="missing" if absent else "broken",
            found=error.what,
            do=do if absent else f"{do} --force-reinstall",
        )
        return
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    told = (
        f"{vectors.shape[1]} dimensions; a paraphrase has cosine {near:.2f}, another subject "
        f"{far:.2f}"
    )
    sound = near > far
    yield Finding(
        area=_AREA,
        name="embedding",
        state="ok" if sound else "broken",
        found=told,
        do=None if sound else f"{do} --force-reinstall",
    )
    off = os.environ.get("ORT_DISABLE_TELEMETRY") == "1"
    yield Finding(
        area=_AREA,
        name="telemetry",
        state="ok" if off else "broken",
        found="off in onnxruntime" if off else "on in onnxruntime",
        do=None if off else "set ORT_DISABLE_TELEMETRY=1 and report this fault",
    )
