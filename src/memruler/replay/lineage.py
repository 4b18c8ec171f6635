"""From a system's own ids, keys and texts back to positions in the corpus.

Sources become known in one of three ways, asked in this order: the system reports keys; the id of
an item is a key; the text of an item is that of exactly one unit. Unknown is unknown: a reported
key that memruler never gave out is not looked for in any other way.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import attrgetter

from msgspec.structs import replace

from memruler.errors import SystemUnderTestError
from memruler.model.corpus import TurnRef
from memruler.model.run import Attribution, ItemRecord
from memruler.model.system import Hit, MemoryItem
from memruler.replay.inputs import InstanceInputs

__all__ = ["AMBIGUOUS", "MIXED", "LineageBook"]

AMBIGUOUS = "ambiguous"
"""In counts of attribution: items of unknown source whose text is that of two or more units."""

MIXED = "mixed"
"""Kind of an item that is stored as given but came from units of several kinds."""

_AS_GIVEN = frozenset({"turn", "session", "unknown"})
"""Kinds by which a system says that it stored a unit as it was given, or says nothing."""


class LineageBook:
    """Numbers the items of one instance and remembers where each came from.

    Items that the system exports come first, in its order; an item known only from a hit is
    added when it is first seen.

    Args:
        inputs: What the system was given, and the keys.
        exported: The system's own lineage; empty when it has none.

    Attributes:
        records: The items in row order.

    Raises:
        SystemUnderTestError: An id is exported twice.
    """

    def __init__(self, inputs: InstanceInputs, exported: Iterable[MemoryItem]) -> None:
        self._inputs = inputs
        self._rows: dict[str, int] = {}
        # Rows known only from hits, with the sources that the first hit gave.
        self._seen: dict[int, tuple[str, ...] | None] = {}
        # Those of them that were found by text, with the kind that the first hit gave.
        self._by_text: dict[int, str] = {}
        self._ambiguous = 0
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
                text=item.text,
                status=item.status,
                reason=item.reason,
            )

    def row(self, hit: Hit) -> int:
        """The lineage row of a hit's item."""
        known = self._rows.get(hit.item)
        if known is not None:
            self._require_same_origin(known, hit)
            return known
        row = self._add(hit.sources or (), id=hit.item, kind=hit.kind, text=hit.text)
        self._seen[row] = hit.sources
        if self.records[row].attribution == "text":
            self._by_text[row] = hit.kind
        return row

    def chars(self, row: int) -> int | None:
        """Characters of an item's text; None when the text is not known."""
        text = self.records[row].text
        return None if text is None else len(text)

    def attribution(self) -> dict[str, int]:
        """How many items became known in each way, and of the unknown ones the ambiguous."""
        found: dict[str, int] = dict(Counter(map(attrgetter("attribution"), self.records)))
        return {**found, AMBIGUOUS: self._ambiguous} if self._ambiguous else found

    def _require_same_origin(self, row: int, hit: Hit) -> None:
        if self._seen.get(row, hit.sources) != hit.sources:
            raise SystemUnderTestError(
                "the system returned one item id with two different origins",
                where=hit.item,
                hint="an id must name one stored item",
            )
        if row in self._by_text and hit.text is not None:
            self._require_same_text(row, hit.text)

    def _require_same_text(self, row: int, text: str) -> None:
        """An id whose text changes from hit to hit is no unit that was stored as it was given."""
        record = self.records[row]
        if text.strip() != (record.text or "").strip():
            self.records[row] = replace(
                record, kind=self._by_text.pop(row), sessions=(), turns=(), attribution="unknown"
            )

    def _add(
        self,
        sources: Sequence[str],
        *,
        id: str,  # noqa: A002 - the name that the record has
        kind: str,
        text: str | None,
        status: str = "stored",
        reason: str | None = None,
    ) -> int:
        way: Attribution = "reported"
        keys = sources
        if not sources:
            way, keys = self._find(id, text)
        refs = self._sources(keys)
        # An item of a whole session does not come from one of its turns; a session without a turn
        # here is a whole one.
        whole = {ref.session for ref in refs if ref.turn < 0}
        turns = sorted((ref.session, ref.turn) for ref in refs if ref.session not in whole)
        row = self._rows[id] = len(self.records)
        self.records.append(
            ItemRecord(
                item=row,
                id=id,
                kind=self._kind(kind, keys, way),
                sessions=tuple(sorted({ref.session for ref in refs})),
                turns=tuple(turns),
                status=status,
                reason=reason,
                text=text,
                attribution=way if refs else "unknown",
            )
        )
        return row

    def _find(self, item: str, text: str | None) -> tuple[Attribution, tuple[str, ...]]:
        """The key of an item of which the system reports no source, and the way it was found."""
        if item in self._inputs.positions or item in self._inputs.derived:
            return "id", (item,)
        bare = "" if text is None else text.strip()
        if bare not in self._texts:
            return "unknown", ()
        key = self._texts[bare]
        if key is None:
            self._ambiguous += 1
            return "unknown", ()
        return "text", (key,)

    @cached_property
    def _texts(self) -> dict[str, str | None]:
        """Text of a unit to its key, None where several have it; a blank text says nothing."""
        found: dict[str, str | None] = {}
        for session in self._inputs.sessions:
            for unit in session.turns:
                bare = unit.text.strip()
                found[bare] = None if bare in found else unit.key
        found.pop("", None)
        return found

    def _sources(self, keys: Sequence[str]) -> set[TurnRef]:
        """What the keys stand for together; nothing where that is not known of each of them.

        One source out of several that resolves would make a mixture look like a single turn.
        """
        positions, derived = self._inputs.positions, self._inputs.derived
        refs: set[TurnRef] = set()
        for key in keys:
            if key in positions:
                refs.add(positions[key])
            elif key in derived and derived[key].sources:
                refs.update(derived[key].sources)
            else:
                return set()
        return refs

    def _kind(self, said: str, keys: Sequence[str], way: Attribution) -> str:
        """The kind of an item: the system's own word, unless it only stored what it was given.

        Then what it was given decides: a derived memory that a store calls a turn is none.
        """
        if said not in _AS_GIVEN or not keys:
            return said
        derived = self._inputs.derived
        if derived and any(key in derived for key in keys):
            kinds = {derived[key].kind if key in derived else said for key in keys}
            return kinds.pop() if len(kinds) == 1 else MIXED
        if said == "unknown" and way != "reported":
            return "session" if self._inputs.positions[keys[0]].turn < 0 else "turn"
        return said
