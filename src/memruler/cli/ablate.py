"""`memruler ablate`: how much of a change each setting accounts for."""

from pathlib import Path

import click

from memruler.cli.parameters import FILE, PATH
from memruler.cli.specs import cell_progress, faulty, list_cells

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
    from memruler.studies.spec_base import SpecFaults  # noqa: PLC0415

    try:
        read = read_spec(spec)
    except SpecFaults as wrong:
        raise faulty(wrong) from None
    # Paths in a file are relative to that file; the option is relative to where one is.
    target = spec.parent / read.out if out is None else out
    if dry_run:
        design = design_of(tuple(read.factors), read.generators)
        folders = [cell.folder for cell in cells(read, design, spec.parent)]
        list_cells(folders, as_json=as_json)
        return
    with cell_progress() as tick:
        found = ablate(read, spec.parent, target, report=write_report, tick=tick)
    document = encode(found)
    write_atomic(target / "ablation.md", markdown_ablation(found).encode())
    write_atomic(target / "ablation.json", document)
    if as_json:
        click.echo(document, nl=False)
    else:
        print_ablation(found, str(target))
