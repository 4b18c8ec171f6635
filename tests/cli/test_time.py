"""The verb from end to end, on the corpus that comes with memruler; no time is judged."""

import io
import json
import subprocess
import sys
import textwrap

import msgspec
import pytest
from click.testing import CliRunner

from memruler.cli.time import _progress, command
from memruler.compare.timed import TimeComparison

SMALL = ("--instances", "1", "--queries", "3", "--rounds", "2", "--limit", "5")

FOREIGN = """
from memruler.model.system import Hit, Ranking, SystemIdentity


class Mine:
    def __init__(self, fails: bool = False):
        self.fails = fails

    def identity(self):
        return SystemIdentity(name="mine", version="1", digest="")

    def open(self, namespace):
        return Store(self.fails)


class Store:
    def __init__(self, fails):
        self.fails = fails
        self.kept = []

    def ingest(self, session):
        self.kept += [turn.key for turn in session.turns]

    def settle(self):
        pass

    def search(self, text, k, at):
        if self.fails:
            raise OSError("gone")
        return Ranking(tuple(Hit(item=key, sources=(key,)) for key in self.kept[:k]))

    def close(self):
        pass
"""


def call(*arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments])


@pytest.fixture
def foreign(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(textwrap.dedent(FOREIGN), encoding="utf-8")
    return f"{path}:Mine"


def test_json_holds_everything_and_nothing_else_is_printed(foreign):
    found = call("builtin:lexical", foreign, *SMALL, "--json")
    assert found.exit_code == 0
    assert found.stderr == ""
    plain = json.loads(found.stdout)
    assert plain["schema_version"] == 1
    assert plain["own_band"] is False
    assert {plain["search"]["verdict"], plain["ingest"]["verdict"]} <= {
        "better",
        "worse",
        "inconclusive",
    }
    record = msgspec.json.decode(found.stdout, type=TimeComparison)
    timed = record.measured
    assert [done.side for done in timed.passes[:4]] == ["base", "candidate", "candidate", "base"]
    assert len(timed.passes) == 12
    assert (timed.instances, timed.queries, timed.rounds, timed.warmup) == (1, 3, 2, 1)
    assert all(done.search_ms > 0 and done.ingest_turns_per_s > 0 for done in timed.passes)
    assert all(done.hits == 15 for done in timed.passes)
    assert (timed.base.checked, timed.candidate.checked) == (False, True)
    assert any("check of what a foreign system returns" in note for note in record.notes)
    assert timed.machine["cores"] >= 1


def test_the_same_system_is_its_own_band_unless_a_setting_differs():
    same = call("builtin:lexical", "builtin:lexical", *SMALL)
    assert same.exit_code == 0
    assert same.stdout.startswith("OWN BAND")
    assert max(map(len, same.stdout.splitlines())) <= 80
    other = call(
        "builtin:lexical", "builtin:lexical", *SMALL, "--candidate-set", "text.date=true", "--json"
    )
    plain = json.loads(other.stdout)
    assert plain["own_band"] is False
    assert plain["measured"]["candidate"]["chosen"] == {"text.date": True}


def test_settings_reach_both_sides_or_one(foreign):
    found = call(foreign, foreign, *SMALL, "--set", "fails=false", "--json")
    timed = json.loads(found.stdout)["measured"]
    assert timed["base"]["chosen"] == timed["candidate"]["chosen"] == {"fails": False}


@pytest.mark.parametrize("side", ["base", "candidate"])
def test_a_side_that_fails_ends_with_three(foreign, side):
    program = "from memruler.cli.time import command; import sys\n" + textwrap.dedent(
        """
        from memruler.errors import MemrulerError
        try:
            command.main(sys.argv[1:], standalone_mode=False)
        except MemrulerError as error:
            sys.exit(f"{error.exit_code} {error}")
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program, foreign, foreign, *SMALL, f"--{side}-set", "fails=true"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""
    assert done.stderr.startswith("3 3 of 3 searches failed, one with: Store.search raised OSError")
    assert f"[{side}, instance " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--rounds", "3"], 2),
        (["--rounds", "1"], 4),
        (["--rounds", "0"], 2),
        (["--warmup", "-1"], 2),
        (["--corpus", "nowhere"], 2),
        (["--corpus", "jsonl"], 2),
        (["--set", "nonsense"], 2),
        (["--base-set", "no_such_key=1"], 2),
        (["--candidate-set", "no_such_key=1"], 2),
        (["--set", "text.date=true", "--base-set", "text.date=true"], 2),
    ],
)
def test_a_wrong_call(arguments, code):
    found = call("builtin:lexical", "builtin:lexical", *arguments)
    assert getattr(found.exception, "exit_code", found.exit_code) == code
    assert found.stdout == ""


class _Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_progress_and_a_clean_line_at_the_end(monkeypatch):
    terminal = _Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with _progress() as tick:
        tick("timing", 3, 8)
    assert "timing: pass 3 of 8" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_the_help_imports_nothing_heavy():
    program = (
        "import sys; from memruler.cli.time import command\n"
        "try: command.main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pyarrow', 'rich', 'jinja2'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
