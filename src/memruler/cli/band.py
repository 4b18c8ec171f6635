"""`memruler band`: how far apart two runs of one configuration come out."""

from pathlib import Path

import click

from memruler.cli.completing import RUN

__all__ = ["command"]


@click.command(name="band")
@click.argument("one", type=RUN)
@click.argument("other", type=RUN)
@click.option("--metric", metavar="NAME", help="As for `memruler gate`.")
@click.option("--cluster", metavar="KEY", help="As for `memruler gate`.")
@click.option("--shared", is_flag=True, help="Take the items with a value on both sides.")
@click.option(
    "--resamples", type=click.IntRange(1000, 10_000_000), default=10_000, show_default=True
)
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print it (or the refusal) as JSON.")
def command(
    *,
    one: Path,
    other: Path,
    metric: str | None,
    cluster: str | None,
    shared: bool,
    resamples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Measure your own null band, for `memruler gate --band`.

    ONE and OTHER are two runs (or files of scores) of one and the same configuration. The band is
    the wider side of the interval of their differences.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.compare.gate import band  # noqa: PLC0415
    from memruler.compare.refusal import Incomparable  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal import print_refusal  # noqa: PLC0415
    from memruler.report.terminal_gate import print_band  # noqa: PLC0415

    try:
        found = band(
            one,
            other,
            metric=metric,
            cluster=cluster,
            shared=shared,
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
        print_band(found)
