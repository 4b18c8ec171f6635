"""`memruler baseline`: what a team accepted, and what moved since."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memruler.cli.completing import RUN
from memruler.cli.parameters import FILE, PATH

if TYPE_CHECKING:  # --help needs none of it
    from memruler.studies.baseline_record import BaselineCheck

__all__ = ["command"]

_BASELINE = click.option(
    "--baseline",
    type=PATH,
    default=Path("baseline"),
    show_default=True,
    help="Folder of the accepted baseline.",
)
_CHANGED = click.option(
    "--changed",
    multiple=True,
    metavar="KEY",
    help="What else is under test, as in `memruler compare`; the system's version, digest and "
    "settings always are. Repeatable.",
)
_METRIC = click.option("--metric", metavar="NAME@K", help="The metric that decides.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print the check as JSON.")


@click.group(name="baseline")
def command() -> None:
    """Hold runs against figures that a person accepted.

    The baseline is a small folder in your repository. `propose` writes what would replace it,
    `accept` puts a proposal into place, `check` says what moved. A score that moves fails
    nothing: only a broken instrument (3) and a comparison that must not be made (4) do.
    """


@command.command(name="propose")
@click.argument("run", type=RUN)
@_BASELINE
@click.option(
    "--out",
    type=PATH,
    default=Path("baseline-proposal"),
    show_default=True,
    help="Folder to write the proposal into.",
)
@_CHANGED
@_METRIC
@_JSON
def _propose(
    *,
    run: Path,
    baseline: Path,
    out: Path,
    changed: tuple[str, ...],
    metric: str | None,
    as_json: bool,
) -> None:
    """Write what would become the baseline, and a page that compares the two.

    RUN is a run folder. Nothing but the folder --out is written.
    """
    # Late: --help must not wait for pyarrow.
    from memruler.report.markdown_baseline import markdown_baseline  # noqa: PLC0415
    from memruler.studies.baseline_accept import PAGE, propose  # noqa: PLC0415

    found = propose(
        run,
        baseline,
        out,
        changed=changed,
        metric=metric,
        page=lambda check: markdown_baseline(check, proposal=True),
    )
    _print(found, as_json=as_json)
    if not as_json:
        click.echo(f"Read {out / PAGE}; then: memruler baseline accept {out}")


@command.command(name="accept")
@click.argument("proposal", type=PATH, default=Path("baseline-proposal"))
@_BASELINE
@click.option(
    "--force",
    is_flag=True,
    help="Also in CI: only for a branch that a person merges.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def _accept(*, proposal: Path, baseline: Path, force: bool, as_json: bool) -> None:
    """Make a proposal the baseline; then commit the folder.

    PROPOSAL is what `propose` wrote. It is refused where the baseline is no longer the one that
    it was compared with, and where the variable CI is set.
    """
    from memruler.studies.baseline_accept import accept  # noqa: PLC0415 - as above

    changed = accept(proposal, baseline, force=force)
    if as_json:
        click.echo(json.dumps({"baseline": str(baseline), "changed": changed}))
    elif changed:
        click.echo(f"{baseline} holds the accepted baseline now; commit it.")
    else:
        click.echo(f"{baseline} holds this baseline already; nothing was changed.")


@command.command(name="check")
@click.argument("run", type=RUN)
@_BASELINE
@_CHANGED
@_METRIC
@_JSON
@click.option("--markdown", "page", type=FILE, help="Also write it as a Markdown page.")
@click.option("--junit", "xml", type=FILE, help="Also write it as JUnit XML.")
@click.option(
    "--github", is_flag=True, help="Append to the job summary and outputs of GitHub Actions."
)
def _check(
    *,
    run: Path,
    baseline: Path,
    changed: tuple[str, ...],
    metric: str | None,
    as_json: bool,
    page: Path | None,
    xml: Path | None,
    github: bool,
) -> None:
    """Say what moved since the baseline was accepted.

    RUN is a run folder. Exit code 0: the instrument is sound, whatever the score did; 2: no
    baseline was accepted yet; 3: the instrument broke (a checksum, a run that crashed, a
    stand-in); 4: the two must not be compared, such as after a change of the embedder.
    """
    # Late: --help must not wait for pyarrow.
    from memruler.report.github import append_outputs, append_summary, outputs  # noqa: PLC0415
    from memruler.report.junit import junit  # noqa: PLC0415
    from memruler.report.markdown_baseline import markdown_baseline  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415
    from memruler.studies.baseline_check import check  # noqa: PLC0415

    found = check(run, baseline, changed=changed, metric=metric)
    text = markdown_baseline(found)
    if page is not None:
        write_atomic(page, text.encode())
    if xml is not None:
        write_atomic(xml, junit(found))
    if github:
        append_summary(text)
        append_outputs(outputs(found))
    _print(found, as_json=as_json)
    raise click.exceptions.Exit(found.code)


def _print(found: "BaselineCheck", *, as_json: bool) -> None:
    # Late: --help must not wait for rich.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.terminal_baseline import print_baseline  # noqa: PLC0415

    if as_json:
        click.echo(encode(found), nl=False)
    else:
        print_baseline(found)
