"""`memruler targets`: what changes between systems when only the target does."""

from pathlib import Path
from typing import Literal

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import FILE

__all__ = ["command"]


@click.command(name="targets")
@click.argument("runs", type=RUN, nargs=-1)
@click.option("--trace", "traces", type=FILE, multiple=True, help="A file of rankings. Repeatable.")
@click.option(
    "--targets",
    "mappings",
    type=FILE,
    multiple=True,
    help="The file of targets of each --trace, in the same order.",
)
@click.option("--items", type=FILE, help="The items that the stores of --trace hold.")
@click.option("--lineage", type=FILE, help="Where the items of RUNS come from, if not known.")
@click.option(
    "--target",
    "targets",
    metavar="LIST",
    help="Targets to compare, two or more; raw,source,canonical without it (of files, all that "
    "they name).",
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
@click.option(
    "--metric", metavar="NAME@K", help="What leads; ndcg at the deepest cut-off without it."
)
@click.option("--markdown", "page", type=FILE, help="Also write everything as a Markdown page.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    *,
    runs: tuple[Path, ...],
    traces: tuple[Path, ...],
    mappings: tuple[Path, ...],
    items: Path | None,
    lineage: Path | None,
    targets: str | None,
    cutoffs: str | None,
    credit: Literal["anchor", "id", "cover"] | None,
    level: Literal["turn", "session", "item"],
    metric: str | None,
    page: Path | None,
    as_json: bool,
) -> None:
    """Say what changes when only the target does, without asking a system again.

    RUNS are run folders over the same corpus; --trace adds files of rankings. Shows how many
    queries change their value between each two targets, which systems change places, what one
    would choose under each target, and whether another mean removes that. Winners are over the
    queries that every target serves in every system; where there is none, exit code 4.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.cli.traces import SourceSpec, open_all, require_apart, scored  # noqa: PLC0415
    from memruler.compare.sensitivity import sensitivity  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.markdown_targets import markdown_targets  # noqa: PLC0415
    from memruler.report.terminal_targets import print_targets  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415

    spec = SourceSpec(
        runs=runs,
        traces=traces,
        mappings=mappings,
        items=items,
        lineage=lineage,
        targets=targets,
        level=level,
    )
    require_apart(page, spec)
    found = sensitivity(scored(open_all(spec), cutoffs, credit), metric)
    if page is not None:
        write_atomic(page, markdown_targets(found).encode())
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_targets(found)
