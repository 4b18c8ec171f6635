"""What a reader must know of how the cells of a study were measured."""

from collections.abc import Iterator, Mapping

from memruler.model.run import Manifest

__all__ = ["cell_notes"]


def cell_notes(manifests: Mapping[str, Manifest], cell: str = "cell") -> Iterator[str]:
    """Cells that were not measured alike, and what the runs warn of, one sentence each.

    Args:
        manifests: Run folder to manifest, in the order of the cells; at least one.
        cell: What a cell is called.
    """
    first = next(iter(manifests.values()))
    for what in ("packages", "machine", "tool"):
        if any(getattr(own, what) != getattr(first, what) for own in manifests.values()):
            yield f"the {cell}s were not all measured with the same {what}"
    warned: dict[str, list[str]] = {}
    for folder, own in manifests.items():
        for warning in own.warnings:
            warned.setdefault(warning, []).append(folder)
    for warning, names in warned.items():
        yield f"{f'every {cell}' if len(names) == len(manifests) else ', '.join(names)}: {warning}"
