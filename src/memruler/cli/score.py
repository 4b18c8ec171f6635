"""`memruler score`: credit under several targets, from what a run or another tool saved."""

from pathlib import Path
from typing import Literal

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import FILE
from memruler.errors import UsageError

__all__ = ["command"]


@click.command(name="score")
@click.argument("run", type=RUN, required=False)
@click.option("--trace", type=FILE, help="Rankings of another tool, in place of RUN.")
@click.option("--targets", "mapping", type=FILE, help="What is gold in --trace.")
@click.option("--items", type=FILE, help="The items that the store of --trace holds.")
@click.option("--lineage", type=FILE, help="Where the items of RUN come from, if it is not known.")
@click.option(
    "--target",
    "targets",
    metavar="LIST",
    help="Which stored forms earn credit: raw,source,canonical without it (of a file, all that it "
    "names); also node, edge, path, kind:fact, file.py:Class.",
)
@click.option("-k", "cutoffs", metavar="LIST", help="Cut-offs (20,40,60); the usual without it.")
@click.option(
    "--credit",
    type=click.Choice(["anchor", "id", "cover"]),
    help="How credit is counted; per anchor without it.",
)
@click.option(
    "--level",
    type=click.Choice(["turn", "session", "item"]),
    default="turn",
    show_default=True,
    help="What an anchor is.",
)
@click.option("--per-query", type=FILE, help="Write each query's values: .parquet, .csv, .jsonl.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
def command(
    *,
    run: Path | None,
    trace: Path | None,
    mapping: Path | None,
    items: Path | None,
    lineage: Path | None,
    targets: str | None,
    cutoffs: str | None,
    credit: Literal["anchor", "id", "cover"] | None,
    level: Literal["turn", "session", "item"],
    per_query: Path | None,
    as_json: bool,
) -> None:
    """Score what a memory returned under several targets, without asking it again.

    RUN is the folder of a finished run. Nothing in it is changed. A target says which stored forms
    may earn credit: `raw` the turn as it was said, `source` all that comes from it, `canonical`
    what was made of it. The means stand over the queries that each target can serve, and over
    those that all can.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.cli.progress import working  # noqa: PLC0415
    from memruler.cli.traces import SourceSpec, open_all, require_apart, scored  # noqa: PLC0415
    from memruler.compare.target_scores import target_scores  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_target_scores import print_target_scores  # noqa: PLC0415
    from memruler.scoring.per_query import write_per_query  # noqa: PLC0415

    if run is not None and trace is not None:
        raise UsageError("give either RUN or --trace; `memruler targets` reads several")
    spec = SourceSpec(
        runs=() if run is None else (run,),
        traces=() if trace is None else (trace,),
        mappings=() if mapping is None else (mapping,),
        items=items,
        lineage=lineage,
        targets=targets,
        level=level,
    )
    require_apart(per_query, spec)
    with working("scoring"):
        (found,) = scored(open_all(spec), cutoffs, credit)
    if per_query is not None:
        write_per_query(per_query, found)
    result = target_scores(found)
    if as_json:
        click.echo(encode(result), nl=False)
    else:
        print_target_scores(result)
