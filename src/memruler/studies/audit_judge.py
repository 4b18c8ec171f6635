"""Lets a judge fill its column of a file of cases.

Cells that are filled stay, so that an interrupted judge goes on where it was. Each time it saves it
reads the file again first: what people typed in the meantime stays too.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

import filelock
import msgspec

from memruler.errors import InstrumentError, UsageError
from memruler.judges.base import Judge, Judged, JudgeIdentity
from memruler.judges.many import label_many
from memruler.judges.rubric import Rubric
from memruler.store.faults import explained
from memruler.store.safe import write_atomic
from memruler.studies.audit_csv import LABEL, REASON, CaseTable, check_rater, read_cases, visible
from memruler.studies.audit_notes import instrument_differs, read_notes, write_notes

__all__ = ["JudgeRun", "judge_cases", "served_before"]

_SAVE_EVERY_SECONDS = 10.0
_LOCK = ".lock"
_LOCK_SECONDS = 60.0
_NO_ITEM = "the text of the item is not known"
_LEAST = ("case",)


class JudgeRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge did.

    Attributes:
        name: Of its column.
        identity: The instrument.
        there: Cases that had a label before.
        labelled: Cases that it labelled now.
        unlabelled: Why a case has no label, to how many.
    """

    name: str
    identity: JudgeIdentity
    there: int
    labelled: int
    unlabelled: dict[str, int]


def served_before(path: Path, name: str) -> str | None:
    """Which model, as its server called it, filled the column `name` before; None if none did.

    Raises:
        CorpusError: It is no sound file of cases.
        FormatError: The note beside it is damaged.
    """
    identity = read_notes(path).judges.get(name)
    filled = _filled(read_cases(path, _LEAST), name)
    return identity.served if identity is not None and filled else None


def judge_cases(
    path: Path,
    judge: Judge,
    rubric: Rubric,
    name: str,
    *,
    at_a_time: int = 4,
    tick: Callable[[int, int], object] = lambda *_: None,
) -> JudgeRun:
    """Fill the empty cells of a judge's column.

    A case without a label keeps an empty cell, with the reason beside it, and is asked again the
    next time.

    Args:
        path: The file of cases; it is replaced in whole steps.
        judge: Whom to ask.
        rubric: Its fields are the columns that the judge is shown.
        name: Of the column.
        at_a_time: Requests under way.
        tick: Told how many of how many cases are done.

    Raises:
        UsageError: The name is none, another judge or a person filled the column, or another
            process writes to the file.
        CorpusError: It is no sound file of cases.
        InstrumentError: The judge cannot be asked; what it labelled is kept. Or it refused every
            case.
    """
    check_rater(name)
    table = read_cases(path, [*_LEAST, *rubric.fields])
    done = _filled(table, name)
    _require_same_judge(path, name, judge.identity(), labelled=bool(done))
    said: dict[str, Judged] = {}
    cases: dict[str, dict[str, str]] = {}
    for case, row in zip(table.column("case"), table.rows, strict=True):
        if case in done:
            continue
        if row[table.at("item")].strip():
            cases[case] = {field: row[table.at(field)] for field in rubric.fields}
        else:
            said[case] = Judged(label=None, reason=_NO_ITEM)
    keys = list(cases)
    saved = monotonic()
    try:
        for places, judged in label_many(judge, list(cases.values()), at_a_time=at_a_time):
            said.update((keys[place], judged) for place in places)
            tick(len(done) + len(said), len(table.rows))
            if monotonic() - saved >= _SAVE_EVERY_SECONDS:
                _save(path, name, said, judge.identity())
                saved = monotonic()
    finally:
        if said:
            _save(path, name, said, judge.identity())
    _require_some(said, keys, judge.identity())
    unlabelled: dict[str, int] = {}
    for one in said.values():
        if one.reason is not None:
            unlabelled[one.reason] = unlabelled.get(one.reason, 0) + 1
    return JudgeRun(
        name=name,
        identity=judge.identity(),
        there=len(done),
        labelled=len(said) - sum(unlabelled.values()),
        unlabelled=unlabelled,
    )


def _filled(table: CaseTable, name: str) -> set[str]:
    """Cases that have something in the judge's column."""
    if LABEL + name not in table.head:
        return set()
    cells = zip(table.column("case"), table.column(LABEL + name), strict=True)
    return {case for case, cell in cells if cell.strip()}


def _require_same_judge(path: Path, name: str, identity: JudgeIdentity, *, labelled: bool) -> None:
    """One column, one instrument."""
    noted = read_notes(path).judges.get(name)
    if noted is None:
        if labelled:
            raise UsageError(
                f"{LABEL}{name} holds labels that no judge is noted for",
                where=path,
                hint="choose another --name, or put back the .meta.json that stood beside it",
            )
        return
    differs = instrument_differs(noted, identity)
    if labelled and differs:
        raise UsageError(
            f"{LABEL}{name} was filled by another judge: {differs}",
            where=path,
            hint="choose another --name: labels of two judges do not belong in one column",
        )


def _require_some(said: Mapping[str, Judged], asked: list[str], identity: JudgeIdentity) -> None:
    """Where a server refuses every case, the cases are not what is wrong."""
    if asked and all(said[case].reply is None for case in asked):
        raise InstrumentError(
            f"the judge answered none of {len(asked)} cases: {said[asked[0]].reason}",
            where=identity.host,
            hint="check the name of the model and what the server takes",
        )


def _save(path: Path, name: str, said: Mapping[str, Judged], identity: JudgeIdentity) -> None:
    with _locked(path):
        # Read again: people may have labelled, and another judge may have saved.
        table = read_cases(path, _LEAST)
        table.add(LABEL + name)
        table.add(REASON + name)
        label, reason, case = (table.at(c) for c in (LABEL + name, REASON + name, "case"))
        for row in table.rows:
            judged = said.get(row[case])
            if judged is not None and not row[label].strip():
                row[label] = judged.label or ""
                row[reason] = _reason(judged)
        notes = read_notes(path)
        judges = {**notes.judges, name: identity}
        # The note first: labels without it could not be told from a person's.
        write_notes(path, msgspec.structs.replace(notes, judges=judges))
        write_atomic(path, table.encode())


def _reason(judged: Judged) -> str:
    """Why there is no label, with what was said; empty where there is one."""
    if judged.reason is None:
        return ""
    said = "" if judged.reply is None else f": {judged.reply}"
    return visible(f"{judged.reason}{said}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Two judges may fill one file, each its column; only saving is one after the other."""
    beside = path.with_name(path.name + _LOCK)
    lock = filelock.FileLock(beside, timeout=_LOCK_SECONDS)
    with explained("lock the file of cases", beside):
        try:
            lock.acquire()
        except filelock.Timeout:
            raise UsageError(
                "another process is writing to the file of cases",
                where=path,
                hint="wait for it, then repeat the command: what is labelled stays",
            ) from None
    try:
        yield
    finally:
        lock.release()
