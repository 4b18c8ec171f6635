"""The three timelines: what time an item carries, and what time a question is asked at.

* `now`: every item carries the question's time, so every age is 0 and decay is neutral.
* `anchored`: dates as written; questions are asked at the newest session's time. Real gaps are
  kept, and the newest memory has age 0. The clock is moved rather than the dates: only their
  difference can matter.
* `literal`: dates as written, questions asked at the machine's clock when the run began, which
  the manifest records.

A session's date counts only if the session has turns.
"""

from datetime import datetime
from typing import Literal, get_args

import msgspec

from memruler.model.corpus import Instance, Session

__all__ = ["TIMELINES", "InstanceClock", "Timeline", "instance_clock", "span_days"]

Timeline = Literal["now", "anchored", "literal"]
TIMELINES: tuple[str, ...] = get_args(Timeline)

_SECONDS_A_DAY = 86_400


class InstanceClock(msgspec.Struct, frozen=True):
    """The times of one instance on a timeline.

    Attributes:
        at: When its questions are asked.
        pinned: The time that every item carries; None when items keep their written dates.
    """

    at: datetime
    pinned: datetime | None = None

    def item_time(self, session: Session) -> datetime | None:
        """The time that the items of `session` carry; None when it is not known."""
        return self.pinned if self.pinned is not None else session.time


def _dated(instance: Instance) -> list[datetime]:
    return [s.time for s in instance.sessions if s.time is not None and s.turns]


def instance_clock(instance: Instance, timeline: Timeline, clock: datetime) -> InstanceClock:
    """Place an instance on a timeline.

    Args:
        instance: The haystack.
        timeline: Which one.
        clock: The machine's clock when the run began (naive UTC). `now` and `anchored` read it
            only where the instance has no date at all.
    """
    newest = max(_dated(instance), default=None)
    if timeline == "literal":
        return InstanceClock(clock)
    if timeline == "anchored":
        return InstanceClock(newest or clock)
    asked = max((q.time for q in instance.queries if q.time is not None), default=None)
    at = asked or newest or clock
    return InstanceClock(at, pinned=at)


def span_days(instance: Instance) -> float | None:
    """Days between the oldest and the newest dated session with turns; None without dates."""
    dated = _dated(instance)
    return (max(dated) - min(dated)).total_seconds() / _SECONDS_A_DAY if dated else None
