"""`memruler repeats`: what several draws of the same items say, of one side or of two."""

from pathlib import Path

import click

from memruler.cli.completing import RUN

__all__ = ["command"]


@click.command(name="repeats")
@click.argument("base", type=RUN)
@click.argument("candidate", type=RUN, required=False)
@click.option(
    "--label",
    metavar="COLUMN",
    help="Holds 0 and 1, or true and false. Needed where several columns hold numbers.",
)
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="What moves together, for the intervals. Each item stands alone without it.",
)
@click.option("--changed", multiple=True, metavar="KEY", help="What is under test. Repeatable.")
@click.option(
    "--resamples", type=click.IntRange(1000, 10_000_000), default=10_000, show_default=True
)
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print it (or the refusal) as JSON.")
def command(
    *,
    base: Path,
    candidate: Path | None,
    label: str | None,
    cluster: str | None,
    changed: tuple[str, ...],
    resamples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Sum up repeated draws: majority labels, flips, and what moved.

    BASE and CANDIDATE are folders of grades, or files of scores (.csv or .jsonl) with a row a
    draw: `id`, `repeat`, a column of labels, and where known `error` and `top`, the keys that the
    reader was given. One gives that side; two also give where the majorities differ, and the
    paired difference of all items and of the stable ones. Exit code 4 is a refusal.
    """
    # Late: --help must not wait for numpy.
    from memruler.compare.refusal import Incomparable  # noqa: PLC0415
    from memruler.compare.repeats import repeats  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal import print_refusal  # noqa: PLC0415
    from memruler.report.terminal_repeats import print_repeats  # noqa: PLC0415

    try:
        found = repeats(
            base,
            candidate,
            label=label,
            cluster=cluster,
            changed=changed,
            resamples=resamples,
            seed=seed,
        )
    except Incomparable as refusal:
        if as_json:
            click.echo(encode(refusal.record), nl=False)
        else:
            print_refusal(refusal.record)
        raise click.exceptions.Exit(refusal.exit_code) from None
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_repeats(found)
