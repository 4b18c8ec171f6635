"""Runs whole processes and says what they cost. POSIX only; needs nothing but Python."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["UNITS", "Cost", "Row", "cells", "compare", "cost", "memruler", "print_machine", "table"]

Row = Sequence[str]
UNITS = ("CPU s", "wall s", "peak MiB")
_MIB = 2**20
# The unit of ru_maxrss: bytes on macOS, KiB elsewhere.
_MAXRSS = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Cost:
    """What one process cost, with the children that it waited for.

    Attributes:
        wall: Seconds from start to end.
        cpu: Seconds of processor time, user and system.
        peak: Largest resident memory of any one of them, in MiB.
    """

    wall: float
    cpu: float
    peak: float


def cost(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Cost:
    """Run a command to its end.

    The kernel counts (`wait4`), so start-up and tear-down are in it. A child's peak memory starts
    at that of its parent, which is why these scripts import nothing heavy.

    Args:
        command: Program and arguments; no shell.
        env: Variables on top of this process's own.
        cwd: Working folder.

    Raises:
        SystemExit: The command failed; its output is shown.
    """
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            output.seek(0)
            text = output.read().decode(errors="replace")
            raise SystemExit(f"{' '.join(words)} ended with {child.returncode}:\n{text}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS / _MIB)


def cells(spent: Cost) -> list[str]:
    """A cost as the cells under `UNITS`."""
    return [f"{spent.cpu:.3f}", f"{spent.wall:.3f}", f"{spent.peak:.0f}"]


def compare(
    left: tuple[str, Callable[[], Cost]], right: tuple[str, Callable[[], Cost]], pairs: int
) -> None:
    """Run two things alternately and print each pair, medians and the ratios of CPU time.

    Alternating spreads the noise of a shared machine over both; a ratio is taken inside a pair,
    which ran close together.

    Args:
        left: Name of the reference, and a call that runs it once.
        right: The same of what is held against it.
        pairs: How often, at least 1.
    """
    names = (left[0], right[0])
    rows: list[Row] = []
    costs: list[tuple[Cost, Cost]] = []
    for number in range(1, pairs + 1):
        pair = (left[1](), right[1]())
        costs.append(pair)
        rows.append(
            [str(number), *cells(pair[0]), *cells(pair[1]), f"{pair[0].cpu / pair[1].cpu:.2f}"]
        )
    middle = tuple(_median([pair[side] for pair in costs]) for side in (0, 1))
    ratio = statistics.median(pair[0].cpu / pair[1].cpu for pair in costs)
    rows.append(["median", *cells(middle[0]), *cells(middle[1]), f"{ratio:.2f}"])
    heads = ["pair", *(f"{name} {unit}" for name in names for unit in UNITS), "CPU ratio"]
    print(table(heads, rows))


def memruler() -> Path:
    """The installed `memruler` program of the running Python.

    Raises:
        SystemExit: There is none.
    """
    # Not resolved: the links of a virtual environment lead out of it.
    program = Path(sys.executable).with_name("memruler")
    if not program.is_file():
        raise SystemExit(f"no memruler beside {sys.executable}: run this with .venv/bin/python")
    return program


def print_machine() -> None:
    """Print what a reader needs to judge the figures: system, cores, load, Python."""
    system = os.uname()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"{system.sysname} {system.release} {system.machine}, {os.cpu_count()} cores, "
        f"load {load}, Python {sys.version.split()[0]}\n"
    )


def table(heads: Row, rows: Sequence[Row]) -> str:
    """A Markdown table with aligned columns."""
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    lines = [heads, ["-" * width for width in widths], *rows]
    return "\n".join(
        "| "
        + " | ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        + " |"
        for line in lines
    )


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.wall for cost in costs),
        statistics.median(cost.cpu for cost in costs),
        statistics.median(cost.peak for cost in costs),
    )
