"""How a person calls this program, so that a command that is printed works when pasted."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["command_line", "pip", "program"]


def program() -> list[str]:
    """The words that call this program again from the folder that the person is in.

    `memruler` where the shell finds this very program by that name, else the path that was typed
    (`.venv/bin/memruler`), else Python with `-m memruler`.
    """
    typed = Path(sys.argv[0])
    if typed.stem != "memruler":  # `python -m memruler`, or a program that called `main`
        return [_near(Path(sys.executable)), "-m", "memruler"]
    named = shutil.which("memruler")
    if named is not None and _same(Path(named), typed):
        return ["memruler"]
    if typed.parent == Path() and not typed.exists():
        return ["memruler"]
    return [str(typed)]


def pip() -> list[str]:
    """The words that call the pip of the Python that this runs in."""
    beside = Path(sys.executable).with_name("pip.exe" if os.name == "nt" else "pip")
    named = shutil.which("pip")
    if named is not None and _same(Path(named), beside):
        return ["pip"]
    if beside.is_file():
        return [_near(beside)]
    return [_near(Path(sys.executable)), "-m", "pip"]


def command_line(*words: str) -> str:
    """Words as one line of a shell, quoted where needed."""
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _near(path: Path) -> str:
    """The path from the folder that the person is in, if it is below there."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)
