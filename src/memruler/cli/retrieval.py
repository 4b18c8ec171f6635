"""`memruler retrieval`: replay a corpus through a memory, score what it found, report it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from memruler.cli.completing import CORPUS, STEM, SYSTEM
from memruler.cli.parameters import COUNT, PATH
from memruler.errors import UsageError

__all__ = ["command"]

_TYPED = click.core.ParameterSource.COMMANDLINE


@click.command(name="retrieval")
@click.argument("corpus", type=CORPUS)
@click.option("--path", type=PATH, help="The corpus file.")
@click.option(
    "--system",
    type=SYSTEM,
    default="builtin:lexical",
    show_default=True,
    help="builtin:lexical, dense, hybrid, episodic or derived; a plug-in; or file.py:Class.",
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
@click.option(
    "--forms",
    default="turns",
    show_default=True,
    metavar="FORM,...",
    help="What is stored: turns; observations, summaries that the data set derived itself.",
)
@click.option("--instances", type=COUNT, help="Only the first N instances.")
@click.option("--queries", type=COUNT, help="Only the first N queries of each.")
@click.option("--limit", type=COUNT, default=20, show_default=True, help="Hits asked for.")
@click.option("-k", "cutoffs", default="1,3,5,10,20", show_default=True, help="Cut-offs.")
@click.option("--population", help="Named set of queries; the corpus's default without it.")
@click.option("--out", type=PATH, default=Path("runs"), show_default=True)
@click.option(
    "--stem", type=STEM, help="Name of the run folder; repeat it to resume an interrupted run."
)
@click.option("--one-by-one", is_flag=True, help="No batched search: every query is timed.")
@click.option("--answers", is_flag=True, help="Ask the system for answers of its own, too.")
@click.option("--keep", is_flag=True, help="Keep the system's stores in the run folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    corpus: str,
    path: Path | None,
    system: str,
    assignments: tuple[str, ...],
    cutoffs: str,
    population: str | None,
    out: Path,
    stem: str | None,
    as_json: bool,
    **settings: Any,
) -> None:
    """Measure how well a memory finds the evidence of a corpus.

    CORPUS is a name that `memruler list` shows, or `jsonl` with --path. Progress goes to
    stderr, the table (or JSON) to stdout, everything else to the run folder under --out.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.cli.progress import progress, working  # noqa: PLC0415
    from memruler.metrics.names import parse_cutoffs  # noqa: PLC0415
    from memruler.replay.begin import check_measurable  # noqa: PLC0415
    from memruler.replay.plan import PlanSpec, plan_run  # noqa: PLC0415
    from memruler.replay.run import measure  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal import print_run  # noqa: PLC0415
    from memruler.report.write import write_report  # noqa: PLC0415
    from memruler.scoring.score import score  # noqa: PLC0415
    from memruler.store.folder import RunFolder  # noqa: PLC0415

    depths = parse_cutoffs(cutoffs)
    if depths[0] > settings["limit"]:
        raise UsageError(
            f"every cut-off is deeper than the {settings['limit']} hits that are asked for",
            where=f"-k {cutoffs}",
            hint=f"add --limit {depths[-1]}",
        )
    typed = [name for name in (*settings, "system") if ctx.get_parameter_source(name) is _TYPED]
    plan = plan_run(
        PlanSpec(
            corpus=corpus,
            path=None if path is None else str(path),
            system=system,
            assignments=assignments,
            population=population,
            settings=settings,
            typed=tuple(typed),
        )
    )
    check_measurable(plan.corpus, plan.settings)
    name = _fresh_stem(out, f"{corpus}-{system}") if stem is None else stem
    with RunFolder.claim(out, name) as folder:
        with progress(plan.settings.instances) as tick:
            measure(plan, folder, tick)
        with working("scoring"):
            score(folder, depths)
            document = write_report(folder)
    if as_json:
        click.echo(encode(document))
    else:
        print_run(document, folder.path)


def _fresh_stem(out: Path, name: str) -> str:
    safe = "".join(c if c.isalnum() else "-" for c in name).strip("-")
    stem = f"{safe[-60:].strip('-')}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    taken, number = stem, 2
    while (out / taken).exists():
        taken, number = f"{stem}-{number}", number + 1
    return taken
