import pytest

from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_file import CachedVector
from memruler.embedding.cache_upkeep import clear, evict, reports
from memruler.embedding.checked import text_key
from memruler.embedding.toy import Toy


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "vectors"


def _filled(folder, runtime, rows, hour=1):
    cache = VectorCache(Toy().identity(), runtime, folder=folder, clock=lambda: hour * 3600)
    cache.put([CachedVector(text_key(f"{n}")[1], bytes(1536), None) for n in range(rows)])
    return cache


def test_eviction_is_fair_between_embedders(folder):
    old, new = _filled(folder, "old", 300, hour=1), _filled(folder, "new", 300, hour=2)
    old.close()
    new.close()
    done = evict(folder, 600_000)
    assert done.bytes_left <= 600_000
    assert done.rows >= 300
    left = {r.embedder["runtime"]: r.vectors for r in reports(folder)}
    assert left["old"] == 0
    assert left["new"] == 600 - done.rows > 200
    assert sum(report.bytes for report in reports(folder)) <= 600_000


def test_eviction_with_nothing_to_do_removes_nothing(folder):
    _filled(folder, "a", 10).close()
    assert evict(folder, 10**9).rows == 0
    assert [r.vectors for r in reports(folder)] == [10]
    assert evict(folder / "missing", 0) == (0, 0)


def test_eviction_to_nothing_ends(folder):
    _filled(folder, "a", 10).close()
    assert evict(folder, 0).rows == 10


def test_eviction_leaves_strangers_alone(folder, tmp_path):
    _filled(folder, "a", 10).close()
    stranger = folder / ("c" * 32 + ".1.sqlite")
    stranger.write_bytes(b"not ours")
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    (folder / ("d" * 32 + ".1.sqlite")).symlink_to(precious)
    (folder / "notes.txt").write_text("mine")
    assert evict(folder, 0).rows == 10
    assert stranger.read_bytes() == b"not ours"
    assert precious.read_bytes() == b"mine"
    problems = [r.problem for r in reports(folder) if r.problem]
    assert len(problems) == 2
    clear(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["notes.txt"]
    assert precious.read_bytes() == b"mine"


def test_clear_empties_what_is_open_elsewhere(folder):
    busy = _filled(folder, "busy", 10)
    _filled(folder, "idle", 5).close()
    assert clear(folder) == 15
    assert [r.vectors for r in reports(folder)] == [0]
    keys = [text_key("1")[1]]
    assert busy.get(keys) == {}
    busy.put([CachedVector(keys[0], bytes(1536), None)])
    assert len(busy.get(keys)) == 1
    assert busy.warnings == []
    busy.close()
    assert clear(folder) == 1
    assert list(folder.iterdir()) == []
