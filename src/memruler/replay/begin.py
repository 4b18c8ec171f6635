"""Begins a run, or takes up an interrupted one: the checks that keep two runs apart."""

from datetime import UTC, datetime
from itertools import islice
from typing import Any

import msgspec

from memruler.corpora.populations import exclusion, refuse_unmeasurable
from memruler.errors import CorpusError, UsageError
from memruler.model.corpus import Corpus
from memruler.model.run import SCHEMA_VERSION, Manifest
from memruler.replay import provenance
from memruler.replay.forms import units
from memruler.replay.plan import Plan
from memruler.replay.settings import RunSettings, fingerprint
from memruler.store.folder import RunFolder

__all__ = ["begin", "check_measurable", "require_same_run"]


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
        turns += sum(units(session, settings.forms) for session in instance.sessions)
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


def begin(plan: Plan, folder: RunFolder, *, fresh: bool) -> Manifest:
    """Write the manifest of a new run, or take up the one of an interrupted run.

    Args:
        plan: What is to be measured.
        folder: A claimed run folder that is not sealed.
        fresh: Whether nothing in it counts yet; then it is begun anew, whatever it was begun as.

    Raises:
        UsageError: The folder was begun as another run, or by other code.
    """
    found = folder.manifest()
    if found is None or fresh:
        manifest = _new(plan, folder)
    else:
        require_same_run(plan, folder, found)
        manifest = msgspec.structs.replace(found, resumed=found.resumed + 1)
    folder.write_manifest(manifest)
    return manifest


def _new(plan: Plan, folder: RunFolder) -> Manifest:
    now = datetime.now(UTC).replace(tzinfo=None)
    identity = plan.system.identity()
    return Manifest(
        schema_version=SCHEMA_VERSION,
        stem=folder.path.name,
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


def _other_code(wanted: dict[str, Any], there: dict[str, Any]) -> str:
    """What to add where the system has the same name and settings, and only its digest differs."""
    new, old = wanted["system"], there.get("system")
    if not isinstance(old, dict) or new["digest"] == old.get("digest"):
        return ""
    if any(new[key] != old.get(key) for key in new if key != "digest"):
        return ""
    return f" (the code of {new['name']} was changed: a run never mixes two versions)"


def require_same_run(plan: Plan, folder: RunFolder, found: Manifest) -> None:
    """Refuse to go on with a folder that was begun as another run.

    Raises:
        UsageError: Settings, corpus, system or the code of memruler differ.
    """
    wanted = fingerprint(plan.corpus.info, plan.system.identity(), plan.settings, found.clock)
    # Through JSON once, as what was found has been.
    wanted = msgspec.json.decode(msgspec.json.encode(wanted))
    there = dict(found.fingerprint)
    # The digest of the members is known, and written, only at the end.
    population = there.get("population")
    if isinstance(population, dict):
        there["population"] = {k: v for k, v in population.items() if k != "digest"}
    if wanted != there:
        parts = sorted(part for part in wanted if wanted[part] != there.get(part))
        code = _other_code(wanted, there)
        raise UsageError(
            f"this run folder was begun with another {', '.join(parts) or 'fingerprint'}{code}",
            where=folder.path,
            hint="choose another --stem, or repeat what it was begun with",
        )
    if provenance.tool()["source_sha256"] != found.tool.get("source_sha256"):
        raise UsageError(
            "this run folder was begun by other code of memruler",
            where=folder.path,
            hint="choose another --stem; a run never mixes two versions",
        )
