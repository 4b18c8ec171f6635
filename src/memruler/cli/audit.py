"""`memruler audit`: does relaxed credit stand up to reading; draw, judge and read cases."""

from pathlib import Path
from typing import Literal

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import COUNT, FILE
from memruler.errors import UsageError, printable

__all__ = ["command"]


@click.group(name="audit")
def command() -> None:
    """Ask people and judges whether relaxed credit is justified.

    `sample` draws contested items of a run into a CSV file, people label it in a spreadsheet,
    `judge` lets a model fill a column, and `read` sums up what they said.
    """


@command.command(name="sample")
@click.argument("run", type=RUN)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="Whose credit is audited. Repeatable. [default: source]",
)
@click.option("--against", default="raw", show_default=True, help="The strict target.")
@click.option(
    "--level",
    type=click.Choice(["turn", "session"]),
    default="turn",
    show_default=True,
    help="What an item must come from.",
)
@click.option(
    "--credit",
    "rule",
    type=click.Choice(["anchor", "id", "cover"]),
    default="anchor",
    show_default=True,
    help="How credit is counted, which decides which items gain.",
)
@click.option(
    "--all-eligible",
    is_flag=True,
    help="Draw from all items that are contested, not only those that gain credit.",
)
@click.option("--lineage", type=FILE, help="Tells where items come from, where the run does not.")
@click.option("-k", type=COUNT, default=60, show_default=True, help="Depth.")
@click.option("-n", "number", type=COUNT, default=200, show_default=True, help="Cases a target.")
@click.option("--seed", type=click.IntRange(0), default=7, show_default=True)
@click.option("--rater", "raters", multiple=True, metavar="NAME", help="A column. Repeatable.")
@click.option(
    "--blind",
    is_flag=True,
    help="One file a rater beside it, with the texts alone, in an order of its own.",
)
@click.option("--bom", is_flag=True, help="Write a byte order mark, by which Excel knows UTF-8.")
@click.option("--out", type=FILE, required=True, help="The CSV file; it must not exist.")
@click.option("--json", "as_json", is_flag=True, help="Print what was drawn as JSON.")
def _sample(
    *,
    run: Path,
    targets: tuple[str, ...],
    against: str,
    level: str,
    rule: Literal["anchor", "id", "cover"],
    all_eligible: bool,
    lineage: Path | None,
    k: int,
    number: int,
    seed: int,
    raters: tuple[str, ...],
    blind: bool,
    bom: bool,
    out: Path,
    as_json: bool,
) -> None:
    """Draw items that gain credit under a relaxed target and none under the strict one."""
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_audit import print_sampled  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415
    from memruler.studies.audit_blind import blind_path, blind_tables  # noqa: PLC0415
    from memruler.studies.audit_csv import check_rater  # noqa: PLC0415
    from memruler.studies.audit_notes import notes_path, write_notes  # noqa: PLC0415
    from memruler.studies.audit_sample import sample  # noqa: PLC0415

    raters = raters or ("rater-1",)
    for name in raters:
        check_rater(name)
    sheets = [blind_path(out, name) for name in raters] if blind else []
    for path in (out, notes_path(out), *sheets):
        if path.exists() or path.is_symlink():
            raise UsageError(
                "the file is there already, and may hold labels",
                where=path,
                hint="choose another --out",
            )
    table, notes = sample(
        run,
        targets or ("source",),
        against=against,
        level="session" if level == "session" else "turn",
        rule=rule,
        all_eligible=all_eligible,
        lineage=lineage,
        k=k,
        number=number,
        seed=seed,
        raters=raters,
        blind=blind,
        bom=bom,
    )
    write_notes(out, notes)
    try:
        for path, one in zip(
            sheets, blind_tables(table, raters, seed).values(), strict=False
        ):  # none if not blind
            write_atomic(path, one.encode())
        write_atomic(out, table.encode())
    except BaseException:
        for path in (notes_path(out), *sheets):  # alone they say nothing, and stand in the way
            path.unlink(missing_ok=True)
        raise
    if as_json:
        document = {"cases": str(out), "sheets": list(map(str, sheets)), "notes": notes}
        click.echo(encode(document), nl=False)
        return
    print_sampled(notes)
    for path in sheets:
        click.echo(f"for a rater: {printable(str(path))}")


@command.command(name="judge")
@click.argument("cases", type=FILE)
@click.option("--endpoint", required=True, metavar="URL", help="OpenAI-compatible, up to /v1.")
@click.option("--model", required=True, help="Its name on the server.")
@click.option("--name", required=True, help="Of the column that is filled.")
@click.option("--temperature", type=click.FloatRange(0, 2), default=0.0, show_default=True)
@click.option("--no-temperature", is_flag=True, help="Send none, for models that take none.")
@click.option(
    "--key-variable",
    default="OPENAI_API_KEY",
    show_default=True,
    metavar="NAME",
    help="The environment variable that holds the key; without it none is sent.",
)
@click.option("--parallel", type=click.IntRange(1, 64), default=4, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print what the judge did as JSON.")
def _judge(
    *,
    cases: Path,
    endpoint: str,
    model: str,
    name: str,
    temperature: float,
    no_temperature: bool,
    key_variable: str,
    parallel: int,
    as_json: bool,
) -> None:
    """Let a model fill a column; filled cells stay, so that it can be repeated."""
    from memruler.cli.progress import progress  # noqa: PLC0415 - as in `_sample`
    from memruler.judges.chat import Chat, ChatJudge  # noqa: PLC0415 - as in `_sample`
    from memruler.judges.rubric import load_rubric  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.studies.audit_judge import judge_cases, served_before  # noqa: PLC0415

    rubric = load_rubric("support")
    chat = Chat(
        endpoint,
        model,
        temperature=None if no_temperature else temperature,
        key_variable=key_variable,
        served=served_before(cases, name),
    )
    with progress(None, "cases") as tick:
        found = judge_cases(
            cases,
            ChatJudge(chat, rubric),
            rubric,
            name,
            at_a_time=parallel,
            tick=lambda done, of: tick("instance", done, of),
        )
    if as_json:
        click.echo(encode(found), nl=False)
        return
    missing = sum(found.unlabelled.values())
    click.echo(
        f"{printable(found.identity.served or model)}: {found.labelled} labelled, "
        f"{found.there} were there, {missing} without a label"
    )
    for reason, times in sorted(found.unlabelled.items()):
        click.echo(f"  {times} times: {printable(reason)}")


@command.command(name="read")
@click.argument("cases", type=FILE, nargs=-1, required=True)
@click.option("--rater", "raters", multiple=True, metavar="NAME", help="Only theirs. Repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def _read(*, cases: tuple[Path, ...], raters: tuple[str, ...], as_json: bool) -> None:
    """Sum up the labels: majority, agreement, and how often credit is justified.

    Several files are read as one: of other runs and data sets, and those of blind raters.

    Exit code 2: a cell holds no label, or the file is unsound. 4: no case has a label.
    """
    from memruler.report.document import encode  # noqa: PLC0415 - as in `_sample`
    from memruler.report.terminal_audit import print_audit  # noqa: PLC0415
    from memruler.studies.audit_labels import BadLabelsError  # noqa: PLC0415
    from memruler.studies.audit_read import read_audit  # noqa: PLC0415

    try:
        found = read_audit(*cases, raters=raters)
    except BadLabelsError as error:
        for line in error.lines():
            click.echo(printable(line), err=True)
        raise
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_audit(found)
