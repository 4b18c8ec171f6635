"""Measures a system over a corpus and leaves a sealed run folder behind.

The instance is the unit of work: it counts once its `End` record is on disk, and an interrupted
one is replayed from its start in a fresh namespace, so that no ranking ever mixes two stores.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

import msgspec

from memruler.errors import Interrupted, MemrulerError, UsageError
from memruler.model.corpus import Instance, Query
from memruler.model.run import Determinism, Manifest
from memruler.model.system import Namespace, Warns
from memruler.replay.begin import begin, require_same_run
from memruler.replay.instance import Failed, InstanceResult, Tick, replay_steps
from memruler.replay.namespaces import fresh_name, noted, placed
from memruler.replay.notes import lineage_warnings, run_notes, run_warnings
from memruler.replay.plan import Plan
from memruler.replay.probe import ProbeFailed, replay_again, replay_elsewhere, seen
from memruler.replay.records import write_instance
from memruler.replay.steps import AFTER, Pause, Steps, to_end
from memruler.replay.tally import Tally
from memruler.replay.timeline import instance_clock
from memruler.store.binding import table_digests
from memruler.store.folder import LOGS, RunFolder
from memruler.store.journal import Journal
from memruler.store.safe import make_dir, remove_tree
from memruler.store.seal import discard_journal, seal

__all__ = ["measure", "measuring"]

_STORES = "stores"
"""Where the system's data lies while a run goes, one folder an instance."""


class _Run(msgspec.Struct, frozen=True):
    """A plan, where it is written to, and who is told about progress."""

    plan: Plan
    folder: RunFolder
    tick: Tick


def measure(plan: Plan, folder: RunFolder, tick: Tick) -> Manifest:
    """Measure, or take up an interrupted measurement, and seal the folder.

    A folder that is sealed but was interrupted before its report only lacks the report.

    Args:
        plan: What to measure.
        folder: A claimed run folder, empty or interrupted.
        tick: Told about progress.

    Returns:
        The manifest of the sealed run.

    Raises:
        UsageError: The folder holds a finished run, or one begun with other settings.
        CorpusError: The corpus cannot be read to its end.
        SystemUnderTestError: The system failed; what is done stays and can be resumed.
        Interrupted: A person stopped it; likewise.
    """
    return to_end(measuring(plan, folder, tick))


def measuring(plan: Plan, folder: RunFolder, tick: Tick) -> Steps[Manifest]:
    """`measure` as steps, which pauses as `replay_steps` does, and once all instances are done.

    Where it is to stop at a pause, a `KeyboardInterrupt` is thrown into it.
    """
    with placed(plan.system, folder.path / _STORES / "server", folder.path / LOGS):
        return (yield from _measured(_Run(plan, folder, tick)))


def _measured(run: _Run) -> Steps[Manifest]:
    plan, folder = run.plan, run.folder
    found = folder.manifest()
    if found is not None and found.state == "sealed":
        return _take_up_sealed(run, found)
    with folder.journal() as journal:
        manifest = begin(plan, folder, fresh=not journal.done)
        try:
            tally = yield from _replay_all(run, manifest, journal)
            yield Pause(AFTER, 0)
            determinism, doubt = _probe(run, manifest, journal, tally)
        except KeyboardInterrupt:
            done = len(journal.done)
            if not done:
                _leave_nothing(folder)
                raise Interrupted("interrupted before one instance was finished") from None
            raise Interrupted(
                f"interrupted; {done} finished instance{'s are' if done > 1 else ' is'} kept",
                where=folder.path,
                hint=f"resume with the same command and --stem {folder.path.name}",
            ) from None
        except MemrulerError:
            if not journal.done:
                _leave_nothing(folder)
            raise
    identity = plan.system.identity()
    own = plan.system.warnings() if isinstance(plan.system, Warns) else ()
    return _seal(
        run,
        msgspec.structs.replace(
            manifest,
            counts={**tally.counts, **(tally.said if plan.settings.answers else {})},
            span_days=tally.span_days,
            determinism=determinism,
            lineage_exported=all(entry.end.exported for entry in journal.entries.values()),
            notes=run_notes(plan.system, identity, plan.settings, tally.span_days),
            warnings=(
                *lineage_warnings(tally, plan.settings.forms),
                *run_warnings(tally, determinism, doubt),
                *own,
            ),
        ),
        tally.digest,
    )


def _leave_nothing(folder: RunFolder) -> None:
    """Nothing counts yet: leave no half-written run behind that other settings could take up."""
    remove_tree(folder.path / _STORES, resolved=True)
    folder.discard()


def _take_up_sealed(run: _Run, found: Manifest) -> Manifest:
    """A sealed folder that was interrupted before its report only lacks the report."""
    if run.folder.has("report.json"):
        raise UsageError(
            "this run folder holds a finished run",
            where=run.folder.path,
            hint="choose another --stem",
        )
    require_same_run(run.plan, run.folder, found)
    discard_journal(run.folder)
    return found


def _replay_all(run: _Run, manifest: Manifest, journal: Journal) -> Steps[Tally]:
    """Replay what is not yet done, and count all of it."""
    plan = run.plan
    tally = Tally(plan.settings.population, plan.settings.forms)
    for done in journal.instances():
        tally.see_end(done.end)
        tally.see_errors(done.begin.key, done.traces)
    for instance in _instances(plan):
        queries = instance.queries[: plan.settings.queries]
        tally.see(instance, queries)
        if instance.position not in journal.done:
            failed = tally.watch(instance.key, len(queries))
            result = yield from _replay(run, manifest, instance, queries, failed)
            tally.see_errors(instance.key, result.traces)
            at = instance_clock(instance, plan.settings.timeline, manifest.clock).at
            population = plan.settings.population
            end = write_instance(journal, instance, queries, result, population=population, at=at)
            tally.see_end(end)
        run.tick("instance", tally.counts["instances"], 0)
    return tally


def _seal(run: _Run, manifest: Manifest, members: str) -> Manifest:
    folder = run.folder
    seal(folder)
    if not run.plan.settings.keep:
        remove_tree(folder.path / _STORES, resolved=True)
    parts = dict(manifest.fingerprint)
    parts["population"] = {**parts["population"], "digest": members}
    sealed = msgspec.structs.replace(
        manifest,
        state="sealed",
        fingerprint=parts,
        tables=table_digests(folder),
        finished=datetime.now(UTC).replace(tzinfo=None),
    )
    folder.write_manifest(sealed)
    discard_journal(folder)
    return sealed


def _instances(plan: Plan) -> Iterator[Instance]:
    return islice(iter(plan.corpus), plan.settings.instances)


def _replay(
    run: _Run,
    manifest: Manifest,
    instance: Instance,
    queries: tuple[Query, ...],
    failed: Failed,
) -> Steps[InstanceResult]:
    """Replay an instance in a namespace that nothing was ever written to."""
    plan, folder = run.plan, run.folder
    store = folder.path / _STORES / f"{instance.position:06d}"
    remove_tree(store, resolved=True)
    make_dir(store, resolved=True)
    space = Namespace(fresh_name(instance.position), store)
    clock = instance_clock(instance, plan.settings.timeline, manifest.clock)
    try:
        with noted(plan.spec, space, folder.path, kept=plan.settings.keep) as note:
            result = yield from replay_steps(
                plan.system,
                space,
                instance,
                queries=queries,
                clock=clock,
                settings=plan.settings,
                tick=run.tick,
                failed=failed,
            )
            note.stays = result.left is not None
            return result
    finally:
        if not plan.settings.keep:
            remove_tree(store, resolved=True)


def _probe(
    run: _Run, manifest: Manifest, journal: Journal, tally: Tally
) -> tuple[Determinism | None, str | None]:
    """Replay some instances once more and hold their rankings against the first."""
    plan, positions = run.plan, tally.probed()
    run.tick("determinism", 0, 1)
    folder = run.folder.path / _STORES / "again"
    remove_tree(folder, resolved=True)
    make_dir(folder, resolved=True)
    if plan.spec is not None:
        try:
            again = replay_elsewhere(plan.spec, positions, manifest.clock, folder)
        except ProbeFailed as failure:
            return None, str(failure)
    else:
        chosen = [i for i in _instances(plan) if i.position in positions]
        again = replay_again(plan, chosen, manifest.clock, folder)
    queries = same = 0
    for done in journal.instances():
        second = again.pop(done.begin.instance, None)
        if second is None:
            continue
        first = seen(done.items, done.traces)
        queries += len(first)
        # A ranking that has no partner is a different one.
        same += sum(a == b for a, b in zip(first, second, strict=False))
        if not again:
            break
    return (
        Determinism(
            instances=len(positions),
            queries=queries,
            identical=same,
            of=tally.counts["queries"],
            other_process=plan.spec is not None,
        ),
        None,
    )
