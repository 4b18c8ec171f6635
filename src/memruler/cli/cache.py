"""`memruler cache`: what the caches of vectors and of replies hold, and how to shrink them."""

from typing import TYPE_CHECKING, Any

import click

from memruler.errors import InstrumentError, printable

if TYPE_CHECKING:  # at run time only when a verb is called: --help needs no SQLite
    from memruler.embedding.cache_upkeep import FileReport

__all__ = ["command"]

_HEADINGS = ("embedder", "pooling", "file", "dims", "vectors", "size")
_DIGITS = 8
"""Of a file's name, enough to tell it from the others; --json and faults have all of it."""
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")


@click.group(name="cache")
def command() -> None:
    """Look after the cache of vectors, and the replies that were paid for.

    It is in the folder MEMRULER_CACHE names, else in the platform's own, and holds up to
    MEMRULER_CACHE_MAX bytes (2GiB by default); the least recently used vectors make room.
    Every vector can be computed again. The replies of models (`replies`) have no limit, and are
    removed only on demand: they were paid for.
    """


@command.command(name="info")
@_AS_JSON
def _info(*, as_json: bool) -> None:
    """List the embedders whose vectors are kept, with their number and size."""
    _show(check=False, as_json=as_json)


@command.command(name="verify")
@_AS_JSON
def _verify(*, as_json: bool) -> None:
    """Read every vector and hold it against its seal; exit code 3 if something is broken."""
    files = _show(check=True, as_json=as_json)
    broken = sum(file.broken or 0 for file in files)
    unusable = sum(file.problem is not None for file in files)
    if broken or unusable:
        raise InstrumentError(
            f"{broken} broken vectors and {unusable} unusable files in the cache",
            hint="a run embeds these texts again by itself; `memruler cache clear` removes all",
        )


@command.command(name="evict")
@click.option(
    "--max-size", required=True, metavar="SIZE", help="Bytes to keep, like 500MB or 2GiB."
)
@_AS_JSON
def _evict(max_size: str, *, as_json: bool) -> None:
    """Remove the least recently used vectors of all embedders until the rest fits."""
    from memruler.embedding import cache_folder, cache_upkeep  # noqa: PLC0415 - as in `_show`

    done = cache_upkeep.evict(cache_folder.vectors_dir(), cache_folder.parse_size(max_size))
    if as_json:
        _print({"removed": done.rows, "bytes": done.bytes_left})
        return
    click.echo(f"removed {done.rows} vectors; {_size(done.bytes_left)} in use")


@command.command(name="clear")
@_AS_JSON
def _clear(*, as_json: bool) -> None:
    """Remove all vectors; what other processes have open is emptied."""
    from memruler.embedding import cache_folder, cache_upkeep  # noqa: PLC0415 - as in `_show`

    removed = cache_upkeep.clear(cache_folder.vectors_dir())
    if as_json:
        _print({"removed": removed})
        return
    click.echo(f"removed {removed} vectors")


@command.command(name="replies")
@click.option("--clear", is_flag=True, help="Remove them all; they will be paid for anew.")
@_AS_JSON
def _replies(*, clear: bool, as_json: bool) -> None:
    """Tell how many replies of models are kept, or remove them."""
    from memruler.judges import replies  # noqa: PLC0415 - as in `_show`

    if clear:
        removed = replies.clear_replies()
        if as_json:
            _print({"removed": removed})
            return
        click.echo(f"removed {removed} replies")
        return
    found = replies.replies_report()
    if as_json:
        file = printable(replies.replies_path(), 10_000)
        _print({"replies": found.replies, "bytes": found.bytes, "file": file})
        return
    where = printable(replies.replies_path())
    click.echo(f"{found.replies} replies, {_size(found.bytes)} in {where}")


def _show(*, check: bool, as_json: bool) -> "list[FileReport]":
    from memruler.embedding import cache_folder, cache_upkeep  # noqa: PLC0415 - --help needs none
    from memruler.report.layout import stdout_console, unpadded  # noqa: PLC0415
    from memruler.report.table import print_table  # noqa: PLC0415

    folder, limit = cache_folder.vectors_dir(), cache_folder.cache_limit()
    files = cache_upkeep.reports(folder, check=check)
    total = sum(file.bytes for file in files)
    if as_json:
        everything = {"folder": printable(folder), "bytes": total, "limit": limit, "files": files}
        _print(everything)
        return files
    if files:
        with unpadded(stdout_console()) as console:
            print_table(console, _HEADINGS[:3], _HEADINGS[3:], map(_line, files))
    for file in files:
        if file.problem is not None:
            click.echo(f"{file.file}: {printable(file.problem)}")
        elif file.broken:
            click.echo(f"{file.file}: {file.broken} broken vectors")
    click.echo(f"{_size(total)} of {_size(limit)} in {printable(folder)}")
    return files


def _print(document: dict[str, Any]) -> None:
    from memruler.report.document import encode  # noqa: PLC0415 - --help needs none of it

    click.echo(encode(document), nl=False)


def _line(file: "FileReport") -> tuple[str, ...]:
    about = file.embedder or {}
    stem, _, rest = file.file.partition(".")
    return (
        printable(about.get("model", "unknown"), 60),
        printable(about.get("pooling", "-"), 30),
        f"{stem[:_DIGITS]}.{rest.partition('.')[0]}",
        printable(about.get("dimension", "-"), 10),
        "-" if file.vectors is None else str(file.vectors),
        _size(file.bytes),
    )


def _size(count: int) -> str:
    from memruler.cli.list import human_size  # noqa: PLC0415 - --help needs none of it

    return human_size(count)
