"""`memruler view`: the runs of a folder in a browser, on this machine only."""

import json
from pathlib import Path

import click

from memruler.cli.parameters import PATH

__all__ = ["command"]


@click.command(name="view")
@click.argument("folder", type=PATH, metavar="DIR", default="runs")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port on 127.0.0.1; without it any that is free.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the address as a line of JSON.")
def command(*, folder: Path, port: int, as_json: bool) -> None:
    """Show the runs below DIR in a browser: a list, each run, two against each other, trends.

    The pages are served to this machine only, under an address with a secret token that is new
    with every start. Nothing can be changed through them. Runs that appear or change are there
    when a page is loaded anew. Ctrl-C ends it, with exit code 0: there is no other way to end.
    """
    # Late: --help must not wait for the server.
    from memruler.report.web.serve import serve  # noqa: PLC0415

    def ready(address: str) -> None:
        if as_json:
            click.echo(json.dumps({"url": address, "folder": str(folder)}))
        else:
            click.echo(f"{address}\nOpen it in a browser on this machine. Ctrl-C ends it.")

    serve(folder, port, ready)
