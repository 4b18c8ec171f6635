"""From a system's own ids and keys back to positions in the corpus."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memruler.errors import SystemUnderTestError
from memruler.model.corpus import TurnRef
from memruler.model.run import ItemRecord
from memruler.model.system import Hit, MemoryItem

__all__ = ["LineageBook"]


class LineageBook:
    """Numbers the items of one instance and remembers where each came from.

    Items that the system exports come first, in its order; an item known only from a hit is
    added when it is first seen. An item with a source key that memruler did not give out comes
    from nowhere: unknown is unknown, never guessed.

    Args:
        positions: The keys that were given out, and what they stand for.
        exported: The system's own lineage; empty when it has none.

    Attributes:
        records: The items in row order.

    Raises:
        SystemUnderTestError: An id is exported twice.
    """

    def __init__(self, positions: Mapping[str, TurnRef], exported: Iterable[MemoryItem]) -> None:
        self._positions = positions
        self._rows: dict[str, int] = {}
        # Rows known only from hits, with the sources that the first hit gave.
        self._seen: dict[int, tuple[str, ...] | None] = {}
        self.records: list[ItemRecord] = []
        for item in exported:
            if item.id in self._rows:
                raise SystemUnderTestError(
                    "the system exported one item id twice",
                    where=item.id,
                    hint="ids must be unique in a namespace",
                )
            self._add(
                item.sources,
                id=item.id,
                kind=item.kind,
                status=item.status,
                reason=item.reason,
                text=item.text,
            )

    def row(self, hit: Hit) -> int:
        """The lineage row of a hit's item."""
        known = self._rows.get(hit.item)
        if known is not None:
            self._require_same_origin(known, hit)
            return known
        self._seen[len(self.records)] = hit.sources
        return self._add(
            hit.sources or (),
            id=hit.item,
            kind=hit.kind,
            status="stored",
            reason=None,
            text=hit.text,
        )

    def _require_same_origin(self, row: int, hit: Hit) -> None:
        if self._seen.get(row, hit.sources) != hit.sources:
            raise SystemUnderTestError(
                "the system returned one item id with two different origins",
                where=hit.item,
                hint="an id must name one stored item",
            )

    def chars(self, row: int) -> int | None:
        """Characters of an item's text; None when the text is not known."""
        text = self.records[row].text
        return None if text is None else len(text)

    def _add(self, sources: Sequence[str], **known: Any) -> int:
        known_keys = all(key in self._positions for key in sources)
        # One source out of several that resolves would make a mixture look like a single turn.
        refs = {self._positions[key] for key in sources} if known_keys else set()
        row = self._rows[known["id"]] = len(self.records)
        sessions = tuple(sorted({ref.session for ref in refs}))
        # An item of a whole session does not come from one of its turns.
        whole = any(ref.turn < 0 for ref in refs)
        turns = () if whole else tuple(sorted((ref.session, ref.turn) for ref in refs))
        self.records.append(ItemRecord(item=row, sessions=sessions, turns=turns, **known))
        return row
