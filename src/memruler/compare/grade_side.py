"""A grading of answers as one side of a comparison: which folder is meant, and what it holds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from memruler.compare.items import Items
from memruler.compare.record import Reason
from memruler.compare.score_file import read_score_file
from memruler.errors import UsageError
from memruler.model.answers import GradesManifest
from memruler.store.folder import MANIFEST
from memruler.store.grades import GRADES, is_grades, read_manifest

__all__ = [
    "MIXED",
    "grade_items",
    "grade_side",
    "scores_path",
    "trust",
    "without_determinism",
]

MIXED = Reason(
    code="ruler",
    what="one side is the retrieval of a run and the other a grading of answers: how often the "
    "evidence was found and how often the answer was right are two rulers",
    hint="name two of a kind: two runs, or two folders of grades",
)

_SCORES = "scores.csv"
_SHOWN = 6


def scores_path(grades: Path) -> Path:
    """The file of scores in a folder of grades."""
    return grades / _SCORES


def grade_side(path: Path, metric: str | None) -> Path | None:
    """The folder of grades that a path means; None where it means none.

    It is the folder itself, or a folder of answers or a run in which one grading has the metric.
    A run means a grading only where a metric is named: it holds retrieval, too.

    Args:
        path: As a person named it.
        metric: As a person named it.

    Raises:
        UsageError: It could mean several.
    """
    if not path.is_dir():
        return None
    if is_grades(path):
        return path
    answers = path.resolve().parent.name == "answers" and (path / GRADES).is_dir()
    if not answers and metric is None:
        return None
    pattern = f"{GRADES}/*/{MANIFEST}" if answers else f"answers/*/{GRADES}/*/{MANIFEST}"
    there = sorted(found.parent for found in path.glob(pattern))
    fit = [one for one in there if metric is None or read_manifest(one).metric == metric]
    if len(fit) > 1:
        inside = ", ".join(str(one.relative_to(path)) for one in fit[:_SHOWN])
        raise UsageError(
            f"it holds {len(fit)} gradings{'' if metric is None else f' with {metric}'}",
            where=path,
            hint=f"name one of them: {inside}",
        )
    return fit[0] if fit else None


def grade_items(path: Path, name: str) -> tuple[Items, GradesManifest]:
    """The items of a grading, and what it is.

    Args:
        path: Its folder.
        name: What to call it.

    Raises:
        FormatError: It is damaged, or the answers have changed since.
    """
    manifest = read_manifest(path)
    items = read_score_file(scores_path(path), name)
    degraded = tuple(sorted(set(manifest.degraded)))
    return msgspec.structs.replace(items, degraded=degraded), manifest


def without_determinism(declared: Mapping[str, Any]) -> dict[str, Any]:
    """What a grading declares, but for what follows from it: a reader that is a model is a draw."""
    return {key: value for key, value in declared.items() if key != "deterministic"}


def trust(left: Items, right: Items) -> list[Reason]:
    """Why only one of two sides is to be trusted; empty where both are, or neither."""
    one, other = set(left.degraded), set(right.degraded)
    if one == other:
        return []
    return [
        Reason(
            code="degraded",
            what=f"the {name} is degraded ({'; '.join(sorted(own - rest))}), the other side is not",
            hint="measure it with real parts",
        )
        for name, own, rest in (("base", one, other), ("candidate", other, one))
        if own - rest
    ]
