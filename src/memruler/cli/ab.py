"""`memruler ab`: two configurations on one set of questions, asked in turns."""

from pathlib import Path

import click

from memruler.cli.parameters import FILE, PATH
from memruler.cli.specs import faulty, list_cells

__all__ = ["command"]


@click.command(name="ab")
@click.argument("spec", type=FILE)
@click.option("--out", type=PATH, help="Folder of both run folders; `out` of the spec without it.")
@click.option("--dry-run", is_flag=True, help="Check the spec and name both run folders, no more.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(*, spec: Path, out: Path | None, dry_run: bool, as_json: bool) -> None:
    """Measure two configurations in turns, and say what differs.

    SPEC is a TOML file that names a corpus and the sides [a] and [b]. For each instance both
    memories are written, and then each question is put to one and to the other, so that whatever
    the machine does meanwhile hits both alike. Each side ends as a run folder of its own. Told are
    the paired difference, and accuracy, latency and context size side by side. A refused difference
    ends with exit code 4. The same command goes on with what was interrupted.
    """
    # Late: --help must not wait for numpy, pyarrow and rich.
    from memruler.cli.progress import progress  # noqa: PLC0415
    from memruler.errors import Refusal  # noqa: PLC0415
    from memruler.report.document import encode  # noqa: PLC0415
    from memruler.report.markdown_ab import markdown_ab  # noqa: PLC0415
    from memruler.report.terminal_ab import print_ab  # noqa: PLC0415
    from memruler.report.write import write_report  # noqa: PLC0415
    from memruler.store.safe import write_atomic  # noqa: PLC0415
    from memruler.studies.ab import ab  # noqa: PLC0415
    from memruler.studies.ab_read import read_ab  # noqa: PLC0415
    from memruler.studies.ab_spec import SIDES  # noqa: PLC0415
    from memruler.studies.spec_base import SpecFaults  # noqa: PLC0415

    try:
        read = read_ab(spec)
    except SpecFaults as wrong:
        raise faulty(wrong) from None
    if dry_run:
        list_cells(list(SIDES), as_json=as_json)
        return
    # Paths in a file are relative to that file; the option is relative to where one is.
    target = spec.parent / read.out if out is None else out
    with progress(read.corpus.instances) as tick:
        found = ab(read, spec.parent, target, report=write_report, tick=tick)
    document = encode(found)
    write_atomic(target / "ab.md", markdown_ab(found).encode())
    write_atomic(target / "ab.json", document)
    if as_json:
        click.echo(document, nl=False)
    else:
        print_ab(found, str(target))
    if found.refused is not None:
        raise click.exceptions.Exit(Refusal.exit_code)
