"""`memruler power`: how small an effect can be seen, and how much a wanted one needs."""

from pathlib import Path
from typing import Any

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import POINTS

__all__ = ["command"]


@click.command(name="power")
@click.argument("base", type=RUN)
@click.argument("candidate", type=RUN)
@click.option("--effect", type=POINTS, metavar="SIZE", help="What shall be seen: 2pp, or 0.02.")
@click.option(
    "--power", type=float, default=0.8, show_default=True, help="Wanted chance to see it."
)
@click.option(
    "--cluster",
    metavar="KEY",
    help="What moves together: conversation, evidence, category, a column, or path:N. Each item "
    "stands alone without it.",
)
@click.option("--metric", metavar="NAME", help="recall_all@5 without it; of files a column.")
@click.option("--sample", is_flag=True, help="Take the queries as a sample of all such queries.")
@click.option("--simulations", type=click.IntRange(100, 1_000_000), default=2000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    *,
    base: Path,
    candidate: Path,
    cluster: str | None,
    metric: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Tell from a pilot what the next experiment can show.

    BASE and CANDIDATE are the two sides of the pilot: run folders, or files of scores. Tells the
    smallest effect that an experiment of the pilot's size sees, and with --effect how many items
    and clusters that effect needs.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_power import print_power  # noqa: PLC0415
    from memruler.studies.power import study  # noqa: PLC0415
    from memruler.studies.power_pilot import read_pilot  # noqa: PLC0415

    found = study(read_pilot(base, candidate, metric=metric, cluster=cluster), **asked)
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_power(found)
