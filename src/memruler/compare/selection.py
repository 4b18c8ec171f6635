"""Chooses the cut-offs to compare at: where both runs count the same queries, or share some."""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from memruler.compare.headline import LEVELS, Cell
from memruler.compare.load import LoadedRun
from memruler.compare.record import Reason
from memruler.model.summary import Cutoff, Level, Omitted
from memruler.scoring.slices import slice_name

__all__ = ["Selection", "select"]


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared.

    Attributes:
        cells: By level, then depth.
        omitted: What is left out, and why.
        reasons: Why what was asked for cannot be compared.
    """

    cells: tuple[Cell, ...]
    omitted: tuple[Omitted, ...]
    reasons: tuple[Reason, ...]


def select(
    base: LoadedRun,
    candidate: LoadedRun,
    cutoffs: Sequence[int] | Literal["common"] | None,
    levels: Sequence[Level] | None,
    *,
    shared: bool = False,
) -> Selection:
    """Choose the cut-offs at which both runs counted the same queries.

    Args:
        base: The baseline.
        candidate: The candidate.
        cutoffs: Depths asked for; None for all; `common` to leave out, with the reason, every
            one where the two runs did not count the same queries.
        levels: Levels asked for; None for all.
        shared: Choose every cut-off at which some queries count in both runs instead.
    """
    cells: list[Cell] = []
    omitted: list[Omitted] = []
    reasons: list[Reason] = []
    gone: list[tuple[Level, int | None, _Fault]] = []
    known = _depths(base) | _depths(candidate)
    depths = known if cutoffs is None or cutoffs == "common" else set(cutoffs)
    for level in LEVELS:
        if levels and level not in levels:
            continue
        absent = _absent_level(base, candidate, level)
        if absent is not None:
            omitted.append(absent)
            gone.append((level, None, _Fault(absent.reason, refuse=False)))
            continue
        for k in sorted(depths):
            fault = _fault(base, candidate, (level, k))
            if fault is None or (shared and fault.both):
                cells.append((level, k))
            elif fault.refuse and cutoffs != "common" and not shared:
                reasons.append(_members_reason(level, k, fault))
            else:
                omitted.append(Omitted(level=level, k=k, reason=fault.what))
                gone.append((level, k, fault))
    reasons.extend(
        Reason(
            code="cutoff",
            what=f"k={k} was scored in neither run",
            hint="choose -k among " + ",".join(str(k) for k in sorted(known)),
        )
        for k in sorted(depths - known)
    )
    omitted.extend(_empty_categories(base, candidate, cells))
    if not cells and not reasons:
        reasons.append(_nothing_left(gone))
    return Selection(cells=tuple(cells), omitted=tuple(omitted), reasons=tuple(reasons))


class _Fault(msgspec.Struct, frozen=True):
    """Why one cut-off cannot be compared.

    Attributes:
        refuse: The queries that count differ; False where it simply was not scored.
        both: Queries that count in both runs all the same.
        counts: How many count where; empty where it was not scored.
    """

    what: str
    refuse: bool
    both: int = 0
    counts: str = ""


def _depths(run: LoadedRun) -> set[int]:
    """Every depth that the run was scored at, also those that no query's list reaches."""
    reached = {k for _, k in run.cutoffs()}
    return reached | {gone.k for gone in run.summary.omitted if gone.k is not None}


def _absent_level(base: LoadedRun, candidate: LoadedRun, level: Level) -> Omitted | None:
    for name, run in (("base", base), ("candidate", candidate)):
        if level not in run.scores:
            why = [o.reason for o in run.summary.omitted if o.level == level and o.k is None]
            reason = why[0] if why else "it was not scored"
            return Omitted(level=level, k=None, reason=f"not in the {name}: {reason}")
    return None


def _fault(base: LoadedRun, candidate: LoadedRun, cell: Cell) -> _Fault | None:
    k = cell[1]
    sides = {"base": base, "candidate": candidate}
    there = {name: run.cutoffs().get(cell) for name, run in sides.items()}
    why = {
        name: next((o.reason for o in run.summary.omitted if (o.level, o.k) == cell), None)
        for name, run in sides.items()
    }
    if all(cutoff is None for cutoff in there.values()):
        return _Fault(f"in neither run: {why['base'] or 'it was not scored'}", refuse=False)
    for name, cutoff in there.items():
        if cutoff is None:
            # Left out because nothing reached it: the counted queries differ. Never scored: not.
            return _Fault(
                f"not in the {name}: {why[name] or 'it was not scored'}",
                refuse=why[name] is not None,
            )
    differing = [
        name
        for name in ("all", *base.categories)
        if _members(base.cutoffs(name).get(cell)) != _members(candidate.cutoffs(name).get(cell))
    ]
    if not differing:
        return None
    counts = ", ".join(
        f"{cutoff.counted} of {cutoff.of} in the {name}"
        for name, cutoff in there.items()
        if cutoff is not None
    )
    # Where all queries together differ, that a category differs too goes without saying.
    within = "" if differing[0] == "all" else f"; in {', '.join(differing)}"
    both = len(base.counted(*cell) & candidate.counted(*cell))
    counts = f"{counts}, {both} in both{within}"
    return _Fault(
        f"the queries whose list reaches {k} are not the same ones ({counts})",
        refuse=True,
        both=both,
        counts=counts,
    )


def _members(cutoff: Cutoff | None) -> str | None:
    return None if cutoff is None else cutoff.members


def _members_reason(level: Level, k: int, fault: _Fault) -> Reason:
    over = ", or take the means over the queries that count in both: --shared"
    return Reason(
        code="members",
        what=f"{level} level, k={k}: {fault.what}",
        hint="leave such cut-offs out: -k common, or -k with the others, or one --level"
        + (over if fault.both else ""),
    )


def _empty_categories(
    base: LoadedRun, candidate: LoadedRun, cells: Sequence[Cell]
) -> Iterator[Omitted]:
    for name in base.categories:
        for level, k in cells:
            own, other = (
                {
                    key
                    for key in run.counted(level, k)
                    if slice_name(run.queries[key].category) == name
                }
                for run in (base, candidate)
            )
            if own & other:
                continue
            why = (
                f"no query's list is that long in both runs ({len(own)} in the base, "
                f"{len(other)} in the candidate)"
                if own or other
                else "no query's list is that long"
            )
            yield Omitted(level=level, k=k, reason=f"category {name}: {why}")


def _nothing_left(gone: Sequence[tuple[Level, int | None, _Fault]]) -> Reason:
    """One reason with everything that is left out in it: a cause once, its cut-offs behind it."""
    causes: dict[tuple[Level, str], list[str]] = {}
    for level, k, fault in gone:
        cause = "the queries that count are not the same ones" if fault.counts else fault.what
        depths = causes.setdefault((level, cause), [])
        if k is not None:
            depths.append(f"k={k}" + (f" ({fault.counts})" if fault.counts else ""))
    listed = (
        f"{level} level: {cause}" + (f", at {', '.join(depths)}" if depths else "")
        for (level, cause), depths in causes.items()
    )
    return Reason(
        code="nothing-left",
        what=f"nothing is left to compare: {'; '.join(listed)}",
        hint="take the means over the queries that count in both runs: --shared, without -k common"
        if any(fault.both for _, _, fault in gone)
        else "ask for other levels or cut-offs, or score both runs at the same ones",
    )
