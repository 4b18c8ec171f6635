"""`memruler report`: one run, two that are compared, or several, as a page that people read."""

from pathlib import Path

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import FILE
from memruler.errors import UsageError

__all__ = ["command"]


@click.command(name="report")
@click.argument("runs", type=RUN, nargs=-1, required=True, metavar="RUN...")
@click.option("--html", type=FILE, help="Write one HTML file, which needs nothing beside it.")
@click.option("--markdown", type=FILE, help="Write a Markdown page.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@click.option("--changed", multiple=True, metavar="KEY", help="What is under test. Repeatable.")
@click.option("--shared", is_flag=True, help="Compare over the queries that count in both.")
@click.option("--corpus", metavar="NAME", help="For --html: tells when sessions took place.")
@click.option("--path", "file", type=FILE, help="The file of --corpus.")
@click.option("--open", "show", is_flag=True, help="Show the HTML file in a browser.")
def command(
    *,
    runs: tuple[Path, ...],
    html: Path | None,
    markdown: Path | None,
    as_json: bool,
    changed: tuple[str, ...],
    shared: bool,
    corpus: str | None,
    file: Path | None,
    show: bool,
) -> None:
    """Report one run, two runs compared, or several side by side.

    RUN is the folder of a finished run; of several, the first is the baseline. Two runs get the
    verdict of `memruler compare`, or its refusal: the page is then written all the same, and the
    exit code is 4. Of three runs or more each is held against the first, and a difference stands
    only where the two compare. Nothing in a run folder is changed.
    """
    # Late: --help must not wait for pyarrow, rich and jinja2.
    from memruler.compare.record import Refused  # noqa: PLC0415
    from memruler.corpora.registry import open_corpus  # noqa: PLC0415
    from memruler.errors import Refusal  # noqa: PLC0415
    from memruler.report.asked import markdown_report, print_report, report_of  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.html.report import html_report  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415

    _require_sense(html, markdown, corpus, file, show=show)
    _require_outside(runs, html, markdown)
    said = None if corpus is None else open_corpus(corpus, file)
    found = report_of(runs, changed=changed, shared=shared)
    if html is not None:
        page = html_report(found, runs, changed=changed, shared=shared, corpus=said)
        write_atomic(html, page.encode())
    if markdown is not None:
        write_atomic(markdown, markdown_report(found).encode())
    if as_json:
        click.echo(encode(found), nl=False)
    elif html is None and markdown is None:
        print_report(found, runs)
    else:
        _told(html, markdown)
        if isinstance(found, Refused):
            print_report(found, runs)
    if show and html is not None:
        click.launch(html.resolve().as_uri())
    if isinstance(found, Refused):
        raise click.exceptions.Exit(Refusal.exit_code)


def _require_sense(
    html: Path | None, markdown: Path | None, corpus: str | None, file: Path | None, *, show: bool
) -> None:
    """Refuse options that would do nothing, before anything is read."""
    if show and html is None:
        raise UsageError("--open shows the file of --html", hint="name it, such as report.html")
    if file is not None and corpus is None:
        raise UsageError("--path is the file of a --corpus", hint="name it, such as locomo")
    if corpus is not None and html is None:
        raise UsageError("--corpus is read for --html alone", hint="leave it out, or name a file")
    if html is not None and markdown is not None and html.resolve() == markdown.resolve():
        raise UsageError("--html and --markdown are the same file", hint="name two")


def _require_outside(runs: tuple[Path, ...], *pages: Path | None) -> None:
    """Refuse a page that would lie in a run folder, or take the place of one of its files."""
    folders = {run.resolve() for run in runs}
    for page in pages:
        if page is not None and folders & set(page.resolve().parents):
            raise UsageError(
                "a page would lie in a run folder, in which nothing is changed",
                where=page,
                hint="name a file outside of it",
            )


def _told(html: Path | None, markdown: Path | None) -> None:
    from memruler.errors import printable  # noqa: PLC0415

    for path in (html, markdown):
        if path is not None:
            click.echo(f"report: {printable(path, 4096)}")
