"""`memruler gate`: may the candidate pass, may it not, or cannot it be told."""

from pathlib import Path

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import FILE, POINTS

__all__ = ["command"]

_CODES = {"pass": 0, "fail": 1, "unresolved": 5}


@click.command(name="gate")
@click.argument("base", type=RUN)
@click.argument("candidate", type=RUN)
@click.option(
    "--metric",
    metavar="NAME",
    help="Of runs recall_all@5, or turn:recall_all@5, or that of a grading; of files a column.",
)
@click.option(
    "--min-delta",
    "threshold",
    type=POINTS,
    default=0.0,
    metavar="SIZE",
    help="What the difference must exceed: 2pp, or 0.02; negative for non-inferiority. "
    "[default: 0]",
)
@click.option(
    "--band",
    type=POINTS,
    metavar="SIZE",
    help="Half the width of the null band; `memruler band` measures one's own. [default: 4pp]",
)
@click.option(
    "--cluster",
    metavar="KEY",
    help="What moves together: conversation, evidence, category, a column, or path:N. Each item "
    "stands alone without it.",
)
@click.option("--by", metavar="KEY", help="Also a row for each slice; keys as for --cluster.")
@click.option("--moved", "show_moved", is_flag=True, help="List the items that moved.")
@click.option("--changed", multiple=True, metavar="KEY", help="What is under test. Repeatable.")
@click.option("--shared", is_flag=True, help="Take the items with a value on both sides.")
@click.option(
    "--calibration",
    type=FILE,
    help="Of the judge, by `memruler judge calibrate`: decide on the corrected difference.",
)
@click.option(
    "--resamples", type=click.IntRange(1000, 10_000_000), default=10_000, show_default=True
)
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the decision (or refusal) as JSON.")
def command(
    *,
    base: Path,
    candidate: Path,
    metric: str | None,
    threshold: float,
    band: float | None,
    cluster: str | None,
    by: str | None,
    show_moved: bool,
    changed: tuple[str, ...],
    shared: bool,
    calibration: Path | None,
    resamples: int,
    seed: int,
    as_json: bool,
) -> None:
    """Decide whether a candidate is good enough, on paired scores.

    BASE and CANDIDATE are two run folders, two folders of grades (RUN/answers/NAME/grades/GRADE),
    or two files of scores (.csv or .jsonl with a column `id`). Between deterministic runs the
    difference is a fact; anything else gets a 95 % interval of whole clusters. Exit code 0 passes,
    1 fails, 5 is unresolved: within the noise floor, or under-powered. 4 is a refusal.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.cli.progress import working  # noqa: PLC0415
    from memruler.compare.gate import gate  # noqa: PLC0415
    from memruler.compare.refusal import Incomparable  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal import print_refusal  # noqa: PLC0415
    from memruler.report.terminal_gate import print_gate  # noqa: PLC0415

    try:
        with working("comparing"):
            found = gate(
                base,
                candidate,
                metric=metric,
                threshold=threshold,
                band=band,
                cluster=cluster,
                by=by,
                changed=changed,
                shared=shared,
                calibration=calibration,
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
        print_gate(found, show_moved=show_moved)
    raise click.exceptions.Exit(_CODES[found.outcome])
