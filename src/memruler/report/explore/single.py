"""One query in full, over one run or two."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from memruler.model.failures import STAGES
from memruler.report.explore.columns import Columns
from memruler.report.explore.listing import about
from memruler.report.explore.measured import Measured
from memruler.report.explore.pairs import moved
from memruler.report.explore.record import Evidence, QueryDetail
from memruler.report.explore.texts import cut
from memruler.scoring.run_terms import terms_of

__all__ = ["detail_of"]

_UNHELD: Final = "the store does not hold it as it was said"


def detail_of(runs: Sequence[Measured], columns: Columns, row: int) -> QueryDetail:
    """Read everything that a page shows of a row.

    Args:
        runs: One, or baseline and candidate.
        columns: Of them.
        row: Its number; there is one.
    """
    of = about(runs, columns, [row])[0]
    queries = [int(at[row]) for at in columns.at]
    found = [
        run.hits(query) if query >= 0 else None for run, query in zip(runs, queries, strict=True)
    ]
    hits = [None if one is None else one.shown for one in found]
    if len(runs) > 1 and found[0] is not None and found[1] is not None:
        hits = list(moved(found[0].shown, found[1].shown, (found[0].texts, found[1].texts)))
    return QueryDetail(
        row=row,
        key=of["instance_key"],
        id=of["id"],
        query=of["query"],
        category=columns.categories[int(columns.category[row])],
        changed=columns.way(row),
        question=cut(of["text"]),
        gold=cut(of["answer"], why="the data set gives no answer"),
        answerable=of["answerable"],
        asked=None if of["asked"] is None else of["asked"].isoformat(),
        evidence=tuple(_evidence(runs, queries)),
        unresolved=_unresolved(runs, queries, of["evidence"]),
        runs=tuple(
            None if shown is None else run.detail(query, shown)
            for run, query, shown in zip(runs, queries, hits, strict=True)
        ),
    )


def _evidence(runs: Sequence[Measured], queries: Sequence[int]) -> Iterator[Evidence]:
    """The gold of both runs, in order; one may count other turns as evidence."""
    anchors = [
        {} if query < 0 else run.evidence(query) for run, query in zip(runs, queries, strict=True)
    ]
    for session, turn in dict.fromkeys(place for one in anchors for place in one):
        at = [one.get((session, turn)) for one in anchors]
        texts = (
            run.told(anchor) for run, anchor in zip(runs, at, strict=True) if anchor is not None
        )
        yield Evidence(
            session=session,
            turn=turn,
            text=cut(next((text for text in texts if text is not None), None), why=_UNHELD),
            rank=tuple(
                None if anchor is None else int(run.filed.anchors.rank[anchor]) or None
                for run, anchor in zip(runs, at, strict=True)
            ),
            stage=tuple(
                None if anchor is None else _stage(int(run.filed.anchors.code[anchor]))
                for run, anchor in zip(runs, at, strict=True)
            ),
        )


def _stage(code: int) -> str | None:
    return STAGES[code] if code >= 0 else None


def _unresolved(
    runs: Sequence[Measured], queries: Sequence[int], evidence: Sequence[dict[str, Any]]
) -> tuple[str, ...]:
    first = next(run for run, query in zip(runs, queries, strict=True) if query >= 0)
    rule = terms_of(first.filed.manifest, first.filed.folder.path).rule
    return tuple(name for of in evidence if of["rule"] == rule for name in of["unresolved"])
