"""Reads a file of labelled cases: majorities, agreement, and how often credit is justified."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import chain, combinations
from pathlib import Path

from memruler.errors import Refusal, UsageError
from memruler.stats.agreement import cohen_kappa, fleiss_kappa, pairwise_agreement
from memruler.stats.agreement_record import Agreement
from memruler.studies.audit_csv import CASE_COLUMNS, LABEL, REASON, CaseTable, read_cases
from memruler.studies.audit_labels import LABELS, labels_of, majority
from memruler.studies.audit_notes import read_notes
from memruler.studies.audit_record import Audit, AuditNotes, AuditSlice, Rater, RaterPair
from memruler.studies.audit_share import justified_share

__all__ = ["read_audit"]

_NEEDED = ("case", "pair", "corpus", "target", "category", "cluster", "query")
_DIMENSIONS = ("corpus", "target", "category")
_Labels = dict[str, list[str | None]]


def read_audit(path: Path, raters: Sequence[str] = ()) -> Audit:
    """Sum up a file of labelled cases.

    Args:
        path: The file.
        raters: Whose labels count; everybody's where nobody is named.

    Raises:
        UsageError: The file is missing, or has no such rater.
        CorpusError: It is no sound file of cases; `BadLabelsError` where a cell holds no label.
        FormatError: The note beside it is damaged.
        Refusal: No case has a label.
    """
    table = read_cases(path, _NEEDED)
    found = _raters(table, raters, path)
    labels = labels_of(table, found, path)
    if not any(chain.from_iterable(labels.values())):
        raise Refusal(
            ["no case has a label"],
            where=path,
            hint=f"fill a column {LABEL}NAME by hand, or with `memruler audit judge`",
        )
    notes = read_notes(path)
    queries = _queries(table)
    spoke = {name: said for name, said in labels.items() if any(said)}
    agreement, fleiss, none = _agreement(spoke, queries)
    return Audit(
        file=path.name,
        raters=tuple(_rater(name, labels[name], notes) for name in found),
        agreement=agreement,
        fleiss=fleiss,
        no_agreement=none,
        rater_pairs=tuple(
            _rater_pair(one, other, labels, queries) for one, other in combinations(spoke, 2)
        ),
        slices=tuple(_slices(table, labels, queries)),
        sampled=notes.sampled,
        ignored=tuple(
            name
            for name in table.head
            if name and name not in CASE_COLUMNS and not name.startswith((LABEL, REASON))
        ),
        notes=tuple(_told(table, notes)),
    )


def _raters(table: CaseTable, wanted: Sequence[str], path: Path) -> list[str]:
    there = table.raters()
    absent = [name for name in wanted if name not in there]
    if absent:
        raise UsageError(
            f"there is no column {LABEL}{absent[0]}",
            where=path,
            hint=f"it has {', '.join(there) or 'no column of labels'}",
        )
    return [name for name in there if not wanted or name in wanted]


def _queries(table: CaseTable) -> list[Hashable]:
    """What moves together: the query of each case."""
    parts = (table.column(name) for name in ("corpus", "cluster", "query"))
    return list(zip(*parts, strict=True))


def _rater(name: str, labels: Sequence[str | None], notes: AuditNotes) -> Rater:
    counts = Counter(label for label in labels if label is not None)
    return Rater(
        name=name,
        labelled=counts.total(),
        blank=len(labels) - counts.total(),
        labels={label: counts[label] for label in LABELS},
        judge=notes.judges.get(name),
    )


def _agreement(
    labels: _Labels, queries: Sequence[Hashable]
) -> tuple[Agreement | None, Agreement | None, str | None]:
    """Pairwise agreement and Fleiss' kappa of all raters, and why either is None."""
    if len(labels) < 2:  # noqa: PLR2004 - one rater agrees with nobody
        return None, None, "one rater labelled anything"
    rows = list(zip(*labels.values(), strict=True))
    agreement, reason = _measured(lambda: pairwise_agreement(rows, clusters=queries))
    full = [at for at, row in enumerate(rows) if None not in row]
    if not full:
        return agreement, None, reason or "no case has a label of every rater"
    fleiss, why = _measured(
        lambda: fleiss_kappa(
            [rows[at] for at in full], categories=LABELS, clusters=[queries[at] for at in full]
        )
    )
    return agreement, fleiss, reason or why


def _rater_pair(first: str, second: str, labels: _Labels, queries: Sequence[Hashable]) -> RaterPair:
    one, other = labels[first], labels[second]
    rows = list(zip(one, other, strict=True))
    agreement, reason = _measured(lambda: pairwise_agreement(rows, clusters=queries))
    kappa, why = _measured(lambda: cohen_kappa(one, other, categories=LABELS, clusters=queries))
    return RaterPair(
        first=first,
        second=second,
        cases=sum(None not in row for row in rows),
        agreement=agreement,
        kappa=kappa,
        reason=reason or why,
    )


def _measured(measure: Callable[[], Agreement]) -> tuple[Agreement | None, str | None]:
    """A statistic, or why there is none: too few cases or queries is no error here."""
    try:
        found = measure()
    except Refusal as refusal:
        return None, refusal.reasons[0]
    return found, found.reason


def _slices(table: CaseTable, labels: _Labels, queries: Sequence[Hashable]) -> list[AuditSlice]:
    """All cases, then by each dimension that varies, then by each mix of those."""
    decided = [majority(given) for given in zip(*labels.values(), strict=True)]
    rated = [any(given) for given in zip(*labels.values(), strict=True)]
    columns = {name: table.column(name) for name in _DIMENSIONS}
    varying = [name for name in _DIMENSIONS if len(set(columns[name])) > 1]
    pairs = table.column("pair")
    found = []
    for number in range(len(varying) + 1):
        for names in combinations(varying, number):
            groups: dict[tuple[str, ...], list[int]] = {}
            for at in range(len(table.rows)):
                groups.setdefault(tuple(columns[name][at] for name in names), []).append(at)
            found += [
                _slice(
                    dict(zip(names, key, strict=True)),
                    [decided[at] for at in members],
                    [rated[at] for at in members],
                    [pairs[at] for at in members],
                    [queries[at] for at in members],
                )
                for key, members in sorted(groups.items())
            ]
    return found


def _slice(
    by: dict[str, str],
    decided: Sequence[str | None],
    rated: Sequence[bool],
    pairs: Sequence[str],
    queries: Sequence[Hashable],
) -> AuditSlice:
    told = [(label, query) for label, query in zip(decided, queries, strict=True) if label]
    of = [query for _, query in told]
    counts = Counter(label for label, _ in told)
    return AuditSlice(
        by=by,
        cases=len(decided),
        pairs=len(set(pairs)),
        queries=len(set(queries)),
        majority={label: counts[label] for label in LABELS},
        ties=sum(rated) - len(told),
        unlabelled=len(rated) - sum(rated),
        supports=justified_share([label == "supports" for label, _ in told], of),
        supports_or_partial=justified_share([label != "does_not_support" for label, _ in told], of),
    )


def _told(table: CaseTable, notes: AuditNotes) -> list[str]:
    told = []
    cases, pairs = len(table.rows), len(set(table.column("pair")))
    if pairs < cases:
        told.append(
            f"{cases} cases are {pairs} distinct pairs of a query and an item: some are contested "
            "under several targets"
        )
    if not notes.sampled:
        told.append("how the cases were drawn is not known: there is no note beside the file")
    return told
