import ast
import hashlib
import sqlite3
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest

import memruler.systems.builtin
from memruler.embedding.usage import EmbedderUsage
from memruler.model.system import MemorySystem, Namespace
from memruler.systems.builtin.settings import Settings, resolve
from memruler.systems.builtin.system import BuiltinSystem, build

PACKAGE = Path(memruler.systems.builtin.__file__).parent


def test_identity_of_lexical():
    system, _, _ = build("lexical", {"stop_words": "false"})
    identity = system.identity()
    assert isinstance(system, MemorySystem)
    assert identity.name == "builtin:lexical"
    assert identity.version.endswith(f"SQLite {sqlite3.sqlite_version}")
    assert identity.embedder is None
    assert identity.degraded == ()
    assert identity.settings["stop_words"] is False
    assert set(identity.settings) == set(Settings.__struct_fields__)
    assert msgspec.json.decode(msgspec.json.encode(identity))


def test_identity_of_dense(fake):
    settings, _, _ = resolve("dense", {})
    identity = BuiltinSystem("dense", settings, fake()).identity()
    assert identity.embedder == fake().identity()
    assert "SQLite" not in identity.version
    assert len(identity.degraded) == 1


def test_the_digest_is_that_of_the_files():
    system, _, _ = build("lexical", {})
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.glob("*.py")):
        body = path.read_bytes()
        digest.update(f"{path.name}\0{len(body)}\0".encode() + body)
    assert system.identity().digest == digest.hexdigest()


def test_the_digest_moves_with_any_file(monkeypatch, tmp_path):
    before = build("lexical", {})[0].identity().digest
    for path in PACKAGE.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "stopwords.py").write_bytes((PACKAGE / "stopwords.py").read_bytes() + b"\n")
    monkeypatch.setattr("memruler.systems.builtin.system.files", lambda _: tmp_path)
    assert build("lexical", {})[0].identity().digest != before


def test_the_toy_embedder_degrades_and_works(tmp_path, turns, monkeypatch):
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path / "cache"))
    system, chosen, _ = build("episodic", {"embedder": "toy"})
    assert chosen == {"embedder": "toy"}
    assert system.identity().degraded
    assert system.identity().embedder.model == "toy"
    memory = system.open(Namespace("n", tmp_path / "store"))
    memory.ingest(turns.session("we went to a jazz bar", "", "my dog is ill", "🙂"))
    assert memory.search("jazz bar", 1, turns.at).hits[0].item == "1"
    memory.close()


def test_a_lexical_memory_tells_of_long_questions_only(tmp_path, turns):
    system, _, _ = build("lexical", {})
    memory = system.open(Namespace("n", tmp_path))
    memory.ingest(turns.session("", "jazz"))
    memory.search("jazz", 1, turns.at)
    assert system.warnings() == ()
    for _ in range(2):
        memory.search(" ".join(map(str, range(1001))), 1, turns.at)
    memory.close()
    said = "searches read only the first 1000 distinct words of their question: 2"
    assert system.warnings() == (said,)
    assert system.embedder_usage() is None


def test_a_dense_memory_tells_what_its_embedder_did(fake):
    settings, _, _ = resolve("dense", {})
    embedder = fake()
    system = BuiltinSystem("dense", settings, embedder)
    assert system.embedder_usage() is embedder.usage
    assert system.warnings() == ()
    embedder.usage = EmbedderUsage(
        embedded=5,
        from_cache=6,
        blank=1,
        truncated=9,
        repaired=2,
        broken=3,
        warnings=("3 vectors in the cache were broken",),
    )
    assert system.warnings() == (
        "blank texts were not embedded: 1",
        "3 vectors in the cache were broken",
    )
    assert system.embedder_usage().from_cache == 6


def test_an_embedder_is_needed_exactly_where_vectors_are_searched(fake):
    for preset, embedder in (("dense", None), ("lexical", fake())):
        settings, _, _ = resolve(preset, {})
        with pytest.raises(ValueError, match="embedder"):
            BuiltinSystem(preset, settings, embedder)


def test_no_file_of_the_built_in_memory_reads_a_clock():
    forbidden = {"now", "utcnow", "today", "time_ns", "monotonic", "perf_counter", "localtime"}
    modules = {"time", "random", "secrets", "uuid"}
    seen = 0
    for entry in files("memruler.systems.builtin").iterdir():
        if not entry.name.endswith(".py"):
            continue
        seen += 1
        for node in ast.walk(ast.parse(entry.read_text())):
            if isinstance(node, ast.Attribute):
                assert node.attr not in forbidden, (entry.name, node.lineno)
            if isinstance(node, ast.Import):
                assert not modules & {name.name for name in node.names}, entry.name
            if isinstance(node, ast.ImportFrom):
                assert node.module not in modules, entry.name
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert "CURRENT_TIMESTAMP" not in node.value.upper(), entry.name
    assert seen > 5
