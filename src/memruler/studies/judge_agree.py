"""Holds the verdicts of two judges on the same answers against each other."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from memruler.compare.load import names
from memruler.errors import Refusal
from memruler.model.answers import GradesManifest, InstrumentIdentity
from memruler.scoring.grade_load import Grades, load_grades
from memruler.scoring.grade_scores import instrument
from memruler.scoring.grade_summary import are_labels, item_value
from memruler.stats.agreement import Agreement, cohen_kappa, pairwise_agreement

__all__ = [
    "SCHEMA_VERSION",
    "AgreementSlice",
    "JudgeAgreement",
    "Judged",
    "agree",
    "labels_of",
]

SCHEMA_VERSION = 1
"""Version of this record; raised with every change that an old reader would misread."""

_LEAST = 2


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two gradings.

    Attributes:
        name: As the call named it.
        grader, grader_sha256: Whose questions were asked.
        judge: Who judged.
        graded: Answers that it was shown.
        judged: Of these, those with a verdict.
        sample: See `GradesManifest`.
    """

    name: str
    grader: str
    grader_sha256: str
    judge: InstrumentIdentity
    graded: int
    judged: int
    sample: dict[str, Any] | None


class AgreementSlice(msgspec.Struct, frozen=True, kw_only=True):
    """How far the two agree on the answers of one category, or on all.

    Attributes:
        name: `all`, or the category.
        both: Answers with a verdict of both.
        same: Of these, those with the same.
        first_mean, second_mean: Mean value that each gave these answers; None without any.
        agreement: Share of the same verdicts with its interval; None without one.
        kappa: Cohen's, which takes chance out; likewise.
        reason: Why both are None; None where they are not.
    """

    name: str
    both: int
    same: int
    first_mean: float | None
    second_mean: float | None
    agreement: Agreement | None
    kappa: Agreement | None
    reason: str | None


class JudgeAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How far two judges agree.

    Attributes:
        schema_version: See `SCHEMA_VERSION`.
        first, second: The gradings.
        metric: What they give.
        slices: All first.
        confusion: The first's verdict, the second's, and how many answers got both.
        weighted: The share of the same verdicts with each answer counting as many as it stands
            for, where one grading is of a stratified sample; None where none is, where both are, or
            where it was drawn by the verdicts of neither.
        cluster: What the intervals resample whole.
        notes: What a reader must know, one sentence each.
    """

    schema_version: int = SCHEMA_VERSION
    first: Judged
    second: Judged
    metric: str
    slices: tuple[AgreementSlice, ...]
    confusion: tuple[tuple[str, str, int], ...]
    weighted: float | None
    cluster: str
    notes: tuple[str, ...]


class _Pair(NamedTuple):
    """One answer that both were shown."""

    category: str
    cluster: str
    first: float | None
    second: float | None


def agree(first: Path, second: Path) -> JudgeAgreement:
    """Hold two gradings of the same answers by two judges against each other.

    Args:
        first: A folder of grades; the one that is in use.
        second: Another, of all or a sample of the same answers.

    Raises:
        FormatError: A folder is none of grades, or damaged.
        Refusal: A side has no judge, both have the same, the answers or metrics differ, or no
            answer has two verdicts.
    """
    one, other = load_grades(first), load_grades(second)
    own = names(first, second)
    reasons = list(_unlike(one.manifest, other.manifest, own))
    if reasons:
        raise Refusal(reasons, where=" against ".join(own), hint="name two judges' grades")
    pairs = list(_pairs(one, other))
    both = [pair for pair in pairs if pair.first is not None and pair.second is not None]
    if not both:
        raise Refusal(
            ["no answer has a verdict of both judges"],
            where=" against ".join(own),
            hint="grade the same answers: `memruler grade RUN --sample N --like GRADE`",
        )
    parts = {"all": both}
    for name in sorted({pair.category for pair in both}):
        parts[name if name != "all" else "category all"] = [p for p in both if p.category == name]
    by = "conversation" if len({p.cluster for p in both}) > 1 else "each answer stands alone"
    counts = Counter((_label(p.first), _label(p.second)) for p in both)
    return JudgeAgreement(
        first=_judged(own[0], one),
        second=_judged(own[1], other),
        metric=one.manifest.metric,
        slices=tuple(_slice(name, part) for name, part in parts.items()),
        confusion=tuple((*key, number) for key, number in sorted(counts.items())),
        weighted=_weighted(both, one.manifest, other.manifest),
        cluster=by,
        notes=tuple(_notes(one.manifest, other.manifest, pairs, len(both))),
    )


def _unlike(one: GradesManifest, other: GradesManifest, own: tuple[str, str]) -> Iterator[str]:
    for name, manifest in zip(own, (one, other), strict=True):
        if manifest.judge is None:
            yield f"{name} was graded by a rule, and no judge had a say"
    if one.answers_sha256 != other.answers_sha256 or one.answers.run != other.answers.run:
        yield "they are of different answers"
    if one.metric != other.metric:
        yield f"one gives {one.metric} and the other {other.metric}"
    if one.judge is None or other.judge is None:
        return
    if one.grader_sha256 == other.grader_sha256 and _model(one.judge) == _model(other.judge):
        yield "both are of one judge with one prompt: it would agree with itself"


def _model(judge: InstrumentIdentity) -> dict[str, Any]:
    """What makes a judge another one: not the server it stands on, and no second name for it."""
    found = {key: value for key, value in instrument(judge).items() if key != "host"}
    if found["served"] is not None:
        del found["model"]
    return found


def _pairs(one: Grades, other: Grades) -> Iterator[_Pair]:
    values = [_values(grades) for grades in (one, other)]
    about = {(row.instance, row.query, row.repeat): row for row in one.rows}
    for key, row in about.items():
        if key in values[1]:
            yield _Pair(row.category, row.instance_key, values[0][key], values[1][key])


def _values(grades: Grades) -> dict[tuple[int, int, int], float | None]:
    """The one value that each answer got."""
    labels = are_labels(grades.rows)
    return {
        key: item_value([g.value for g in graded if g.value is not None], labels=labels)
        for key, graded in grades.by_item().items()
    }


def _verdict(value: float | None) -> str:
    return "no verdict" if value is None else _label(value)


def _label(value: float | None) -> str:
    return {0.0: "wrong", 1.0: "right"}.get(-1.0 if value is None else value, f"{value:g}")


def _slice(name: str, pairs: Sequence[_Pair]) -> AgreementSlice:
    first = [p.first for p in pairs if p.first is not None]
    second = [p.second for p in pairs if p.second is not None]
    clusters: list[str] | None = [p.cluster for p in pairs]
    if len(set(clusters or ())) < _LEAST:
        clusters = None
    agreement = kappa = None
    reason: str | None = f"{len(pairs)} answers with two verdicts give no interval"
    if len(pairs) >= _LEAST:
        labels = sorted({*first, *second})
        ordinal = not set(labels) <= {0.0, 1.0}
        kappa = cohen_kappa(
            first,
            second,
            weights="linear" if ordinal else None,
            clusters=clusters,
        )
        agreement = pairwise_agreement(list(zip(first, second, strict=True)), clusters=clusters)
        reason = None
    return AgreementSlice(
        name=name,
        both=len(pairs),
        same=sum(p.first == p.second for p in pairs),
        first_mean=fsum(first) / len(first) if first else None,
        second_mean=fsum(second) / len(second) if second else None,
        agreement=agreement,
        kappa=kappa,
        reason=reason,
    )


def _weighted(pairs: Sequence[_Pair], one: GradesManifest, other: GradesManifest) -> float | None:
    """Each answer counts for those of its stratum that were not drawn."""
    sample = other.sample or one.sample
    if sample is None or (one.sample is not None and other.sample is not None):
        return None
    whole = one if other.sample is not None else other
    if sample["by"] == "category":
        strata = [p.category for p in pairs]
    elif sample["by"] == f"category and the label of {whole.name}":
        strata = [f"{p.category} / {_label(p.first if whole is one else p.second)}" for p in pairs]
    else:  # by a third grading's verdicts
        return None
    found, sizes = Counter(strata), sample["strata"]
    if not set(found) <= set(sizes):  # the other judge said something else by then
        return None
    weights = [sizes[name][0] / found[name] for name in strata]
    same = (w for w, p in zip(weights, pairs, strict=True) if p.first == p.second)
    return fsum(same) / fsum(weights)


def _judged(name: str, grades: Grades) -> Judged:
    manifest = grades.manifest
    assert manifest.judge is not None  # noqa: S101 - refused before
    values = list(_values(grades).values())
    return Judged(
        name=name,
        grader=manifest.grader,
        grader_sha256=manifest.grader_sha256,
        judge=manifest.judge,
        graded=len(values),
        judged=sum(value is not None for value in values),
        sample=manifest.sample,
    )


def _notes(
    one: GradesManifest, other: GradesManifest, pairs: Sequence[_Pair], both: int
) -> Iterator[str]:
    if one.grader_sha256 != other.grader_sha256:
        yield "the judges were asked by different graders: what differs may be the question"
    if len(pairs) > both:
        yield f"{len(pairs) - both} answers that both were shown lack a verdict of one of them"
    if one.sample is not None or other.sample is not None:
        yield (
            "of a stratified sample: each stratum gave its share and at least one answer, so rare "
            "verdicts weigh a little more in all shares but the weighted one"
        )
    yield "agreement is not truth: two judges can share an error; probes show it (calibrate)"


def labels_of(grades: Grades) -> Mapping[tuple[int, int, int], str]:
    """Each answer's verdict in words, for drawing a sample by it."""
    return {key: _verdict(value) for key, value in _values(grades).items()}
