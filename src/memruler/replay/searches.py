"""The searches of one instance: each timed by itself, or all of them in one go."""

from collections.abc import Callable, Sequence
from time import perf_counter

import msgspec

from memruler.errors import SystemUnderTestError
from memruler.model.system import Memory, Ranking, SearchesMany, SearchRequest
from memruler.replay.steps import Pause, Steps

__all__ = ["Answer", "Failed", "Tick", "search_all"]

Failed = Callable[[str, int], None]
"""Called with the error of a search, and how many searches of the instance are done."""

Tick = Callable[[str, int, int], None]
"""Called with what is going on, how many are done, and of how many."""


class Answer(msgspec.Struct):
    """One search: a ranking, or the line that says why there is none."""

    ranking: Ranking
    latency_ms: float
    error: str | None = None
    kind: str | None = None


def search_all(
    memory: Memory,
    requests: Sequence[SearchRequest],
    instance: int,
    *,
    one_by_one: bool,
    tick: Tick,
    failed: Failed,
) -> Steps[tuple[list[Answer], bool]]:
    """Search every request; a search that fails is kept as its error, never as an empty list.

    Args:
        memory: What is searched.
        requests: In the order of the queries.
        instance: Its position.
        one_by_one: Search query by query even where the memory answers many at once.
        tick: Told after every search.
        failed: Told about every search that failed; may end the replay.

    Returns:
        An answer a request, and whether they were searched in one go.
    """
    if isinstance(memory, SearchesMany) and not one_by_one:
        start = perf_counter()
        rankings = memory.search_many(requests)
        share = (perf_counter() - start) * 1000 / max(len(requests), 1)
        if len(rankings) != len(requests):
            raise SystemUnderTestError(
                f"search_many returned {len(rankings)} rankings for {len(requests)} requests"
            )
        tick("search", len(requests), len(requests))
        return [Answer(ranking, share) for ranking in rankings], True
    answers: list[Answer] = []
    for done, request in enumerate(requests, 1):
        yield Pause(instance, done)
        start = perf_counter()
        try:
            ranking, error, kind = memory.search(request.text, request.k, request.at), None, None
        except SystemUnderTestError as failure:
            ranking, error, kind = Ranking(()), str(failure), failure.kind
        answers.append(Answer(ranking, (perf_counter() - start) * 1000, error, kind))
        if error is not None:
            failed(error, done)
        tick("search", done, len(requests))
    return answers, False
