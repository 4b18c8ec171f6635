"""Reads files of labelled cases: majorities, agreement, and how often credit is justified.

Whatever is counted, a pair of a query and an item counts once: the same item judged under two
targets is one judgement.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain, combinations
from pathlib import Path

from memruler.errors import Refusal
from memruler.stats.agreement import cohen_kappa, fleiss_kappa, pairwise_agreement
from memruler.stats.agreement_record import Agreement
from memruler.studies.audit_csv import LABEL
from memruler.studies.audit_files import LabelledCases, read_files
from memruler.studies.audit_labels import LABELS
from memruler.studies.audit_record import Audit, Rater, RaterPair
from memruler.studies.audit_slices import DIMENSIONS, pooled, slices_of

__all__ = ["read_audit"]

_Labels = dict[str, list[str | None]]


def read_audit(*paths: Path, raters: Sequence[str] = ()) -> Audit:
    """Sum up files of labelled cases.

    Args:
        paths: Files of cases, and files of raters who saw texts alone; at least one of the first.
        raters: Whose labels count; everybody's where nobody is named.

    Raises:
        UsageError: See `read_files`.
        CorpusError: See `read_files`.
        FormatError: A note is damaged.
        Refusal: No case has a label.
    """
    found = read_files(paths, raters)
    if not any(chain.from_iterable(found.labels.values())):
        raise Refusal(
            ["no case has a label"],
            where=", ".join(map(str, paths)),
            hint=(
                f"fill a column {LABEL}NAME by hand or by `memruler audit judge`, and name the "
                "files of blind raters as well"
            ),
        )
    pairs, labels = pooled(found, range(len(found.columns["case"])))
    queries = [found.query(at) for at in pairs]
    spoke = {name: said for name, said in labels.items() if any(said)}
    agreement, fleiss, none = _agreement(spoke, queries)
    return Audit(
        files=tuple(path.name for path in paths),
        raters=tuple(_rater(name, found) for name in found.labels),
        agreement=agreement,
        fleiss=fleiss,
        no_agreement=none,
        rater_pairs=tuple(
            _rater_pair(one, other, labels, queries) for one, other in combinations(spoke, 2)
        ),
        same={name: one for name in DIMENSIONS if (one := _only(found.columns[name]))},
        slices=tuple(slices_of(found)),
        sampled=found.notes.sampled,
        ignored=found.ignored,
        notes=tuple(_told(found, len(pairs))),
    )


def _rater(name: str, found: LabelledCases) -> Rater:
    labels = found.labels[name]
    counts = Counter(label for label in labels if label is not None)
    said: dict[str, set[str]] = {}
    for pair, label in zip(found.columns["pair"], labels, strict=True):
        if label is not None:
            said.setdefault(pair, set()).add(label)
    judge = found.notes.judges.get(name)
    return Rater(
        name=name,
        labelled=counts.total(),
        blank=len(labels) - counts.total(),
        labels={label: counts[label] for label in LABELS},
        apart=sum(len(one) > 1 for one in said.values()),
        blind=judge is not None or name in found.blind,
        judge=judge,
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
        return agreement, None, reason or "no pair has a label of every rater"
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
        pairs=sum(None not in row for row in rows),
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


def _told(found: LabelledCases, pairs: int) -> Iterable[str]:
    cases = len(found.columns["case"])
    if pairs < cases:
        yield (
            f"{cases} cases are {pairs} distinct pairs of a query and an item: some are contested "
            "under several targets; each counts once in every number"
        )
    if found.unnoted:
        files = ", ".join(found.unnoted)
        yield f"how the cases of {files} were drawn is not known: there is no note beside the file"


def _only(cells: Sequence[str]) -> str | None:
    """What all cells hold, if they hold the same."""
    return cells[0] if len(set(cells)) == 1 else None
