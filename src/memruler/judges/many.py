"""Puts many cases to a judge, a few at a time."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

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
    stop = threading.Event()

    def ask(case: Mapping[str, str]) -> Judged | None:
        if stop.is_set():
            return None
        try:
            return judge.label(case)
        except BaseException:
            stop.set()
            raise

    pool = ThreadPoolExecutor(at_a_time, "memruler-judge")
    try:
        asked = {pool.submit(ask, cases[same[0]]): same for same in places.values()}
        for done in as_completed(asked):
            judged = done.result()
            if judged is not None:
                yield tuple(asked[done]), judged
    finally:
        stop.set()
        # What is under way is not waited for: the caller saves what it has first.
        pool.shutdown(wait=False, cancel_futures=True)
