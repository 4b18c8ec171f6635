"""Memories that each break one rule, and the probe that finds it; the rest is found fit."""

import json
import subprocess
import sys

import pytest

from memruler.studies.check.check import check_system

MEMORY = """
import os
import random
import re
import socket
from pathlib import Path

from memruler.model.system import Hit, MemoryItem, Ranking, SystemIdentity


class Bad:
    def __init__(self, fault: str = "none"):
        self.fault = fault

    def identity(self):
        return SystemIdentity(name="bad", version="1", digest="")

    def open(self, namespace):
        return Store(self.fault, namespace)


class Store:
    def __init__(self, fault, namespace):
        self.fault, self.name, self.folder = fault, namespace.name, namespace.folder
        if fault == "elsewhere":
            self.folder = Path(os.environ["BAD_ELSEWHERE"]) / namespace.name
            self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.reads = 0

    def kept(self):
        folders = [self.folder]
        if self.fault == "leaks":
            folders = [one for one in self.folder.parent.iterdir() if one.is_dir()]
        files = [file for folder in folders for file in sorted(folder.glob("*.txt"))]
        return [(file.stem.split("-", 1)[1], file.read_bytes().decode()) for file in files]

    def ingest(self, session):
        for turn in session.turns:
            text = turn.text
            if self.fault == "drops" and len(self.kept()) % 2:
                continue
            if self.fault == "cuts":
                text = text[:10_000]
            if self.fault == "crash" and len(text) > 100_000:
                raise RuntimeError("too much for me")
            if self.fault == "connects":
                try:
                    socket.create_connection(("127.0.0.1", 9), timeout=0.2)
                except OSError:
                    pass
            number = len(list(self.folder.glob("*.txt")))
            (self.folder / f"{number:04}-{turn.key}.txt").write_bytes(text.encode())

    def settle(self):
        pass

    def search(self, text, k, at):
        wanted = set(re.findall("[a-z]{4,}", text.lower()))

        def score(text):
            return len(wanted & set(re.findall("[a-z]{4,}", text.lower())))

        found = sorted(self.kept(), key=lambda one: (-score(one[1]), one[0]))
        self.reads += 1
        if self.fault == "chance":
            random.Random(os.urandom(8)).shuffle(found)
        if self.fault == "learns" and found:
            (self.folder / "reads").write_text(str(self.reads))
        if self.fault == "moves" and self.reads > 20:
            found.reverse()
        if self.fault == "twice":
            found = [one for one in found for _ in range(2)]
        if self.fault != "many":
            found = found[:k]
        names = (lambda key: f"{key}/{self.reads}") if self.fault == "ids" else (lambda key: key)
        sources, shown = (lambda key: (key,)), (lambda text: text)
        if self.fault == "sources":
            names, sources, shown = (lambda key: f"x{hash(key)}"), (lambda key: None), str.upper
        return Ranking(
            tuple(Hit(item=names(key), sources=sources(key), text=shown(t)) for key, t in found)
        )

    def erase(self):
        if self.fault == "erase":
            return
        folder = self.folder.parent if self.fault == "erases_all" else self.folder
        for file in list(folder.rglob("*.txt")):
            file.unlink()

    def close(self):
        pass
"""

CAUGHT = {
    "leaks": "isolation.between",
    "drops": "writing.found",
    "many": "depth.most",
    "ids": "ids.stable",
    "sources": "ids.attributed",
    "chance": "repeats.search",
    "moves": "reads.ranking",
    "learns": "reads.store",
    "erase": "erase.empty",
    "erases_all": "erase.others",
    "cuts": "texts.huge",
    "crash": "texts.huge",
    "elsewhere": "landing.folder",
    "connects": "network.declared",
}
UNFIT = {"leaks", "drops", "many", "ids", "sources", "erase", "erases_all", "elsewhere"}


@pytest.fixture
def bad(tmp_path, monkeypatch):
    file = tmp_path / "memory.py"
    file.write_text(MEMORY, encoding="utf-8")
    monkeypatch.setenv("MEMRULER_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("BAD_ELSEWHERE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return f"{file}:Bad"


def failed(card):
    return {probe.name for probe in card.probes if probe.failed}


@pytest.fixture
def sound(bad):
    return check_system(bad, (), timeout=60)


def test_a_sound_memory_is_fit(sound):
    assert failed(sound) == {"times.kept"}
    assert sound.fitness == "fit"


@pytest.mark.slow
@pytest.mark.parametrize("fault", CAUGHT)
def test_a_broken_rule_is_found(bad, fault):
    card = check_system(bad, (f"fault={fault}",), timeout=60)
    assert CAUGHT[fault] in failed(card), {p.name: (p.outcome, p.found) for p in card.probes}
    assert (card.fitness == "unfit") == (fault in UNFIT)


def check(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "memruler", "systems", "check", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_verb_says_it_with_its_exit_code(bad, tmp_path):
    out = tmp_path / "out"
    found = check(bad, "--set", "fault=many", "--json", "--out", str(out))
    assert found.returncode == 3
    card = json.loads(found.stdout)
    assert card["fitness"] == "unfit"
    assert json.loads((out / "card.json").read_text(encoding="utf-8")) == card


def test_the_page_fits_a_terminal_and_begins_with_what_breaks(bad):
    found = check(bad, "--set", "fault=many")
    lines = found.stdout.splitlines()
    assert lines[0].startswith("UNFIT")
    assert max(map(len, lines)) <= 80
    assert found.stdout.index("depth.most") < found.stdout.index("isolation.between")


def test_an_unknown_system_is_an_error_for_a_person():
    found = check("builtin:lexicl")
    assert found.returncode == 2
    assert "did you mean builtin:lexical?" in found.stderr
    assert "Traceback" not in found.stderr
