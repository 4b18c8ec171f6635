"""The questions of a run or of a corpus, as probes are made from them; and probes in a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from memruler.corpora.registry import open_corpus
from memruler.errors import CorpusError, FormatError
from memruler.model.answers import AnswerItem
from memruler.scoring.answer_load import ITEM_COLUMNS, query_item
from memruler.store.folder import RunFolder
from memruler.store.safe import read_bytes
from memruler.store.tables import batches
from memruler.studies.judge_probes import Probe, make_probes

__all__ = [
    "ProbeSource",
    "Questions",
    "decode_probes",
    "encode_probes",
    "probes_of",
    "questions_of_corpus",
    "questions_of_run",
]


class ProbeSource(msgspec.Struct, frozen=True, kw_only=True):
    """Where probes come from; the first line of a file of them.

    Attributes:
        corpus: Name and SHA-256.
        source: Stem of the run, or the corpus' name.
        seed: Of the draw.
        left_out: Why questions gave no probe, and how many.
        notes: What a reader must know.
    """

    corpus: dict[str, Any]
    source: str
    seed: int | None = None
    left_out: dict[str, int] = {}
    notes: tuple[str, ...] = ()


class Questions(NamedTuple):
    """Questions, and where they come from."""

    items: list[AnswerItem]
    source: ProbeSource


def questions_of_run(path: Path) -> Questions:
    """Every question of a run; no answers are needed.

    Raises:
        FormatError: It is no finished run folder.
    """
    folder = RunFolder.open(path)
    manifest = folder.manifest()
    corpus = {} if manifest is None else manifest.fingerprint.get("corpus")
    if manifest is None or not isinstance(corpus, dict) or not corpus.keys() >= {"name", "sha256"}:
        raise FormatError("the manifest does not say what was measured", where=path)
    items = [
        query_item(row)
        for batch in batches(folder, "queries", list(ITEM_COLUMNS))
        for row in batch.to_pylist()
    ]
    named = {"name": corpus["name"], "sha256": corpus["sha256"]}
    return Questions(items, ProbeSource(corpus=named, source=manifest.stem))


def questions_of_corpus(name: str, path: Path | None) -> Questions:
    """Every question of a corpus; see `open_corpus`."""
    corpus = open_corpus(name, path)
    items = [
        AnswerItem(
            instance=instance.position,
            query=query.position,
            instance_key=instance.key,
            id=query.id or f"{instance.key}#{query.position}",
            category=query.category,
            question=query.text,
            gold=query.answer,
            gold_raw=query.answer_raw,
            answerable=query.answerable,
            asked=query.time,
            family=query.family,
            response=None,
        )
        for instance in corpus
        for query in instance.queries
    ]
    named = {"name": corpus.info.name, "sha256": corpus.info.sha256}
    return Questions(items, ProbeSource(corpus=named, source=corpus.info.name))


def probes_of(questions: Questions, *, number: int, seed: int) -> tuple[ProbeSource, list[Probe]]:
    """Probes of some questions, and where they come from; see `make_probes`."""
    made = make_probes(questions.items, number=number, seed=seed)
    source = msgspec.structs.replace(
        questions.source, seed=seed, left_out=made.left_out, notes=made.notes
    )
    return source, list(made.probes)


def encode_probes(source: ProbeSource, probes: Sequence[Probe]) -> bytes:
    """JSON Lines: where they come from, then a line a probe."""
    lines = [msgspec.json.encode(source), *(msgspec.json.encode(probe) for probe in probes)]
    return b"\n".join(lines) + b"\n"


def decode_probes(path: Path) -> tuple[ProbeSource, list[Probe]]:
    """Read what `encode_probes` wrote, or a person after it.

    Raises:
        UsageError: There is no such file.
        CorpusError: A line is wrong; it is named.
    """
    lines = read_bytes(path, managed=False).split(b"\n")
    probes = []
    source = ProbeSource(corpus={}, source=path.name)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if number == 1:
                source = msgspec.json.decode(line, type=ProbeSource)
            else:
                probes.append(msgspec.json.decode(line, type=Probe))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise CorpusError(
                f"no probe: {error}",
                where=f"{path}:{number}",
                hint="write them with `memruler judge probes`",
            ) from error
    if not probes:
        raise CorpusError("the file has no probe", where=path, hint="memruler judge probes")
    return source, probes
