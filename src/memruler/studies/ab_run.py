"""Measures the two sides of an A/B run in turns, each into an ordinary run folder."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memruler.errors import FormatError, Interrupted, SystemUnderTestError, printable
from memruler.model.run import Manifest
from memruler.replay.begin import check_measurable
from memruler.replay.instance import Tick
from memruler.replay.plan import Plan, PlanSpec, plan_run
from memruler.replay.run import measuring
from memruler.replay.steps import Steps, to_end
from memruler.store.folder import RunFolder
from memruler.studies.ab_spec import SIDES, Side
from memruler.studies.ab_together import Together
from memruler.studies.ab_turns import in_turns
from memruler.studies.cell_run import finish, kept, named

__all__ = ["run_both"]


class _Claimed(NamedTuple):
    side: Side
    plan: Plan
    folder: RunFolder


def run_both(
    plans: Mapping[Side, PlanSpec],
    out: Path,
    cutoffs: Collection[int],
    tick: Tick,
    report: Callable[[RunFolder], object],
) -> frozenset[int]:
    """Measure what is not finished yet, in turns; score and report both sides.

    Args:
        plans: What is run for each side.
        out: Where the two run folders lie or are made.
        cutoffs: Depths that must be scored.
        tick: Told about progress.
        report: Writes the report of one scored run.

    Returns:
        Positions of the instances that both sides went through in turns.

    Raises:
        UsageError: A setting is wrong, or a folder holds another run.
        FormatError: A folder is damaged.
        Refusal: No query of the population can be measured.
        SystemUnderTestError: A memory failed; the other side is finished all the same.
        Interrupted: A person stopped it; what is finished of each side is kept.
    """
    opened: list[tuple[Side, Plan]] = []
    for side in SIDES:
        with named(side, out, "side"):
            opened.append((side, plan_run(plans[side])))
    check_measurable(opened[0][1].corpus, opened[0][1].settings)
    with ExitStack() as stack:
        claimed, waiting = list[_Claimed](), list[_Claimed]()
        for side, plan in opened:
            with named(side, out, "side"):
                one = _Claimed(side, plan, stack.enter_context(RunFolder.claim(out, side)))
                claimed.append(one)
                if not kept(plan, one.folder):
                    waiting.append(one)
        try:
            failed = _measure(waiting, out, tick)
        except (KeyboardInterrupt, Interrupted):
            raise Interrupted(
                "interrupted; finished instances of each side are kept",
                where=out,
                hint="repeat the same command to go on",
            ) from None
        for one in claimed:
            if one.side not in failed:
                with named(one.side, out, "side"):
                    finish(one.folder, cutoffs, report)
        if failed:
            raise _failure(failed, out)
        return frozenset(Together(out, _started(claimed)).instances)


def _measure(
    waiting: Sequence[_Claimed], out: Path, tick: Tick
) -> dict[Side, SystemUnderTestError]:
    """Measure the sides that are not finished; what the memory of each failed with."""
    steps = [_steps(one, out, tick) for one in waiting]
    errors: Sequence[SystemUnderTestError | None]
    if len(waiting) == len(SIDES):

        def together(instance: int) -> None:
            Together(out, _started(waiting)).add(instance)

        errors = in_turns(steps[0], steps[1], together)
    else:
        errors = [_alone(one) for one in steps]
    found = zip(waiting, errors, strict=True)
    return {one.side: error for one, error in found if error is not None}


def _steps(one: _Claimed, out: Path, tick: Tick) -> Steps[Manifest]:
    """A side's run; its progress is told with the side's name, but for the count of instances."""

    def told(phase: str, done: int, of: int) -> None:
        tick(phase if phase == "instance" else f"{one.side} {phase}", done, of)

    with named(one.side, out, "side"):
        return (yield from measuring(one.plan, one.folder, told))


def _alone(steps: Steps[Manifest]) -> SystemUnderTestError | None:
    try:
        to_end(steps)
    except SystemUnderTestError as failure:
        return failure
    return None


def _started(sides: Sequence[_Claimed]) -> tuple[datetime, datetime]:
    """When each of the two runs began, which no other run of the same folder has in common."""
    a, b = (one.folder.manifest() for one in sides)
    if a is None or b is None:
        raise FormatError("a side has no manifest", where=sides[0].folder.path.parent)
    return a.started, b.started


def _failure(failed: Mapping[Side, SystemUnderTestError], out: Path) -> SystemUnderTestError:
    side, error = next(iter(failed.items()))
    hints = [error.hint] if error.hint else []
    if len(failed) == len(SIDES):
        what = "; ".join(f"side {name}: {one.what}" for name, one in failed.items())
    else:
        what = f"side {side}: {error.what}"
        other = next(name for name in SIDES if name != side)
        hints.append(f"side {other} is finished: {printable(out / other)}")
    return SystemUnderTestError(what, where=error.where, hint="; ".join(hints), kind=error.kind)
