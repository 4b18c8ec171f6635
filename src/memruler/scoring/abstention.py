"""Abstention of a saved run: what its scores, and what a reader's answers, say of the unanswerable.

All queries that were asked count, those too that the run's population leaves out of recall.
"""

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from memruler.errors import FormatError, Refusal, UsageError
from memruler.metrics.answers.refusal import RefusalRule, refused
from memruler.model.abstention import Abstention, ReaderAbstention, RetrievalAbstention, Signal
from memruler.scoring.abstention_counts import by_category, counts, tally
from memruler.scoring.abstention_scores import Asked, retrieval_abstention
from memruler.scoring.answer_load import answers_of, choose_answers, load_items
from memruler.scoring.failure_answers import choose_grade
from memruler.scoring.grade_summary import are_labels, item_value
from memruler.scoring.run_terms import terms_of
from memruler.store.answers import read_answers_manifest
from memruler.store.binding import require_own_tables
from memruler.store.folder import RunFolder
from memruler.store.grades import grades_path, read_manifest, read_rows
from memruler.store.tables import batches, read_table

__all__ = ["abstention"]

_CHANCE = 0.5


def abstention(
    path: Path,
    *,
    answers: str | None = None,
    grade: str | None = None,
    rule: RefusalRule = "wide",
    signal: Signal = "top1",
    k: int | None = None,
) -> Abstention:
    """Measure who knows that there is no answer.

    Args:
        path: The run folder.
        answers: Name of the answers; None for those that the run has alone, if it has any.
        grade: A grading whose values say which queries without an answer were refused; None where
            the phrases say it.
        rule: What counts as a refusal.
        signal: What of the scores is looked at.
        k: Depth of `mean`; None for all hits that were asked for.

    Raises:
        FormatError: No run, not sealed, or damaged.
        Refusal: Neither the scores nor any answer can tell.
        UsageError: There are no such answers, or a depth that the run does not have.
    """
    folder = RunFolder.open(path)
    manifest = folder.manifest()
    assert manifest is not None  # noqa: S101 - opened folders have one
    require_own_tables(folder, manifest, ("queries", "trace"))
    limit = terms_of(manifest, folder.path).limit
    if k is not None and k > limit:
        raise UsageError(f"no search of this run was asked for {k} hits", hint=f"use -k {limit}")
    asked = _asked(folder)
    notes = list(manifest.corpus_notes)
    retrieval: RetrievalAbstention | None = None
    why: Refusal | None = None
    try:
        retrieval = retrieval_abstention(asked, signal, k or limit)
    except Refusal as refusal:
        why = refusal
    if retrieval is not None and retrieval.auroc < _CHANCE:
        notes.append(
            f"the scores point the other way (AUROC {retrieval.auroc:.4f} is below 0.5): queries "
            "without an answer get the higher ones; nothing was turned round"
        )
    reader = None
    if answers is not None or grade is not None or answers_of(folder):
        name = choose_answers(folder, answers)
        reader = _reader(folder, name, grade, rule)
        if _drawn(folder, name, grade):
            notes.append(
                "the reader's counts are of a single draw and carry no interval: a model that is "
                "asked another time may refuse otherwise"
            )
    if reader is None and why is not None:
        raise Refusal(why.reasons, where=path, hint=why.hint)
    return Abstention(
        run=manifest.stem,
        corpus=manifest.fingerprint["corpus"],
        answerable=int(asked.answerable.sum()),
        unanswerable=int((~asked.answerable).sum()),
        retrieval=retrieval,
        no_retrieval=None if why is None else f"{'; '.join(why.reasons)}; {why.hint}",
        reader=reader,
        notes=tuple(notes),
        degraded=tuple(
            dict.fromkeys((*manifest.degraded, *(() if reader is None else reader.degraded)))
        ),
    )


def _asked(folder: RunFolder) -> Asked:
    """The queries and the first draw of each search; both tables are in the order of the corpus."""
    table = read_table(folder, "queries", columns=["instance", "query", "category", "answerable"])
    queries = table.to_pydict()
    keys: list[tuple[int, int]] = []
    scores: list[list[float | None]] = []
    failed: list[bool] = []
    columns = ["instance", "query", "repeat", "scores", "error"]
    for batch in batches(folder, "trace", columns=columns):
        for row in batch.to_pylist():
            if row["repeat"] == 0:
                keys.append((row["instance"], row["query"]))
                scores.append(row["scores"])
                failed.append(row["error"] is not None)
    if keys != list(zip(queries["instance"], queries["query"], strict=True)):
        raise FormatError(
            "the trace does not hold exactly one ranking per query, in order",
            where=folder.path,
            hint="measure it anew",
        )
    return Asked(
        answerable=np.array(queries["answerable"], np.bool_),
        category=queries["category"],
        cluster=np.array(queries["instance"], np.int64),
        scores=scores,
        failed=np.array(failed, np.bool_),
    )


def _reader(
    folder: RunFolder, answers: str, grade: str | None, rule: RefusalRule
) -> ReaderAbstention:
    manifest = read_answers_manifest(folder, answers)
    judged = _judged(folder, answers, grade)
    degraded = manifest.degraded
    if judged is not None:
        path = grades_path(folder.path, answers, choose_grade(folder, answers, grade))
        degraded = tuple(dict.fromkeys((*degraded, *read_manifest(path).degraded)))
    unscored: Counter[str] = Counter()
    said: list[bool] = []
    answerable: list[bool] = []
    categories: list[str] = []
    for item in load_items(folder, answers):
        if item.repeat:
            continue
        if item.response is None:
            unscored[item.error or "there is no answer"] += 1
            continue
        if judged is not None and not item.answerable:
            value = judged.get((item.instance, item.query))
            if value is None:
                unscored["not judged"] += 1
                continue
            said.append(value == 1)
        else:
            said.append(refused(item.response, rule))
        answerable.append(item.answerable)
        categories.append(item.category)
    verdict, kind = np.array(said, np.bool_), np.array(answerable, np.bool_)
    reader = manifest.reader
    return ReaderAbstention(
        answers=answers,
        reader=reader.kind if reader.model is None else f"{reader.kind} {reader.model}",
        rule=rule,
        grade=None if judged is None else choose_grade(folder, answers, grade),
        queries=len(said),
        unscored=dict(sorted(unscored.items())),
        degraded=degraded,
        all=counts("all", tally(verdict, kind)),
        categories=by_category(categories, verdict, kind),
    )


def _drawn(folder: RunFolder, answers: str, grade: str | None) -> bool:
    """Whether the same answers or verdicts need not come another time."""
    if read_answers_manifest(folder, answers).reader.kind != "extractive":
        return True
    if grade is None:
        return False
    path = grades_path(folder.path, answers, choose_grade(folder, answers, grade))
    return read_manifest(path).judge is not None


def _judged(
    folder: RunFolder, answers: str, grade: str | None
) -> dict[tuple[int, int], float | None] | None:
    """What a grading made of every query's first answer: of several verdicts their majority."""
    if grade is None:
        return None
    path = grades_path(folder.path, answers, choose_grade(folder, answers, grade))
    read_manifest(path)
    rows = read_rows(path)
    labels = are_labels(rows)
    drawn: dict[tuple[int, int], list[float]] = defaultdict(list)
    for row in rows:
        if not row.repeat and row.graded.value is not None:
            drawn[row.instance, row.query].append(row.graded.value)
    return {query: item_value(values, labels=labels) for query, values in drawn.items()}
