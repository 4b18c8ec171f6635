"""Measures a system over a corpus and leaves a sealed run folder behind.

The instance is the unit of work: it counts once its `End` record is on disk, and an interrupted
one is replayed from its start in a fresh namespace, so that no ranking ever mixes two stores.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

import msgspec

from memruler.corpora.populations import exclusion, refuse_unmeasurable
from memruler.errors import CorpusError, Interrupted, UsageError
from memruler.model.corpus import Corpus, Instance, Query
from memruler.model.run import SCHEMA_VERSION, Determinism, Manifest
from memruler.model.system import Namespace
from memruler.replay import provenance
from memruler.replay.instance import InstanceResult, Tick, replay_instance
from memruler.replay.notes import run_notes, run_warnings
from memruler.replay.plan import Plan
from memruler.replay.records import write_instance
from memruler.replay.settings import RunSettings, fingerprint
from memruler.replay.tally import Tally
from memruler.replay.timeline import instance_clock
from memruler.store.folder import RunFolder
from memruler.store.journal import Journal
from memruler.store.safe import make_dir, remove_tree
from memruler.store.seal import discard_journal, seal

__all__ = ["check_measurable", "measure"]

_STORES = "stores"
"""Where the system's data lies while a run goes, one folder an instance."""


class _Run(msgspec.Struct, frozen=True):
    """A plan, where it is written to, and who is told about progress."""

    plan: Plan
    folder: RunFolder
    tick: Tick


class _Probe(msgspec.Struct, frozen=True):
    """What a second replay of one instance told."""

    determinism: Determinism
    exported: bool


def check_measurable(corpus: Corpus, settings: RunSettings) -> None:
    """Stop before anything is written when a run could not print one number.

    Reads the corpus only up to the first query that can be measured.

    Raises:
        CorpusError: There is no instance, no turn or no query.
        Refusal: No query of the population can be measured.
    """
    excluded: dict[str, int] = {}
    turns = queries = 0
    for instance in islice(iter(corpus), settings.instances):
        turns += sum(len(session.turns) for session in instance.sessions)
        for query in instance.queries[: settings.queries]:
            queries += 1
            reason = exclusion(query, instance, settings.population)
            if reason is None and turns:
                return
            if reason is not None:
                excluded[reason] = excluded.get(reason, 0) + 1
    for number, thing in ((turns, "turn to remember"), (queries, "query to ask")):
        if not number:
            raise CorpusError(
                f"the corpus has no {thing}", where=corpus.info.name, hint="choose another file"
            )
    refuse_unmeasurable(corpus.info, excluded)


def _begin(run: _Run) -> Manifest:
    """Write the manifest of a new run, or take up the one of an interrupted run."""
    now = datetime.now(UTC).replace(tzinfo=None)
    found = run.folder.manifest()
    if found is not None:
        return _resume(run, found)
    plan = run.plan
    identity = plan.system.identity()
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        stem=run.folder.path.name,
        state="running",
        fingerprint=fingerprint(plan.corpus.info, identity, plan.settings, now),
        chosen=plan.chosen,
        defaulted=plan.defaulted,
        tool=provenance.tool(),
        machine=provenance.machine(),
        packages=provenance.packages(),
        clock=now,
        started=now,
        corpus_notes=plan.corpus.info.notes,
        degraded=identity.degraded,
    )
    run.folder.write_manifest(manifest)
    return manifest


def _resume(run: _Run, found: Manifest) -> Manifest:
    where, plan = run.folder.path, run.plan
    wanted = fingerprint(plan.corpus.info, plan.system.identity(), plan.settings, found.clock)
    # Through JSON once, as what was found has been.
    wanted = msgspec.json.decode(msgspec.json.encode(wanted))
    if wanted != found.fingerprint:
        parts = sorted(k for k in wanted if wanted[k] != found.fingerprint.get(k))
        raise UsageError(
            f"this run folder was begun with another {', '.join(parts)}",
            where=where,
            hint="repeat the settings it was begun with, or choose another --stem",
        )
    if provenance.tool()["source_sha256"] != found.tool.get("source_sha256"):
        raise UsageError(
            "this run folder was begun by other code of memruler",
            where=where,
            hint="choose another --stem; a run never mixes two versions",
        )
    manifest = msgspec.structs.replace(found, resumed=found.resumed + 1)
    run.folder.write_manifest(manifest)
    return manifest


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
    run = _Run(plan, folder, tick)
    found = folder.manifest()
    if found is not None and found.state == "sealed":
        if folder.has("report.json"):
            raise UsageError(
                "this run folder holds a finished run",
                where=folder.path,
                hint="choose another --stem",
            )
        discard_journal(folder)
        return found
    manifest = _begin(run)
    journal = folder.journal()
    tally = Tally(plan.settings.population)
    try:
        for instance in _instances(plan):
            queries = instance.queries[: plan.settings.queries]
            tally.see(instance, queries)
            if instance.position not in journal.done:
                result = _replay(run, manifest, instance, queries, tick)
                tally.see_errors(instance, result)
                at = instance_clock(instance, plan.settings.timeline, manifest.clock).at
                population = plan.settings.population
                write_instance(journal, instance, queries, result, population=population, at=at)
            tick("instance", tally.counts["instances"], 0)
        probe = _probe(run, manifest, journal, tally.smallest)
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; finished instances are kept",
            where=folder.path,
            hint=f"resume with the same command and --stem {folder.path.name}",
        ) from None
    finally:
        journal.close()
    return _seal(run, manifest, tally, probe)


def _seal(run: _Run, manifest: Manifest, tally: Tally, probe: _Probe) -> Manifest:
    plan, folder = run.plan, run.folder
    seal(folder)
    if not plan.settings.keep:
        remove_tree(folder.path / _STORES)
    parts = dict(manifest.fingerprint)
    parts["population"] = {**parts["population"], "digest": tally.digest}
    sealed = msgspec.structs.replace(
        manifest,
        state="sealed",
        fingerprint=parts,
        finished=datetime.now(UTC).replace(tzinfo=None),
        counts=tally.counts,
        span_days=tally.span_days,
        determinism=probe.determinism,
        lineage_exported=probe.exported,
        notes=run_notes(plan.system.identity(), plan.settings, tally.span_days),
        warnings=run_warnings(probe.determinism),
    )
    folder.write_manifest(sealed)
    discard_journal(folder)
    return sealed


def _instances(plan: Plan) -> Iterator[Instance]:
    return islice(iter(plan.corpus), plan.settings.instances)


def _replay(
    run: _Run, manifest: Manifest, instance: Instance, queries: tuple[Query, ...], tick: Tick
) -> InstanceResult:
    """Replay an instance in a namespace that nothing was ever written to."""
    plan, folder = run.plan, run.folder
    store = folder.path / _STORES / f"{instance.position:06d}"
    remove_tree(store)
    make_dir(store)
    namespace = Namespace(f"bench-{folder.path.name}-{instance.position}", store)
    clock = instance_clock(instance, plan.settings.timeline, manifest.clock)
    try:
        return replay_instance(
            plan.system,
            namespace,
            instance,
            queries=queries,
            clock=clock,
            settings=plan.settings,
            tick=tick,
        )
    finally:
        if not plan.settings.keep:
            remove_tree(store)


def _probe(run: _Run, manifest: Manifest, journal: Journal, smallest: int) -> _Probe:
    """Replay the smallest early instance once more and hold its rankings against the first."""
    instance = next(i for i in _instances(run.plan) if i.position == smallest)
    queries = instance.queries[: run.plan.settings.queries]
    again = _replay(run, manifest, instance, queries, run.tick)
    first = next(done for done in journal.instances() if done.begin.instance == smallest)
    same = sum(
        (a.items, a.scores, a.error) == (b.items, b.scores, b.error)
        for a, b in zip(first.traces, again.traces, strict=True)
    )
    determinism = Determinism(instance=instance.key, queries=len(again.traces), identical=same)
    return _Probe(determinism, again.exported)
