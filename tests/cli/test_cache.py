import json

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
    assert heading.split() == ["embedder", "pooling", "dims", "vectors", "size", "file"]
    assert row.split()[:4] == ["toy", "sum", "64", "300"]
    assert row.endswith(filled.name)
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


@pytest.mark.parametrize("verb", [[], ["info"], ["verify"], ["evict"], ["clear"]])
def test_every_verb_explains_itself(verb):
    done = CliRunner().invoke(command, [*verb, "--help"])
    assert done.exit_code == 0
    assert len(done.output.splitlines()) > 3
