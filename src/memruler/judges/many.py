"""Puts many cases to a judge, a few at a time."""

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence

from memruler.judges.base import Judge, Judged

__all__ = ["label_many"]


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
    todo = iter(places.values())
    said: queue.SimpleQueue[tuple[list[int], Judged] | BaseException] = queue.SimpleQueue()
    lock, stop = threading.Lock(), threading.Event()

    def work() -> None:
        while not stop.is_set():
            with lock:
                same = next(todo, None)
            if same is None:
                return
            try:
                said.put((same, judge.label(cases[same[0]])))
            except BaseException as error:  # noqa: BLE001 - raised where the answers are waited for
                stop.set()
                said.put(error)

    # Daemons, since the interpreter waits for the threads of a pool at its end, and a server may
    # leave a request unanswered for minutes: a person who stops the work is not kept that long.
    for number in range(min(at_a_time, len(places))):
        threading.Thread(target=work, name=f"memruler-judge_{number}", daemon=True).start()
    try:
        for _ in range(len(places)):
            answer = said.get()
            if isinstance(answer, BaseException):
                raise answer
            same, judged = answer
            yield tuple(same), judged
    finally:
        # What is under way is not waited for: the caller saves what it has first.
        stop.set()
