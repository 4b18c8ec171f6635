"""What the README and the documents show is what runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCUMENTS = sorted(
    [README, ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
)
_FENCE = re.compile(r"^(?:<!-- (run) -->\n+)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def _blocks(text: str, language: str, *, marked: bool = False) -> list[str]:
    """Code blocks of one language; with `marked`, those under a comment `<!-- run -->` only."""
    return [
        code
        for mark, found, code in _FENCE.findall(text)
        if found == language and (mark or not marked)
    ]


def _run(code: str, folder: Path) -> None:
    """Run a Python block as a script of its own, in an empty folder."""
    script = folder / "block.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _commands() -> tuple[str, str]:
    measure, test, *_ = _blocks(README.read_text(encoding="utf-8"), "bash")
    return measure.rstrip("\n"), test.rstrip("\n")


def test_two_commands_stand_first_and_start_from_nothing():
    for command in _commands():
        assert "\n" not in command
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    assert _commands()[0].endswith("&& .venv/bin/memruler demo")
    assert _commands()[1].endswith("&& .venv/bin/python -m pytest")


def test_ci_runs_exactly_the_test_command():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert _commands()[1] in lines


def _marked() -> list[tuple[str, int]]:
    return [
        (path.relative_to(ROOT).as_posix(), number)
        for path in DOCUMENTS
        for number in range(len(_blocks(path.read_text(encoding="utf-8"), "python", marked=True)))
    ]


@pytest.mark.parametrize(("name", "number"), _marked())
def test_block_runs(name, number, tmp_path):
    text = (ROOT / name).read_text(encoding="utf-8")
    _run(_blocks(text, "python", marked=True)[number], tmp_path)


def test_the_runner_itself(tmp_path):
    text = "<!-- run -->\n```python\nassert 1 == 2\n```\n\n```python\nraise SystemExit(1)\n```\n"
    assert _blocks(text, "python", marked=True) == ["assert 1 == 2\n"]
    assert len(_blocks(text, "python")) == 2
    with pytest.raises(AssertionError, match="assert 1 == 2"):
        _run("assert 1 == 2", tmp_path)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    targets = _LINK.findall(path.read_text(encoding="utf-8"))
    local = [target for target in targets if not re.match(r"[a-z]+:", target)]
    assert [target for target in local if not (path.parent / target).exists()] == []


def test_every_named_verb_and_room_exists():
    verbs = set(
        re.findall(
            r"\bmemruler ([a-z]+)\b", "\n".join(_blocks(README.read_text(encoding="utf-8"), "bash"))
        )
    )
    assert "retrieval" in verbs
    assert [v for v in sorted(verbs) if not (ROOT / "src/memruler/cli" / f"{v}.py").is_file()] == []
    rooms = re.findall(
        r"^\| `(\w+)/?`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    source = ROOT / "src" / "memruler"
    there = {path.parent.name for path in source.glob("*/*.py")} | {
        path.stem for path in source.glob("[!_]*.py")
    }
    assert set(rooms) == there
