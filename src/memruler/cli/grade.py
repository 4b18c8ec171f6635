"""`memruler grade`: how right are the answers of a reader, by each data set's rules."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from memruler.cli.chat_options import ChatOptions, chat_options, open_asker
from memruler.cli.completing import RUN
from memruler.cli.parameters import COUNT
from memruler.errors import Interrupted, UsageError

if TYPE_CHECKING:  # --help needs none of it
    from memruler.judges.asking import Asker
    from memruler.scoring.grade_said import GradeOutcome, ToGrade
    from memruler.scoring.graders.base import Grader
    from memruler.studies.judge_sample import Sample

__all__ = ["command"]


class _Wanted(NamedTuple):
    """How to grade."""

    name: str | None
    draws: int
    sample: int | None
    seed: int
    like: str | None
    at_a_time: int


@click.command(name="grade")
@click.argument("run", type=RUN)
@click.option("--answers", metavar="NAME", help="Which answers; needed where there are several.")
@click.option(
    "--grader",
    "graders",
    multiple=True,
    metavar="NAME",
    help="Who scores, such as locomo:official. Repeatable. [default: those of the corpus]",
)
@click.option("--name", help="Of the grading, with one grader; that of grader and judge without.")
@click.option(
    "--repeats",
    "draws",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    help="How often the judge is asked about each answer; the majority counts.",
)
@click.option("--sample", type=COUNT, help="Only so many answers, stratified: for a second judge.")
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True, help="Of the sample.")
@click.option("--like", metavar="GRADE", help="Stratify the sample by these grades, too.")
@chat_options("judge", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the summaries as JSON.")
def command(
    *,
    run: Path,
    answers: str | None,
    graders: tuple[str, ...],
    name: str | None,
    draws: int,
    sample: int | None,
    seed: int,
    like: str | None,
    judge_chat: ChatOptions | None,
    as_json: bool,
) -> None:
    """Grade the answers of a run.

    RUN is the folder of a finished run that was answered. Each grader writes a folder of its own
    under RUN/answers/NAME/grades. What needs a judge has no value without one, and is never 0.
    A judge's replies are kept: after an interruption the same command goes on and pays for none
    twice.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_grades import print_grades  # noqa: PLC0415
    from memruler.scoring.answer_load import choose_answers  # noqa: PLC0415
    from memruler.scoring.grade_load import load_to_grade  # noqa: PLC0415
    from memruler.scoring.grade_record import GradesDocument  # noqa: PLC0415
    from memruler.scoring.graders.registry import default_graders, open_grader  # noqa: PLC0415
    from memruler.store.folder import RunFolder  # noqa: PLC0415

    if like is not None and sample is None:
        raise UsageError("--like has no effect without --sample", hint="leave it out")
    folder = RunFolder.open(run)
    given = load_to_grade(folder, choose_answers(folder, answers))._replace(run=run)
    named = graders or default_graders(str(given.manifest.fingerprint["corpus"]["name"]))
    opened = [open_grader(one) for one in dict.fromkeys(named)]
    if name is not None and len(opened) > 1:
        raise UsageError("--name is of one grading", hint="name one --grader")
    if judge_chat is not None and not any(grader.judged for grader in opened):
        raise UsageError(
            "a judge is named, and no grader asks one", hint="such as --grader answer:memruler"
        )
    at_a_time = 1 if judge_chat is None else judge_chat.parallel
    found = _graded(given, opened, judge_chat, _Wanted(name, draws, sample, seed, like, at_a_time))
    if as_json:
        document = GradesDocument(
            gradings=tuple(one.summary for one in found),
            folders=tuple(str(one.path) for one in found),
            usage=tuple(one.usage for one in found),
        )
        click.echo(encode(document), nl=False)
    else:
        print_grades(found)


def _graded(
    given: "ToGrade", graders: "list[Grader]", judge: ChatOptions | None, wanted: _Wanted
) -> "list[GradeOutcome]":
    sample = None if wanted.sample is None else _sample(given, wanted)
    if judge is None:
        return [_one(given, grader, None, wanted, sample) for grader in graders]
    try:
        with open_asker(judge) as asker:
            return [_one(given, grader, asker, wanted, sample) for grader in graders]
    except KeyboardInterrupt:
        raise Interrupted(
            "interrupted; the replies that came are kept",
            hint="the same command goes on and pays for none twice",
        ) from None


def _one(
    given: "ToGrade",
    grader: "Grader",
    asker: "Asker | None",
    wanted: _Wanted,
    sample: "Sample | None",
) -> "GradeOutcome":
    from memruler.cli.progress import progress  # noqa: PLC0415 - as in `command`
    from memruler.report.markdown_grades import markdown_grades  # noqa: PLC0415
    from memruler.scoring.grade import grade_answers, grade_name  # noqa: PLC0415

    model = asker.chat.model if asker is not None and grader.judged else None
    number = len(given.items if sample is None else sample.chosen) * wanted.draws
    with progress(number, "gradings") as tick:
        return grade_answers(
            given,
            grader,
            asker,
            name=wanted.name or grade_name(grader.name, model, wanted.sample),
            report=markdown_grades,
            draws=wanted.draws,
            chosen=None if sample is None else sample.chosen,
            sample=None if sample is None else sample.note,
            at_a_time=wanted.at_a_time,
            tick=lambda done, of: tick("instance", done, of),
        )


def _sample(given: "ToGrade", wanted: _Wanted) -> "Sample":
    from memruler.scoring.grade_load import load_grades  # noqa: PLC0415 - as in `command`
    from memruler.store.grades import grades_path  # noqa: PLC0415
    from memruler.studies.judge_agree import labels_of  # noqa: PLC0415
    from memruler.studies.judge_sample import draw_sample  # noqa: PLC0415

    labels = None
    if wanted.like is not None:
        labels = labels_of(load_grades(grades_path(given.run, given.answers.name, wanted.like)))
    number = wanted.sample or len(given.items)
    return draw_sample(given.items, number, seed=wanted.seed, labels=labels, of=wanted.like)
