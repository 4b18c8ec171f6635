"""The three timelines: what time an item carries, and what time a question is asked at.

All questions of an instance are asked at one time, since they are asked of one store: the latest
time that the data set gives them, or the newest session's where it gives none. The time that each
question carries in the data set is kept beside it.

* `now`: every item carries that time, so every age is 0 and decay is neutral.
* `anchored`: all dates are shifted by one constant so that the newest session lies at that time.
  Real gaps are kept, and the newest memory has age 0.
* `literal`: dates as written, questions asked at the machine's clock when the run began, which
  the manifest records.

A session's date counts only if the session has turns.
"""

from datetime import datetime, timedelta
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
        pinned: The time that every item carries; None when items keep their gaps.
        shift: Added to every written date.
    """

    at: datetime
    pinned: datetime | None = None
    shift: timedelta = timedelta()

    def item_time(self, session: Session) -> datetime | None:
        """The time that the items of `session` carry; None when it is not known."""
        if self.pinned is not None:
            return self.pinned
        return None if session.time is None else session.time + self.shift


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
    if timeline == "literal":
        return InstanceClock(clock)
    newest = max(_dated(instance), default=None)
    asked = max((q.time for q in instance.queries if q.time is not None), default=None)
    at = asked or newest or clock
    if timeline == "now":
        return InstanceClock(at, pinned=at)
    return InstanceClock(at, shift=at - (newest or at))


def span_days(instance: Instance) -> float | None:
    """Days between the oldest and the newest dated session with turns; None without dates."""
    dated = _dated(instance)
    return (max(dated) - min(dated)).total_seconds() / _SECONDS_A_DAY if dated else None
