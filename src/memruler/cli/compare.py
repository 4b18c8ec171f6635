"""`memruler compare`: what differs between two finished runs, exactly, or why not."""

from pathlib import Path
from typing import Literal

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import FILE

__all__ = ["command"]


@click.command(name="compare")
@click.argument("base", type=RUN)
@click.argument("candidate", type=RUN)
@click.option(
    "--changed",
    multiple=True,
    metavar="KEY",
    help="What is under test: a key of the fingerprint (system.settings.decay_rate), a part of "
    "it (system), or the end of a key (decay_rate). Repeatable.",
)
@click.option("-k", "cutoffs", metavar="LIST", help="Cut-offs (1,3,5), or `common`.")
@click.option(
    "--shared",
    is_flag=True,
    help="Where the queries that count differ, take both means over those that count in both.",
)
@click.option(
    "--level",
    "levels",
    type=click.Choice(["session", "turn"]),
    multiple=True,
    help="Only this level.",
)
@click.option(
    "--metric",
    metavar="NAME@K",
    help="The metric that decides; recall_all@5 without it, or the deepest cut-off compared.",
)
@click.option("--all-queries", is_flag=True, help="List every query that moved, not only some.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison (or refusal) as JSON.")
@click.option(
    "--markdown",
    "page",
    type=FILE,
    help="Also write the comparison as a Markdown page.",
)
def command(
    *,
    base: Path,
    candidate: Path,
    changed: tuple[str, ...],
    cutoffs: str | None,
    shared: bool,
    levels: tuple[Literal["session", "turn"], ...],
    metric: str | None,
    page: Path | None,
    all_queries: bool,
    as_json: bool,
) -> None:
    """Say what differs between two finished runs, exactly, or refuse.

    BASE and CANDIDATE are run folders of deterministic runs over the same queries. Everything
    that differs between them must be declared with --changed. The verdict is better, worse or
    unchanged, and each of them ends with exit code 0; a refusal ends with 4 and gives every
    reason at once. `-k common` leaves out the cut-offs at which the two runs do not count the
    same queries, and says so; `--shared` keeps them, over the queries that count in both runs, and
    says what the headline is over all, with what a list lacks counted as a miss.
    """
    # Late: --help must not wait for pyarrow, rich and jinja2.
    from memruler.compare.cutoffs import read_cutoffs  # noqa: PLC0415
    from memruler.compare.exact import compare  # noqa: PLC0415
    from memruler.compare.refusal import Incomparable  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.markdown import markdown_comparison  # noqa: PLC0415
    from memruler.report.terminal import print_comparison, print_refusal  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415

    try:
        found = compare(
            base,
            candidate,
            changed=changed,
            cutoffs=read_cutoffs(cutoffs),
            levels=levels or None,
            metric=metric,
            shared=shared,
        )
    except Incomparable as refusal:
        if as_json:
            click.echo(encode(refusal.record), nl=False)
        else:
            print_refusal(refusal.record)
        raise click.exceptions.Exit(refusal.exit_code) from None
    if page is not None:
        text = markdown_comparison(found, queries=None if all_queries else 50)
        write_atomic(page, text.encode())
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_comparison(found, all_queries=all_queries)
