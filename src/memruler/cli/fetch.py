"""`memruler fetch`: bring a public corpus into the cache, checked against its pin."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
import msgspec

from memruler.cli.completing import PUBLIC

__all__ = ["command"]

Say = Callable[[str], None]
Show = Callable[[int, int | None], None]


@click.command(name="fetch")
@click.argument("name", type=PUBLIC)
@click.option("--force", is_flag=True, help="Fetch it even if the cached file is right.")
@click.option(
    "--accept-drift",
    is_flag=True,
    help="For a corpus pinned on its first fetch: take what the source has now as the pin.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(name: str, *, force: bool, accept_drift: bool, as_json: bool) -> None:
    """Fetch a public corpus, checked against its pin.

    NAME is one that `memruler list` shows. A broken download goes on where it stopped. The
    environment variable MEMRULER_CACHE names the cache folder; MEMRULER_MIRROR names a URL under
    which the files lie by their own names (what comes from there must match the pin as well).
    """
    # Late: --help needs no corpora.
    from memruler.corpora.fetch import fetch  # noqa: PLC0415
    from memruler.corpora.pins import pin  # noqa: PLC0415

    wanted = pin(name)
    if wanted.non_commercial:
        click.echo(
            f"note: {name} is under {wanted.licence}: no commercial use, and credit is due; "
            f"see {wanted.source}",
            err=True,
        )
    with _progress(name) as (show, say):
        located = fetch(name, force=force, accept_drift=accept_drift, progress=show, notify=say)
    if as_json:
        result = {
            "name": name,
            "path": str(located.path),
            "size": located.path.stat().st_size,
            "sha256": located.sha256,
            "tier": located.tier,
            "version": wanted.revision,
            "licence": wanted.licence,
        }
        click.echo(msgspec.json.format(msgspec.json.encode(result)).decode())
    else:
        click.echo(f"{name}: {located.tier}, sha256 {located.sha256}\n{located.path}")


@contextmanager
def _progress(name: str) -> Iterator[tuple[Show, Say]]:
    """A bar on stderr with rate and time left; plain lines now and then where nothing may move."""
    from memruler.cli.progress import Pace, moves  # noqa: PLC0415 - as in `command`

    if not moves():
        from memruler.cli.list import human_size  # noqa: PLC0415 - as in `command`

        pace = Pace("", shown=lambda number: human_size(round(number)))

        def plain(done: int, total: int | None) -> None:
            pace.at(done, total)
            pace.tell(name)

        yield plain, lambda news: click.echo(f"{name}: {news}", err=True)
        pace.end()
        return
    # Late: nobody waits for rich where there is no bar.
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None, visible=False)

        def show(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total, visible=True)

        yield show, lambda news: bar.console.print(escape(f"{name}: {news}"), highlight=False)
