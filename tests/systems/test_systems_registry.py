"""Opening systems by name, and the example of the documentation."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memruler.errors import SystemUnderTestError, UsageError
from memruler.model.system import (
    ExportsLineage,
    MemorySystem,
    Namespace,
    SearchesMany,
)
from memruler.systems import source
from memruler.systems.registry import SYSTEMS, open_system

DOCS = Path(__file__).resolve().parents[2] / "docs" / "systems.md"

TINY = """
from memruler.model.system import Ranking, SystemIdentity

class Tiny:
    def __init__(self, size: int = 3, name: "str | None" = None, rate=0.5):
        self.size, self.name, self.rate = size, name, rate
    def identity(self):
        return SystemIdentity(name="tiny", version="1", digest="mine", settings={"own": 1})
    def open(self, namespace):
        return Memory()

class Memory:
    def ingest(self, session): pass
    def settle(self): pass
    def search(self, text, k, at): return Ranking(())
    def close(self): pass

class Half:
    def identity(self): ...

class Strict:
    def __init__(self, needed): ...

class Fails:
    def __init__(self): raise RuntimeError("no database")
"""


@pytest.fixture
def file(tmp_path):
    def write(text, name="system.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def usage(name, given=None):
    with pytest.raises(UsageError) as caught:
        open_system(name, given or {})
    return str(caught.value)


def test_the_example_of_the_documentation(file, turns, tmp_path):
    code = re.search(r"```python\n(# words\.py\n.*?)```", DOCS.read_text(), re.DOTALL).group(1)
    path = file(code, "words.py")
    opened = open_system(f"{path}:Words", {"minimum": "2"})
    assert opened.chosen == {"minimum": 2}
    identity = opened.system.identity()
    assert identity.digest == hashlib.sha256(code.encode()).hexdigest()
    assert identity.settings == {"minimum": 2}
    memory = opened.system.open(Namespace("n", tmp_path))
    memory.ingest(turns.session("a jazz bar", "jazz", "the jazz bar again"))
    memory.settle()
    hits = memory.search("which jazz bar", 5, turns.at).hits
    assert [hit.sources for hit in hits] == [("s0.t0",), ("s0.t2",)]
    memory.close()


def test_the_built_in_presets():
    assert SYSTEMS.names()[:4] == [
        "builtin:lexical",
        "builtin:dense",
        "builtin:hybrid",
        "builtin:episodic",
    ]
    opened = open_system("builtin:lexical", {"stop_words": "false"})
    assert opened.chosen == {"stop_words": False}
    assert "decay_rate" in opened.defaulted
    assert not isinstance(opened.system, SearchesMany)


def test_lexical_loads_no_embedder():
    code = (
        "import sys\n"
        "from memruler.systems.registry import open_system\n"
        "open_system('builtin:lexical', {})\n"
        "print([m for m in sys.modules if m.startswith(('memruler.embedding', 'onnx'))])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("builtin:lexicl", "did you mean builtin:lexical?"),
        ("Builtin:Dense", "did you mean builtin:dense?"),
        ("nothing-like-it", "known: baseline:random"),
        ("", "unknown memory system"),
        ("absent.py:Class", "no such file"),
        ("nul\0byte.py:Class", "null byte"),
        ("broken\udcff.py:Class", "half a surrogate pair"),
        ("broken\udcff", "half a surrogate pair"),
        ("absent.py", "absent.py:Class"),
    ],
)
def test_an_unknown_system(name, said):
    assert said in usage(name)


def test_a_setting_of_the_built_in_memory_goes_through():
    assert "did you mean stop_words?" in usage("builtin:lexical", {"stop_word": "true"})


def test_a_class_of_a_file(file, tmp_path):
    path = file(TINY)
    opened = open_system(f"{path}:Tiny", {"size": "5", "name": "none", "rate": "1"})
    assert opened.chosen == {"size": 5, "name": None, "rate": 1.0}
    assert opened.defaulted == {}
    assert isinstance(opened.system, MemorySystem)
    identity = opened.system.identity()
    assert identity.name == "tiny"
    assert identity.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert identity.settings == {"size": 5, "name": None, "rate": 1.0, "own": 1}
    memory = opened.system.open(Namespace("n", tmp_path))
    assert not isinstance(memory, SearchesMany)
    assert not isinstance(memory, ExportsLineage)
    assert open_system(f"{path}:Tiny", {}).defaulted == {"size": 3, "name": None, "rate": 0.5}


def test_the_code_that_runs_is_the_code_of_the_digest(file):
    path = file(TINY)
    first = open_system(f"{path}:Tiny", {}).system.identity()
    # Same size, same second: stale bytecode would go unseen.
    path.write_text(TINY.replace('version="1"', 'version="2"'))
    second = open_system(f"{path}:Tiny", {}).system.identity()
    assert (first.version, second.version) == ("1", "2")
    assert first.digest != second.digest
    assert not list(path.parent.glob("__pycache__"))


@pytest.mark.parametrize(
    ("attribute", "given", "said"),
    [
        ("Tinny", {}, "did you mean Tiny?"),
        ("SystemIdentit", {}, "has no class"),
        ("Half", {}, "it has no open"),
        ("Strict", {}, "needs the setting needed"),
        ("Tiny", {"sise": "3"}, "did you mean size?"),
        ("Tiny", {"size": "many"}, "size takes a value of type int"),
        ("Tiny", {"rate": "fast"}, "rate takes a value of type float"),
        ("Half", {"x": "1"}, "it takes no settings"),
    ],
)
def test_mistakes_with_a_class(file, attribute, given, said):
    assert said in usage(f"{file(TINY)}:{attribute}", given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import absent_module", "ModuleNotFoundError: No module named 'absent_module'"),
        ("def broken(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
        ("import sys; del sys.modules[__name__]; raise GeneratorExit", "GeneratorExit"),
        ("\0", "importing system.py raised"),
    ],
)
def test_a_file_that_cannot_be_imported(file, text, said):
    before = set(sys.modules)
    path = file("\n\n" + text)
    with pytest.raises(SystemUnderTestError) as caught:
        open_system(f"{path}:X", {})
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    if "\0" not in text:
        assert "system.py:3" in str(caught.value)
    assert not {name for name in set(sys.modules) - before if "memruler_system" in name}


def test_a_constructor_that_fails(file):
    path = file(TINY)
    with pytest.raises(SystemUnderTestError, match=r"Fails\(\) raised RuntimeError: no database"):
        open_system(f"{path}:Fails", {})


def test_a_neighbouring_file_cannot_be_imported(file):
    file("value = 1", "neighbour_of_system.py")
    path = file("import neighbour_of_system")
    with pytest.raises(SystemUnderTestError, match="neighbour_of_system"):
        open_system(f"{path}:X", {})


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "folder.py").mkdir()
    assert "it is a folder" in usage(f"{tmp_path / 'folder.py'}:X")


def test_a_pipe_or_a_device_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    for name in ("pipe.py", "zero.py"):
        assert "not a regular file" in usage(f"{tmp_path / name}:X")


def test_a_file_of_any_size_is_not_read(file, monkeypatch):
    monkeypatch.setattr(source, "_LARGEST", len(TINY))
    open_system(f"{file(TINY)}:Tiny", {})
    assert "larger than" in usage(f"{file(TINY + '#')}:Tiny")


def test_an_entry_point_is_opened_like_a_class(file, monkeypatch, tmp_path):
    file(TINY, "tiny_package.py")
    info = tmp_path / "tiny-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[memruler.systems]\ntiny = tiny_package:Tiny\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "tiny" in SYSTEMS.names()
    opened = open_system("tiny", {"size": "4"})
    digest = hashlib.sha256((tmp_path / "tiny_package.py").read_bytes()).hexdigest()
    assert opened.system.identity().digest == digest
    assert opened.chosen == {"size": 4}
    sys.modules.pop("tiny_package")


def test_a_plug_in_that_exits_on_import(file, monkeypatch, tmp_path, capfd):
    file("print('loading')\nraise SystemExit(0)", "exiting_package.py")
    info = tmp_path / "exiting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: exiting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[memruler.systems]\nexiting = exiting_package:X\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert "exiting cannot be imported: SystemExit: 0" in usage("exiting")
    assert capfd.readouterr() == ("", "loading\n")


LOUD = """
import os, subprocess, sys
from memruler.model.system import Ranking, SystemIdentity
print("load")
os.write(1, b"raw load\\n")
subprocess.run(["echo", "child load"], check=True)
sys.__stdout__.write("dunder load\\n")

class Loud:
    def __init__(self): print("init")
    def identity(self):
        print("identity")
        return SystemIdentity(name="loud", version="1", digest="")
    def open(self, namespace):
        print("open")
        return Memory()

class Memory:
    def ingest(self, session): print("ingest"); sys.stdout.close()
    def settle(self): sys.stdout = None; sys.stderr = None
    def search(self, text, k, at):
        print("search")
        os.write(1, b"raw search\\n")
        return Ranking(())
    def close(self): os.close(1); sys.__stdout__.close()
"""

RUN_LOUD = """
import sys
from datetime import datetime
from pathlib import Path
from memruler.model.system import Namespace, SessionInput
from memruler.systems.registry import open_system
print("first", end=" ")
system = open_system(sys.argv[1], {}).system
system.identity()
memory = system.open(Namespace("n", Path()))
memory.ingest(SessionInput(key="s", turns=()))
memory.settle()
memory.search("x", 5, datetime(2024, 1, 1))
print("between", end=" ")
memory.close()
print("last")
"""


def test_what_a_system_prints_never_mixes_with_our_output(file):
    run = subprocess.run(
        [sys.executable, "-c", RUN_LOUD, f"{file(LOUD)}:Loud"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert (run.returncode, run.stdout) == (0, "first between last\n"), run.stderr
    printed = {"load", "raw load", "child load", "dunder load", "init", "identity", "open"}
    assert set(run.stderr.split("\n")) == printed | {"ingest", "search", "raw search", ""}


SETTLED = """
from memruler.model.system import SystemIdentity

class Words:
    pass

class Settled:
    def __init__(self, size: int, words={"b", "a", "c", 1, None}, key=lambda t: t, ranker=Words(),
                 groups=frozenset({frozenset("ab"), frozenset("cd"), frozenset("ef")})): ...
    def identity(self):
        own = {"tags": set("qwertz"), "by": {word: 1 for word in set("qwertz")}}
        return SystemIdentity(name="settled", version="1", digest="", settings=own)
    def open(self, namespace): ...
"""

TELL_IDENTITY = """
import sys
import msgspec
from memruler.systems.registry import open_system
settings = dict(word.split("=") for word in sys.argv[2:])
opened = open_system(sys.argv[1], settings)
told = [opened.system.identity(), opened.chosen, opened.defaulted]
print(msgspec.json.encode(told).decode())
"""


@pytest.mark.parametrize(
    "call",
    [
        ["FILE:Settled", "size=3"],
        ["builtin:lexical", "capacity=9"],
        ["builtin:episodic", "embedder=toy", "decay_tags.b=0.2", "decay_tags.a=0.1"],
    ],
)
def test_another_process_finds_the_same_identity(file, call):
    call = [call[0].replace("FILE", str(file(SETTLED))), *call[1:]]
    told = {
        subprocess.run(
            [sys.executable, "-c", TELL_IDENTITY, *call],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert len(told) == 1
    assert b"0x" not in told.pop()
