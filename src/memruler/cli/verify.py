"""`memruler verify`: is a bundle what it says, and do its scores come out again?"""

from pathlib import Path

import click

from memruler.cli.parameters import PATH

__all__ = ["command"]


@click.command(name="verify")
@click.argument("bundle", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="Print what was checked as JSON.")
def command(*, bundle: Path, as_json: bool) -> None:
    """Check a bundle: checksums, and every score anew.

    BUNDLE is a folder that `memruler export --format bundle` wrote. The rankings in it are scored
    anew and compared bit for bit. Exit code 3: something is not what it says.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.cli.progress import working  # noqa: PLC0415
    from memruler.errors import ChecksumError, InstrumentError  # noqa: PLC0415
    from memruler.exchange.verify import verify  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_verify import print_verification  # noqa: PLC0415

    with working("scoring the bundle anew"):
        found = verify(bundle)
    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_verification(found)
    if not found.passed:
        failed = [check.name for check in found.checks if check.passed is False]
        kind = ChecksumError if "checksums" in failed else InstrumentError
        raise kind(
            f"the bundle does not hold: {', '.join(failed)}",
            where=bundle,
            hint="fetch it again, or ask whoever made it",
        )
