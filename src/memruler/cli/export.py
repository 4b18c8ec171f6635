"""`memruler export`: rankings and targets in the formats of other tools, or as a bundle."""

from pathlib import Path
from typing import Literal

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import FILE, PATH

__all__ = ["command"]


@click.command(name="export")
@click.argument("run", type=RUN, required=False)
@click.option("--trace", type=FILE, help="Rankings of another tool, in place of RUN.")
@click.option("--targets", "mapping", type=FILE, help="What is gold in --trace.")
@click.option("--lineage", type=FILE, help="Where the items of RUN come from, if it is not known.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["trec", "jsonl", "hits", "parquet", "bundle"]),
    required=True,
    help="trec: a run and qrels; jsonl: a ranked list a line; hits: one hit a line, with its "
    "score; bundle: with scores and checksums.",
)
@click.option("--out", type=PATH, required=True, help="A folder that does not exist yet.")
@click.option(
    "--target",
    "targets",
    metavar="LIST",
    help="Which stored forms earn credit: raw,source,canonical without it (of a file, all that it "
    "names).",
)
@click.option(
    "--level",
    type=click.Choice(["turn", "session", "item"]),
    default="turn",
    show_default=True,
    help="What an anchor is.",
)
@click.option("-k", "cutoffs", metavar="LIST", help="Cut-offs of a bundle (20,40,60).")
@click.option(
    "--credit",
    type=click.Choice(["anchor", "id", "cover"]),
    help="How a bundle counts credit; per anchor without it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def command(
    *,
    run: Path | None,
    trace: Path | None,
    mapping: Path | None,
    lineage: Path | None,
    form: Literal["trec", "jsonl", "hits", "parquet", "bundle"],
    out: Path,
    targets: str | None,
    level: Literal["turn", "session", "item"],
    cutoffs: str | None,
    credit: Literal["anchor", "id", "cover"] | None,
    as_json: bool,
) -> None:
    """Write a run in TREC's and other formats, or as a bundle.

    RUN is the folder of a finished run. No text of the corpus is written. `memruler verify` checks
    a bundle.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.cli.progress import working  # noqa: PLC0415
    from memruler.cli.traces import SourceSpec, open_all, scored  # noqa: PLC0415
    from memruler.errors import printable  # noqa: PLC0415
    from memruler.exchange.export import export, unsaid  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415

    spec = SourceSpec(
        runs=() if run is None else (run,),
        traces=() if trace is None else (trace,),
        mappings=() if mapping is None else (mapping,),
        lineage=lineage,
        targets=targets,
        level=level,
    )
    with working("scoring and writing"):
        (found,) = scored(open_all(spec), cutoffs, credit)
        written = export(found, run, form, out)
    note = unsaid(found.traced, form)
    if note is not None:
        click.echo(f"memruler: note: {note}", err=True)
    paths = [str(out / name) for name in written]
    if as_json:
        document = {"format": form, "folder": str(out), "files": paths, "note": note}
        click.echo(encode(document), nl=False)
        return
    for path in paths:
        click.echo(printable(path, 10_000))
