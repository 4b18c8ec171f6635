"""What a reader must know of how the two sides of an A/B run were measured."""

from collections.abc import Iterator, Sequence

import pyarrow.compute as pc

from memruler.model.run import Manifest
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table
from memruler.studies.cell_notes import cell_notes

__all__ = ["ab_notes"]


def ab_notes(a: Manifest, b: Manifest, folders: Sequence[RunFolder]) -> Iterator[str]:
    """Sides that were not measured alike, and what the runs warn of, one sentence each.

    Args:
        a: The baseline's manifest.
        b: The candidate's.
        folders: Their sealed run folders.
    """
    yield from cell_notes({"a": a, "b": b}, "side")
    used = a.fingerprint.get("embedder")
    if used is not None and used == b.fingerprint.get("embedder"):
        embedded = sum(_embedded(folder) for folder in folders)
        if embedded:
            yield (
                f"both sides use one embedder, and {embedded:,} questions were embedded anew: the "
                "side that asks first pays for the vector and the other finds it in the cache; "
                "another `out` times both with a full cache"
            )


def _embedded(folder: RunFolder) -> int:
    """Questions that were embedded, and not found in the cache."""
    column = read_table(folder, "ingest", columns=["search_embedded"]).column("search_embedded")
    return int(pc.sum(column).as_py() or 0)
