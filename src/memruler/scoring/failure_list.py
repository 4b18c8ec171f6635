"""Filed failures as the record that reports and scripts read, with the items that are asked for."""

from typing import Any

import numpy as np

from memruler.model.failures import STAGES, EvidencePart, Failures, MissedItem, Stage
from memruler.scoring.failure_corpus import corpus_texts
from memruler.scoring.failure_stages import HELD
from memruler.scoring.failures import Filed, counts_of
from memruler.store.tables import batches

__all__ = ["failures_of", "missed_items"]

_COLUMNS = ["instance_key", "id", "text", "category", "answer", "answerable"]


def failures_of(
    filed: Filed,
    *,
    stage: Stage | None = None,
    category: str | None = None,
    limit: int | None = None,
) -> Failures:
    """Count all, and list the items that pass the filters.

    Args:
        filed: The run.
        stage: Only items of this stage.
        category: Only items of this category; one that nobody has lists nothing.
        limit: How many are listed at most; None for all.
    """
    chosen = filed.state >= 0
    filters: dict[str, str] = {}
    if stage is not None:
        chosen &= filed.state == STAGES.index(stage)
        filters["stage"] = stage
    if category is not None:
        chosen &= filed.run.category == category
        filters["category"] = category
    rows = np.flatnonzero(chosen).tolist()
    said = filed.said
    parts = filed.manifest.fingerprint
    return Failures(
        run=filed.manifest.stem,
        ruler="retrieval" if said is None else "answers",
        answers=None if said is None else said.answers.name,
        grade=None if said is None else said.grades.name,
        grader=None if said is None else said.grades.grader,
        metric=None if said is None else said.grades.metric,
        rule=filed.rule,
        population=parts["population"]["name"],
        level=filed.level,
        k=filed.k,
        all=counts_of(filed),
        categories=tuple(
            counts_of(filed, str(name)) for name in sorted(set(filed.run.category.tolist()))
        ),
        filters=filters,
        selected=len(rows),
        items=missed_items(filed, rows[:limit]),
        identity={"corpus": parts["corpus"], "population": parts["population"]},
        notes=(*filed.manifest.corpus_notes, *filed.notes),
        degraded=_degraded(filed),
    )


def _degraded(filed: Filed) -> tuple[str, ...]:
    """What the run, the answers and the grades say against themselves, each once."""
    found = list(filed.manifest.degraded)
    if filed.said is not None:
        found += [*filed.said.answers.degraded, *filed.said.grades.degraded]
    return tuple(dict.fromkeys(found))


def missed_items(filed: Filed, rows: list[int]) -> tuple[MissedItem, ...]:
    """Some missed queries, with their texts.

    Args:
        filed: The run.
        rows: Rows of queries that were missed, ascending.
    """
    if not rows:
        return ()
    said, words, offsets = filed.said, filed.words, filed.gold.offsets
    asked = _taken(filed, "queries", _COLUMNS, rows)
    texts = _texts(filed, rows)
    found = []
    for row, query in zip(rows, asked, strict=True):
        evidence = tuple(
            _part(filed, anchor, texts) for anchor in range(offsets[row], offsets[row + 1])
        )
        stage = STAGES[int(filed.state[row])]
        decided = next((part.why for part in evidence if part.stage == stage), None)
        unclear = (
            words is None
            or not query["answer"]
            or (bool(words.textless[row]) and not words.context[row])
        )
        found.append(
            MissedItem(
                instance=int(filed.run.instance[row]),
                query=int(filed.run.query[row]),
                instance_key=query["instance_key"],
                id=query["id"],
                category=query["category"],
                answerable=query["answerable"],
                question=query["text"],
                gold=query["answer"],
                answer=None if said is None else said.text[row],
                value=None if said is None else float(said.value[row]),
                stage=stage,
                why=filed.why.get(row) or decided or "",
                evidence=evidence,
                gold_in_context=None if unclear or words is None else bool(words.context[row]),
            )
        )
    return tuple(found)


def _part(filed: Filed, anchor: int, texts: dict[int, str]) -> EvidencePart:
    code, turn = int(filed.anchors.code[anchor]), filed.gold.turn
    return EvidencePart(
        session=int(filed.gold.session[anchor]),
        turn=None if turn is None else int(turn[anchor]),
        stage=None if code == HELD else STAGES[code],
        why=filed.anchors.why(anchor, filed.stored, filed.k),
        text=texts.get(anchor),
    )


def _texts(filed: Filed, rows: list[int]) -> dict[int, str]:
    """Anchor to its text as it was said, where the store or the corpus holds that."""
    pairs = filed.anchors.pairs
    wanted = np.isin(filed.anchors.query[pairs.anchor], rows) & filed.anchors.verbatim
    anchor, item = pairs.anchor[wanted], pairs.item[wanted].astype(np.int64)
    lineage = np.unique(item).tolist()
    told = dict(zip(lineage, _taken(filed, "lineage", ["text"], lineage), strict=True))
    found: dict[int, str] = {}
    for of, row in zip(anchor.tolist(), item.tolist(), strict=True):
        if told[row]["text"] is not None:
            found.setdefault(of, told[row]["text"])
    if filed.corpus is not None:
        anchors = np.flatnonzero(np.isin(filed.anchors.query, rows))
        lacking = anchors[~np.isin(anchors, list(found))]
        found.update(corpus_texts(filed.corpus, filed.gold, lacking))
    return found


def _taken(filed: Filed, table: str, columns: list[str], rows: list[int]) -> list[dict[str, Any]]:
    """Some rows of a table, ascending; read in batches."""
    found: list[dict[str, Any]] = []
    wanted, start = np.array(rows, np.int64), 0
    for batch in batches(filed.folder, table, columns=columns):
        here = wanted[slice(*np.searchsorted(wanted, [start, start + batch.num_rows]))]
        found += batch.take(here - start).to_pylist()
        start += batch.num_rows
    return found
