"""Posts what a pull request does to the memory as one comment, or brings that comment up to date.

It runs with a token that may write, after the workflow that measured with one that may not. What
that one left is a stranger's data: it is read as a record of a known form, escaped, and shown;
nothing of it is run. Everything it is told comes through the environment: REPOSITORY, RUN_ID,
HEAD_OWNER, HEAD_BRANCH, HEAD_SHA.
"""  # noqa: INP001 - a script

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from memruler.report.markdown_baseline import markdown_baseline
from memruler.studies.baseline_record import BaselineCheck

MARKER = "<!-- memruler:baseline -->"
ARTIFACT = "memruler-check"
BOT = "github-actions[bot]"
LARGEST = 32 * 1024 * 1024
FAILED = (
    "## Memory baseline\n\nThe measurement left no result that can be read; its log says why.\n"
)
FOOT = "\nThis is a comment and never a check: a person decides what it means.\n"


def gh(*words: str, check: bool = True) -> str | None:
    """What `gh` prints; None where it failed and need not succeed."""
    done = subprocess.run(["gh", *words], check=False, text=True, stdout=subprocess.PIPE)  # noqa: S603, S607
    if done.returncode and check:
        raise SystemExit(f"memruler: `gh {' '.join(words[:2])}` failed")
    return None if done.returncode else done.stdout


def pull_request(repository: str) -> int | None:
    """The open pull request whose head is what was measured; None where it moved on."""
    head = f"{os.environ['HEAD_OWNER']}:{os.environ['HEAD_BRANCH']}"
    path = f"repos/{repository}/pulls"
    found = json.loads(gh("api", "--method", "GET", path, "-f", f"head={head}") or "[]")
    sha = os.environ["HEAD_SHA"]
    return next((int(p["number"]) for p in found if p["head"]["sha"] == sha), None)


def read_check(folder: Path) -> BaselineCheck | None:
    """The record that was left, if it is one."""
    path = folder / "check.json"
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST:
            return None
        return msgspec.json.decode(path.read_bytes(), type=BaselineCheck)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def page(check: BaselineCheck | None) -> str:
    """The comment; nobody is mentioned by it."""
    try:
        text = FAILED if check is None else markdown_baseline(check)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        text = FAILED  # a record of the right form that no memruler wrote
    quiet = re.sub(r"(?<!\w)@", "@\u200b", text + FOOT)
    return f"{MARKER}\n{quiet}"


def post(repository: str, number: int, body: str, folder: Path) -> None:
    """One comment: the workflow's own that begins with the marker, else a new one."""
    path = f"repos/{repository}/issues/{number}/comments"
    pages: list[list[dict[str, Any]]] = json.loads(
        gh("api", "--method", "GET", "--paginate", "--slurp", path) or "[]"
    )
    own = [
        comment["id"]
        for comment in (one for some in pages for one in some)
        if comment["user"]["login"] == BOT and comment["body"].startswith(MARKER)
    ]
    data = folder / "body.json"
    data.write_text(json.dumps({"body": body}), encoding="utf-8")
    where = (
        ("PATCH", f"repos/{repository}/issues/comments/{int(own[0])}") if own else ("POST", path)
    )
    gh("api", "--method", *where, "--input", str(data))


def main() -> int:
    """See the top of this file."""
    repository = os.environ["REPOSITORY"]
    number = pull_request(repository)
    if number is None:
        sys.stdout.write("No open pull request has this head: nothing to say.\n")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = os.environ["RUN_ID"]
        words = ("--repo", repository, "--name", ARTIFACT, "--dir", name)
        gh("run", "download", run, *words, check=False)
        post(repository, number, page(read_check(folder)), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
