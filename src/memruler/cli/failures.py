"""`memruler failures`: at which stage each missed item was lost."""

from functools import partial
from pathlib import Path

import click

from memruler.cli.completing import CORPUS, RUN
from memruler.cli.parameters import COUNT, FILE
from memruler.errors import UsageError
from memruler.model.failures import STAGES

__all__ = ["command"]

_LIMIT = 20


@click.command(name="failures")
@click.argument("run", type=RUN)
@click.argument("other", type=RUN, required=False)
@click.option("--answers", metavar="NAME", help="File what these answers of RUN missed.")
@click.option("--grade", metavar="NAME", help="By this grading of the answers.")
@click.option("--other-answers", metavar="NAME", help="Those of OTHER; as --answers without it.")
@click.option("--other-grade", metavar="NAME", help="As --grade without it.")
@click.option("--stage", type=click.Choice(STAGES), help="List only items of this stage.")
@click.option("--category", metavar="NAME", help="List only items of this category.")
@click.option("--limit", type=COUNT, help=f"Items listed. [default: {_LIMIT}; all with --json]")
@click.option("--text", is_flag=True, help="With gold, answer and evidence of each item.")
@click.option("-k", type=COUNT, help="Hits that count as given; all asked for without it.")
@click.option(
    "--below",
    type=click.FloatRange(0, 1),
    help="A value below it is missed. [default: 0.5; of labels: no majority says right]",
)
@click.option(
    "--corpus", type=CORPUS, metavar="NAME", help="Look evidence up there, if the store lacks it."
)
@click.option("--path", "file", type=FILE, help="The file of --corpus.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    *,
    run: Path,
    other: Path | None,
    answers: str | None,
    grade: str | None,
    other_answers: str | None,
    other_grade: str | None,
    stage: str | None,
    category: str | None,
    limit: int | None,
    text: bool,
    k: int | None,
    below: float | None,
    corpus: str | None,
    file: Path | None,
    as_json: bool,
) -> None:
    """Say at which stage each missed item was lost: the store, the ranking, the reader.

    RUN is the folder of a finished run. Without --answers an item is missed where evidence is not
    among the hits; with it where a grader says that the answer is wrong. With OTHER, a run over the
    same queries (or RUN again, with other answers), shows what moved from which stage to which.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.compare.failure_shift import failure_shift  # noqa: PLC0415
    from memruler.corpora.registry import open_corpus  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_failures import print_failures, print_shift  # noqa: PLC0415
    from memruler.scoring.failure_list import failures_of  # noqa: PLC0415
    from memruler.scoring.failures import file_failures  # noqa: PLC0415

    if other is None and (other_answers is not None or other_grade is not None):
        raise UsageError("--other-answers and --other-grade are of OTHER, which is not given")
    answered = any(name is not None for name in (answers, grade, other_answers, other_grade))
    if below is not None and not answered:
        raise UsageError("--below is of graded answers", hint="name them with --answers")
    shown = limit if limit is not None or as_json else _LIMIT
    if file is not None and corpus is None:
        raise UsageError("--path is the file of a --corpus", hint="name it, such as locomo")
    said = None if corpus is None else open_corpus(corpus, file)
    filing = partial(file_failures, answered=answered, k=k, below=below, corpus=said)
    base = filing(run, answers=answers, grade=grade)
    chosen = next((known for known in STAGES if known == stage), None)
    if category is not None and category not in base.run.category:
        known = ", ".join(sorted(map(str, set(base.run.category))))
        raise UsageError(f"the run has no category {category!r}", hint=f"it has {known}")
    if other is None:
        found = failures_of(base, stage=chosen, category=category, limit=shown)
        if as_json:
            click.echo(encode(found), nl=False)
        else:
            print_failures(found, text=text)
        return
    candidate = filing(other, answers=other_answers or answers, grade=other_grade or grade)
    shift = failure_shift(base, candidate, stage=stage, category=category, limit=shown)
    if as_json:
        click.echo(encode(shift), nl=False)
    else:
        print_shift(shift, text=text)
