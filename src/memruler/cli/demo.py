"""`memruler demo`: measure two memories on the bundled corpus, compare them, say what is next."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from memruler.cli.parameters import PATH

if TYPE_CHECKING:  # --help needs none of it
    from memruler.studies.demo_record import Demo

__all__ = ["command"]

_FIGURES = "vl_convert"


@click.command(name="demo")
@click.option("--out", type=PATH, default=Path("runs"), show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(*, out: Path, as_json: bool) -> None:
    """Measure two memories on the bundled corpus, and compare them: a first look.

    The second has a planted fault: it forgets. Nothing is fetched, no model and no extra is
    needed, and it takes a few seconds. The corpus is synthetic, so the numbers say how the ruler
    works and nothing about a real memory. Run folders go to --out; a second call makes new ones.
    """
    # Late: --help must not wait for numpy and pyarrow.
    from memruler.cli.progress import progress  # noqa: PLC0415
    from memruler.report.terminal_demo import print_demo  # noqa: PLC0415
    from memruler.report.write import write_report  # noqa: PLC0415
    from memruler.studies.demo import demo  # noqa: PLC0415

    with progress(None) as tick:
        found = demo(out, tick, write_report)
    commands = _next(found)
    if as_json:
        # Late likewise.
        import msgspec  # noqa: PLC0415

        from memruler.report.document import encode  # noqa: PLC0415

        document = {
            **msgspec.structs.asdict(found),
            "next": [command for _, command in commands],
        }
        click.echo(encode(document), nl=False)
    else:
        print_demo(found, commands)


def _next(found: "Demo") -> list[tuple[str, str]]:
    """What to call next, and what for; every line works where the person is."""
    # Late: as in `command`.
    from importlib.util import find_spec  # noqa: PLC0415

    from memruler.cli.program import command_line, pip, program  # noqa: PLC0415
    from memruler.studies.doctor_packages import install  # noqa: PLC0415

    own = program()
    changed = "--changed", found.planted.partition("=")[0]
    page = "--html", f"{found.base}.html"
    report = command_line(*own, "report", found.base, found.candidate, *changed, *page)
    if find_spec(_FIGURES) is None:  # the page draws its figures with it
        report = f"{install(command_line(*pip()), 'html')} && {report}"
    fetch, measure = (
        command_line(*own, "fetch", "locomo"),
        command_line(*own, "retrieval", "locomo"),
    )
    return [
        ("both runs as one page for a browser, with every question and what was found", report),
        (
            "a public corpus (LoCoMo, non-commercial licence; 2.8 MB are fetched once)",
            f"{fetch} && {measure}",  # the second alone would be refused
        ),
        (
            "what is installed here, what is missing, and how to get it",
            command_line(*own, "doctor"),
        ),
    ]
