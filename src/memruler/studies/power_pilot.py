"""Two finished runs, or two files of scores, as a pilot."""

from pathlib import Path

import numpy as np

from memruler.compare.pairing import read_pair
from memruler.studies.power import Pilot

__all__ = ["read_pilot"]


def read_pilot(
    base: Path, candidate: Path, *, metric: str | None = None, cluster: str | None = None
) -> Pilot:
    """Read paired values.

    Unlike a comparison it asks for no declared change: what differs between the sides is the
    kind of change whose spread the pilot shows. Items without a value on both sides are left out.

    Args:
        base: A run folder or a file of scores.
        candidate: Another of the same kind.
        metric: See `read_pair`.
        cluster: See `read_pair`.

    Raises:
        FormatError, CorpusError: A side cannot be read.
        UsageError: The metric or the cluster key is unknown.
        Refusal: The two did not ask the same items, or share no value.
    """
    pair = read_pair(base, candidate, metric=metric, cluster=cluster, shared=True, check=False)
    return Pilot(
        base=pair.base,
        candidate=pair.candidate,
        metric=pair.metric,
        cluster=pair.cluster,
        deltas=np.array(pair.deltas),
        clusters=pair.clusters,
        deterministic=pair.deterministic,
    )
