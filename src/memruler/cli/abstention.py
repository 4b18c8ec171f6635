"""`memruler abstention`: does a memory, or a reader, know that it does not know?"""

from pathlib import Path
from typing import Literal

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import COUNT

__all__ = ["command"]


@click.command(name="abstention")
@click.argument("run", type=RUN)
@click.option("--answers", metavar="NAME", help="Answers of RUN; those it has alone without it.")
@click.option("--grade", metavar="NAME", help="Let a grading say which unanswerable were refused.")
@click.option(
    "--rule",
    type=click.Choice(["official", "wide"]),
    default="wide",
    show_default=True,
    help="Which phrases of an answer refuse.",
)
@click.option(
    "--signal",
    type=click.Choice(["top1", "margin", "mean"]),
    default="top1",
    show_default=True,
    help="What of the scores is looked at.",
)
@click.option("-k", type=COUNT, help="Depth of `mean`; all hits asked for without it.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    *,
    run: Path,
    answers: str | None,
    grade: str | None,
    rule: Literal["official", "wide"],
    signal: Literal["top1", "margin", "mean"],
    k: int | None,
    as_json: bool,
) -> None:
    """Measure refusals over queries with and without an answer, apart from recall and accuracy.

    RUN is the folder of a finished run. From its scores: at which threshold would the memory have
    known that it does not know? From its answers, where it has any: what did the reader refuse?
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_abstention import print_abstention  # noqa: PLC0415
    from memruler.scoring.abstention import abstention  # noqa: PLC0415

    found = abstention(run, answers=answers, grade=grade, rule=rule, signal=signal, k=k)
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_abstention(found)
