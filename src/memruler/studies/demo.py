"""A first look: one memory as it is, and one with a fault that was planted, compared exactly.

Nothing is needed but the package: the corpus is the bundled one, and no model is loaded.
"""

from collections.abc import Callable
from pathlib import Path

from memruler.compare.exact import compare
from memruler.errors import Interrupted, UsageError
from memruler.replay.instance import Tick
from memruler.replay.plan import PlanSpec, plan_run
from memruler.replay.run import measure
from memruler.scoring.score import score
from memruler.store.folder import RunFolder
from memruler.studies.demo_record import Demo

__all__ = ["CUTOFFS", "PLANTED", "demo"]

PLANTED = "capacity=80"
"""The planted fault: a store that forgets all but its newest 80 items."""

CUTOFFS = (1, 3, 5)
"""Depths that both lists are sure to fill, so that the same queries count on both sides."""

_CORPUS = "synthetic"
_MOST_DEMOS = 10_000


def demo(out: Path, tick: Tick, report: Callable[[RunFolder], object]) -> Demo:
    """Measure `builtin:lexical` as it is and with `PLANTED`, and compare the two.

    Args:
        out: Where the run folders go; `demo-N` and `demo-N-planted` with the first free N.
        tick: Told about progress; `instance` counts over both runs.
        report: Writes the report of a scored run.

    Raises:
        UsageError: `out` is no folder, or it is full of demos.
        InstrumentError: The disk failed, or SQLite lacks full-text search.
        Interrupted: A person stopped it.
    """
    stems = _free(out)
    done = 0

    def both(phase: str, at: int, of: int) -> None:
        tick(phase, done + at if phase == "instance" else at, of)

    for stem, assignments in zip(stems, ((), (PLANTED,)), strict=True):
        plan = plan_run(PlanSpec(corpus=_CORPUS, assignments=assignments))
        with RunFolder.claim(out, stem) as folder:
            try:
                done += measure(plan, folder, both).counts["instances"]
            except Interrupted as stop:
                raise Interrupted(stop.what, hint="call it again; it begins anew") from None
            score(folder, CUTOFFS)
            report(folder)
    base, candidate = (out / stem for stem in stems)
    found = compare(base, candidate, changed=(PLANTED.partition("=")[0],))
    return Demo(base=str(base), candidate=str(candidate), planted=PLANTED, comparison=found)


def _free(out: Path) -> tuple[str, str]:
    """Names that no earlier demo has taken."""
    for number in range(1, _MOST_DEMOS):
        stems = f"demo-{number}", f"demo-{number}-planted"
        if not any((out / stem).exists() for stem in stems):
            return stems
    raise UsageError(f"there are {_MOST_DEMOS} demos here", where=out, hint="name another --out")
