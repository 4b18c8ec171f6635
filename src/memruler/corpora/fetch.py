"""Fetch a corpus into the cache: locked, resumed, checked against its pin or its first fetch."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import filelock

from memruler.corpora.cached import (
    Located,
    Record,
    cached_path,
    fetchable,
    locate,
    record_of,
    stamp_of,
    tier_of,
    write_record,
)
from memruler.corpora.pins import Pin
from memruler.errors import ChecksumError, UsageError
from memruler.store.faults import explained
from memruler.store.paths import cache_dir
from memruler.store.safe import make_dir

__all__ = ["MIRROR", "Located", "cache_dir", "fetch", "locate", "source_url", "tier_of"]

MIRROR = "MEMRULER_MIRROR"
"""Environment variable: fetch `FILE` from this URL + `/FILE` instead; the pin must still match."""


def fetch(
    name: str,
    *,
    force: bool = False,
    accept_drift: bool = False,
    progress: Callable[[int, int | None], None] | None = None,
    notify: Callable[[str], None] | None = None,
) -> Located:
    """Have a corpus in the cache, verified.

    A file that is there and right is not fetched again. A broken download is resumed. A second
    process that wants the same corpus waits for the first.

    Args:
        name: A corpus that is fetched.
        force: Fetch even if the cached file is right.
        accept_drift: For `pinned-on-first-fetch`: fetch, and take what comes as the new pin.
        progress: Called with the bytes there are and will be (None when not known).
        notify: Called with one-line news for people: waiting, trying again.

    Raises:
        ChecksumError: What came, or what is cached, is not the pinned file; nothing is placed.
        InstrumentError: The network or the disk failed; what came is kept for the next call.
        UsageError: There is no such corpus, or it is not one to fetch.
    """
    pin = fetchable(name)
    if accept_drift and pin.tier == "pinned-upstream":
        raise UsageError(
            f"{name} is pinned by memruler itself, so there is no drift to accept",
            hint=f"use `memruler fetch {name} --force` to fetch it again",
        )
    say = notify or _nobody
    again = force or accept_drift
    if not again and (found := _cached(name, pin, say)):
        return found
    with _only_one(name, say) as waited:
        if waited and not again and (found := _cached(name, pin, say)):
            return found
        _fetch(name, pin, accept_drift, progress, say)
    return locate(name)


def _nobody(news: str) -> None:
    """Tell it to nobody."""


def _cached(name: str, pin: Pin, say: Callable[[str], None]) -> Located | None:
    """The cached file, None where it must be fetched."""
    if not os.path.lexists(cached_path(name)):
        return None
    try:
        return locate(name)
    except UsageError:
        return None  # there, but never fetched
    except ChecksumError:
        if pin.tier != "pinned-upstream":
            raise  # which of the two is right is for a person to say
        say("the cached file is damaged; fetching it again")
        return None


@contextmanager
def _only_one(name: str, say: Callable[[str], None]) -> Iterator[bool]:
    """Hold the lock of a corpus; tells whether another process had to be waited for."""
    folder = cached_path(name).parent
    make_dir(folder)
    lock = filelock.FileLock(folder / ".lock")
    waited = False
    with explained("lock the folder", folder):
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            say(f"another process is fetching {name}; waiting for it")
            waited = True
            lock.acquire()
    try:
        yield waited
    finally:
        lock.release()


def _fetch(
    name: str,
    pin: Pin,
    accept_drift: bool,
    progress: Callable[[int, int | None], None] | None,
    say: Callable[[str], None],
) -> None:
    """Download into the cache and record it."""
    # Late: who only locates a cached file needs no HTTP client.
    from memruler.net.client import Client  # noqa: PLC0415
    from memruler.net.download import download  # noqa: PLC0415
    from memruler.net.errors import HttpError  # noqa: PLC0415

    def waiting(error: HttpError, seconds: float) -> None:
        say(f"{error.what}; trying again in {seconds:g} s")

    path, url = cached_path(name), source_url(pin)
    expected = pin.sha256
    if expected is None and not accept_drift and (record := record_of(name)):
        expected = record.sha256
    try:
        with Client(on_wait=waiting) as client:
            got = download(client, url, path, size=pin.size, sha256=expected, progress=progress)
    except ChecksumError as error:
        if pin.tier == "pinned-upstream":
            raise
        raise ChecksumError(
            f"{name} has drifted since it was first fetched: {error.what}",
            where=error.where,
            hint=f"`memruler fetch {name} --accept-drift` takes the new file as the pin; "
            "results before and after do not compare",
        ) from error
    write_record(
        path,
        Record(
            url=url,
            size=got.size,
            sha256=got.sha256,
            fetched=datetime.now(UTC),
            stamp=stamp_of(path),
        ),
    )


def source_url(pin: Pin) -> str:
    """Where a corpus is fetched from: its pinned URL, or the mirror of `MEMRULER_MIRROR`."""
    mirror = os.environ.get(MIRROR)
    if not mirror:
        return str(pin.url)
    if not mirror.startswith(("http://", "https://")):
        raise UsageError(f"{MIRROR} is no http or https URL", where=mirror)
    return f"{mirror.rstrip('/')}/{pin.file}"
