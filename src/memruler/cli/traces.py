"""Opens what re-scoring is asked to read: run folders, and files of other tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memruler.errors import UsageError

if TYPE_CHECKING:  # it reaches numpy, and --help must not wait for that
    from memruler.model.credit import CreditLevel, CreditRule
    from memruler.scoring.traced import Scored, Traced

__all__ = ["SourceSpec", "open_all", "scored"]

_USUAL = (1, 3, 5, 10, 20, 40, 60)


class SourceSpec(NamedTuple):
    """What to read, as typed.

    Attributes:
        runs: Run folders.
        traces: Files of rankings.
        mappings: For each of these the file of its targets, in the same order.
        targets: `raw,source,canonical`.
        level: What an anchor is.
        items: The items that the foreign stores hold, where a file tells.
        lineage: Where the items of the runs come from, where they do not know it themselves.
    """

    runs: tuple[Path, ...]
    traces: tuple[Path, ...]
    mappings: tuple[Path, ...]
    targets: str
    level: "CreditLevel"
    items: Path | None = None
    lineage: Path | None = None


def open_all(spec: SourceSpec) -> "list[Traced]":
    """Open run folders, then foreign traces, each with its targets.

    Raises:
        UsageError: Nothing is named, or what is named does not go together.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.exchange.read import read_traced  # noqa: PLC0415
    from memruler.scoring.from_run import traced_from_run  # noqa: PLC0415
    from memruler.scoring.open_target import open_targets  # noqa: PLC0415

    _check(spec)
    opened = []
    if spec.runs:
        wanted = open_targets(spec.targets)
        opened = [traced_from_run(run, wanted, spec.level, spec.lineage) for run in spec.runs]
    names = [name.strip() for name in spec.targets.split(",")]
    opened += [
        read_traced(trace, mapping, names, spec.level, items=spec.items)
        for trace, mapping in zip(spec.traces, spec.mappings, strict=True)
    ]
    return opened


def _check(spec: SourceSpec) -> None:
    if not spec.runs and not spec.traces:
        raise UsageError("nothing to read", hint="name a run folder, or give --trace and --targets")
    if len(spec.traces) != len(spec.mappings):
        raise UsageError(
            f"{len(spec.traces)} --trace and {len(spec.mappings)} --targets",
            hint="give each --trace the --targets that belong to it",
        )
    if spec.items is not None and not spec.traces:
        raise UsageError("--items is for --trace", where=spec.items)
    if spec.lineage is not None and not spec.runs:
        raise UsageError("--lineage is for run folders", where=spec.lineage)


def scored(
    opened: "Sequence[Traced]", cutoffs: str | None, rule: "CreditRule | None"
) -> "list[Scored]":
    """Score everything alike.

    Args:
        opened: What was read.
        cutoffs: As typed; without it the usual ones that all rankings reach.
        rule: How credit is counted; without it per anchor, or per id where a file of targets has
            no anchors.

    Raises:
        UsageError: A cut-off is deeper than every ranking of one of them: its value would be that
            of a shallower one. Or credit per anchor is asked for where no anchors are known.
    """
    from memruler.metrics.names import parse_cutoffs  # noqa: PLC0415
    from memruler.scoring.traced import score_traced  # noqa: PLC0415

    deepest = min(traced.deepest() for traced in opened)
    if cutoffs is None:
        depths = tuple(k for k in _USUAL if k <= deepest)
    else:
        depths = parse_cutoffs(cutoffs)
        if depths[-1] > deepest:
            raise UsageError(
                f"no ranking was asked for {depths[-1]} hits, only for {deepest}",
                where=f"-k {cutoffs}",
                hint=f"{deepest} is the deepest cut-off that these rankings can tell about",
            )
    anchored = all(traced.anchored for traced in opened)
    if rule is not None and rule != "id" and not anchored:
        raise UsageError(
            "the targets do not say which anchor an id supports",
            where=f"--credit {rule}",
            hint="use --credit id, or give the groups of each query (docs/exchange.md)",
        )
    if rule is None:
        rule = "anchor" if anchored else "id"
    return [score_traced(traced, depths, rule) for traced in opened]
