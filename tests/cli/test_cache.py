import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from memruler.cli.cache import command
from memruler.cli.main import main
from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_file import CachedVector
from memruler.embedding.checked import text_key
from memruler.embedding.toy import Toy


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path))
    monkeypatch.delenv("MEMRULER_CACHE_MAX", raising=False)
    return tmp_path / "vectors"


@pytest.fixture
def filled(folder):
    cache = VectorCache(Toy().identity(), "test", folder=folder)
    cache.put([CachedVector(text_key(f"{n}")[1], bytes(256), None) for n in range(300)])
    cache.close()
    return next(folder.iterdir())


def _run(capsys, *arguments):
    with pytest.raises(SystemExit) as leave:
        main(["cache", *arguments])
    out, err = capsys.readouterr()
    return leave.value.code, out, err


def test_info_of_an_empty_cache(folder, capsys):
    code, out, _ = _run(capsys, "info")
    assert code == 0
    assert out == f"0 B of 2.1 GB in {folder}\n"
    assert not folder.exists()  # a look makes nothing


def test_info_as_table_and_as_json(filled, folder, capsys):
    code, out, _ = _run(capsys, "info")
    assert code == 0
    heading, row, _ = out.splitlines()
    assert heading.split() == ["embedder", "pooling", "file", "dims", "vectors", "size"]
    assert row.split()[:5] == ["toy", "sum", f"{filled.name[:8]}.1", "64", "300"]
    code, out, _ = _run(capsys, "info", "--json")
    found = json.loads(out)
    assert (found["folder"], found["limit"]) == (str(folder), 2 * 1024**3)
    (file,) = found["files"]
    assert (file["vectors"], file["broken"], file["problem"]) == (300, None, None)
    assert file["embedder"]["runtime"] == "test"
    assert file["bytes"] == found["bytes"] == filled.stat().st_size


def test_verify_finds_one_changed_byte(filled, capsys):
    assert _run(capsys, "verify")[0] == 0
    key = text_key("7")[1]
    data = bytearray(filled.read_bytes())
    place = data.index(key + bytes(256)) + len(key) + 5
    data[place] ^= 1
    filled.write_bytes(data)
    code, out, err = _run(capsys, "verify")
    assert code == 3
    assert "1 broken vectors" in out
    assert err.startswith("memruler: 1 broken vectors and 0 unusable files")
    code, out, _ = _run(capsys, "verify", "--json")
    assert code == 3
    assert json.loads(out)["files"][0]["broken"] == 1


def test_verify_names_a_file_that_is_no_cache(filled, capsys):
    filled.write_bytes(b"\x1b[31mnot a database")
    code, out, err = _run(capsys, "verify")
    assert code == 3
    assert f"{filled.name}: file is not a database" in out
    assert "1 unusable files" in err


def test_hostile_labels_do_not_reach_the_terminal(folder, capsys):
    identity = type(Toy().identity())(
        kind="toy",
        model="evil\x1b[2J\u202e",
        model_sha256=None,
        tokenizer_sha256=None,
        pooling="sum",
        dimension=64,
        max_tokens=None,
    )
    cache = VectorCache(identity, "test", folder=folder)
    cache.put([])
    cache.close()
    _, out, _ = _run(capsys, "info")
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_evict(filled, capsys):
    code, out, _ = _run(capsys, "evict", "--max-size", "120kB")
    assert code == 0
    assert out.startswith("removed ")
    assert filled.stat().st_size <= 120_000
    assert json.loads(_run(capsys, "info", "--json")[1])["files"][0]["vectors"] > 0


def test_evict_needs_a_size(filled, capsys):
    del filled
    assert _run(capsys, "evict")[0] == 2
    code, _, err = _run(capsys, "evict", "--max-size", "lots")
    assert code == 2
    assert "memruler: not a size: 'lots'" in err


def test_a_limit_that_is_no_size_is_a_usage_error(folder, capsys, monkeypatch):
    del folder
    monkeypatch.setenv("MEMRULER_CACHE_MAX", "plenty")
    assert _run(capsys, "info")[0] == 2


def test_clear(filled, folder, capsys):
    assert filled.exists()
    assert _run(capsys, "clear")[1] == "removed 300 vectors\n"
    assert list(folder.iterdir()) == []
    assert _run(capsys, "clear")[1] == "removed 0 vectors\n"


EVERY = (
    ("info",),
    ("info", "--json"),
    ("verify",),
    ("verify", "--json"),
    ("evict", "--max-size", "999999999999999TiB"),
    ("evict", "--max-size", "0"),
    ("clear",),
)


@pytest.mark.skipif(os.name == "nt", reason="names there are no bytes")
@pytest.mark.parametrize("made", [False, True])
def test_a_folder_whose_name_is_no_text(tmp_path, capsys, monkeypatch, made):
    home = os.fsencode(tmp_path) + b"/\xff\xfe\x1b[31m"
    monkeypatch.setitem(os.environ, "MEMRULER_CACHE", os.fsdecode(home))
    if made:
        try:
            Path(os.fsdecode(home)).mkdir()
        except OSError:
            pytest.skip("this file system wants names to be text")
        cache = VectorCache(Toy().identity(), "test")
        cache.put([])
        cache.close()
        assert cache.warnings == []
    for arguments in EVERY:
        code, out, err = _run(capsys, *arguments)
        assert (code, err) == (0, "")
        assert "\x1b" not in out
        out.encode()  # no half of a surrogate pair
        if "--json" in arguments:
            found = json.loads(out)
            assert found["folder"].endswith("\\udcff\\udcfe\\x1b[31m/vectors")
            assert len(found["files"]) == made


@pytest.mark.parametrize("home", ["x" * 5000, "y/" * 2500, "a file", "a file/below"])
@pytest.mark.parametrize("arguments", EVERY, ids=" ".join)
def test_a_folder_that_cannot_be_is_one_line(tmp_path, capsys, monkeypatch, home, arguments):
    (tmp_path / "a file").write_text("mine")
    monkeypatch.setenv("MEMRULER_CACHE", f"{tmp_path}/{home}")
    code, out, err = _run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("memruler: cannot read the cache folder: ")
    assert err.count("\n") == 1
    assert len(err) < 700
    assert (tmp_path / "a file").read_text() == "mine"


@pytest.mark.parametrize("size", ["-1", "", " ", "1e9", "nan", "9" * 5000, "\x1b[2J", "\u0663"])
def test_an_absurd_size_is_a_usage_error(filled, capsys, monkeypatch, size):
    before = filled.read_bytes()
    code, out, err = _run(capsys, "evict", "--max-size", size)
    assert (code, out) == (2, "")
    assert err.startswith("memruler: not a size: ")
    assert "\x1b" not in err
    assert len(err) < 700
    assert filled.read_bytes() == before
    if size:  # an empty variable is one that is not set
        monkeypatch.setenv("MEMRULER_CACHE_MAX", size)
        assert [_run(capsys, verb)[0] for verb in ("info", "verify")] == [2, 2]


def test_the_largest_limit_is_shown(filled, capsys, monkeypatch):
    del filled
    monkeypatch.setenv("MEMRULER_CACHE_MAX", "999999999999999TiB")
    assert json.loads(_run(capsys, "info", "--json")[1])["limit"] == 999999999999999 * 1024**4
    assert _run(capsys, "info")[0] == 0


HOSTILE = {
    "deep": ("UPDATE about SET embedder = ?", '{"model":' + "[" * 100_000 + "]" * 100_000 + "}"),
    "flat but no object": ("UPDATE about SET embedder = ?", "[1]"),
    "wide number": ("UPDATE about SET embedder = ?", '{"dimension":' + "9" * 300 + "}"),
    "half a pair": ("UPDATE about SET embedder = ?", '{"model":"\\ud83d"}'),
    "no text": ("UPDATE about SET embedder = CAST(? AS TEXT)", b'"\xff"'),
    "recency of text": ("UPDATE recency SET used = ? WHERE id % 2", "\x1b[31m"),
    "recency of bytes": ("UPDATE recency SET used = ? WHERE id % 2", b"\0"),
    "recency beyond all": ("UPDATE recency SET used = ? WHERE id % 2", 9e999),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_shown_evicted_and_cleared(filled, folder, capsys, name):
    statement, value = HOSTILE[name]
    with closing(sqlite3.connect(filled)) as db, db:
        db.execute(statement, [value])
    for arguments in EVERY:
        code, out, err = _run(capsys, *arguments)
        assert code == (3 if name == "no text" and arguments[0] == "verify" else 0), err
        assert "\x1b" not in out + err
        if "--json" in arguments:
            assert len(json.loads(out)["files"]) == 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("verb", [[], ["info"], ["verify"], ["evict"], ["clear"]])
def test_every_verb_explains_itself(verb):
    done = CliRunner().invoke(command, [*verb, "--help"])
    assert done.exit_code == 0
    assert len(done.output.splitlines()) > 3
