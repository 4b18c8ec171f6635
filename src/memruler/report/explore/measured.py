"""One run as the explorer reads it: numbers in memory, texts on disk."""

from math import fsum
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from memruler.errors import FormatError
from memruler.model.failures import STAGES
from memruler.report.explore.credit import SHOWN, UNTOLD, Credit, credit_of
from memruler.report.explore.record import HitDetail, RunDetail, RunHead
from memruler.report.explore.rows import Rows
from memruler.report.explore.said import Said, said_of
from memruler.report.explore.scores import Headline, Scores, places_of, scores_of
from memruler.report.explore.texts import cut
from memruler.scoring.failures import Filed, file_failures
from memruler.scoring.run_terms import terms_of
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table

__all__ = ["Hits", "Measured", "open_run"]

_QUERY = ("instance_key", "query", "id", "text", "answer", "answerable", "asked", "evidence")
_Ints = NDArray[np.int64]


class Hits(msgspec.Struct, frozen=True):
    """The hits of a query by rank, and the whole text of each."""

    shown: list[HitDetail]
    texts: list[str | None]


class Measured(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One run; Q queries in corpus order.

    Attributes:
        name: What to call it.
        filed: Its evidence, its hits, and where the evidence was lost.
        scores: At the headline's cut-off.
        rank: Best rank of any evidence; 0 where no hit comes from it [Q].
        credit: Of each hit.
        said: Answers.
        trace: Row of the trace of each query [Q].
        redrawn: Further draws in the trace.
        queries, lineage, traces: The tables.
    """

    name: str
    filed: Filed
    scores: Scores
    rank: _Ints
    credit: Credit
    said: Said
    trace: _Ints
    redrawn: int
    queries: Rows
    lineage: Rows
    traces: Rows

    def value(self) -> NDArray[np.float64]:
        """The headline of every query; not a number where there is none [Q]."""
        head = self.scores.headline
        if head is None:
            return np.full(len(self.rank), np.nan)
        return self.scores.values[head.level, str(head.metric)]

    def reason(self, query: int) -> str | None:
        """Why a query has no headline value; None where it has one."""
        head = self.scores.headline
        if head is None:
            return "no_cut_off"
        return self.scores.reason(head.level, str(head.metric), query)

    def stage(self, query: int) -> str | None:
        """Where a query was lost; None where it was not, or has no stage."""
        state = int(self.filed.state[query])
        return STAGES[state] if state >= 0 else None

    def head(self) -> RunHead:
        """What stands above the list."""
        manifest, head, value = self.filed.manifest, self.scores.headline, self.value()
        there = value[~np.isnan(value)].tolist()
        untold = None if self.filed.stored.exported else UNTOLD
        notes = [*manifest.degraded, *self.said.notes]
        if self.redrawn:
            notes.append(f"the first draw is shown; {self.redrawn} further rankings are not")
        return RunHead(
            name=self.name,
            system=str(manifest.fingerprint["system"]["name"]),
            population=terms_of(manifest, self.filed.folder.path).population,
            metric=None if head is None else str(head.metric),
            level=None if head is None else head.level,
            counted=len(there),
            of=len(value),
            mean=fsum(there) / len(there) if there else None,
            stages=self.filed.rule,
            targets={name: None if name in SHOWN[:2] else untold for name in SHOWN},
            anchors=self.filed.level,
            answers=self.said.names,
            notes=tuple(notes),
        )

    def evidence(self, query: int) -> dict[tuple[int, int | None], int]:
        """Session and turn of each gold of a query, to its place among the run's anchors."""
        gold = self.filed.gold
        anchors = range(int(gold.offsets[query]), int(gold.offsets[query + 1]))
        return {
            (int(gold.session[at]), None if gold.turn is None else int(gold.turn[at])): at
            for at in anchors
        }

    def told(self, anchor: int) -> str | None:
        """The text of a gold turn or session as it was said; None where the store lacks it."""
        pairs = self.filed.anchors.pairs
        low, high = np.searchsorted(pairs.anchor, [anchor, anchor + 1]).tolist()
        items = pairs.item[low:high][self.filed.anchors.verbatim[low:high]].tolist()
        texts = (row["text"] for row in self.lineage.take(items))
        return next((text for text in texts if text is not None), None)

    def hits(self, query: int) -> Hits:
        """The hits of a query.

        Raises:
            FormatError: A table was changed since it was opened.
        """
        row = self.filed.run.hits[query]
        items = row[row >= 0].tolist()
        scores = self.traces.take([int(self.trace[query])])[0]["scores"]
        stored = self.lineage.take(items)
        if len(scores) != len(items):
            where = self.filed.folder.path
            raise FormatError("a query has not one score for each hit", where=where)
        forms = self.filed.stored.forms
        shown = [
            HitDetail(
                rank=rank,
                score=score,
                item=about["id"],
                kind=forms.kinds[int(forms.kind[item])],
                sources=_sources(*forms.origin(item)),
                text=cut(about["text"], why="the system does not tell it"),
                credit=self._credit(query, rank - 1),
            )
            for rank, (item, score, about) in enumerate(zip(items, scores, stored, strict=True), 1)
        ]
        return Hits(shown, [about["text"] for about in stored])

    def detail(self, query: int, hits: list[HitDetail]) -> RunDetail:
        """One query in this run, with its hits."""
        error = self.filed.run.error[query]
        return RunDetail(
            hits=tuple(hits),
            error=None if error is None else cut(error),
            stage=self.stage(query),
            values=self.scores.of(query),
            answers=self.said.of(query),
        )

    def _credit(self, query: int, place: int) -> dict[str, tuple[Any, ...]]:
        found: dict[str, tuple[Any, ...]] = {}
        for (target, level), earns in self.credit.items():
            if earns[query, place]:
                found[target] = (*found.get(target, ()), level)
        return found


def open_run(path: Path, name: str, headline: Headline | None = None) -> Measured:
    """Read a finished run.

    Args:
        path: Its folder.
        name: What to call it.
        headline: What queries are judged by; None for the run's own.

    Raises:
        FormatError: It is no finished and scored run, or its files do not fit together.
    """
    filed = file_failures(path)
    folder, run = filed.folder, filed.run
    key = run.instance << 32 | run.query
    most = np.iinfo(np.int64).max
    ranks = np.full(len(key), most)
    found = filed.anchors.rank > 0
    np.minimum.at(ranks, filed.anchors.query[found], filed.anchors.rank[found])
    ranks[ranks == most] = 0
    trace, redrawn = _traced(folder, key)
    return Measured(
        name=name,
        filed=filed,
        scores=scores_of(folder, key, headline),
        rank=ranks,
        credit=credit_of(filed),
        said=said_of(folder, key),
        trace=trace,
        redrawn=redrawn,
        queries=Rows(folder, "queries", _QUERY),
        lineage=Rows(folder, "lineage", ["id", "text"]),
        traces=Rows(folder, "trace", ["scores"]),
    )


def _sources(
    sessions: tuple[int, ...], turns: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int | None], ...]:
    """Turns, and the sessions that no turn is named of."""
    named = {session for session, _ in turns}
    return (*turns, *((session, None) for session in sessions if session not in named))


def _traced(folder: RunFolder, key: _Ints) -> tuple[_Ints, int]:
    """The row of the first draw of each query, and how many draws are left out."""
    table = read_table(folder, "trace", columns=["instance", "query", "repeat"])
    column = {name: np.asarray(table.column(name), np.int64) for name in table.column_names}
    first = np.flatnonzero(column["repeat"] == 0)
    at = places_of((column["instance"] << 32 | column["query"])[first], key)
    return first[at], table.num_rows - len(first)
