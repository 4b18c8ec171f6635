"""Commands that the documents show are run, in order, and say what the documents say.

Under `<!-- run -->` a block marked `console` holds commands (`$ memruler ...`) and lines that must
stand in what they print. `# exits with N` behind a command is its exit code; it is 0 without. A
block under `<!-- save NAME -->` is a file of that name. All of one page share a folder.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from memruler.systems.remote.read import read_remote

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"^<!-- (?:(run)|save (\S+)) -->\n+```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_COMMAND = re.compile(r"\$ (memruler .*?)(?:\s+# exits with (\d+))?")


class Command(NamedTuple):
    line: str
    code: int
    says: list[str]


def _steps(text: str) -> list[Command | tuple[str, str]]:
    """What to do, in order: commands, and names of files with their content."""
    steps: list[Command | tuple[str, str]] = []
    for _, name, language, block in _BLOCK.findall(text):
        if name:
            steps.append((name, block))
        elif language == "console":
            steps += _commands(block)
    return steps


def _commands(block: str) -> list[Command]:
    found: list[Command] = []
    for line in block.splitlines():
        command = _COMMAND.fullmatch(line)
        if command:
            found.append(Command(command[1], int(command[2] or 0), []))
        elif line.strip():
            found[-1].says.append(line)
    return found


def _run(command: Command, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *shlex.split(command.line)],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env=os.environ | {"COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == command.code, done.stderr
    words = " ".join((done.stdout + done.stderr).split())
    assert [line for line in command.says if " ".join(line.split()) not in words] == [], words


PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    if any(isinstance(step, Command) for step in _steps(path.read_text(encoding="utf-8")))
]


def test_the_first_pages_are_among_them():
    assert {"docs/start.md", "docs/own-memory.md", "docs/publishing.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_shows_is_what_happens(page, tmp_path):
    for step in _steps((ROOT / page).read_text(encoding="utf-8")):
        if isinstance(step, Command):
            _run(step, tmp_path)
        else:
            (tmp_path / step[0]).write_text(step[1], encoding="utf-8")


def test_every_memory_that_a_page_shows_can_be_read(tmp_path):
    read = []
    for page in PAGES:
        for step in _steps((ROOT / page).read_text(encoding="utf-8")):
            if not isinstance(step, Command) and step[0].endswith(".toml"):
                (tmp_path / step[0]).write_text(step[1], encoding="utf-8")
                read.append(read_remote(tmp_path / step[0])[0].name)
    assert {"my-server", "my-mcp-memory"} <= set(read)


def test_the_runner_itself(tmp_path):
    text = (
        "<!-- save a.txt -->\n```text\nhello\n```\n\n```console\n$ memruler not run\n```\n"
        "<!-- run -->\n```console\n$ memruler nothing  # exits with 2\n"
        "no such verb: 'nothing'\n```\n"
    )
    saved, wrong = _steps(text)
    assert saved == ("a.txt", "hello\n")
    assert wrong == Command("memruler nothing", 2, ["no such verb: 'nothing'"])
    _run(wrong, tmp_path)
    with pytest.raises(AssertionError):
        _run(wrong._replace(code=0), tmp_path)
    with pytest.raises(AssertionError):
        _run(wrong._replace(says=["all is well"]), tmp_path)
