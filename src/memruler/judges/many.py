"""Does much work that waits for servers, a few pieces at a time."""

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from memruler.judges.base import Judge, Judged

__all__ = ["label_many", "run_many"]

_T = TypeVar("_T")
_R = TypeVar("_R")


def run_many(
    work: Callable[[_T], _R],
    items: Sequence[_T],
    *,
    at_a_time: int = 4,
    tick: Callable[[int, int], object] = lambda *_: None,
) -> Iterator[tuple[int, _R]]:
    """Do `work` for every item, in threads; results come in the order in which they are ready.

    Items are begun in their order. After an error, and once the iterator is closed or left, none
    is begun any more; those under way are not waited for.

    Args:
        work: What to do; called from several threads.
        items: What to do it for.
        at_a_time: Items under way, from 1.
        tick: Told how many of how many are done, in the thread that iterates.

    Yields:
        The place in `items`, and the result.

    Raises:
        BaseException: The first error of `work`, as it is.
    """
    todo = iter(range(len(items)))
    done: queue.SimpleQueue[tuple[int, _R] | BaseException] = queue.SimpleQueue()
    lock, stop = threading.Lock(), threading.Event()

    def loop() -> None:
        while not stop.is_set():
            with lock:
                at = next(todo, None)
            if at is None:
                return
            try:
                done.put((at, work(items[at])))
            except BaseException as error:  # noqa: BLE001 - raised where the results are waited for
                stop.set()
                done.put(error)

    # Daemons, since the interpreter waits for the threads of a pool at its end, and a server may
    # leave a request unanswered for minutes: a person who stops the work is not kept that long.
    for number in range(min(max(at_a_time, 1), len(items))):
        threading.Thread(target=loop, name=f"memruler-judge_{number}", daemon=True).start()
    try:
        for count in range(1, len(items) + 1):
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            tick(count, len(items))
            yield result
    finally:
        # What is under way is not waited for: the caller saves what it has first.
        stop.set()


def label_many(
    judge: Judge, cases: Sequence[Mapping[str, str]], *, at_a_time: int = 4
) -> Iterator[tuple[tuple[int, ...], Judged]]:
    """Label cases, in the order in which the answers come.

    Cases with the same texts are asked once. After an error nothing more is asked.

    Args:
        judge: Whom to ask.
        cases: What to ask.
        at_a_time: Requests under way, from 1.

    Yields:
        The places in `cases` that an answer is for, and the answer.

    Raises:
        InstrumentError: The judge cannot be asked.
    """
    places: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for at, case in enumerate(cases):
        places.setdefault(tuple(sorted(case.items())), []).append(at)
    same = list(places.values())
    firsts = [cases[at[0]] for at in same]
    for at, judged in run_many(judge.label, firsts, at_a_time=at_a_time):
        yield tuple(same[at]), judged
