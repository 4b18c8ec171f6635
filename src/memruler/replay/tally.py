"""What a run counts while it goes: members, sizes, spans and failures."""

import hashlib
from collections.abc import Sequence

from memruler.corpora.populations import is_member
from memruler.errors import SystemUnderTestError
from memruler.model.corpus import Instance, Population, Query
from memruler.replay.instance import InstanceResult
from memruler.replay.timeline import span_days

__all__ = ["Tally"]

_FAILED_SHARE, _FAILED_LEAST = 0.05, 5
"""A run stops once so many searches, and at least this share of all, have failed."""

_PROBED = 10
"""Determinism is measured on the smallest of the first so many instances."""


class Tally:
    """Counts over the instances of a run, whether they are done now or were done before.

    Args:
        population: The run's.

    Attributes:
        counts: Instances, sessions with turns, turns, queries and members seen.
    """

    def __init__(self, population: Population) -> None:
        self._population = population
        self._members = hashlib.sha256()
        self._sizes: dict[int, int] = {}
        self._spans: list[float] = []
        self._searched = self._failed = 0
        self.counts = dict.fromkeys(("instances", "sessions", "turns", "queries", "members"), 0)

    def see(self, instance: Instance, queries: Sequence[Query]) -> None:
        """Count an instance and those of its queries that are asked."""
        turns = sum(len(session.turns) for session in instance.sessions)
        members = [query for query in queries if is_member(query, self._population)]
        for query in members:
            self._members.update(f"{instance.position}\t{query.position}\n".encode())
        for key, number in {
            "instances": 1,
            "sessions": sum(1 for session in instance.sessions if session.turns),
            "turns": turns,
            "queries": len(queries),
            "members": len(members),
        }.items():
            self.counts[key] += number
        if instance.position < _PROBED:
            self._sizes[instance.position] = turns
        span = span_days(instance)
        if span is not None:
            self._spans.append(span)

    @property
    def digest(self) -> str:
        """SHA-256 over the members of the population that were seen."""
        return self._members.hexdigest()

    @property
    def smallest(self) -> int:
        """Position of the instance with the fewest turns among the first ones."""
        return min(self._sizes, key=self._sizes.__getitem__)

    @property
    def span_days(self) -> tuple[float, float] | None:
        """The shortest and the longest span of an instance."""
        return (min(self._spans), max(self._spans)) if self._spans else None

    def see_errors(self, instance: Instance, result: InstanceResult) -> None:
        """Stop a run whose failures are no longer exceptions.

        Raises:
            SystemUnderTestError: Too many searches failed.
        """
        failed = [trace.error for trace in result.traces if trace.error is not None]
        self._searched += len(result.traces)
        self._failed += len(failed)
        if failed and self._failed >= max(_FAILED_LEAST, _FAILED_SHARE * self._searched):
            raise SystemUnderTestError(
                f"{self._failed} of {self._searched} searches failed, one with: {failed[0]}",
                where=f"instance {instance.key}",
                hint="mend the system, then repeat the command to resume",
            )
