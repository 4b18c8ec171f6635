"""Opens, or brings up to date, the pull request that proposes a new baseline.

Usage: open_pull_request.py [--baseline DIR] [--work DIR] [--branch NAME] [--base NAME]

It takes `proposal` and `check.json` from the work folder, commits the proposal as the baseline on a
branch of its own (in a worktree: the checkout stays as it is), pushes that branch and calls `gh`.
It never merges: who merges accepts. Where the open pull request has the same scores already,
nothing is pushed.
"""  # noqa: INP001 - a script

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

from memruler.errors import MemrulerError
from memruler.report.baseline_words import title
from memruler.report.markdown_baseline import markdown_baseline
from memruler.studies.baseline_accept import accept
from memruler.studies.baseline_record import BaselineCheck

BRANCH = "memruler/baseline"
BOT = ("memruler", "memruler@users.noreply.github.com")
FIGURES = ("scores.parquet", "questions.parquet")
SETUP = """\
Pull requests by the workflow's token need "Allow GitHub Actions to create and approve pull \
requests" in the repository's settings (Actions, General).
"""


def call(*words: str, cwd: Path | None = None) -> str:
    """A program's output; what it says on stderr is shown.

    Raises:
        SystemExit: It failed.
    """
    done = subprocess.run(  # noqa: S603 - no shell
        words, cwd=cwd, check=False, text=True, stdout=subprocess.PIPE
    )
    if done.returncode:
        sys.stderr.write(f"memruler: `{' '.join(words[:3])}` failed\n")
        if words[:3] == ("gh", "pr", "create"):
            sys.stderr.write(SETUP)
        raise SystemExit(3)
    return done.stdout


def succeeds(*words: str, cwd: Path) -> bool:
    """Whether a program ends with 0; what it says is not shown."""
    return subprocess.run(words, cwd=cwd, check=False, capture_output=True).returncode == 0  # noqa: S603


def commit(tree: Path, baseline: Path, message: str) -> None:
    """Commit the baseline's folder in the worktree."""
    call("git", "add", "--force", "--", str(baseline), cwd=tree)
    name, mail = BOT
    identity = ("-c", f"user.name={name}", "-c", f"user.email={mail}", "-c", "commit.gpgsign=false")
    call("git", *identity, "commit", "--quiet", "--no-verify", "--message", message, cwd=tree)


def same_figures(tree: Path, baseline: Path, branch: str) -> bool:
    """Whether the pushed branch proposes the same scores against the same baseline."""
    if not succeeds("git", "fetch", "--quiet", "--depth=1", "origin", branch, cwd=tree):
        return False
    files = [(baseline / name).as_posix() for name in FIGURES]
    if not succeeds("git", "diff", "--quiet", "FETCH_HEAD", "HEAD", "--", *files, cwd=tree):
        return False
    header = (baseline / "baseline.json").as_posix()
    replaces = [
        json.loads(call("git", "show", f"{commit}:{header}", cwd=tree))["replaces"]
        for commit in ("FETCH_HEAD", "HEAD")
    ]
    return bool(replaces[0] == replaces[1])


def open_or_edit(branch: str, base: str, heading: str, body: Path, open_: list[int]) -> None:
    """One pull request: edited where it is open, else made."""
    words = ("--title", heading, "--body-file", str(body))
    if open_:
        call("gh", "pr", "edit", str(open_[0]), *words)
    else:
        call("gh", "pr", "create", "--base", base, "--head", branch, *words)


def propose(options: argparse.Namespace, check: BaselineCheck, tree: Path, root: Path) -> None:
    """Commit in the worktree, push, and open the pull request."""
    baseline = options.baseline.resolve().relative_to(root)
    accept(options.work / "proposal", tree / baseline, force=True)
    if not call("git", "status", "--porcelain", "--", str(baseline), cwd=tree):
        sys.stdout.write("The proposal is the accepted baseline already.\n")
        return
    heading = f"Memory baseline: {title(check)}"
    commit(tree, baseline, heading)
    listed = ("--head", options.branch, "--base", options.base, "--state", "open")
    found = json.loads(call("gh", "pr", "list", *listed, "--json", "number"))
    open_ = [int(one["number"]) for one in found]
    if open_ and same_figures(tree, baseline, options.branch):
        sys.stdout.write(f"Pull request {open_[0]} proposes these figures already.\n")
        return
    # The token stays out of the repository's settings: git asks gh for it, for this push alone.
    helper = ("-c", "credential.helper=", "-c", "credential.helper=!gh auth git-credential")
    ref = f"HEAD:refs/heads/{options.branch}"
    # The branch is this workflow's own, and always one commit ahead of its base.
    call("git", *helper, "push", "--quiet", "--force", "origin", ref, cwd=tree)
    body = options.work / "pull-request.md"
    body.write_text(markdown_baseline(check, proposal=True), encoding="utf-8")
    open_or_edit(options.branch, options.base, heading, body, open_)


def main() -> int:
    """Parse and work; see the top of this file."""
    parser = argparse.ArgumentParser(description="Propose a new baseline by a pull request.")
    parser.add_argument("--baseline", type=Path, default=Path("baseline"))
    parser.add_argument("--work", type=Path, default=Path(".memruler"))
    parser.add_argument("--branch", default=BRANCH)
    parser.add_argument("--base", default=os.environ.get("BASE_BRANCH") or "main")
    options = parser.parse_args()
    options.work = options.work.resolve()
    try:
        data = (options.work / "check.json").read_bytes()
        check = msgspec.json.decode(data, type=BaselineCheck)
    except (OSError, msgspec.MsgspecError) as error:
        sys.stderr.write(f"memruler: no check to propose by: {error}\n")
        return 2
    root = Path(call("git", "rev-parse", "--show-toplevel").strip()).resolve()
    tree = options.work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    call("git", "worktree", "prune")
    call("git", "worktree", "add", "--quiet", "--detach", str(tree), "HEAD")
    try:
        propose(options, check, tree, root)
    except MemrulerError as error:
        sys.stderr.write(f"memruler: {error}\n")
        return error.exit_code
    finally:
        call("git", "worktree", "remove", "--force", str(tree))
    return 0


if __name__ == "__main__":
    sys.exit(main())
