"""Puts files of labelled cases together: several runs, and the files of raters who saw texts alone.

A label counts for the pair of a query and an item, whichever of its cases stood in a rater's file.
Two labels of one rater for one case, and two instruments under one name, are errors.
"""

from collections.abc import Hashable, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from memruler.errors import CorpusError, UsageError
from memruler.studies.audit_csv import CASE_COLUMNS, LABEL, REASON, CaseTable, read_cases
from memruler.studies.audit_labels import labels_of
from memruler.studies.audit_notes import instrument_differs, read_notes
from memruler.studies.audit_record import AuditNotes

__all__ = ["LabelledCases", "read_files"]

_NEEDED = ("case", "pair", "corpus", "target", "category", "cluster", "query")
_KEY = frozenset(_NEEDED[1:])
_READ = (*_NEEDED, "run", "gains")

_Labels = list[str | None]


class LabelledCases(msgspec.Struct, kw_only=True):
    """The cases of all files, one a row.

    Attributes:
        columns: Column to what it holds, for those that `read_audit` needs; `run` and `gains` are
            empty where the file lacks them.
        labels: Rater to the label of every case; None where there is none.
        blind: Raters with labels, all of them in files without the columns of a case.
        notes: Of all files.
        unnoted: Files of cases without a note.
        ignored: Columns that are neither a case's own nor a rater's.
    """

    columns: dict[str, list[str]]
    labels: dict[str, _Labels]
    blind: set[str]
    notes: AuditNotes
    unnoted: tuple[str, ...]
    ignored: tuple[str, ...]

    def query(self, row: int) -> Hashable:
        """What moves together: the query of a case."""
        return tuple(self.columns[name][row] for name in ("corpus", "cluster", "query"))


def read_files(paths: Sequence[Path], raters: Sequence[str] = ()) -> LabelledCases:
    """Read files of cases, and files of raters that belong to them, in any order.

    Args:
        paths: At least one of the first kind.
        raters: Whose labels count; everybody's where nobody is named.

    Raises:
        UsageError: A file is missing or named twice, no file says what the cases are, or no file
            has such a rater.
        CorpusError: A file is unsound, a case is in two files or in none, or a rater says two
            things about one; `BadLabelsError` where a cell holds no label.
        FormatError: A note is damaged.
    """
    read = {path: read_cases(path, ("case",)) for path in paths}
    if len(read) < len(paths):
        raise UsageError("a file is named twice", where=paths[0], hint="name each once")
    cases = {path: table for path, table in read.items() if not _texts_only(table)}
    sheets = {path: table for path, table in read.items() if _texts_only(table)}
    for path in cases:
        read_cases(path, _NEEDED)  # says which column is missing
    if not cases:
        raise UsageError(
            "the file says what raters wrote, and not which target or query a case is of",
            where=next(iter(sheets)),
            hint="name the file that `memruler audit sample --out` wrote as well",
        )
    found = _joined(cases)
    wanted = _raters(read, raters)
    found.labels = {name: [None] * len(found.columns["case"]) for name in wanted}
    at = 0
    for path, table in cases.items():
        for name, said in labels_of(table, _among(table, wanted), path).items():
            found.labels[name][at : at + len(said)] = said
        at += len(table.rows)
    seeing = {name for name, said in found.labels.items() if any(said)}
    for path, table in sheets.items():
        _fill(found, path, table, labels_of(table, _among(table, wanted), path))
    found.blind = {name for name, said in found.labels.items() if any(said)} - seeing
    return found


def _texts_only(table: CaseTable) -> bool:
    """Whether a file is a rater's: labels, and none of the columns that say what a case is."""
    return bool(table.raters()) and _KEY.isdisjoint(table.head)


def _joined(cases: dict[Path, CaseTable]) -> LabelledCases:
    columns: dict[str, list[str]] = {name: [] for name in _READ}
    for table in cases.values():
        for name in _READ:
            there = name in table.head
            columns[name] += table.column(name) if there else [""] * len(table.rows)
    seen: dict[str, Path] = {}
    for path, table in cases.items():
        again = [case for case in table.column("case") if case in seen]
        if again:
            raise CorpusError(
                f"{len(again)} cases are in {seen[again[0]]} too, the first is {again[0]!r}",
                where=path,
                hint="read the files one by one; a larger -n draws more cases into one file",
            )
        seen.update(dict.fromkeys(table.column("case"), path))
    heads = dict.fromkeys(chain.from_iterable(table.head for table in cases.values()))
    return LabelledCases(
        columns=columns,
        labels={},
        blind=set(),
        notes=_all_notes(list(cases)),
        unnoted=tuple(path.name for path in cases if not read_notes(path).sampled),
        ignored=tuple(
            name
            for name in heads
            if name and name not in CASE_COLUMNS and not name.startswith((LABEL, REASON))
        ),
    )


def _all_notes(paths: Sequence[Path]) -> AuditNotes:
    found = AuditNotes()
    for path in paths:
        found = _with_judges(found, path)
        found = msgspec.structs.replace(found, sampled=found.sampled + read_notes(path).sampled)
    return found


def _with_judges(notes: AuditNotes, path: Path) -> AuditNotes:
    """The judges of one more file."""
    judges = dict(notes.judges)
    for name, identity in read_notes(path).judges.items():
        differs = instrument_differs(judges.setdefault(name, identity), identity)
        if differs:
            raise CorpusError(
                f"{LABEL}{name} is another judge's in a file before: {differs}",
                where=path,
                hint="rename one of the columns, in the file and in its note",
            )
    return msgspec.structs.replace(notes, judges=judges)


def _raters(read: dict[Path, CaseTable], wanted: Sequence[str]) -> list[str]:
    there = list(dict.fromkeys(chain.from_iterable(table.raters() for table in read.values())))
    absent = [name for name in wanted if name not in there]
    if absent:
        raise UsageError(
            f"there is no column {LABEL}{absent[0]}",
            where=", ".join(map(str, read)),
            hint=f"it has {', '.join(there) or 'no column of labels'}",
        )
    return [name for name in there if not wanted or name in wanted]


def _among(table: CaseTable, wanted: Sequence[str]) -> list[str]:
    return [name for name in table.raters() if name in wanted]


def _fill(found: LabelledCases, path: Path, table: CaseTable, labels: dict[str, _Labels]) -> None:
    """Give every case of a pair the label of the rater's row."""
    pair_of = dict(zip(found.columns["case"], found.columns["pair"], strict=True))
    places: dict[str, list[int]] = {}
    for at, pair in enumerate(found.columns["pair"]):
        places.setdefault(pair, []).append(at)
    rows = list(zip(table.numbers, table.column("case"), strict=True))
    unknown = [(number, case) for number, case in rows if case not in pair_of]
    if unknown:
        number, case = unknown[0]
        raise CorpusError(
            f"{len(unknown)} of {len(rows)} cases are in no file of cases, the first is {case!r}",
            where=f"{path}, row {number}",
            hint="name the file of cases that this one was made with",
        )
    found.notes = _with_judges(found.notes, path)
    for rater, said in labels.items():
        mine = found.labels[rater]
        for (number, case), label in zip(rows, said, strict=True):
            for at in places[pair_of[case]] if label else ():
                if mine[at] not in (None, label):
                    raise CorpusError(
                        f"{LABEL}{rater} says {label} here and {mine[at]} in another file",
                        where=f"{path}, row {number}",
                        hint="empty one of the two cells",
                    )
                mine[at] = label
