"""What GitHub Actions reads: the job summary and the outputs of a step, both appended to files.

GitHub names the files by variables of the environment. A value that could start another output is
refused, so that text of a run can name none.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from memruler.errors import InstrumentError, UsageError
from memruler.studies.baseline_record import BaselineCheck

__all__ = ["OUTPUTS", "SUMMARY", "append_outputs", "append_summary", "outputs"]

SUMMARY: Final = "GITHUB_STEP_SUMMARY"
OUTPUTS: Final = "GITHUB_OUTPUT"


def outputs(check: BaselineCheck) -> dict[str, str]:
    """The outputs of a check: words, numbers and digests, none of them text of a corpus.

    `outcome`, `verdict` (`none` where there is none), `code` (memruler's exit code), `delta` (empty
    where nothing was compared), `accepted` (digest of the baseline).
    """
    return {
        "outcome": check.outcome,
        "verdict": check.verdict or "none",
        "code": str(check.code),
        "delta": "" if check.figures is None else repr(check.figures.delta),
        "accepted": check.accepted or "",
    }


def append_outputs(values: Mapping[str, str]) -> None:
    """Append the outputs of a step.

    Raises:
        UsageError: This is no step of GitHub Actions.
        InstrumentError: The file cannot be written to.
        ValueError: A name or a value holds the end of a line.
    """
    for name, value in values.items():
        if "=" in name or any(c in name + value for c in "\r\n\0"):
            raise ValueError(f"the output {name!r} would not end where it should")
    _append(OUTPUTS, "".join(f"{name}={value}\n" for name, value in values.items()))


def append_summary(page: str) -> None:
    """Append a page of Markdown to the job summary.

    Raises:
        UsageError: This is no step of GitHub Actions.
        InstrumentError: The file cannot be written to.
    """
    _append(SUMMARY, page.rstrip("\n") + "\n")


def _append(variable: str, text: str) -> None:
    name = os.environ.get(variable)
    if not name:
        raise UsageError(
            f"${variable} is not set: this is no step of GitHub Actions",
            hint="leave --github out elsewhere",
        )
    try:
        # GitHub's own file, for this step alone: not one of memruler's, so nothing is replaced.
        with Path(name).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise InstrumentError(
            f"cannot write to ${variable}: {error.strerror or error}", where=name
        ) from error
