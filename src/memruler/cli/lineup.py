"""`memruler lineup`: several memories on one corpus, in one table."""

from pathlib import Path
from typing import Any

import click

from memruler.cli.completing import CORPUS, SYSTEM
from memruler.cli.parameters import COUNT, PATH
from memruler.cli.specs import cell_progress
from memruler.errors import InstrumentError, UsageError

__all__ = ["command"]

_TYPED = click.core.ParameterSource.COMMANDLINE


@click.command(name="lineup")
@click.argument("corpus", type=CORPUS)
@click.argument("systems", type=SYSTEM, nargs=-1)
@click.option("--path", type=PATH, help="The corpus file.")
@click.option(
    "--set", "words", multiple=True, metavar="SYSTEM:KEY=VALUE", help="One setting of one memory."
)
@click.option("--instances", type=COUNT, help="Only the first N instances.")
@click.option("--queries", type=COUNT, help="Only the first N queries of each.")
@click.option("--limit", type=COUNT, default=20, show_default=True, help="Hits asked for.")
@click.option("-k", "depth", type=COUNT, default=10, show_default=True, help="Depth of the recall.")
@click.option("--level", type=click.Choice(["turn", "session"]), default="turn", show_default=True)
@click.option("--population", help="Named set of queries; the corpus's default without it.")
@click.option("--out", type=PATH, default=Path("lineup"), show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    corpus: str,
    systems: tuple[str, ...],
    path: Path | None,
    words: tuple[str, ...],
    depth: int,
    level: Any,
    population: str | None,
    out: Path,
    as_json: bool,
    **settings: Any,
) -> None:
    """Measure several memories on one corpus, and put them into one table.

    CORPUS is a name that `memruler list` shows. SYSTEMS are named as for `memruler systems list`;
    without them the usual ones are measured: chance, the built-in memory in process and behind its
    server, and the memories of other projects that are installed. Each gets a run folder of its
    own under --out, with every query searched by itself, so that all latencies are of one kind.
    Finished runs are kept, and the same command goes on with what was interrupted.
    """
    # Late: --help must not wait for numpy, pyarrow and rich.
    from memruler.replay.plan import PlanSpec  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.markdown_lineup import markdown_lineup  # noqa: PLC0415
    from memruler.report.terminal_lineup import print_lineup  # noqa: PLC0415
    from memruler.report.write import write_report  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415
    from memruler.studies.lineup import lineup, settings_of  # noqa: PLC0415

    if depth > settings["limit"]:
        raise UsageError(
            f"the recall is deeper than the {settings['limit']} hits that are asked for",
            where=f"-k {depth}",
            hint=f"add --limit {depth}",
        )
    typed = tuple(name for name in settings if ctx.get_parameter_source(name) is _TYPED)
    plan = PlanSpec(
        corpus=corpus,
        path=None if path is None else str(path),
        population=population,
        settings={**settings, "one_by_one": True},
        typed=(*typed, "system", "one_by_one"),
    )
    with cell_progress() as tick:
        found = lineup(
            plan,
            systems,
            settings_of(words, systems),
            out,
            k=depth,
            level=level,
            report=write_report,
            tick=tick,
        )
    if all(row.absent is not None for row in found.rows):
        raise InstrumentError(
            "no memory of the line-up could be measured", where=found.rows[0].absent
        )
    document = encode(found)
    write_atomic(out / "lineup.md", markdown_lineup(found).encode())
    write_atomic(out / "lineup.json", document)
    if as_json:
        click.echo(document, nl=False)
    else:
        print_lineup(found, str(out))
