"""Opens what re-scoring is asked to read: run folders, and files of other tools."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memruler.errors import UsageError

if TYPE_CHECKING:  # it reaches numpy, and --help must not wait for that
    from memruler.model.credit import CreditLevel, CreditRule
    from memruler.scoring.traced import Scored, Traced

__all__ = ["USUAL_TARGETS", "SourceSpec", "open_all", "require_apart", "scored"]

USUAL_TARGETS = "raw,source,canonical"
"""What a run is asked for where nobody says."""

_USUAL = (1, 3, 5, 10, 20, 40, 60)


class SourceSpec(NamedTuple):
    """What to read, as typed.

    Attributes:
        runs: Run folders.
        traces: Files of rankings.
        mappings: For each of these the file of its targets, in the same order.
        targets: `raw,source,canonical`; None for these of a run, and for all that a file names.
        level: What an anchor is.
        items: The items that the foreign stores hold, where a file tells.
        lineage: Where the items of the runs come from, where they do not know it themselves.
    """

    runs: tuple[Path, ...]
    traces: tuple[Path, ...]
    mappings: tuple[Path, ...]
    targets: str | None
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
        wanted = open_targets(spec.targets or USUAL_TARGETS)
        opened = [traced_from_run(run, wanted, spec.level, spec.lineage) for run in spec.runs]
    opened += [
        read_traced(trace, mapping, _names(spec, mapping), spec.level, items=spec.items)
        for trace, mapping in zip(spec.traces, spec.mappings, strict=True)
    ]
    return opened


def _names(spec: SourceSpec, mapping: Path) -> list[str]:
    """The targets to read of a file: as typed, or all that it names and `source` out of these."""
    from memruler.exchange.formats import targets_in  # noqa: PLC0415

    if spec.targets:
        return [name.strip() for name in spec.targets.split(",")]
    named = targets_in(mapping)
    usual = USUAL_TARGETS.split(",") if {"raw", "canonical"} <= set(named) else []
    return list(dict.fromkeys([*usual, *named]))


def require_apart(written: Path | None, spec: SourceSpec) -> None:
    """Refuse to write over what is read: a table of a sealed run, a file of rankings.

    Raises:
        UsageError: The file to be written stands in a run folder, or is one of the files.
    """
    if written is None:
        return
    target = written.resolve()
    files = (*spec.traces, *spec.mappings, spec.items, spec.lineage)
    if target in [file.resolve() for file in files if file is not None] or any(
        run.resolve() in target.parents for run in spec.runs
    ):
        raise UsageError(
            "it would be written where the input stands, which is never changed",
            where=written,
            hint="choose another file",
        )


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


def _require_single(opened: "Sequence[Traced]") -> None:
    """Refuse to count by item where items support only together."""
    for traced in opened:
        for name, supports in traced.supports.items():
            if supports.set_offsets is not None:
                raise UsageError(
                    f"the target {name} has items that support only together, so that no item "
                    "counts by itself",
                    where=traced.name,
                    hint="use --credit anchor or cover, at --level turn or session",
                )


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
    if rule == "id" or opened[0].level == "item":
        _require_single(opened)
    if rule is None:
        rule = "anchor" if anchored else "id"
    return [_told(score_traced(traced, depths, rule)) for traced in opened]


def _told(found: "Scored") -> "Scored":
    """The scores, with a notice where nothing at all earned credit."""
    from msgspec.structs import replace  # noqa: PLC0415

    from memruler.scoring.traced import Notice  # noqa: PLC0415

    if not found.by_target or any(one.first.any() for one in found.by_target.values()):
        return found
    notice = Notice(
        kind="no-credit",
        what="targets, and no eligible item in any ranking under one of them: do the rankings and "
        "the targets belong together?",
        count=len(found.by_target),
    )
    traced = replace(found.traced, notices=(*found.traced.notices, notice))
    return replace(found, traced=traced)
