"""Sources of answers that are made from a run: a reader over its hits, and the memory itself."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeVar

import msgspec

from memruler.errors import FormatError, InstrumentError, UsageError
from memruler.judges.many import run_many
from memruler.judges.readers.base import Reader, ReaderInput, ReaderReply
from memruler.model.answers import AnswerRecord, AnswersManifest, InstrumentIdentity, Usage
from memruler.model.run import Manifest
from memruler.model.system import SystemIdentity
from memruler.scoring.answer_context import Asked, asked, require_depth
from memruler.scoring.answering import write_answers
from memruler.scoring.run_terms import terms_of
from memruler.store.folder import RunFolder
from memruler.store.tables import batches

__all__ = ["OwnAnswers", "ReaderAnswers", "Tick", "answer_run"]

Tick = Callable[[int, int], object]
"""Told how many answers are there, and of how many."""

_CHUNK = 512
"""Answers that are under way or wait to be written, in their order."""

_T = TypeVar("_T")


def answer_run(
    run: RunFolder,
    reader: Reader,
    *,
    name: str,
    k: int = 10,
    repeats: int = 1,
    context_chars: int | None = None,
    at_a_time: int = 4,
    tick: Tick = lambda *_: None,
) -> AnswersManifest:
    """Let a reader answer every query of a run from its first k hits; see `write_answers`.

    Args:
        run: A sealed run.
        reader: Who answers.
        name: Of the folder of answers.
        k: Hits that it is given at most, from 1.
        repeats: Draws of each query, from 1.
        context_chars: See `memruler.scoring.answer_context.asked`.
        at_a_time: Questions under way.
        tick: Told about every answer.
    """
    source = ReaderAnswers(
        reader, k=k, repeats=repeats, context_chars=context_chars, at_a_time=at_a_time, tick=tick
    )
    return write_answers(run, source, name)


class ReaderAnswers:
    """What a reader says to a run's hits; see `AnswerSource` and `answer_run`.

    Raises:
        UsageError: Repeats of a reader that says the same each time.
    """

    def __init__(
        self,
        reader: Reader,
        *,
        k: int,
        repeats: int = 1,
        context_chars: int | None = None,
        at_a_time: int = 4,
        tick: Tick = lambda *_: None,
    ) -> None:
        if repeats > 1 and not reader.draws:
            raise UsageError(
                "a reader without a model says the same each time",
                where=f"--repeats {repeats}",
                hint="leave out --repeats",
            )
        self.k: int | None = k
        self.repeats = repeats
        self._reader = reader
        self._depth = k
        self._chars = context_chars
        self._at_a_time = at_a_time
        self._tick = tick

    def identity(self) -> InstrumentIdentity:
        """The reader's, with what it is given."""
        found = self._reader.identity()
        given = {"k": self._depth, "context_chars": self._chars}
        return msgspec.structs.replace(found, settings={**found.settings, **given})

    def records(self, run: RunFolder, manifest: Manifest) -> Iterator[AnswerRecord]:
        """See `AnswerSource.records`.

        Raises:
            UsageError: k is deeper than the run.
            InstrumentError: The reader cannot be asked, or refuses all of the first questions.
        """
        require_depth(manifest, self._depth)
        of = manifest.counts.get("queries", 0) * self.repeats
        done = 0
        size = max(1, _CHUNK // self.repeats)
        for chunk in _chunks(asked(run, self._depth, self._chars), size):
            found = self._answered(chunk, done, of)
            done += len(found)
            yield from found
            self._tick(done, of)

    def _answered(self, chunk: list[Asked], done: int, of: int) -> list[AnswerRecord]:
        draws = [(one, repeat) for one in chunk for repeat in range(self.repeats)]
        todo = [
            (at, one.question, repeat)
            for at, (one, repeat) in enumerate(draws)
            if one.question is not None
        ]
        said: dict[int, ReaderReply] = {}
        if self._reader.draws:
            many = run_many(
                self._ask,
                todo,
                at_a_time=self._at_a_time,
                tick=lambda ready, _: self._tick(done + ready, of),
            )
            for place, reply in many:
                said[todo[place][0]] = reply
        else:  # nothing to wait for
            said = {entry[0]: self._ask(entry) for entry in todo}
        if not done:
            self._require_some(list(said.values()))
        return [_record(one, repeat, said.get(at)) for at, (one, repeat) in enumerate(draws)]

    def _ask(self, entry: tuple[int, ReaderInput, int]) -> ReaderReply:
        _, question, repeat = entry
        return self._reader.answer(question, repeat=repeat)

    def _require_some(self, said: list[ReaderReply]) -> None:
        """Where a server refuses every question, the questions are not what is wrong."""
        if said and all(reply.text is None for reply in said):
            raise InstrumentError(
                f"the reader answered none of the first {len(said)} questions: {said[0].error}",
                where=self._reader.identity().host,
                hint="check the name of the model and what the server takes",
            )

    def counts(self) -> dict[str, int]:
        """None more."""
        return {}

    def warnings(self) -> tuple[str, ...]:
        """None more."""
        return ()

    def usage(self) -> tuple[Usage, Usage]:
        """The reader's."""
        return self._reader.usage(), self._reader.usage_total()


def _record(one: Asked, repeat: int, reply: ReaderReply | None) -> AnswerRecord:
    said = ReaderReply(text=None, error=one.error) if reply is None else reply
    context = () if one.question is None else one.question.context
    return AnswerRecord(
        instance=one.instance,
        query=one.query,
        repeat=repeat,
        text=said.text,
        error=said.error,
        finish=said.finish,
        items=one.items,
        textless=one.textless,
        left_out=one.left_out,
        context_chars=sum(map(len, context)),
        prompt_tokens=said.prompt_tokens,
        completion_tokens=said.completion_tokens,
    )


def _chunks(found: Iterator[_T], size: int) -> Iterator[list[_T]]:
    while chunk := list(islice(found, size)):
        yield chunk


class OwnAnswers:
    """What the memory itself said while it was measured; see `AnswerSource`.

    Args:
        manifest: Of the run.

    Raises:
        UsageError: It was not asked.
    """

    k: int | None = None
    repeats = 1

    def __init__(self, manifest: Manifest) -> None:
        terms_of(manifest, manifest.stem)  # its parts are what they should be
        if not manifest.fingerprint["retrieval"].get("answers"):
            raise UsageError(
                "this run did not ask the system for answers",
                where=manifest.stem,
                hint="measure it with --answers, or let a reader answer: --reader extractive",
            )
        try:
            self._system = msgspec.convert(manifest.fingerprint.get("system"), SystemIdentity)
        except msgspec.ValidationError as error:
            raise FormatError(
                f"the manifest does not tell the system: {error}",
                where=manifest.stem,
                hint="measure it anew",
            ) from None

    def identity(self) -> InstrumentIdentity:
        """The system's name, version, settings and the digest of its code."""
        system = self._system
        named = {"name": system.name, "version": system.version, "settings": system.settings}
        return InstrumentIdentity(
            kind="system",
            prompt="the system's own answer",
            prompt_sha256=system.digest,
            settings={"system": named},
        )

    def records(self, run: RunFolder, manifest: Manifest) -> Iterator[AnswerRecord]:
        """See `AnswerSource.records`; the first draw of the trace."""
        del manifest
        columns = ["instance", "query", "repeat", "answer", "answer_error"]
        for batch in batches(run, "trace", columns=columns):
            for row in batch.to_pylist():
                if row["repeat"] == 0:
                    nothing = None if row["answer"] is not None else "the system said nothing"
                    yield AnswerRecord(
                        instance=row["instance"],
                        query=row["query"],
                        text=row["answer"],
                        error=row["answer_error"] or nothing,
                    )

    def counts(self) -> dict[str, int]:
        """None more."""
        return {}

    def warnings(self) -> tuple[str, ...]:
        """None more."""
        return ()

    def usage(self) -> tuple[Usage, Usage]:
        """Nothing that is known: what a system spends is its own."""
        return Usage(), Usage()
