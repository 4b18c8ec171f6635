"""`memruler doctor`: what is installed and cached here, what is broken, and what to do."""

import sys

import click

__all__ = ["command"]

_BROKEN = 3


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
    """Check what is installed and cached here, and say what to do.

    Looks at Python, packages and extras, the local model (its files by checksum, and a probe),
    SQLite, plug-ins, caches, corpora, disks and the terminal. Nothing is fetched, and no value of
    an environment variable is shown. What is missing is no fault: exit code 3 says that something
    is broken which is installed or always needed.
    """
    # Late: --help must not wait for numpy and rich.
    from memruler.cli.program import command_line, pip, program  # noqa: PLC0415
    from memruler.cli.progress import working  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_doctor import (  # noqa: PLC0415
        print_diagnosis,
        terminal_findings,
    )
    from memruler.studies.doctor import diagnose  # noqa: PLC0415

    terminal = tuple(terminal_findings(sys.stdout.encoding))
    with working("looking"):
        found = diagnose(command_line(*pip()), command_line(*program()), terminal)
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_diagnosis(found)
    if found.broken:
        ctx.exit(_BROKEN)
