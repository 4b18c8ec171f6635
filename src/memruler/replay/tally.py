"""What a run counts while it goes: members, sizes, spans, attributed items and failures."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence

from memruler.corpora.populations import is_member
from memruler.errors import SystemUnderTestError
from memruler.model.corpus import Instance, Population, Query
from memruler.model.run import End, TraceRecord
from memruler.replay.forms import KINDS, TURNS_ONLY, Forms, given
from memruler.replay.timeline import span_days

__all__ = ["Tally"]

_FAILED_SHARE, _FAILED_LEAST = 0.05, 5
"""A run stops once so many searches, and at least this share of all, have failed."""

_PROBED, _PROBED_QUERIES = 20, 20
"""Determinism is measured on at least so many queries, of some of the first so many instances."""


class Tally:
    """Counts over the instances of a run, whether they are done now or were done before.

    Args:
        population: The run's.
        forms: What the run gives of the corpus.

    Attributes:
        counts: Instances, sessions with turns, turns, queries and members seen; and how many of
            each form of derived memories were given.
        rootless: Derived memories that were given and of which no source is known.
        attribution: Way to the number of items, as in `memruler.model.run.End`.
        searched, failed: Searches, and those that ended in an error.
        kinds: Sort of failure to the number of searches.
        cut, out_of_reach: Units that were sent only in part, and queries with evidence in one.
        left: What was said of namespaces that may not be gone.
        said: Of the system's own answers, how many were `answered`, `unanswered` and
            `answer_failed`; means nothing where it was not asked.
    """

    def __init__(self, population: Population, forms: Forms = TURNS_ONLY) -> None:
        self._population = population
        self._forms = forms
        self._members = hashlib.sha256()
        self._sizes: dict[int, tuple[int, int]] = {}
        self._spans: list[float] = []
        self.searched = self.failed = self.rootless = 0
        self.attribution: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.cut = self.out_of_reach = 0
        self.left: list[str] = []
        self.said = dict.fromkeys(("answered", "unanswered", "answer_failed"), 0)
        own = [form for form in forms if form != "turns"]
        counted = ("instances", "sessions", "turns", "queries", "members", *own)
        self.counts = dict.fromkeys(counted, 0)

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
            self._sizes[instance.position] = (turns, len(queries))
        self._see_derived(instance)
        span = span_days(instance)
        if span is not None:
            self._spans.append(span)

    def _see_derived(self, instance: Instance) -> None:
        if self._forms == TURNS_ONLY:
            return
        form_of = {kind: form for form, kind in KINDS.items()}
        for session in instance.sessions:
            for _, derived in given(session, self._forms) if session.turns else ():
                self.counts[form_of[derived.kind]] += 1
                self.rootless += derived.turns is None

    @property
    def digest(self) -> str:
        """SHA-256 over the members of the population that were seen."""
        return self._members.hexdigest()

    def probed(self) -> tuple[int, ...]:
        """Positions of the instances that determinism is measured on, ascending.

        The smallest of the first ones, as many as it takes for enough queries.
        """
        chosen: list[int] = []
        queries = 0
        for position, size in sorted(self._sizes.items(), key=lambda entry: entry[1]):
            if queries < _PROBED_QUERIES:
                chosen.append(position)
                queries += size[1]
        return tuple(sorted(chosen))

    @property
    def span_days(self) -> tuple[float, float] | None:
        """The shortest and the longest span of an instance."""
        return (min(self._spans), max(self._spans)) if self._spans else None

    def see_end(self, end: End) -> None:
        """Count what the end of an instance says, done now or before."""
        self.attribution.update(end.attribution)
        self.cut += end.cut or 0
        self.out_of_reach += end.out_of_reach
        if end.left is not None:
            self.left.append(end.left)

    def see_errors(self, instance: str, traces: Sequence[TraceRecord]) -> None:
        """Stop a run whose failures are no longer exceptions.

        Args:
            instance: Key of the instance.
            traces: Its searches, done now or before.

        Raises:
            SystemUnderTestError: Too many searches failed.
        """
        failed = [trace.error for trace in traces if trace.error is not None]
        self.searched += len(traces)
        self.failed += len(failed)
        self.kinds.update(trace.error_kind or "failed" for trace in traces if trace.error)
        for trace in traces:  # an answer that fails is not a search that fails
            failed_to_answer = trace.answer_error is not None
            self.said["answer_failed"] += failed_to_answer
            self.said["answered"] += trace.answer is not None
            self.said["unanswered"] += trace.answer is None and not failed_to_answer
        if failed:
            self._require_few(self.failed, self.searched, instance, failed[0])

    def watch(self, instance: str, queries: int) -> Callable[[str, int], None]:
        """What stops an instance that is under way as soon as its failures are too many.

        A server that hangs costs its whole time limit with every search.

        Args:
            instance: Its key.
            queries: How many it has.

        Returns:
            To be told every error, and how many searches are done.
        """
        here = 0

        def one(error: str, done: int) -> None:
            nonlocal here
            here += 1
            del done  # held against all there will be: the first failures are no share yet
            self._require_few(self.failed + here, self.searched + queries, instance, error)

        return one

    def _require_few(self, failed: int, searched: int, instance: str, error: str) -> None:
        if failed >= max(_FAILED_LEAST, _FAILED_SHARE * searched):
            raise SystemUnderTestError(
                f"{failed} of {searched} searches failed, one with: {error}",
                where=f"instance {instance}",
                hint="mend the system and measure it under another --stem; where the cause was "
                "outside of it (a server that was down), the same command resumes",
            )
