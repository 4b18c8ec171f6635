"""`memruler serve`: the built-in memory as a server."""

from pathlib import Path

import click

from memruler.cli.parameters import COUNT, FILE, PATH

__all__ = ["command"]


@click.command(name="serve")
@click.option("--folder", type=PATH, required=True, help="Where the memories lie.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True)
@click.option("--system", default="builtin:hybrid", show_default=True, help="A built-in memory.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="One setting.")
@click.option("--tokens", type=FILE, help="TOML file: [workspaces], a pattern to its token.")
@click.option("--rate", type=click.FloatRange(0, min_open=True), help="Requests a second.")
@click.option("--largest", type=COUNT, help="Bytes of a request.  [default: 8388608]")
def command(
    *,
    folder: Path,
    port: int,
    system: str,
    assignments: tuple[str, ...],
    tokens: Path | None,
    rate: float | None,
    largest: int | None,
) -> None:
    """Serve the built-in memory on the loopback address until it is told to stop.

    Conversations come in as hook events (POST /hook/batch); questions are asked over MCP (the tool
    memory_query at /mcp) or with POST /search. It is the reference for measuring a memory over a
    network: a run through it gives the rankings of the same memory in process.
    """
    # Late: --help must not wait for starlette, mcp and numpy.
    from memruler.errors import UsageError  # noqa: PLC0415
    from memruler.replay.plan import parse_assignments  # noqa: PLC0415
    from memruler.store.safe import make_dir  # noqa: PLC0415
    from memruler.systems.registry import open_system  # noqa: PLC0415

    try:
        from memruler.serve.run import serve  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(
            "the server needs a package that is not installed",
            where=error.name,
            hint="pip install 'memruler[serve]'",
        ) from error
    opened = open_system(system, parse_assignments(assignments))
    make_dir(folder)
    serve(opened.system, folder, port=port, tokens=tokens, rate=rate, largest=largest)
