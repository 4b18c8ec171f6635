"""The stored items in memory: what ranking reads of them, as columns in order of insertion."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memruler.systems.builtin.database import Row
from memruler.systems.builtin.settings import Settings
from memruler.systems.builtin.vectors import Floats

__all__ = ["Catalog", "Columns", "Label", "micros"]

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - times on a run's timeline are naive UTC
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """Whole microseconds since 1970; a naive time is read as UTC."""
    naive = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
    return (naive - _EPOCH) // _MICROSECOND


class Label(NamedTuple):
    """What a hit says of an item."""

    item: str
    sources: tuple[str, ...]
    kind: str


class Columns(NamedTuple):
    """One entry a stored item.

    Attributes:
        ids: Ascending, since the order is that of insertion.
        times: Microseconds since 1970; 0 where not dated.
        dated: Whether it has a time.
        rates: Decay rate per day.
        importance: 0 to 1, the default where it carries none.
    """

    ids: NDArray[np.int64]
    times: NDArray[np.int64]
    dated: NDArray[np.bool_]
    rates: Floats
    importance: Floats


class _Facts(NamedTuple):
    time: int | None
    rate: float
    importance: float


class Catalog:
    """Labels and facts of the stored items.

    Attributes:
        labels: By id, in order of insertion.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._facts: dict[int, _Facts] = {}
        self._columns: Columns | None = None
        self.labels: dict[int, Label] = {}

    def add(self, row: Row) -> None:
        """Take in a stored item; ids only rise."""
        self.labels[row.id] = Label(str(row.id), row.sources, row.kind)
        self._facts[row.id] = _Facts(row.time, self._rate(row.tags), self.importance(row))
        self._columns = None

    def remove(self, item: int) -> int:
        """Forget an item.

        Returns:
            The position that it had.
        """
        position = list(self.labels).index(item)
        del self.labels[item], self._facts[item]
        self._columns = None
        return position

    def importance(self, row: Row) -> float:
        """An item's importance, the default where it carries none."""
        default = self._settings.importance_default
        return default if row.importance is None else row.importance

    def columns(self) -> Columns:
        """The columns as of now."""
        if self._columns is None:
            facts = self._facts.values()
            self._columns = Columns(
                ids=np.array(list(self._facts), np.int64),
                times=np.array([fact.time or 0 for fact in facts], np.int64),
                dated=np.array([fact.time is not None for fact in facts], np.bool_),
                rates=np.array([fact.rate for fact in facts], np.float64),
                importance=np.array([fact.importance for fact in facts], np.float64),
            )
        return self._columns

    def _rate(self, tags: tuple[str, ...]) -> float:
        overrides = self._settings.decay_tags
        found = [overrides[tag] for tag in tags if tag in overrides] if overrides else []
        return min(found, default=self._settings.decay_rate)
