"""`memruler retrieval`: replay a corpus through a memory, score what it found, report it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

__all__ = ["command"]


@click.command(name="retrieval")
@click.argument("corpus")
@click.option("--path", type=click.Path(path_type=Path), help="The corpus file.")
@click.option(
    "--system",
    default="builtin:lexical",
    show_default=True,
    help="builtin:lexical, dense, hybrid or episodic; a plug-in's name; or file.py:Class.",
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
@click.option("--instances", type=click.IntRange(1), help="Only the first N instances.")
@click.option("--queries", type=click.IntRange(1), help="Only the first N queries of each.")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="Hits asked for."
)
@click.option("-k", "cutoffs", default="1,3,5,10,20", show_default=True, help="Cut-offs.")
@click.option("--population", help="Named set of queries; the corpus's default without it.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("runs"), show_default=True)
@click.option("--stem", help="Name of the run folder; repeat it to resume an interrupted run.")
@click.option("--one-by-one", is_flag=True, help="No batched search: every query is timed.")
@click.option("--keep", is_flag=True, help="Keep the system's stores in the run folder.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
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
    **chosen: Any,
) -> None:
    """Measure how well a memory finds the evidence of a corpus.

    CORPUS is a name that `memruler list` shows, or `jsonl` with --path. Progress goes to
    stderr, the table (or JSON) to stdout, everything else to the run folder under --out.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.cli.progress import progress  # noqa: PLC0415
    from memruler.metrics.names import parse_cutoffs  # noqa: PLC0415
    from memruler.replay.plan import plan_run  # noqa: PLC0415
    from memruler.replay.run import check_measurable, measure  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal import print_run  # noqa: PLC0415
    from memruler.report.write import write_report  # noqa: PLC0415
    from memruler.scoring.score import score  # noqa: PLC0415
    from memruler.store.folder import RunFolder  # noqa: PLC0415

    depths = parse_cutoffs(cutoffs)
    plan = plan_run(
        corpus, path, system, assignments=assignments, population=population, settings=chosen
    )
    check_measurable(plan.corpus, plan.settings)
    name = stem or _fresh_stem(out, f"{corpus}-{system}")
    with RunFolder.claim(out, name) as folder:
        with progress(plan.settings.instances) as tick:
            measure(plan, folder, tick)
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
