"""Nothing in the project says on which machine, or from which mirror, it was made."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Put together from parts, so that this file does not find itself.
_FOLDERS = ("work", "root", "opt", "mnt", "home/[a-z]+", "Users/[A-Za-z]+", "tmp/(?:brief|dev|dl)")
MACHINE_PATH = re.compile(rf"(?<![\w.~/<>-])/(?:{'|'.join(_FOLDERS)})(?:/[\w.]|\b(?=[\"'`\s]))")
_HOSTS = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("debian", "org"),
    ("proxy", "golang", "org"),
)
REGISTRY = re.compile("|".join(rf"\b{re.escape('.'.join(host))}\b" for host in _HOSTS))
SECRET = re.compile(
    "|".join((r"\bsk-[A-Za-z0-9]{20,}", r"\bghp_\w{30,}", "BEGIN [A-Z ]*PRIVATE" + " KEY"))
)


def _files() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    # Also what is not committed yet: it will be.
    done = subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = done.stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def _faults(text: str) -> list[str]:
    return [
        f"line {number}: {what} {match.group()!r}"
        for what, pattern in (
            ("path", MACHINE_PATH),
            ("registry", REGISTRY),
            ("secret", SECRET),
        )
        for number, line in enumerate(text.splitlines(), start=1)
        for match in pattern.finditer(line)
    ]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("see " + "/wo" + "rk/main/x", 1),
        ("'" + "/ro" + "ot/.cache'", 1),
        ("cd " + "/ho" + "me/ann/x", 1),
        ("https://files." + "python" + "hosted.org/x", 1),
        ("https://example.org/work/main, src/work/x, ../work/x, ~/work", 0),
        ("`/dev/null` and /etc/hosts", 0),
    ],
)
def test_the_judge_itself(text, faults):
    assert len(_faults(text)) == faults


def test_no_machine_and_no_registry_is_named():
    files = _files()
    assert ROOT / "pyproject.toml" in files
    found = []
    for path in files:
        raw = path.read_bytes()
        if b"\0" in raw:
            continue  # not text
        found += [
            f"{path.relative_to(ROOT).as_posix()} {fault}"
            for fault in _faults(raw.decode("utf-8", errors="replace"))
        ]
    assert found == []
