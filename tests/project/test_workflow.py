"""The workflow may read the project, and nothing else; it runs the README's test command."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load(TEXT)
README = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
TEST_COMMAND = next(line for line in README if line.endswith("&& .venv/bin/python -m pytest"))


def _steps():
    return [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]


def test_least_privilege():
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in WORKFLOW["jobs"].values())
    assert "secrets" not in TEXT
    # YAML reads the bare word `on` as true.
    assert set(WORKFLOW[True]) == {"push", "pull_request"}


def test_actions_are_pinned_and_keep_no_token():
    used = [step for step in _steps() if "uses" in step]
    assert used
    for step in used:
        assert re.fullmatch(r"actions/[\w-]+@(v\d+|[0-9a-f]{40})", step["uses"])
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_matrix():
    rows = WORKFLOW["jobs"]["unix"]["strategy"]["matrix"]["include"]
    assert [(row["os"], row["python"]) for row in rows] == [
        ("ubuntu-latest", "3.11"),
        ("ubuntu-latest", "3.12"),
        ("ubuntu-latest", "3.13"),
        ("macos-latest", "3.12"),
    ]
    assert WORKFLOW["jobs"]["windows"]["runs-on"] == "windows-latest"


def test_it_runs_the_readme_command():
    commands = [step["run"] for step in _steps() if "run" in step]
    assert TEST_COMMAND in commands
    assert "bash .ci/run" in commands
    windows = TEST_COMMAND.replace("python3 ", "python ").replace(
        ".venv/bin/pip", ".venv/Scripts/python -m pip"
    )
    assert windows.replace(".venv/bin/", ".venv/Scripts/") in commands
    assert (ROOT / WORKFLOW["env"]["PIP_CONSTRAINT"]).is_file()


def test_pre_commit_runs_the_same_tools():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    local = next(repo for repo in hooks["repos"] if repo["repo"] == "local")
    entries = [hook["entry"].partition(" ")[0] for hook in local["hooks"]]
    assert entries == ["ruff", "ruff", "mypy", "lint-imports"]
