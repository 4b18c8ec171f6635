"""Files every missed query of a saved run under the one stage that lost it.

Under `retrieval` a query is missed where a gold turn has no form among the first k hits, whatever
the form is; the same is 1 - recall_all@k where a store holds nothing but raw turns. Under `answers`
it is missed where a grader says so. The missing gold decides first: the earliest stage among it. If
all of it was given, the texts decide between `compression`, `reader` and `not_verbatim`.
"""

from collections import Counter
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.errors import FormatError
from memruler.model.corpus import Corpus
from memruler.model.failures import STAGES, Stage, StageCounts
from memruler.model.run import Manifest
from memruler.scoring.answer_context import require_depth
from memruler.scoring.answer_load import answers_of
from memruler.scoring.failure_answers import Said, graded_answers
from memruler.scoring.failure_corpus import corpus_texts, require_own_corpus
from memruler.scoring.failure_stages import HELD, Anchors, Stored, earliest, lost_at, stage_code
from memruler.scoring.failure_texts import Needed, Words, find_words
from memruler.scoring.failure_words import gold_parts, normal, stands
from memruler.scoring.levels import counted, exclusions
from memruler.scoring.load import RunArrays, load
from memruler.scoring.run_tables import forms_of
from memruler.scoring.run_terms import terms_of
from memruler.store.folder import RunFolder
from memruler.store.tables import batches
from memruler.targets.eligible import Gold, descents

__all__ = ["UNSCORED", "Filed", "counts_of", "file_failures"]

UNSCORED: Final = -2
"""State of a query that has no value."""

_TURN_BITS = 32


class Filed(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A run whose missed queries are filed. Q queries in corpus order.

    Attributes:
        folder, manifest, run: The run.
        k: Depth of the context.
        level: What an anchor is.
        gold, stored, anchors: The evidence and what became of it.
        said: The answers; None under `retrieval`.
        state: Place of the stage in `STAGES`, `HELD` where it was not missed, `UNSCORED` [Q].
        unscored: Why a query has no value; None where it has one [Q].
        rule: When one is missed.
        why: Of those that `anchors` do not explain, the reason.
        words: None under `retrieval`.
        context: Digest of what each query was given, in order; None where that is not known [Q].
        corpus: Tells the evidence as it was said, where the store does not; None without it.
        notes: What a reader must know.
    """

    folder: RunFolder
    manifest: Manifest
    run: RunArrays
    k: int
    level: Literal["turn", "session"]
    gold: Gold
    stored: Stored
    anchors: Anchors
    said: Said | None
    state: NDArray[np.int8]
    unscored: list[str | None]
    rule: str
    why: dict[int, str]
    words: Words | None
    context: list[tuple[int, ...] | None]
    corpus: Corpus | None
    notes: tuple[str, ...]


def file_failures(
    path: Path,
    *,
    answered: bool = False,
    answers: str | None = None,
    grade: str | None = None,
    k: int | None = None,
    below: float | None = None,
    corpus: Corpus | None = None,
) -> Filed:
    """Read a run and file what it missed.

    Args:
        path: The run folder.
        answered: Look at answers; else at retrieval alone.
        answers: Name of the answers; None where the run has only these.
        grade: Name of a grading of them; None where they have only this.
        k: Depth under `retrieval`, and where a reader does not tell what it was given; None for
            all hits that were asked for.
        below: A value below it is missed; None for the usual rule of the metric.
        corpus: The one that was measured, to look evidence up that the store does not hold.

    Raises:
        FormatError: No run, not sealed, or damaged.
        UsageError: k is deeper than the run, the corpus is another one, or there is no such
            answer or grading.
    """
    folder = RunFolder.open(path)
    run = load(folder, "raw")
    manifest = run.manifest
    if corpus is not None:
        require_own_corpus(manifest, corpus)
    told = terms_of(manifest, folder.path)
    depth = told.limit if k is None else k
    require_depth(manifest, depth)
    turnless = told.granularity == "session"
    level: Literal["turn", "session"] = "session" if turnless else "turn"
    gold = _gold(run, level)
    stored = Stored(
        forms=forms_of(folder),
        reason=run.items.reason,
        reasons=run.items.reasons,
        exported=manifest.lineage_exported,
    )
    said, given, notes = None, run.hits[:, :depth], []
    if answered:
        keys = {
            key: row
            for row, key in enumerate(zip(run.instance.tolist(), run.query.tolist(), strict=True))
        }
        said = graded_answers(folder, keys, answers=answers, grade=grade, below=below)
        if said.given is None:
            notes.append(
                f"what the reader was given is not known: the first {depth} hits stand for it"
            )
        else:
            given, depth = _matrix(said.given), said.answers.k or depth
    elif answers_of(folder):
        notes.append("the run has answers, too: name them with --answers to file what they missed")
    anchors = lost_at(gold, stored, descents(gold, stored.forms), run.hits, given)
    first = earliest(anchors, len(run.query))
    if said is not None and said.given is not None:
        notes += _squeezed(anchors, said, depth)
    filed = Filed(
        folder=folder,
        manifest=manifest,
        run=run,
        k=depth,
        level=level,
        gold=gold,
        stored=stored,
        anchors=anchors,
        said=said,
        state=first,
        unscored=[],
        rule=f"missed: not all gold {level}s have a form among the first {depth} hits",
        why={},
        words=None,
        context=[],
        corpus=corpus,
        notes=tuple(notes),
    )
    return _by_retrieval(filed) if said is None else _by_answers(filed, said, given)


def _squeezed(anchors: Anchors, said: Said, k: int) -> list[str]:
    """A note where gold was ranked well enough, and the reader did not get it all the same."""
    ranked = (anchors.code == stage_code("ranking")) & (anchors.rank > 0) & (anchors.rank <= k)
    number = int((ranked & said.missed[anchors.query]).sum())
    told = (
        f"ranking holds {number} gold turns that were among the first {k} hits and not given: the "
        "context was full, or no text of theirs is known"
    )
    return [told] if number else []


def _gold(run: RunArrays, level: Literal["turn", "session"]) -> Gold:
    found = run.gold[level]
    turns = level == "turn"
    return Gold(
        offsets=found.offsets,
        instance=np.repeat(run.instance, found.lengths()),
        session=found.flat >> _TURN_BITS if turns else found.flat,
        turn=found.flat & (2**_TURN_BITS - 1) if turns else None,
    )


def _matrix(lists: list[tuple[int, ...]]) -> NDArray[np.int64]:
    """Lists as one matrix, short ones filled with -1."""
    found = np.full((len(lists), max(map(len, lists), default=0)), -1, np.int64)
    for row, values in enumerate(lists):
        found[row, : len(values)] = values
    return found


def _by_retrieval(filed: Filed) -> Filed:
    reasons = exclusions(filed.run)
    reasons[counted(reasons) & (np.diff(filed.gold.offsets) == 0)] = f"no_{filed.level}_gold"
    state = np.where(counted(reasons), filed.state, UNSCORED).astype(np.int8)
    return msgspec.structs.replace(filed, state=state, unscored=reasons.tolist())


def _by_answers(filed: Filed, said: Said, given: NDArray[np.int64]) -> Filed:
    """What the texts decide, for missed queries whose evidence was all given."""
    golds, answerable = _asked(filed)
    anchors, count = filed.anchors, np.diff(filed.gold.offsets)
    rows, columns = np.nonzero(given >= 0)
    # The evidence matters only where it was given; the context of the others is compared, too.
    mine = said.missed[anchors.query[anchors.pairs.anchor]] & anchors.verbatim
    pairs = anchors.pairs
    evidence = Needed(
        query=anchors.query[pairs.anchor[mine]], row=pairs.item[mine].astype(np.int64)
    )
    words = find_words(
        filed.folder,
        golds,
        Needed(query=rows, row=given[rows, columns]),
        evidence,
        len(filed.stored.reason),
    )
    told = np.zeros(len(anchors.code), np.bool_)
    told[pairs.anchor[mine][words.told]] = True
    if filed.corpus is not None:
        open_ = np.flatnonzero(said.missed[anchors.query] & ~told)
        for anchor, text in corpus_texts(filed.corpus, filed.gold, open_):
            told[anchor] = True
            row = int(anchors.query[anchor])
            words.evidence[row] |= stands(golds[row], normal(text))
    silent = np.bincount(anchors.query[~told], minlength=len(count)) > 0
    state = np.full(len(count), HELD, np.int8)
    why: dict[int, str] = {}
    for row in np.flatnonzero(said.missed).tolist():
        stage: Stage
        if not answerable[row]:
            stage, why[row] = "reader", "there is no answer, and the grader saw no refusal"
        elif filed.state[row] != HELD:
            state[row] = filed.state[row]
            continue
        else:
            stage, why[row] = _by_words(row, words, golds, int(count[row]), bool(silent[row]))
        state[row] = stage_code(stage)
    state[np.isnan(said.value)] = UNSCORED
    known = said.given is not None
    return msgspec.structs.replace(
        filed,
        state=state,
        unscored=said.reason,
        rule=said.rule,
        why=why,
        words=words,
        context=_contexts(given, words) if known else [None] * len(count),
    )


def _by_words(
    row: int, words: Words, golds: list[tuple[str, ...]], anchors: int, silent: bool
) -> tuple[Stage, str]:
    """Stage and reason of one query all of whose evidence was given: the first that applies."""
    rules: tuple[tuple[bool, Stage, str], ...] = (
        (not golds[row], "unknown", "the data set gives no answer to look for"),
        (
            bool(words.context[row]),
            "reader",
            "the gold answer stands in what the reader was given",
        ),
        (bool(words.textless[row]), "unknown", "the text of a hit is not known"),
        (not anchors, "unknown", "the data set names no evidence"),
        (
            bool(words.evidence[row]),
            "compression",
            "the gold answer stands only in the evidence as it was said",
        ),
        (silent, "unknown", "the text of the evidence is not in the run: name its corpus"),
        (True, "not_verbatim", "the gold answer stands nowhere word for word"),
    )
    return next((stage, why) for applies, stage, why in rules if applies)


def _contexts(given: NDArray[np.int64], words: Words) -> list[tuple[int, ...] | None]:
    """The digests of what each query was given; None where a text is not known."""
    digest = np.append(words.digest, 0)  # the row -1 is padding
    found: list[tuple[int, ...] | None] = []
    for row, rows in enumerate(given):
        there = rows[rows >= 0]
        found.append(None if words.textless[row] else tuple(digest[there].tolist()))
    return found


def _asked(filed: Filed) -> tuple[list[tuple[str, ...]], list[bool]]:
    golds: list[tuple[str, ...]] = []
    answerable: list[bool] = []
    columns = ["answer", "answer_json", "answerable"]
    for batch in batches(filed.folder, "queries", columns=columns):
        texts, raws = (batch.column(name).to_pylist() for name in columns[:2])
        golds += [
            gold_parts(gold, None if raw is None else msgspec.json.decode(raw))
            for gold, raw in zip(texts, raws, strict=True)
        ]
        answerable += map(bool, batch.column("answerable").to_pylist())
    if len(golds) != len(filed.state):
        raise FormatError("the tables do not fit together", where=filed.folder.path)
    return golds, answerable


def counts_of(filed: Filed, category: str | None = None) -> StageCounts:
    """The counts of one category, or of all."""
    mine = np.ones(len(filed.state), np.bool_)
    if category is not None:
        mine = filed.run.category == category
    state = filed.state[mine]
    by_stage: dict[Any, int] = {stage: int((state == stage_code(stage)).sum()) for stage in STAGES}
    reasons = (filed.unscored[row] for row in np.flatnonzero(mine & (filed.state == UNSCORED)))
    return StageCounts(
        category=category,
        queries=len(state),
        scored=int((state != UNSCORED).sum()),
        missed=int((state >= 0).sum()),
        stages=by_stage,
        unscored=dict(sorted(Counter(reason or "no value" for reason in reasons).items())),
    )
