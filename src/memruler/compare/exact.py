"""The exact ruler: what changed between two deterministic runs. A fact carries no interval."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from memruler.compare.bounds import bounds
from memruler.compare.changes import changed_queries, recounted
from memruler.compare.comparable import other_corpus, reasons
from memruler.compare.deltas import macro, verdict
from memruler.compare.fingerprint import Differences, differences
from memruler.compare.grade_side import MIXED
from memruler.compare.headline import LEVELS, Cell, choose_headline
from memruler.compare.load import LoadedRun, QueryKey, load, names, side
from memruler.compare.notes import notes, unlike_code
from memruler.compare.paired import cell_deltas
from memruler.compare.record import (
    SCHEMA_VERSION,
    ChangedQuery,
    Comparison,
    Delta,
    MacroDelta,
    Reason,
)
from memruler.compare.refusal import Incomparable
from memruler.compare.selection import select
from memruler.compare.target_card import TargetCard
from memruler.compare.target_part import UnderTarget, turned, under_targets
from memruler.errors import UsageError
from memruler.metrics.names import MetricName
from memruler.model.summary import Level
from memruler.store.grades import is_grades

__all__ = ["compare", "compare_loaded"]


def compare(
    base: Path,
    candidate: Path,
    *,
    changed: Sequence[str] = (),
    cutoffs: Sequence[int] | Literal["common"] | None = None,
    levels: Sequence[Level] | None = None,
    metric: str | None = None,
    shared: bool = False,
) -> Comparison:
    """Compare two finished, deterministic runs over the same queries.

    Args:
        base: Run folder of the baseline.
        candidate: Run folder of the candidate.
        changed: What is under test; see `memruler.compare.fingerprint.differences`.
        cutoffs: Depths; None for all; `common` for those where both count the same queries.
        levels: Levels; None for both.
        metric: The metric that decides, such as `ndcg@10`; None for `recall_all@5`, or the
            deepest cut-off compared where there is no 5.
        shared: Take every mean over the queries that count in both runs, where those that count
            differ. The comparison says so, and is refused where the headline turns its sign over
            padded lists, or once a list shorter than the cut-off scores 0.

    Raises:
        Incomparable: A difference would not mean what it looks like; every reason at once.
        UsageError: A declared key or a metric is unknown; both runs are the same folder;
            `shared` and `common` are asked for together; or both are gradings of answers.
        FormatError: A folder is no finished and scored run.
    """
    if base.resolve() == candidate.resolve():
        raise UsageError(
            "a run cannot be compared with itself", where=base, hint="name two run folders"
        )
    if shared and cutoffs == "common":
        raise UsageError(
            "--shared keeps the cut-offs that -k common leaves out", hint="choose one of the two"
        )
    _refuse_grades(base, candidate)
    left, right = map(load, (base, candidate), names(base, candidate))
    return compare_loaded(
        left,
        right,
        changed=changed,
        cutoffs=cutoffs,
        levels=levels,
        metric=metric,
        shared=shared,
        folders=(base, candidate),
    )


def compare_loaded(
    left: LoadedRun,
    right: LoadedRun,
    *,
    changed: Sequence[str] = (),
    cutoffs: Sequence[int] | Literal["common"] | None = None,
    levels: Sequence[Level] | None = None,
    metric: str | None = None,
    shared: bool = False,
    folders: tuple[Path, Path] | None = None,
    explained: bool = True,
) -> Comparison:
    """Compare two runs that were read before; see `compare`.

    Args:
        left: The baseline.
        right: The candidate.
        changed: As in `compare`.
        cutoffs: As in `compare`.
        levels: As in `compare`.
        metric: As in `compare`.
        shared: As in `compare`.
        folders: Their folders; None where one is not a run folder, and then nothing is said of
            other targets.
        explained: Refuse a difference that nothing on record can have caused.

    Raises:
        Incomparable: As in `compare`.
        UsageError: A declared key or a metric is unknown.
        FormatError: The scores of a run are not those of its summary.
    """
    found = differences(left.manifest.fingerprint, right.manifest.fingerprint, changed)
    selection = select(left, right, cutoffs, levels, shared=shared)
    headline = choose_headline(metric, selection.cells)
    refused = [
        *reasons(left, right, found, tuple(levels or LEVELS)),
        *(reason for reason in selection.reasons if not _follows(reason, found)),
        # Without cut-offs the reasons above say it all already.
        *([headline] if isinstance(headline, Reason) and selection.cells else []),
    ]
    if refused or isinstance(headline, Reason):
        raise Incomparable(left.name, right.name, refused)
    deltas = tuple(
        d for cell in selection.cells for d in cell_deltas(left, right, cell, shared=shared)
    )
    deciding = _deciding(deltas, headline, selection.cells)
    changed_there = changed_queries(left, right, selection.cells, deciding)
    if explained:
        _refuse_unexplained(left, right, found, changed_there)
    by_target, cards = _by_target(folders, left, right, deciding.k)
    bound = bounds(left, right, deltas, deciding, shared=shared)
    return Comparison(
        schema_version=SCHEMA_VERSION,
        ruler="exact",
        base=side(left),
        candidate=side(right),
        corpus=left.manifest.fingerprint["corpus"],
        population=left.summary.population,
        clusters=left.summary.clusters,
        target=left.summary.target,
        changed=found.declared,
        shared_only=shared,
        verdict=verdict(deciding),
        headline=deciding,
        padded=bound.padded,
        floor=bound.floor,
        deltas=deltas,
        macro=tuple(_macro(deltas)),
        by_target=by_target,
        cards=cards,
        queries=changed_there,
        omitted=selection.omitted,
        degraded=left.manifest.degraded,
        corpus_notes=left.manifest.corpus_notes,
        notes=(
            *turned(by_target),
            *notes(left, right, found, deciding if metric is None else None, bound),
        ),
    )


def _refuse_grades(base: Path, candidate: Path) -> None:
    """A grading has one number an answer, and no lists to compare at cut-offs."""
    graded = [is_grades(path) for path in (base, candidate)]
    if all(graded):
        raise UsageError(
            "these are grades of answers, and this verb compares what was retrieved",
            where=f"{base} against {candidate}",
            hint="memruler gate decides on grades",
        )
    if any(graded):
        raise Incomparable(*names(base, candidate), [MIXED])


def _by_target(
    runs: tuple[Path, Path] | None, base: LoadedRun, candidate: LoadedRun, k: int
) -> tuple[tuple[UnderTarget, ...], tuple[TargetCard, ...]]:
    """What the verdict would rest on under another target, where stores transform."""
    if runs is None or not any(run.summary.hits.transformed for run in (base, candidate)):
        return (), ()
    kinds = {run.manifest.fingerprint["ingest"]["granularity"] for run in (base, candidate)}
    return under_targets(runs, "session" if "session" in kinds else "turn", k)


def _follows(reason: Reason, found: Differences) -> bool:
    """Whether a reason goes without saying, since the corpus is another one."""
    return other_corpus(found) and reason.code in {"members", "nothing-left"}


def _deciding(deltas: Sequence[Delta], name: MetricName, cells: Sequence[Cell]) -> Delta:
    level = min((level for level, _ in cells), key=LEVELS.index)
    return next(
        d
        for d in deltas
        if (d.level, d.k, d.metric, d.slice) == (level, name.k, name.metric, "all")
    )


def _macro(deltas: Sequence[Delta]) -> Iterator[MacroDelta]:
    groups: dict[tuple[Level, int, str], dict[str, Delta]] = {}
    for delta in deltas:
        if delta.slice != "all":
            group = groups.setdefault((delta.level, delta.k, delta.metric), {})
            group[delta.slice] = delta
    yield from (macro(group) for group in groups.values())


def _refuse_unexplained(
    base: LoadedRun, candidate: LoadedRun, found: Differences, changed: Sequence[ChangedQuery]
) -> None:
    """Refuse a difference that nothing on record can have caused: one run was no fact."""
    same = (base.manifest.packages, base.manifest.machine) == (
        candidate.manifest.packages,
        candidate.manifest.machine,
    )
    if not same or found.declared:
        return
    unlike = {QueryKey(query.instance, query.query) for query in changed}
    unlike |= recounted(base, candidate)
    if unlike:
        first = next(key for key in base.queries if key in unlike)
        what = (
            f"{len(unlike)} queries scored differently (the first: {first.instance} "
            f"#{first.query}) although fingerprint, packages and machine are equal"
        )
        hint = (
            "one of the runs is not deterministic, or its system changed without changing its "
            "identity; measure both anew"
        )
        if code := unlike_code(base, candidate):
            what += f"; the code of memruler is not ({', '.join(code)} differ)"
            hint = "measure both with the same code of memruler: it is the ruler, not under test"
        reason = Reason(code="unexplained", what=what, hint=hint)
        raise Incomparable(base.name, candidate.name, [reason])
