"""Times two systems in alternation: over the same instances, each pass in fresh stores.

An instance is replayed as in a run, so the same code writes, settles and searches. Only what the
system does is timed; reading the corpus, making and removing stores and collecting garbage are not.
"""

import gc
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from statistics import median
from typing import NamedTuple

import msgspec

from memruler.errors import CorpusError, InstrumentError, MemrulerError, SystemUnderTestError
from memruler.model.corpus import Instance
from memruler.model.system import Namespace, Warns
from memruler.model.timed import Pass, Timed, TimedSide
from memruler.replay import provenance
from memruler.replay.instance import InstanceResult, Tick, replay_instance
from memruler.replay.namespaces import fresh_name, noted, placed
from memruler.replay.plan import Plan
from memruler.replay.timeline import instance_clock
from memruler.stats.noise_design import ROUND, Side, schedule
from memruler.store.safe import make_dir, remove_tree
from memruler.systems.guarded import GuardedSystem

__all__ = ["time_systems"]

_GARBAGE = "collected before each instance, untimed; the collector stays on while it is timed"
_STORES = "fresh for each pass, in the folder for temporary files"


class _Measurement(NamedTuple):
    """What stays the same from pass to pass."""

    plans: dict[Side, Plan]
    instances: tuple[Instance, ...]
    started: datetime
    folder: Path


def time_systems(base: Plan, candidate: Plan, *, rounds: int, warmup: int, tick: Tick) -> Timed:
    """Measure ingest throughput and search latency of two systems.

    The sides alternate as `memruler.stats.noise_design.schedule` says. Every query is searched by
    itself, whatever a memory could answer in one go.

    Args:
        base: What is measured against; its corpus, limit and counts hold for both.
        candidate: The other side, over the same corpus.
        rounds: Rounds that count, of four passes each; even, at least 2.
        warmup: Rounds before them.
        tick: Told after each pass, never while something is timed.

    Raises:
        Refusal: Fewer than two rounds.
        UsageError: An odd number of rounds.
        CorpusError: There is nothing to write or to ask, or the two plans' corpora differ.
        SystemUnderTestError: A side failed, be it in a single search.
        InstrumentError: The ruler's own part broke.
    """
    order = schedule(rounds, warmup)
    instances = _instances(base, candidate)
    started = datetime.now(UTC).replace(tzinfo=None)
    passes: list[Pass] = []
    plans: dict[Side, Plan] = {"base": base, "candidate": candidate}
    with tempfile.TemporaryDirectory(prefix="memruler-time-", ignore_cleanup_errors=True) as folder:
        measurement = _Measurement(plans, instances, started, Path(folder).resolve())
        with ExitStack() as stack:
            for side, plan in plans.items():
                place = Path(folder).resolve() / side
                stack.enter_context(placed(plan.system, place / "server", place / "logs"))
            for done, side in enumerate(order):
                number = done // ROUND
                tick("warm-up" if number < warmup else "timing", done, len(order))
                passes.append(_pass(measurement, side, number, warmup=number < warmup))
            sides = (_side(base), _side(candidate))
    tick("timing", len(order), len(order))
    info, settings = base.corpus.info, base.settings
    return Timed(
        base=sides[0],
        candidate=sides[1],
        corpus={
            "name": info.name,
            "version": info.version,
            "sha256": info.sha256,
            "tier": info.tier,
        },
        instances=len(instances),
        turns=sum(len(s.turns) for i in instances for s in i.sessions),
        queries=sum(len(i.queries[: settings.queries]) for i in instances),
        limit=settings.limit,
        rounds=rounds,
        warmup=warmup,
        passes=tuple(passes),
        garbage=_GARBAGE,
        stores=_STORES,
        tool=provenance.tool(),
        machine=provenance.machine(),
        packages=provenance.packages(),
        started=started,
        finished=datetime.now(UTC).replace(tzinfo=None),
    )


def _instances(base: Plan, candidate: Plan) -> tuple[Instance, ...]:
    """What both sides see, held in memory so that nothing is read between two passes."""
    info, other = base.corpus.info, candidate.corpus.info
    if info.sha256 != other.sha256:
        raise CorpusError("the corpus changed while it was opened", where=info.name)
    found = tuple(islice(iter(base.corpus), base.settings.instances))
    queries = sum(len(i.queries[: base.settings.queries]) for i in found)
    turns = sum(len(s.turns) for i in found for s in i.sessions)
    for number, thing in ((turns, "turn to remember"), (queries, "query to ask")):
        if not number:
            raise CorpusError(
                f"the corpus has no {thing}", where=info.name, hint="choose another, or more of it"
            )
    return found


def _pass(measurement: _Measurement, side: Side, number: int, *, warmup: bool) -> Pass:
    with _naming(side):
        results = [_replay(measurement, side, instance) for instance in measurement.instances]
        for instance, result in zip(measurement.instances, results, strict=True):
            _refuse_failures(instance, result)
    seconds = sum(result.ingest_ms for result in results) / 1000
    if seconds <= 0:
        raise InstrumentError(
            "the clock did not move while turns were written", hint="time more instances"
        )
    traces = [trace for result in results for trace in result.traces]
    return Pass(
        side=side,
        round=number,
        warmup=warmup,
        ingest_turns_per_s=sum(result.turns for result in results) / seconds,
        search_ms=median(trace.latency_ms for trace in traces),
        hits=sum(len(trace.items) for trace in traces),
        ingest_embedded=_total([result.ingest_use.embedded for result in results]),
        ingest_cached=_total([result.ingest_use.cached for result in results]),
        search_embedded=_total([result.search_use.embedded for result in results]),
        search_cached=_total([result.search_use.cached for result in results]),
    )


def _replay(measurement: _Measurement, side: Side, instance: Instance) -> InstanceResult:
    """One instance in a store that nothing was ever written to, and whose name tells no side."""
    plan = measurement.plans[side]
    settings = msgspec.structs.replace(plan.settings, one_by_one=True, answers=False, keep=False)
    store = measurement.folder / f"{instance.position:06d}"
    make_dir(store)
    space = Namespace(fresh_name(instance.position), store)
    gc.collect()
    try:
        with noted(plan.spec, space, measurement.folder) as note:
            result = replay_instance(
                plan.system,
                space,
                instance,
                queries=instance.queries[: measurement.plans["base"].settings.queries],
                clock=instance_clock(instance, settings.timeline, measurement.started),
                settings=settings,
                tick=_silent,  # it is called while the clock runs
            )
            note.stays = result.left is not None
            return result
    finally:
        remove_tree(store)


def _silent(phase: str, done: int, of: int) -> None:
    del phase, done, of


@contextmanager
def _naming(side: Side) -> Iterator[None]:
    try:
        yield
    except MemrulerError as failure:
        failure.where = side if failure.where is None else f"{side}, {failure.where}"
        raise


def _refuse_failures(instance: Instance, result: InstanceResult) -> None:
    failed = [trace for trace in result.traces if trace.error is not None]
    if failed:
        raise SystemUnderTestError(
            f"{len(failed)} of {len(result.traces)} searches failed, one with: {failed[0].error}",
            where=f"instance {instance.key} query {failed[0].query}",
            hint="the time to an error is no latency: mend the system first",
        )


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _side(plan: Plan) -> TimedSide:
    return TimedSide(
        name=plan.spec.system if plan.spec else plan.system.identity().name,
        identity=plan.system.identity(),
        chosen=dict(plan.chosen),
        text=msgspec.structs.asdict(plan.settings.text),
        checked=isinstance(plan.system, GuardedSystem),
        warnings=tuple(plan.system.warnings()) if isinstance(plan.system, Warns) else (),
    )
