"""Measures a memory, holds the run against the accepted baseline, and proposes a new one.

Usage: measure.py [--baseline DIR] [--work DIR] [--changed KEY]... [--report-only] -- ARGUMENTS
       measure.py --from-environment

ARGUMENTS are those of `memruler retrieval`, the corpus first. The second form takes everything from
the variables BASELINE, WORK, CHANGED, REPORT_ONLY and ARGUMENTS, as the action does. Into the work
folder go `run`, `check.json`, `check.md`, `check.xml` (JUnit) and, where there is something to
decide, `proposal`.

Exit code: 0 whatever the score did; what `memruler retrieval` ended with, where that is not 0
(3: the instrument or the system broke, or the program was killed); 3 where the check finds it
broken; 4 where the run and the baseline must not be compared. With --report-only it is 0 for all of
these. A second process in the same work folder ends at once, with 2 and a plain message.
"""  # noqa: INP001 - a script

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from memruler.errors import MemrulerError, printable
from memruler.report.baseline_words import headline
from memruler.report.document import encode
from memruler.report.github import append_outputs, append_summary, outputs
from memruler.report.junit import junit
from memruler.report.markdown_baseline import markdown_baseline
from memruler.store.anchor import resolve
from memruler.store.lock import lock_folder
from memruler.store.safe import make_dir
from memruler.studies.baseline_record import BaselineCheck

STEM = "run"
DECIDE = {"moved", "incomparable", "no-baseline"}
"""Outcomes after which a person has something to decide."""

BROKEN = 3
OWN_CODES = {0, 2, BROKEN, 4, 130}
"""What memruler itself ends with; any other code is that of a crash."""

TOKENS = ("GH_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN")
"""What the memory under test has no business to see."""


def memruler(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Call memruler, without any token in its environment."""
    environment = {name: value for name, value in os.environ.items() if name not in TOKENS}
    return subprocess.run(  # noqa: S603 - no shell
        [sys.executable, "-m", "memruler", *arguments],
        check=False,
        text=True,
        env=environment,
        **options,
    )


def work_through(options: argparse.Namespace) -> int:
    """All steps, under the lock; returns the exit code."""
    work: Path = options.work
    for name in (STEM, "proposal"):
        shutil.rmtree(work / name, ignore_errors=True)
    for name in ("check.json", "check.md", "check.xml"):
        (work / name).unlink(missing_ok=True)
    measured = memruler(
        "retrieval",
        *options.arguments,
        "--out",
        str(work),
        "--stem",
        STEM,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    sys.stderr.write(measured.stderr)
    if measured.returncode:
        return report(broken(options, measured), work)
    against = [str(work / STEM), "--baseline", str(options.baseline)]
    against += [word for key in options.changed for word in ("--changed", key)]
    checked = memruler(
        "baseline",
        "check",
        *against,
        "--json",
        "--markdown",
        str(work / "check.md"),
        "--junit",
        str(work / "check.xml"),
        *(("--github",) if in_step() else ()),
        stdout=subprocess.PIPE,
    )
    if not checked.stdout:
        return ended(checked)  # the call itself was wrong, and stderr says how
    (work / "check.json").write_text(checked.stdout, encoding="utf-8")
    outcome = json.loads(checked.stdout)["outcome"]
    sys.stdout.write((work / "check.md").read_text(encoding="utf-8"))
    if outcome not in DECIDE:
        return checked.returncode
    out = str(work / "proposal")
    proposed = memruler("baseline", "propose", *against, "--out", out, stdout=subprocess.DEVNULL)
    # That there is no baseline yet is the beginning, and not a fault.
    return ended(proposed) or (0 if outcome == "no-baseline" else checked.returncode)


def broken(
    options: argparse.Namespace, measured: subprocess.CompletedProcess[str]
) -> BaselineCheck:
    """The record of a measurement that did not finish."""
    lines = measured.stderr.strip().splitlines()
    said = printable(lines[-1] if lines else "it said nothing", 2000)
    return BaselineCheck(
        outcome="broken",
        verdict=None,
        baseline=options.baseline.name,
        run=STEM,
        accepted=None,
        code=ended(measured),
        broken=f"the measurement ended with {measured.returncode}: {said}",
    )


def ended(program: subprocess.CompletedProcess[str]) -> int:
    """How memruler ended; 3 where it did not end by itself, such as for want of memory."""
    return program.returncode if program.returncode in OWN_CODES else BROKEN


def report(check: BaselineCheck, work: Path) -> int:
    """Write a record that no `memruler baseline check` wrote, in every form; its exit code."""
    page = markdown_baseline(check)
    (work / "check.json").write_bytes(encode(check))
    (work / "check.md").write_text(page, encoding="utf-8")
    (work / "check.xml").write_bytes(junit(check))
    if in_step():
        append_summary(page)
        append_outputs(outputs(check))
    sys.stdout.write(f"{headline(check)}\n")
    return check.code


def in_step() -> bool:
    """Whether this is a step of GitHub Actions."""
    return all(os.environ.get(name) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"))


def from_environment() -> list[str]:
    """What the action was given, as words; no shell sees it."""
    words = ["--baseline", os.environ["BASELINE"], "--work", os.environ["WORK"]]
    words += [f"--changed={key}" for key in os.environ.get("CHANGED", "").split()]
    words += ["--report-only"] if os.environ.get("REPORT_ONLY") == "true" else []
    return [*words, "--", *shlex.split(os.environ["ARGUMENTS"])]


def main() -> int:
    """Parse, lock, work; see the top of this file."""
    parser = argparse.ArgumentParser(description="Measure, check, propose.")
    parser.add_argument("--baseline", type=Path, default=Path("baseline"))
    parser.add_argument("--work", type=Path, default=Path(".memruler"))
    parser.add_argument("--changed", action="append", default=[])
    parser.add_argument("--report-only", action="store_true")
    parser.add_argument("arguments", nargs="+")
    given = sys.argv[1:]
    options = parser.parse_args(from_environment() if given == ["--from-environment"] else given)
    try:
        make_dir(options.work)
        lock = lock_folder(
            resolve(options.work),
            named="the work folder",
            busy="measuring in this work folder",
            option="--work",
        )
    except MemrulerError as error:
        sys.stderr.write(f"memruler: {error}\n")
        return error.exit_code
    try:
        code = work_through(options)
    finally:
        lock.release()
    return 0 if options.report_only else code


if __name__ == "__main__":
    sys.exit(main())
