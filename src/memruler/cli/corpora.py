"""`memruler corpora`: check a corpus file, generate a synthetic one, print the format's schema."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click
import msgspec

from memruler.cli.parameters import PATH
from memruler.errors import printable

if TYPE_CHECKING:  # --help needs no corpora
    from memruler.corpora.checking import CheckReport

__all__ = ["command"]

_FAULTY = 2
_PRINTED = 100
_LONGEST = 2000


@click.group(name="corpora")
def command() -> None:
    """Check a corpus file of your own, or generate a synthetic one."""


@command.command(name="check", short_help="Say what is in a corpus file, or what is wrong with it.")
@click.argument("file", type=PATH)
@click.option(
    "--format",
    "form",
    type=click.Choice(["auto", "jsonl", "locomo", "longmemeval"]),
    default="auto",
    show_default=True,
    help="What to read FILE as; auto tells by how it begins.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_context
def _check(
    ctx: click.Context,
    file: Path,
    form: Literal["auto", "jsonl", "locomo", "longmemeval"],
    *,
    as_json: bool,
) -> None:
    """Read FILE as a corpus and say what is in it, or everything that is wrong with it.

    Exit code 2 when anything is wrong; the first 100 faults are printed, with --json every one.
    What is merely odd (sessions without turns or after their question, ids that repeat, very long
    texts, evidence of what is not answerable) is counted in notes, and kept as it is.
    """
    from textwrap import wrap  # noqa: PLC0415 - late, as in every verb

    from memruler.corpora.checking import check_file  # noqa: PLC0415
    from memruler.report.layout import WIDTH  # noqa: PLC0415

    report = check_file(file, None if form == "auto" else form)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        for fault in report.faults[:_PRINTED]:
            click.echo(printable(fault))
        if len(report.faults) > _PRINTED:
            more = len(report.faults) - _PRINTED
            click.echo(f"and {more:,} more; --json prints every one")
        for line in _told(report):
            # A label has eleven columns; what does not fit stands under the value.
            for part in wrap(printable(line, _LONGEST), WIDTH, subsequent_indent=" " * 11):
                click.echo(part)
    if report.faults:
        noun = "fault" if len(report.faults) == 1 else "faults"
        click.echo(f"memruler: {len(report.faults)} {noun} in {printable(file)}", err=True)
        ctx.exit(_FAULTY)


def _told(report: "CheckReport") -> list[str]:
    info, counts = report.info, report.counts
    if info is None or counts is None:
        return []
    lines = [
        f"read as    {report.format} ({info.tier}, version {info.version}, licence {info.licence})",
        f"sha256     {info.sha256}",
        f"instances  {counts.instances:,}",
        f"sessions   {counts.sessions:,} ({counts.empty_sessions:,} without a turn)",
        f"turns      {counts.turns:,}",
        f"queries    {counts.queries:,}",
    ]
    for one in counts.populations:
        lines.append(f"population {one.name} (evidence rule {one.rule})")
        lines.append(f"  measurable {one.measurable:,} of {one.members:,} members")
        if one.partial:
            lines.append(f"    with some of their references unresolved: {one.partial:,}")
        lines += [f"  left out   {number:,} {reason}" for reason, number in one.excluded.items()]
    return lines + [f"note: {note}" for note in (*info.notes, *report.notes)]


@command.command(name="generate")
@click.option("--out", type=PATH, required=True, help="The file to write or replace.")
@click.option("--instances", default=4, show_default=True, help="Conversations; up to a billion.")
@click.option("--sessions", default=12, show_default=True, help="Sessions of each; 5 to 100,000.")
@click.option("--seed", default=7, show_default=True, help="The same seed gives the same bytes.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def _generate(*, out: Path, instances: int, sessions: int, seed: int, as_json: bool) -> None:
    """Write a synthetic corpus as a jsonl file.

    LongMemEval-S has the size of `--instances 500 --sessions 48`. Measure it with
    `memruler retrieval jsonl --path FILE`.
    """
    from memruler.cli.progress import progress  # noqa: PLC0415 - late
    from memruler.corpora.synthetic import SyntheticCorpus  # noqa: PLC0415 - late
    from memruler.store.safe import atomic_file  # noqa: PLC0415 - late

    corpus = SyntheticCorpus(seed, instances, sessions)
    with progress(instances) as tick, atomic_file(out) as file:
        for number, line in enumerate(corpus.lines()):
            file.write(line)
            tick("instance", number, instances)
    click.echo(f"memruler: wrote {instances} x {sessions} sessions, seed {seed}", err=True)
    if as_json:
        made = {"path": str(out), "instances": instances, "sessions": sessions, "seed": seed}
        click.echo(msgspec.json.format(msgspec.json.encode(made)).decode())
        return
    click.echo(printable(out, longest=10_000))


@command.command(name="schema", short_help="Print the JSON Schema of a line of jsonl.")
@click.option("--json", "as_json", is_flag=True, help="It is JSON in any case.")
def _schema(*, as_json: bool) -> None:
    """Print the JSON Schema that every line of a jsonl corpus satisfies."""
    del as_json
    from memruler.corpora.jsonl_format import schema_bytes  # noqa: PLC0415 - late

    click.echo(schema_bytes().decode(), nl=False)
