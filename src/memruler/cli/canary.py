"""`memruler canary`: does the ruler see a difference that is known to exist?"""

from pathlib import Path
from typing import Any

import click

from memruler.cli.completing import CORPUS, RUN, SYSTEM
from memruler.cli.parameters import COUNT, PATH

__all__ = ["command"]

_BLIND = 3
_TYPED = click.core.ParameterSource.COMMANDLINE
_ASKED = ("metric", "plant", "seed", "noise", "power")


@click.command(name="canary")
@click.argument("corpus", type=CORPUS, required=False)
@click.option("--run", "folder", type=RUN, help="Ask about this finished run; measure nothing.")
@click.option("--path", type=PATH, help="The corpus file.")
@click.option(
    "--system",
    type=SYSTEM,
    default="builtin:lexical",
    show_default=True,
    help="As in `retrieval`.",
)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="One setting.")
@click.option(
    "--timeline",
    type=click.Choice(["now", "anchored", "literal"]),
    default="anchored",
    show_default=True,
    help="What time items carry and questions are asked at.",
)
@click.option(
    "--granularity", type=click.Choice(["turn", "session"]), default="turn", show_default=True
)
@click.option("--instances", type=COUNT, help="Only the first N instances.")
@click.option("--queries", type=COUNT, help="Only the first N queries of each.")
@click.option("--limit", type=COUNT, default=20, show_default=True, help="Hits asked for.")
@click.option("--population", help="Named set of queries; the corpus's default without it.")
@click.option(
    "--metric",
    default="recall_all@5",
    show_default=True,
    metavar="NAME@K",
    help="recall_all or recall_any at a cut-off.",
)
@click.option(
    "--plant",
    type=COUNT,
    default=5,
    show_default=True,
    help="Queries whose gold the planted arm loses.",
)
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True)
@click.option(
    "--assume-noise",
    "noise",
    type=float,
    metavar="SHARE",
    help="Also tell the smallest effect if this share of labels flipped by chance.",
)
@click.option("--power", type=float, default=0.8, show_default=True, help="For --assume-noise.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    corpus: str | None,
    folder: Path | None,
    path: Path | None,
    system: str,
    assignments: tuple[str, ...],
    population: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Prove that the ruler sees a difference known to exist.

    CORPUS (the bundled `synthetic` without it) is measured twice: as it is, and with the gold of
    some queries kept from the store. The first run is also made worse by known amounts, query by
    query, and scored again. Ends with 0 if the ruler sees all of it, with 3 if it is blind.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.cli.progress import progress  # noqa: PLC0415
    from memruler.errors import UsageError  # noqa: PLC0415
    from memruler.replay.plan import PlanSpec, plan_run  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_canary import print_canary  # noqa: PLC0415
    from memruler.studies.canary import CanarySettings, canary, canary_of_run  # noqa: PLC0415

    settings = CanarySettings(**{name: given.pop(name) for name in _ASKED})
    typed = tuple(
        name
        for name in (*given, "corpus", "path", "system", "assignments", "population")
        if ctx.get_parameter_source(name) is _TYPED
    )
    settings.name()  # what is asked wrongly is told before anything is opened
    if folder is not None:
        if typed:
            raise UsageError(
                f"--run measures nothing, so {typed[0]} has no meaning beside it",
                hint="leave one of them out",
            )
        found = canary_of_run(folder, settings)
    else:
        plan = plan_run(
            PlanSpec(
                corpus=corpus or "synthetic",
                path=None if path is None else str(path),
                system=system,
                assignments=assignments,
                population=population,
                settings=given,
                typed=tuple(name for name in typed if name in given or name == "system"),
            )
        )
        with progress(plan.settings.instances) as tick:
            found = canary(plan, settings, tick)
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_canary(found)
    if found.outcome == "blind":
        ctx.exit(_BLIND)
