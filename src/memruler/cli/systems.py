"""`memruler systems`: which memories there are, how one behaves, and what runs left behind."""

from pathlib import Path

import click

from memruler.cli.completing import SYSTEM
from memruler.cli.parameters import PATH

__all__ = ["command"]

_UNFIT = 3


@click.group(name="systems")
def command() -> None:
    """Look at memory systems: list, check, describe a server, erase what runs left."""


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print the names as JSON.")
def _list(*, as_json: bool) -> None:
    """List every memory that can be measured by name: built in, plug-ins, recipes."""
    # Late: --help must not wait for numpy.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_systems import print_systems  # noqa: PLC0415
    from memruler.systems.known import known_systems  # noqa: PLC0415

    found = known_systems()
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_systems(found)


@command.command(name="check")
@click.argument("name", type=SYSTEM)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="One setting.")
@click.option("--out", type=PATH, help="Also write card.json and the servers' logs there.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=120.0,
    show_default=True,
    help="Seconds that one answer of the system may take.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the card as JSON.")
@click.pass_context
def _check(
    ctx: click.Context,
    /,
    *,
    name: str,
    assignments: tuple[str, ...],
    out: Path | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Probe a memory before it is measured, and print its capability card.

    NAME is as in `retrieval --system`. The real system is run on fresh stores in throwaway
    namespaces, in a process of its own. Exit code 3 where a probe says that its results would mean
    nothing.
    """
    # Late: --help must not wait for numpy and rich.
    from memruler.cli.progress import progress  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_card import print_card  # noqa: PLC0415
    from memruler.store.safe import make_dir, write_atomic  # noqa: PLC0415
    from memruler.studies.check.check import check_system  # noqa: PLC0415

    if out is not None:
        make_dir(out)  # what cannot be written is told before anything is started
    with progress(None, "families of probes") as tick:
        card = check_system(name, assignments, timeout=timeout, tick=tick, logs=out)
    if out is not None:
        write_atomic(out / "card.json", encode(card))
    if as_json:
        click.echo(encode(card), nl=False)
    else:
        print_card(card)
    if card.fitness == "unfit":
        ctx.exit(_UNFIT)


@command.command(name="describe")
@click.argument("target")
@click.option("--name", default="my-memory", show_default=True, help="What to call the memory.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=30.0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print what the server says as JSON.")
def _describe(*, target: str, name: str, timeout: float, as_json: bool) -> None:
    """Ask an MCP server for its tools, and draft the TOML file that measures it.

    TARGET is a URL (streamable HTTP), or a command in quotes (standard streams). What it says of
    its tools goes to stderr, the draft to stdout.
    """
    # Late: --help must not wait for the SDK.
    from memruler.errors import printable  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.systems.remote.describe import describe as ask  # noqa: PLC0415
    from memruler.systems.remote.draft import draft  # noqa: PLC0415

    found = ask(target, timeout=timeout)
    text = draft(name, target, found.tools, is_url=found.is_url)
    if as_json:
        tools = [tool._asdict() for tool in found.tools]
        click.echo(
            encode({"server": found.spoken._asdict(), "tools": tools, "draft": text}), nl=False
        )
        return
    spoken = found.spoken
    said = f"{spoken.name} {spoken.version}, protocol {spoken.protocol}"
    click.echo(printable(said), err=True)
    for tool in found.tools:
        arguments = ", ".join(
            argument if argument in tool.required else f"[{argument}]"
            for argument in tool.arguments
        )
        click.echo(f"  {printable(tool.name)}({printable(arguments)})", err=True)
    click.echo(text, nl=False)


@command.command(name="gc")
@click.option("--kept", is_flag=True, help="Also those that a run kept with --keep.")
@click.option("--dry-run", is_flag=True, help="Say what would be erased, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print what became of each as JSON.")
@click.pass_context
def _gc(ctx: click.Context, /, *, kept: bool, dry_run: bool, as_json: bool) -> None:
    """Erase the throwaway namespaces (bench-...) that aborted runs left behind.

    Each is noted before its first write. One that belongs to a run that goes on now is left alone.
    Exit code 3 where one could not be erased.
    """
    # Late: --help must not wait for numpy.
    from memruler.errors import printable  # noqa: PLC0415
    from memruler.replay.collect import collect  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415

    found = list(collect(kept=kept, dry=dry_run))
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        for one in found:
            outcome = "would be erased" if dry_run and one.outcome == "erased" else one.outcome
            why = f": {printable(one.why)}" if one.why else ""
            click.echo(f"{outcome:10} {printable(one.namespace)} ({printable(one.system)}){why}")
        if not found:
            click.echo("nothing was left behind")
    if any(one.outcome == "failed" for one in found):
        ctx.exit(3)
