"""`memruler ablate`: how much of a change each setting accounts for."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memruler.cli.parameters import FILE, PATH

if TYPE_CHECKING:  # it reaches numpy, and --help must not wait for that
    from memruler.replay.instance import Tick

__all__ = ["command"]


@click.command(name="ablate")
@click.argument("spec", type=FILE)
@click.option("--out", type=PATH, help="Folder of the run folders; `out` of the spec without it.")
@click.option("--dry-run", is_flag=True, help="Check the spec and list its cells, no more.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(*, spec: Path, out: Path | None, dry_run: bool, as_json: bool) -> None:
    """Attribute a change to the settings that make it.

    SPEC is a TOML file that names a corpus, a system, and settings to be switched off and on.
    Every combination is measured into a run folder of its own; the total change is then split
    into the exact share of each setting, with interactions. Vectors come from the cache, finished
    runs are kept, and the same command goes on with what was interrupted.
    """
    # Late: --help must not wait for numpy, pyarrow and rich.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.markdown_ablation import markdown_ablation  # noqa: PLC0415
    from memruler.report.terminal_ablation import print_ablation  # noqa: PLC0415
    from memruler.report.write import write_report  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415
    from memruler.studies.ablation import ablate  # noqa: PLC0415
    from memruler.studies.ablation_cells import cells, design_of  # noqa: PLC0415
    from memruler.studies.ablation_read import read_spec  # noqa: PLC0415
    from memruler.studies.ablation_spec import SpecFaults  # noqa: PLC0415

    try:
        read = read_spec(spec)
    except SpecFaults as wrong:
        _tell(spec, wrong.faults)
        raise click.exceptions.Exit(wrong.exit_code) from None
    # Paths in a file are relative to that file; the option is relative to where one is.
    target = spec.parent / read.out if out is None else out
    if dry_run:
        design = design_of(tuple(read.factors), read.generators)
        for cell in cells(read, design, spec.parent):
            click.echo(cell.folder)
        return
    with _progress() as tick:
        found = ablate(read, spec.parent, target, report=write_report, tick=tick)
    document = encode(found)
    write_atomic(target / "ablation.md", markdown_ablation(found).encode())
    write_atomic(target / "ablation.json", document)
    if as_json:
        click.echo(document, nl=False)
    else:
        print_ablation(found, str(target))


def _tell(spec: Path, faults: tuple[str, ...]) -> None:
    # Late: --help needs no errors.
    from memruler.errors import printable  # noqa: PLC0415

    number = f"{len(faults)} fault{'s' * (len(faults) != 1)}"
    click.echo(f"memruler: {printable(spec)}: {number}; see docs/ablation.md", err=True)
    for fault in faults:
        click.echo(f"  {printable(fault)}", err=True)


@contextmanager
def _progress() -> Iterator["Tick"]:
    """A line on stderr that says which cell is at what; silent where stderr is no terminal."""
    shown = sys.stderr.isatty()
    cell = ""

    def tick(phase: str, done: int, of: int) -> None:
        nonlocal cell
        if phase.startswith("cell "):
            cell = f"{phase} ({done + 1} of {of})"
        if shown:
            now = "" if phase.startswith("cell ") else f": {phase} {done}" + (f"/{of}" * bool(of))
            click.echo(f"\r\x1b[K{cell}{now}", nl=False, err=True)

    try:
        yield tick
    finally:
        if shown:
            click.echo("\r\x1b[K", nl=False, err=True)
