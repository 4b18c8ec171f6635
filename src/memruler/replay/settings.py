"""What a retrieval run is told to do, and the fingerprint that follows from it."""

from datetime import datetime
from typing import Any

import msgspec

from memruler.model.corpus import CorpusInfo, Population
from memruler.model.system import SystemIdentity
from memruler.replay.forms import TURNS_ONLY, Forms
from memruler.replay.inputs import Granularity, TextForm
from memruler.replay.provenance import ruler
from memruler.replay.timeline import Timeline

__all__ = ["RunSettings", "fingerprint"]


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a retrieval run that are not the system's own.

    Attributes:
        population: Whom the means are over.
        timeline: See `memruler.replay.timeline`.
        granularity: What is written as one unit.
        forms: What is given of the corpus: turns, and derived memories of its own.
        text: The text form of a turn.
        limit: Hits asked for per query, at least 1.
        instances: Only the first so many instances; None for all.
        queries: Only the first so many queries of each instance; None for all.
        one_by_one: Search query by query even where the system answers many at once.
        keep: Keep the stores of the system in the run folder.
        answers: Ask the system for answers of its own too.
    """

    population: Population
    timeline: Timeline = "anchored"
    granularity: Granularity = "turn"
    forms: Forms = TURNS_ONLY
    text: TextForm = TextForm()
    limit: int = 20
    instances: int | None = None
    queries: int | None = None
    one_by_one: bool = False
    keep: bool = False
    answers: bool = False


def fingerprint(
    corpus: CorpusInfo, identity: SystemIdentity, settings: RunSettings, clock: datetime
) -> dict[str, Any]:
    """The parts that must match before two runs compare, nested by room.

    The population's digest joins them when the run is sealed: it takes a pass over the corpus.
    """
    ingest: dict[str, Any] = {
        "granularity": settings.granularity,
        "forms": ",".join(settings.forms),
        "timeline": settings.timeline,
        "order": "time",
        "text": msgspec.to_builtins(settings.text),
    }
    if settings.timeline == "literal":
        ingest["clock"] = clock.isoformat()
    retrieval: dict[str, Any] = {"limit": settings.limit}
    if settings.answers:  # left out otherwise, so that runs from before it was known stay equal
        retrieval["answers"] = True
    return {
        "corpus": {
            "name": corpus.name,
            "version": corpus.version,
            "sha256": corpus.sha256,
            "tier": corpus.tier,
            "instances": settings.instances or "all",
            "queries": settings.queries or "all",
        },
        "population": {"name": settings.population.name, "rule": settings.population.rule},
        "ingest": ingest,
        "retrieval": retrieval,
        "system": {
            "name": identity.name,
            "version": identity.version,
            "digest": identity.digest,
            "settings": identity.settings,
        },
        "embedder": msgspec.to_builtins(identity.embedder),
        "ruler": {"sha256": ruler()},
    }
