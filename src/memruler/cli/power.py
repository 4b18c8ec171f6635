"""`memruler power`: how small an effect can be seen, and how much a wanted one needs."""

from pathlib import Path
from typing import Any

import click

from memruler.cli.parameters import PATH
from memruler.errors import UsageError

__all__ = ["command"]

_POINTS = 100


class _Effect(click.ParamType[float]):
    """`2pp`, or a plain number in the metric's own unit."""

    name = "effect"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read it; a percent sign is refused, since it could be meant relative."""
        text = str(value).strip().lower()
        number, points, _ = text.partition("pp")
        try:
            found = float(number)
        except ValueError:
            self.fail(f"{value!r} is no effect; write 2pp, or 0.02", param, ctx)
        return found / _POINTS if points else found


@click.command(name="power")
@click.argument("base", type=PATH)
@click.argument("candidate", type=PATH)
@click.option("--effect", type=_Effect(), metavar="SIZE", help="What shall be seen: 2pp, or 0.02.")
@click.option(
    "--power", type=float, default=0.8, show_default=True, help="Wanted chance to see it."
)
@click.option(
    "--cluster",
    type=click.Choice(["conversation", "category"]),
    help="What moves together; each item stands alone without it.",
)
@click.option("--metric", metavar="NAME@K", help="recall_all@5 without it.")
@click.option("--sample", is_flag=True, help="Take the queries as a sample of all such queries.")
@click.option("--simulations", type=click.IntRange(100, 1_000_000), default=2000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    *,
    base: Path,
    candidate: Path,
    cluster: Any,
    metric: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Tell from a pilot what the next experiment can show.

    BASE and CANDIDATE are the two sides of the pilot. Tells the smallest effect that an experiment
    of the pilot's size sees, and with --effect how many items and clusters that effect needs.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_power import print_power  # noqa: PLC0415
    from memruler.studies.power import study  # noqa: PLC0415
    from memruler.studies.power_runs import pilot_of_runs  # noqa: PLC0415

    if base.resolve() == candidate.resolve():
        raise UsageError("a pilot has two sides", where=base, hint="name two run folders")
    found = study(pilot_of_runs(base, candidate, metric=metric, cluster=cluster), **asked)
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_power(found)
