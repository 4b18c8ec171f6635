"""Details of many queries in little room: every text, item and name stands once.

`explorer.js` unpacks it; what each list holds is said at the function that makes it.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from memruler.report.explore.credit import SHOWN
from memruler.report.explore.record import (
    CUT,
    GradeDetail,
    HitDetail,
    QueryDetail,
    Row,
    RunDetail,
    Text,
    Value,
)

__all__ = ["CUTS", "LEVEL_BITS", "Packed", "script_safe"]

CUTS: Final = (CUT, 2_000, 1_000, 500, 250)
"""How much of each text is kept: the most that fits."""

LEVEL_BITS: Final = ("turn", "session")
"""Credit is one number a hit: bit `2 * target + level`, targets as in `SHOWN`."""

_DIGITS: Final = 6


def script_safe(data: bytes) -> bytes:
    """JSON that may stand in a script block: nothing in it can end the block or begin another."""
    return data.replace(b"<", b"\\u003c")


class Packed:
    """Rows packed one after the other, with the size that they come to."""

    def __init__(self) -> None:
        self.rows: list[bytes] = []
        self._texts: dict[Text, int] = {}
        self._items: dict[Any, int] = {}
        self._names: dict[str, int] = {}
        self._metrics: dict[int, list[tuple[str, str]]] = {}
        self._bytes = 0
        self._of_texts = [0] * len(CUTS)

    def size(self, place: int = -1) -> int:
        """Bytes with texts cut at `CUTS[place]`."""
        return self._bytes + self._of_texts[place]

    def add(self, row: Row, detail: QueryDetail) -> None:
        """Add a row: what a list shows, then what one query shows."""
        packed = [
            row.row,
            row.key,
            row.id,
            row.category,
            row.changed,
            row.stage,
            [value if value is not None else reason for value, reason in _told(row)],
            row.rank,
            self._text(detail.question),
            self._text(detail.gold),
            detail.query,
            detail.answerable,
            detail.asked,
            [[e.session, e.turn, self._text(e.text), e.rank, e.stage] for e in detail.evidence],
            detail.unresolved,
            [None if run is None else self._run(at, run) for at, run in enumerate(detail.runs)],
        ]
        self.rows.append(script_safe(msgspec.json.encode(packed)))
        self._bytes += len(self.rows[-1]) + 1

    def parts(self, place: int) -> list[tuple[str, bytes]]:
        """What the rows refer to by number, as names and JSON; texts cut at `CUTS[place]`."""
        most = CUTS[place]
        texts = [text.text[:most] for text in self._texts if text.text is not None]
        lengths = {
            str(at): text.length
            for at, text in enumerate(self._texts)
            if text.length > min(most, len(text.text or ""))
        }
        tables: dict[str, Any] = {
            "texts": texts,
            "lengths": lengths,
            "items": list(self._items),
            "names": list(self._names),
            "metrics": self._metrics,
            "targets": SHOWN,
            "levels": LEVEL_BITS,
        }
        return [(name, script_safe(msgspec.json.encode(of))) for name, of in tables.items()]

    def _text(self, text: Text) -> int | str:
        """Its place; or why it is not known."""
        if text.text is None:
            return text.why or ""
        if text not in self._texts:
            for place, most in enumerate(CUTS):
                self._of_texts[place] += len(script_safe(msgspec.json.encode(text.text[:most]))) + 1
            self._texts[text] = len(self._texts)
        return self._texts[text]

    def _item(self, hit: HitDetail) -> int:
        """Its place among the items: id, kind, sources, text."""
        key = (hit.item, hit.kind, hit.sources, self._text(hit.text))
        if key not in self._items:
            self._bytes += len(msgspec.json.encode(key)) + 1
        return self._items.setdefault(key, len(self._items))

    def _run(self, place: int, run: RunDetail) -> list[Any]:
        """Items, scores, ranks in the baseline, credit of those that have any, and the rest."""
        earns = [[at, _bits(hit)] for at, hit in enumerate(run.hits) if hit.credit]
        came = [0 if hit.moved is None else hit.rank + hit.moved for hit in run.hits]
        return [
            [self._item(hit) for hit in run.hits],
            [_short(hit.score) for hit in run.hits],
            came if place and any(came) else 0,
            [number for pair in earns for number in pair],
            None if run.error is None else self._text(run.error),
            run.stage,
            self._values(place, run.values),
            [[self._name(a.name), self._text(a.text), self._grades(a.grades)] for a in run.answers],
        ]

    def _values(self, place: int, values: Sequence[Value]) -> Any:
        """One each of the run's `metrics`: a number, or the reason; one reason alone for all."""
        self._metrics.setdefault(place, [(of.level, of.metric) for of in values])
        found = [_plain(of.value) if of.reason is None else of.reason for of in values]
        alone = found and isinstance(found[0], str) and found.count(found[0]) == len(found)
        return found[0] if alone else found

    def _grades(self, grades: Sequence[GradeDetail]) -> list[Any]:
        """Name, value, reason and label; what is absent at the end is left out."""
        found = []
        for of in grades:
            told = [self._name(of.name), _plain(of.value), of.reason, of.label]
            while told[-1] is None:
                told.pop()
            found.append(told)
        return found

    def _name(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))


def _told(row: Row) -> list[tuple[float | None, str | None]]:
    return list(zip(row.value, row.reason, strict=True))


def _bits(hit: HitDetail) -> int:
    return sum(
        1 << (len(LEVEL_BITS) * SHOWN.index(target) + LEVEL_BITS.index(level))
        for target, levels in hit.credit.items()
        for level in levels
    )


def _plain(value: float | None) -> float | None:
    """A whole number without its point."""
    return int(value) if value is not None and value.is_integer() else value


def _short(score: float | None) -> float | None:
    """Six digits: what a page shows of it."""
    return None if score is None else float(f"{score:.{_DIGITS}g}")
