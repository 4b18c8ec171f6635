"""Answers that were made elsewhere: a file of `question_id` and `hypothesis`.

It is LongMemEval's format of hypotheses, as JSON Lines or one JSON list. An id that several queries
of the run have is written with the conversation before it: `conv-26/q3`. Ids that the run does not
have are counted and named; a query without an answer is one that failed, not a wrong one.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from memruler.corpora.jsontext import decode
from memruler.errors import CorpusError, printable
from memruler.model.answers import AnswerRecord, InstrumentIdentity, Usage
from memruler.model.run import Manifest
from memruler.store.folder import RunFolder
from memruler.store.safe import read_bytes
from memruler.store.tables import batches

__all__ = ["FileAnswers", "Hypothesis"]

_SHOWN = 3
_FIX = "give each question_id of the run once"


class Hypothesis(msgspec.Struct, frozen=True):
    """One answer of the file; keys beside these are left alone."""

    question_id: str
    hypothesis: str


class FileAnswers:
    """The answers of a file; see `AnswerSource`.

    Args:
        path: The file.

    Attributes:
        unknown: Ids of the file that the run does not have, in the file's order; known once all
            records were taken.

    Raises:
        CorpusError: It is no such file, or answers one question twice.
        UsageError: It cannot be opened.
    """

    k: int | None = None
    repeats = 1

    def __init__(self, path: Path) -> None:
        data = read_bytes(path, managed=False)
        self._path = path
        self._sha256 = hashlib.sha256(data).hexdigest()
        self._said = _answers(data, path)
        self.unknown: tuple[str, ...] = ()
        self._missing: list[str] = []

    def identity(self) -> InstrumentIdentity:
        """The file's name and digest: who made the answers is not known."""
        return InstrumentIdentity(
            kind="file",
            prompt=printable(self._path.name),
            prompt_sha256=self._sha256,
        )

    def records(self, run: RunFolder, manifest: Manifest) -> Iterator[AnswerRecord]:
        """See `AnswerSource.records`.

        Raises:
            CorpusError: The run has two queries of one id, or none of the file's ids.
        """
        del manifest
        columns = ["instance", "instance_key", "query", "id"]
        times: Counter[str] = Counter()
        for batch in batches(run, "queries", columns=["id"]):
            times.update(map(str, batch.column("id").to_pylist()))
        met: set[str] = set()
        for batch in batches(run, "queries", columns=columns):
            for row in batch.to_pylist():
                name = row["id"]
                if times[name] > 1:
                    name = f"{row['instance_key']}/{name}"
                if name in met:
                    raise CorpusError(
                        f"two queries of the run have the id {printable(name)}",
                        where=run.path,
                        hint="a file can answer only queries that their ids tell apart",
                    )
                met.add(name)
                text = self._said.get(name)
                error = None
                if text is None:
                    error = "the file has no answer to it"
                    self._missing.append(name)
                yield AnswerRecord(
                    instance=row["instance"], query=row["query"], text=text, error=error
                )
        self.unknown = tuple([name for name in self._said if name not in met])
        if len(self.unknown) == len(self._said):
            raise CorpusError(
                "the run has no query of any id in the file",
                where=self._path,
                hint=f"the file has {_named(self.unknown)}; the run {_named(sorted(met))}",
            )

    def counts(self) -> dict[str, int]:
        """How many ids of the file the run does not have."""
        return {"unknown": len(self.unknown)}

    def warnings(self) -> tuple[str, ...]:
        """Queries without an answer, and ids that the run does not have, by name."""
        found = (
            (self._missing, "queries have no answer in the file"),
            (self.unknown, "ids of the file are no queries of the run"),
        )
        return tuple([f"{len(names)} {what}: {_named(names)}" for names, what in found if names])

    def usage(self) -> tuple[Usage, Usage]:
        """Nothing that is known."""
        return Usage(), Usage()


def _answers(data: bytes, path: Path) -> dict[str, str]:
    """Id to answer, in the file's order."""
    found: dict[str, str] = {}
    twice: dict[str, None] = {}
    for one in _hypotheses(data, path):
        if one.question_id in found:
            twice[one.question_id] = None
        found[one.question_id] = one.hypothesis
    if twice:
        raise CorpusError(
            f"{len(twice)} questions are answered twice: {_named(tuple(twice))}",
            where=path,
            hint=_FIX,
        )
    if not found:
        raise CorpusError("the file holds no answer", where=path, hint=_FIX)
    return found


def _hypotheses(data: bytes, path: Path) -> Iterator[Hypothesis]:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.lstrip()[:1] == b"[":
        yield from decode(data, list[Hypothesis], where=path)
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield decode(line, Hypothesis, where=f"{path}, line {number}")


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(printable(name, 60) for name in names[:_SHOWN]) + more
