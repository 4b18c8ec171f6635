"""`memruler sweep`: which value of a setting is best, and does that depend on the target."""

from pathlib import Path

import click

from memruler.cli.parameters import FILE, PATH
from memruler.cli.specs import cell_progress, faulty, list_cells

__all__ = ["command"]


@click.command(name="sweep")
@click.argument("spec", type=FILE)
@click.option("--out", type=PATH, help="Folder of the run folders; `out` of the spec without it.")
@click.option("--dry-run", is_flag=True, help="Check the spec and list its cells, no more.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(*, spec: Path, out: Path | None, dry_run: bool, as_json: bool) -> None:
    """Measure a memory at several values of its settings, and say which one wins.

    SPEC is a TOML file that names a corpus, a system, and the values to try. Every combination is
    measured into a run folder of its own. Then all of them are scored under each target, and what
    is told is which one wins under which, and whether the choice depends on the target. Finished
    runs are kept, and the same command goes on with what was interrupted.
    """
    # Late: --help must not wait for numpy, pyarrow and rich.
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.markdown_sweep import markdown_sweep  # noqa: PLC0415
    from memruler.report.markdown_targets import markdown_targets  # noqa: PLC0415
    from memruler.report.terminal_sweep import print_sweep  # noqa: PLC0415
    from memruler.report.write import write_report  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415
    from memruler.studies.spec_base import SpecFaults  # noqa: PLC0415
    from memruler.studies.sweep import sweep  # noqa: PLC0415
    from memruler.studies.sweep_cells import cells  # noqa: PLC0415
    from memruler.studies.sweep_read import read_sweep  # noqa: PLC0415

    try:
        read = read_sweep(spec)
    except SpecFaults as wrong:
        raise faulty(wrong) from None
    if dry_run:
        list_cells([cell.folder for cell in cells(read, spec.parent)], as_json=as_json)
        return
    # Paths in a file are relative to that file; the option is relative to where one is.
    target = spec.parent / read.out if out is None else out
    with cell_progress() as tick:
        found = sweep(read, spec.parent, target, report=write_report, tick=tick)
    document = encode(found)
    write_atomic(target / "sweep.md", markdown_sweep(found).encode())
    write_atomic(target / "targets.md", markdown_targets(found.sensitivity).encode())
    write_atomic(target / "sweep.json", document)
    if as_json:
        click.echo(document, nl=False)
    else:
        print_sweep(found, str(target))
