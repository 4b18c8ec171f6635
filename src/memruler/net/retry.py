"""The one retry policy: what is tried again, and after how long.

- A broken connection or a 5xx: after 0.5, 1, 2, 4 ... seconds, a few times.
- 429: after what `Retry-After` says; that is traffic control and no failure, so it spends nothing
  of the above, but all such waits together have a limit.
- Everything else: never.
"""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from memruler.net.errors import HttpError

__all__ = ["PATIENCE", "RETRIES", "Budget", "retry_after"]

RETRIES = 4
"""Tries after the first one."""

PATIENCE = 600.0
"""Seconds that one operation waits for 429 in total."""

_FIRST_WAIT = 0.5
_UNSAID = 1.0
_SHORTEST, _LONGEST = 0.2, 60.0
_TOO_MANY_REQUESTS = 429


def retry_after(header: str | None, now: datetime) -> float:
    """Read a `Retry-After` header.

    Args:
        header: Seconds or an HTTP date; None when absent.
        now: The current time, with a time zone.

    Returns:
        Seconds to wait, in [0.2, 60]; 1 when the header is absent or unreadable.
    """
    wait = _UNSAID if header is None else _seconds(header.strip(), now)
    return min(max(wait, _SHORTEST), _LONGEST)


def _seconds(header: str, now: datetime) -> float:
    try:
        seconds = float(header)
    except ValueError:
        pass
    else:
        return _UNSAID if math.isnan(seconds) else seconds
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return _UNSAID
    if date.tzinfo is None:  # "-0000" means UTC of unknown origin
        date = date.replace(tzinfo=UTC)
    return (date - now).total_seconds()


class Budget:
    """Decides on the waits of one operation; every operation takes a new one.

    Args:
        retries: How often a broken connection or a 5xx is tried again.
        patience: Seconds of waiting for 429 in total.
    """

    def __init__(self, retries: int = RETRIES, patience: float = PATIENCE) -> None:
        self._retries = retries
        self._patience = patience
        self._failures = 0

    def wait(self, error: Exception) -> float | None:
        """Seconds to wait before the next try; None to give up."""
        if not isinstance(error, HttpError) or not error.transient:
            return None
        if error.status == _TOO_MANY_REQUESTS:
            wait = _UNSAID if error.retry_after is None else error.retry_after
            self._patience -= wait
            return wait if self._patience >= 0 else None
        if self._failures == self._retries:
            return None
        self._failures += 1
        return _FIRST_WAIT * 2.0 ** (self._failures - 1)
