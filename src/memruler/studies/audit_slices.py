"""Shares of the cases by data set, target, category, and whether they gain; each pair once."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from memruler.studies.audit_files import LabelledCases
from memruler.studies.audit_labels import LABELS, majority
from memruler.studies.audit_record import AuditSlice
from memruler.studies.audit_share import justified_share
from memruler.studies.audit_weights import Weights, weights_of

__all__ = ["DIMENSIONS", "pooled", "slices_of"]

DIMENSIONS: Final = ("corpus", "run", "target", "category", "gains")
"""Columns that may differ; the run only counts where one data set has several."""

_SEVERAL = "several targets are pooled, and each was drawn by itself"


def slices_of(found: LabelledCases) -> Iterator[AuditSlice]:
    """All cases, then by each dimension that varies, then by each mix of those."""
    weights = weights_of(found.columns, found.notes.sampled)
    varying = [name for name in DIMENSIONS if _varies(found, name)]
    for number in range(len(varying) + 1):
        for names in combinations(varying, number):
            groups: dict[tuple[str, ...], list[int]] = {}
            for at in range(len(found.columns["case"])):
                key = tuple(found.columns[name][at] for name in names)
                groups.setdefault(key, []).append(at)
            for key, rows in sorted(groups.items()):
                yield _slice(found, dict(zip(names, key, strict=True)), rows, weights)


def _varies(found: LabelledCases, name: str) -> bool:
    if name != "run":
        return len(set(found.columns[name])) > 1
    runs = set(zip(found.columns["corpus"], found.columns["run"], strict=True))
    return len(runs) > len(set(found.columns["corpus"]))


def pooled(
    found: LabelledCases, rows: Sequence[int]
) -> tuple[list[int], dict[str, list[str | None]]]:
    """The first row of each pair, and every rater's label of it.

    A rater who labelled a pair under two targets in two ways has no label of it.
    """
    by_pair: dict[str, list[int]] = {}
    for at in rows:
        by_pair.setdefault(found.columns["pair"][at], []).append(at)
    labels: dict[str, list[str | None]] = {}
    for rater, said in found.labels.items():
        given = [{said[at] for at in same} - {None} for same in by_pair.values()]
        labels[rater] = [one.pop() if len(one) == 1 else None for one in given]
    return [same[0] for same in by_pair.values()], labels


def _slice(
    found: LabelledCases, by: dict[str, str], rows: Sequence[int], weights: Weights
) -> AuditSlice:
    first, labels = pooled(found, rows)
    given = list(zip(*labels.values(), strict=True))
    decided = {
        at: label for at, said in zip(first, given, strict=True) if (label := majority(said))
    }
    queries = [found.query(at) for at in decided]
    weighted: Weights = weights
    if len({found.columns["target"][at] for at in rows}) > 1:
        weighted = _SEVERAL
    elif not isinstance(weights, str):
        weighted = [weights[at] for at in decided]
    counts = Counter(decided.values())
    rated = sum(any(said) for said in given)
    return AuditSlice(
        by=by,
        cases=len(rows),
        pairs=len(first),
        queries=len({found.query(at) for at in first}),
        majority={label: counts[label] for label in LABELS},
        ties=rated - len(decided),
        unlabelled=len(first) - rated,
        supports=justified_share(
            [label == "supports" for label in decided.values()], queries, weighted
        ),
        supports_or_partial=justified_share(
            [label != "does_not_support" for label in decided.values()], queries, weighted
        ),
    )
