"""`memruler time`: is one system faster than another, by more than a system is than itself?"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memruler.cli.completing import CORPUS, SYSTEM
from memruler.cli.parameters import COUNT, PATH

if TYPE_CHECKING:  # --help needs no systems
    from memruler.replay.instance import Tick
    from memruler.replay.plan import Plan

__all__ = ["command"]


@click.command(name="time")
@click.argument("base", type=SYSTEM)
@click.argument("candidate", type=SYSTEM)
@click.option(
    "--corpus", type=CORPUS, default="synthetic", show_default=True, help="See `memruler list`."
)
@click.option("--path", type=PATH, help="The corpus file.")
@click.option(
    "--instances",
    type=COUNT,
    default=3,
    show_default=True,
    help="Only the first N instances; they are held in memory.",
)
@click.option("--queries", type=COUNT, help="Only the first N queries of each.")
@click.option("--limit", type=COUNT, default=20, show_default=True, help="Hits asked for.")
@click.option("--set", "both", multiple=True, metavar="KEY=VALUE", help="A setting of both sides.")
@click.option("--base-set", multiple=True, metavar="KEY=VALUE", help="A setting of BASE.")
@click.option("--candidate-set", multiple=True, metavar="KEY=VALUE", help="One of CANDIDATE.")
@click.option(
    "--rounds",
    type=COUNT,
    default=12,
    show_default=True,
    help="Rounds that count, an even number; each measures either side twice.",
)
@click.option(
    "--warmup",
    type=click.IntRange(0, 1_000_000),
    default=1,
    show_default=True,
    help="Rounds before them, thrown away.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything measured as JSON.")
def command(
    *,
    base: str,
    candidate: str,
    corpus: str,
    path: Path | None,
    instances: int,
    queries: int | None,
    limit: int,
    both: tuple[str, ...],
    base_set: tuple[str, ...],
    candidate_set: tuple[str, ...],
    rounds: int,
    warmup: int,
    as_json: bool,
) -> None:
    """Time search and ingest of two systems in alternation.

    BASE and CANDIDATE are systems as `memruler retrieval --system` names them. Each pass writes
    the corpus into fresh stores and asks every query by itself. A difference counts only where it
    leaves the band in which the base differs from itself: better, worse or inconclusive, each with
    exit code 0. The same system twice measures its own band.
    """
    # Late: --help must not wait for numpy and rich.
    from memruler.compare.timed import compare_timed  # noqa: PLC0415
    from memruler.replay.plan import PlanSpec, plan_run  # noqa: PLC0415
    from memruler.replay.timing import time_systems  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_time import print_time  # noqa: PLC0415
    from memruler.stats.noise import schedule  # noqa: PLC0415

    schedule(rounds, warmup)  # a wrong number is told before a model is loaded

    def plan(system: str, own: tuple[str, ...]) -> "Plan":
        return plan_run(
            PlanSpec(
                corpus=corpus,
                path=None if path is None else str(path),
                system=system,
                assignments=(*both, *own),
                settings={"instances": instances, "queries": queries, "limit": limit},
            )
        )

    sides = plan(base, base_set), plan(candidate, candidate_set)
    with _progress() as tick:
        timed = time_systems(*sides, rounds=rounds, warmup=warmup, tick=tick)
    found = compare_timed(timed)
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_time(found)


@contextmanager
def _progress() -> Iterator["Tick"]:
    """A line on stderr, written between passes only: nothing redraws while something is timed."""
    from memruler.cli.progress import Pace, moves  # noqa: PLC0415 - as in `command`

    drawn, pace = moves(), Pace("passes")

    def tick(phase: str, done: int, of: int) -> None:
        pace.at(done, of)
        if drawn:
            told = f"{phase}: pass {done} of {of}{pace.rate()}"
            click.echo(f"\r\x1b[K{told}", nl=False, err=True)
        else:
            pace.tell(phase)

    try:
        yield tick
    finally:
        if drawn:
            click.echo("\r\x1b[K", nl=False, err=True)
    pace.end()
