"""An iterator that runs ahead in a thread of its own, so that unpacking and parsing overlap."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Full, Queue
from threading import Event, Thread
from typing import Generic, TypeVar, cast

__all__ = ["ahead"]

T = TypeVar("T")

_POLL = 0.05


class _Waiting(Generic[T]):
    """What the thread has made and nobody has taken yet."""

    def __init__(self, most: int) -> None:
        self.entries: Queue[tuple[T | None, BaseException | None]] = Queue(most)
        self.stopped = Event()

    def fill(self, items: Iterable[T]) -> None:
        """Put the items, then why there are no more."""
        end: BaseException = StopIteration()
        try:
            for item in items:
                self.put((item, None))
                if self.stopped.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - it is raised where the items are wanted
            end = error
        self.put((None, end))

    def put(self, entry: tuple[T | None, BaseException | None]) -> None:
        """Put it as soon as there is room, or never if nobody wants it any more."""
        while not self.stopped.is_set():
            with suppress(Full):
                self.entries.put(entry, timeout=_POLL)
                return


def ahead(items: Iterable[T], most: int = 3) -> Iterator[T]:
    """Yield the items in order; what the source raises is raised here.

    Whoever stops early stops the source too, and the thread has ended when this has.

    Args:
        items: The source; touched by the other thread alone.
        most: Items that may wait.
    """
    waiting = _Waiting[T](most)
    worker = Thread(target=waiting.fill, args=(items,), daemon=True)
    worker.start()
    try:
        while True:
            item, end = waiting.entries.get()
            if isinstance(end, StopIteration):
                return
            if end is not None:
                raise end
            yield cast("T", item)
    finally:
        waiting.stopped.set()
        worker.join()
