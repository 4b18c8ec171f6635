"""Makes a folder of answers out of a run and a source of answers.

The table takes its place only when it is whole. What a model said is kept outside the run as soon
as it was said, so that the same command goes on after a kill and pays for nothing twice.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Protocol

from memruler.errors import FormatError, UsageError, printable
from memruler.model.answers import (
    ANSWERS_VERSION,
    AnswerRecord,
    AnswersManifest,
    InstrumentIdentity,
    Usage,
)
from memruler.model.run import Manifest
from memruler.replay.provenance import tool
from memruler.scoring.run_terms import terms_of
from memruler.store.answers import (
    READ_TABLES,
    answers_table,
    claim_answers,
    standing_answers,
    write_answers_manifest,
)
from memruler.store.binding import require_own_tables
from memruler.store.folder import RunFolder

__all__ = ["AnswerSource", "write_answers"]

_COMPARED = ("kind", "model", "host", "prompt", "prompt_sha256", "settings", "served")
"""What makes two readers two; the model that is served only where it is known of both."""


class AnswerSource(Protocol):
    """Where answers come from: a reader, the memory itself, or a file.

    Attributes:
        k: Hits that a reader is given at most; None where nobody is given any.
        repeats: Draws of each query.
    """

    k: int | None
    repeats: int

    def identity(self) -> InstrumentIdentity:
        """Who answers, as far as it is known by now."""
        ...

    def records(self, run: RunFolder, manifest: Manifest) -> Iterator[AnswerRecord]:
        """The answers, in order of query and repeat: `repeats` for every query of the run."""
        ...

    def counts(self) -> dict[str, int]:
        """More counts for the manifest, once all records were taken."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """What puts the answers in doubt, once all records were taken."""
        ...

    def usage(self) -> tuple[Usage, Usage]:
        """What was spent now, and what all replies cost."""
        ...


def write_answers(run: RunFolder, source: AnswerSource, name: str) -> AnswersManifest:
    """Make `<run>/answers/<name>/`, or make it again with the same source.

    Args:
        run: A sealed run; nothing that it sealed is changed.
        source: Where the answers come from.
        name: Of the folder.

    Raises:
        UsageError: The name is taken by another reader, or another process writes there.
        FormatError: The run's tables are not its own, or do not fit together.
        InstrumentError: The reader cannot be asked, or the disk failed; nothing is changed.
    """
    started = _now()
    measured = run.manifest()
    if measured is None:
        raise FormatError("no manifest in the run folder", where=run.path)
    require_own_tables(run, measured, READ_TABLES)
    terms_of(measured, run.path)  # a damaged manifest shows before anybody is asked
    with claim_answers(run, name) as folder:
        standing = standing_answers(run, name)
        before = None if standing is None else standing.reader
        _require_same(before, source.identity(), folder)
        tally = _Tally()
        with answers_table(folder) as table:
            for record in source.records(run, measured):
                tally.see(record)
                table.add(record)
            reader = source.identity()
            _require_same(before, reader, folder)  # by now it is known what was served
        spent, total = source.usage()
        made = AnswersManifest(
            version=ANSWERS_VERSION,
            name=name,
            run=measured.stem,
            run_tables={table: measured.tables[table] for table in READ_TABLES},
            run_fingerprint=measured.fingerprint,
            reader=reader,
            repeats=source.repeats,
            k=source.k,
            counts={**tally.counts, **source.counts()},
            usage=spent,
            usage_total=total,
            started=started,
            finished=_now(),
            tool=tool(),
            warnings=(*source.warnings(), *tally.warnings(measured, source)),
            degraded=measured.degraded,
        )
        return write_answers_manifest(folder, made)


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def _require_same(
    before: InstrumentIdentity | None, now: InstrumentIdentity, folder: RunFolder
) -> None:
    """Refuse to put the answers of one reader in the place of another's."""
    if before is None:
        return
    pairs = {name: (getattr(before, name), getattr(now, name)) for name in _COMPARED}
    if None in pairs["served"]:
        del pairs["served"]
    settings = pairs.pop("settings")
    differs = [f"another {name}" for name, (there, mine) in pairs.items() if there != mine]
    differs += [
        f"{name} {_shown(settings[0].get(name))} there, {_shown(settings[1].get(name))} now"
        for name in sorted({*settings[0], *settings[1]})
        if settings[0].get(name) != settings[1].get(name)
    ]
    if differs:
        raise UsageError(
            f"answers of another reader lie there: {'; '.join(differs)}",
            where=folder.path,
            hint="choose another --name",
        )


def _shown(value: object) -> str:
    return "none" if value is None else printable(value, 60)


class _Tally:
    """What must be said of the answers."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(("queries", "answered", "empty", "failed"), 0)
        self._of: Counter[str] = Counter()

    def see(self, record: AnswerRecord) -> None:
        """Count one."""
        state = "failed" if record.text is None else "answered" if record.text else "empty"
        self.counts[state] += 1
        if record.repeat == 0:
            self.counts["queries"] += 1
            self._of["textless"] += record.textless > 0
            self._of["left_out"] += record.left_out > 0
        self._of["cut"] += record.finish == "length"

    def warnings(self, run: Manifest, source: AnswerSource) -> Iterator[str]:
        """What puts the answers in doubt, one sentence each."""
        queries, found = self.counts["queries"], self._of
        if found["textless"]:
            yield f"at {found['textless']} of {queries} queries a hit had no text that is known"
        if found["left_out"]:
            yield f"at {found['left_out']} of {queries} queries not all hits fitted the context"
        if found["cut"]:
            yield f"{found['cut']} replies ended at the limit of tokens"
        text = run.fingerprint.get("ingest", {}).get("text", {})
        if source.k is not None and not text.get("date", True):
            yield (
                "the texts carry no dates, so that a reader cannot tell when something was said: "
                "measure with --set text.date=true"
            )
