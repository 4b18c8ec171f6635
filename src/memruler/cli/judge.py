"""`memruler judge`: can a judge be trusted; probes of known truth, and a second judge."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memruler.cli.chat_options import ChatOptions, chat_options, open_asker
from memruler.cli.completing import CORPUS, RUN
from memruler.cli.parameters import COUNT, FILE, PATH
from memruler.errors import Interrupted, UsageError

if TYPE_CHECKING:  # --help needs none of it
    from memruler.compare.judge_calibration import JudgeCalibration
    from memruler.studies.judge_items import ProbeSource
    from memruler.studies.judge_probes import Probe

__all__ = ["command"]

_BLIND = 3
"""As of a canary: an instrument that sees nothing is broken."""


@click.group(name="judge")
def command() -> None:
    """Ask how far a judge can be trusted.

    `probes` writes answers whose truth is known, `calibrate` shows them to a judge and gives its
    rates, `agree` holds two judges against each other.
    """


@command.command(name="probes")
@click.argument("run", type=RUN, required=False)
@click.option(
    "--corpus", type=CORPUS, metavar="NAME", help="Make them from a corpus, in place of a run."
)
@click.option("--path", type=PATH, help="The corpus file.")
@click.option(
    "-n",
    "number",
    type=COUNT,
    default=50,
    show_default=True,
    help="Of each kind; at least one of each category.",
)
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True)
@click.option("--out", type=FILE, required=True, help="The file, in JSON Lines.")
@click.option("--json", "as_json", is_flag=True, help="Print what was made as JSON.")
def _probes(
    *,
    run: Path | None,
    corpus: str | None,
    path: Path | None,
    number: int,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    """Write probes, to be read, mended and calibrated with."""
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_judge import print_probes  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415
    from memruler.studies.judge_items import (  # noqa: PLC0415
        encode_probes,
        probes_of,
        questions_of_corpus,
        questions_of_run,
    )

    if (run is None) == (corpus is None):
        raise UsageError("name a run or a --corpus", hint="one of the two")
    if path is not None and corpus is None:
        raise UsageError("--path is of a --corpus", hint="name both, or leave it out")
    questions = questions_of_run(run) if run is not None else questions_of_corpus(str(corpus), path)
    source, probes = probes_of(questions, number=number, seed=seed)
    write_atomic(out, encode_probes(source, probes))
    if as_json:
        kinds = dict(sorted(Counter(probe.kind for probe in probes).items()))
        document = {"path": str(out), "probes": len(probes), "kinds": kinds, "source": source}
        click.echo(encode(document), nl=False)
    else:
        print_probes(source, probes, out)


@command.command(name="calibrate")
@click.argument("source", type=RUN)
@click.option("--grader", "name", metavar="NAME", default="answer:memruler", show_default=True)
@click.option(
    "-n",
    "number",
    type=COUNT,
    help="Probes of each kind; at least one of each category. [default: 50]",
)
@click.option("--seed", type=click.IntRange(0), help="Of the draw. [default: 7]")
@chat_options("judge")
@click.option(
    "--out", type=FILE, help="Also write the document, for `memruler gate --calibration`."
)
@click.option("--json", "as_json", is_flag=True, help="Print the document.")
def _calibrate(
    *,
    source: Path,
    name: str,
    number: int | None,
    seed: int | None,
    judge_chat: ChatOptions,
    out: Path | None,
    as_json: bool,
) -> None:
    """Show a judge answers of known truth, and give its rates.

    SOURCE is a run, from whose questions probes are made, or a file of probes. Exit code 3: the
    judge accepts wrong answers as often as right ones, so that its verdicts say nothing.
    """
    from memruler.report.document import encode  # noqa: PLC0415 - as in `_probes`
    from memruler.report.terminal_judge import print_calibration  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415
    from memruler.studies.judge_items import (  # noqa: PLC0415
        decode_probes,
        probes_of,
        questions_of_run,
    )

    if source.is_file():
        if number is not None or seed is not None:
            raise UsageError("-n and --seed have no effect on a file of probes", where=source)
        origin, probes = decode_probes(source)
    else:
        drawn = {"number": number or 50, "seed": 7 if seed is None else seed}
        origin, probes = probes_of(questions_of_run(source), **drawn)
    found = _calibrated(origin, probes, name, judge_chat)
    if out is not None:
        write_atomic(out, encode(found))
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_calibration(found)
    if found.blind:
        raise click.exceptions.Exit(_BLIND)


def _calibrated(
    source: "ProbeSource", probes: "list[Probe]", name: str, judge: ChatOptions
) -> "JudgeCalibration":
    from memruler.cli.progress import progress  # noqa: PLC0415 - as in `_probes`
    from memruler.scoring.graders.registry import open_grader  # noqa: PLC0415
    from memruler.studies.judge_calibrate import calibrate_judge  # noqa: PLC0415

    grader = open_grader(name)
    try:
        with open_asker(judge) as asker, progress(len(probes), "probes") as tick:
            return calibrate_judge(
                probes,
                source,
                grader,
                asker,
                at_a_time=judge.parallel,
                tick=lambda done, of: tick("instance", done, of),
            )
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; the replies that came are kept",
            hint="the same command goes on and pays for none twice",
        ) from None


@command.command(name="agree")
@click.argument("first", type=RUN)
@click.argument("second", type=RUN)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def _agree(*, first: Path, second: Path, as_json: bool) -> None:
    """Hold the verdicts of two judges on the same answers against each other.

    FIRST and SECOND are folders of grades, RUN/answers/NAME/grades/GRADE. `memruler grade RUN
    --sample N --like GRADE` grades a stratified sample by a second judge. Exit code 4 is a refusal.
    """
    from memruler.report.document import encode  # noqa: PLC0415 - as in `_probes`
    from memruler.report.terminal_judge import print_agreement  # noqa: PLC0415
    from memruler.studies.judge_agree import agree  # noqa: PLC0415

    found = agree(first, second)
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_agreement(found)
