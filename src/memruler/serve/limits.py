"""Who may do what how often: tokens, the size of a body, and the rate of requests."""

import hmac
import math
import time
import tomllib
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from memruler.errors import UsageError
from memruler.store.safe import read_bytes

__all__ = ["Bucket", "Rate", "Tokens"]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    workspaces: dict[str, str]


class Tokens:
    """Which token opens which workspace.

    Args:
        patterns: Pattern of workspace names (`bench-*`) to its token; empty lets everyone in.
    """

    def __init__(self, patterns: dict[str, str]) -> None:
        self._patterns = dict(patterns)

    @classmethod
    def read(cls, path: Path) -> "Tokens":
        """Read `[workspaces]` of a TOML file.

        Raises:
            UsageError: It is no such file, or names no workspace or an empty token.
        """
        try:
            found = msgspec.convert(tomllib.loads(read_bytes(path).decode()), _File)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
            # The message of a TOML error quotes no value.
            raise UsageError(f"the file of tokens cannot be read: {error}", where=path) from error
        if not found.workspaces or not all(found.workspaces.values()):
            raise UsageError("[workspaces] needs a token for each pattern", where=path)
        return cls(found.workspaces)

    def allow(self, workspace: str, header: str | None) -> bool:
        """Whether an `Authorization` header opens a workspace.

        Args:
            workspace: Its name.
            header: `Bearer TOKEN`; None where there is none.
        """
        if not self._patterns:
            return True
        given = (header or "").removeprefix("Bearer ").encode()
        wanted = [t for pattern, t in self._patterns.items() if fnmatchcase(workspace, pattern)]
        # All are compared, each in constant time: how long it takes tells nothing.
        return sum(hmac.compare_digest(given, token.encode()) for token in wanted) > 0

    def known(self, header: str | None) -> bool:
        """Whether a header opens any workspace at all."""
        given = (header or "").removeprefix("Bearer ").encode()
        met = sum(hmac.compare_digest(given, t.encode()) for t in self._patterns.values())
        return not self._patterns or met > 0


class Bucket:
    """So many requests at once, filled again at a steady rate.

    Args:
        rate: Requests a second.
        size: Most at once.
        now: The clock, in seconds.
    """

    def __init__(self, rate: float, size: float, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._size, self._now = rate, size, now
        self._left, self._at = size, now()

    def take(self) -> float:
        """0 where a request may go ahead, else the seconds until the next may."""
        now = self._now()
        self._left = min(self._size, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) / self._rate


class Rate:
    """One bucket for each workspace.

    Args:
        rate: Requests a second; None for no limit.
        now: The clock.
    """

    _MOST = 10_000

    def __init__(self, rate: float | None, now: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._now = rate, now
        self._buckets: dict[str, Bucket] = {}

    def take(self, workspace: str) -> float:
        """0 where a request may go ahead, else the seconds that it should wait."""
        if self._rate is None:
            return 0.0
        if len(self._buckets) > self._MOST:  # made-up names must not fill the memory
            self._buckets.clear()
        size = max(1.0, math.ceil(self._rate))
        bucket = self._buckets.setdefault(workspace, Bucket(self._rate, size, self._now))
        return bucket.take()
