"""Opens what re-scoring is asked to read: run folders, and files of other tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memruler.errors import UsageError

if TYPE_CHECKING:  # it reaches numpy, and --help must not wait for that
    from memruler.model.credit import CreditLevel
    from memruler.scoring.traced import Traced

__all__ = ["open_all", "require_depth"]


def open_all(
    runs: Sequence[Path],
    traces: Sequence[Path],
    mappings: Sequence[Path],
    targets: str,
    *,
    level: "CreditLevel",
    items: Path | None = None,
) -> "list[Traced]":
    """Open run folders, then foreign traces, each with its targets.

    Args:
        runs: Run folders.
        traces: Files of rankings.
        mappings: For each of them the file of its targets, in the same order.
        targets: As typed: `raw,source,canonical`.
        level: What an anchor is.
        items: The items that the foreign stores hold, where a file tells.

    Raises:
        UsageError: Nothing is named, or traces and mappings do not pair up.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.exchange.read import read_traced  # noqa: PLC0415
    from memruler.scoring.from_run import traced_from_run  # noqa: PLC0415
    from memruler.scoring.open_target import open_targets  # noqa: PLC0415

    if not runs and not traces:
        raise UsageError("nothing to read", hint="name a run folder, or give --trace and --targets")
    if len(traces) != len(mappings):
        raise UsageError(
            f"{len(traces)} --trace and {len(mappings)} --targets",
            hint="give each --trace the --targets that belong to it",
        )
    opened = []
    if runs:
        wanted = open_targets(targets)
        opened = [traced_from_run(run, wanted, level) for run in runs]
    names = [name.strip() for name in targets.split(",")]
    opened += [
        read_traced(trace, mapping, names, level, items=items)
        for trace, mapping in zip(traces, mappings, strict=True)
    ]
    return opened


def require_depth(traced: "Traced", cutoffs: Sequence[int]) -> None:
    """Refuse a cut-off deeper than every ranking: its values would be those of a shallower one.

    Raises:
        UsageError: A cut-off is deeper than every ranking.
    """
    deepest = traced.hits.shape[1]
    if cutoffs[-1] > deepest:
        raise UsageError(
            f"no ranking reaches {cutoffs[-1]} hits; the longest has {deepest}",
            where=f"-k, {traced.name}",
            hint=f"-k {deepest} is the deepest that these rankings can tell about",
        )
