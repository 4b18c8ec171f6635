import gc
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from memruler.embedding import cache as cache_module
from memruler.embedding.base import embedder_digest
from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_file import CachedVector
from memruler.embedding.checked import text_key
from memruler.embedding.toy import Toy


def _row(text, number=1.0, truncated=False):
    return CachedVector(text_key(text)[1], np.full(64, number, "<f4").tobytes(), truncated)


def _keys(*texts):
    return [text_key(text)[1] for text in texts]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "vectors"


@pytest.fixture
def make(folder):
    made = []

    def make(**settings):
        cache = VectorCache(Toy().identity(), "test", **{"folder": folder, **settings})
        made.append(cache)
        return cache

    yield make
    for cache in made:
        cache.close()


def _file(folder):
    (path,) = folder.glob("*.sqlite")
    return path


def test_gives_back_exactly_what_was_put(make):
    rows = [_row("a", 0.1, truncated=True), _row("b", -3e-39, truncated=False), _row("c", 7, None)]
    make().put(rows)
    found = make().get(_keys("a", "b", "c", "d"))
    assert found == {row.key: row for row in rows}


def test_reads_thousands_in_one_call(make):
    rows = [_row(f"text {n}", n) for n in range(1, 2001)]
    make().put(rows)
    assert make().get([row.key for row in rows]) == {row.key: row for row in rows}


def test_another_identity_or_runtime_is_another_cache(make, folder):
    make().put([_row("a")])
    identity = Toy().identity()
    for other, runtime in (
        (identity, "test 2"),
        (type(identity)(**{**_fields(identity), "model": "toy 2"}), "test"),
        (type(identity)(**{**_fields(identity), "max_tokens": 128}), "test"),
    ):
        assert embedder_digest(other, runtime) != embedder_digest(identity, "test")
        assert VectorCache(other, runtime, folder=folder).get(_keys("a")) == {}


def _fields(identity):
    return {name: getattr(identity, name) for name in identity.__struct_fields__}


def test_a_broken_row_is_a_miss_is_counted_and_replaced(make, folder):
    make().put([_row("a", 1), _row("b", 2), _row("c", 3)])
    with closing(sqlite3.connect(_file(folder))) as db, db:
        key_a, key_c = _keys("a", "c")
        db.execute("UPDATE vectors SET vector = zeroblob(256) WHERE text = ?", [key_a])
        db.execute("UPDATE vectors SET truncated = 'yes' WHERE text = ?", [key_c])
    cache = make()
    assert list(cache.get(_keys("a", "b", "c"))) == _keys("b")
    assert cache.broken == 2
    cache.put([_row("a", 1)])
    assert make().get(_keys("a")) == {_row("a").key: _row("a", 1)}
    assert cache.warnings == []


def test_a_vector_under_another_texts_key_is_noticed(make, folder):
    make().put([_row("a", 1), _row("b", 2)])
    with closing(sqlite3.connect(_file(folder))) as db, db:
        db.execute("DELETE FROM vectors WHERE text = ?", _keys("b"))
        db.execute("UPDATE vectors SET text = ?", _keys("b"))
    cache = make()
    assert cache.get(_keys("b")) == {}
    assert cache.broken == 1


def _no_database(path):
    path.write_bytes(b"this was never a database " * 400)


def _holes(path):
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * len(data[8192:])  # the first page, with the schema, stays
    path.write_bytes(data)


def _foreign(path):
    path.unlink()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE vectors (mine)")


def _other_schema(path):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE vectors")


def _cut(path):
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("damage", [_no_database, _holes, _foreign, _other_schema, _cut])
def test_a_damaged_file_is_set_aside_and_begun_anew(make, folder, damage):
    rows = [_row(f"text {n}", n) for n in range(1, 100)]
    first = make()
    first.put(rows)
    first.close()
    path = _file(folder)
    damage(path)
    cache = make()
    cache.get([row.key for row in rows])
    cache.put(rows)
    assert len(cache.warnings) == 1
    assert "set aside" in cache.warnings[0]
    assert make().get([row.key for row in rows]) == {row.key: row for row in rows}
    aside = path.with_name(path.name + ".damaged")
    assert aside.exists()
    assert _file(folder) != path  # names are not used twice


def test_a_file_damaged_again_and_again_leaves_one_file_aside(make, folder):
    for _ in range(3):
        cache = make()
        cache.put([_row("a")])
        cache.close()
        _no_database(_file(folder))
    cache = make()
    cache.put([_row("a")])
    assert len(list(folder.glob("*.damaged"))) == 1
    assert cache.get(_keys("a"))


def test_damage_while_the_file_is_open(make, folder):
    cache = make()
    cache.put([_row(f"text {n}") for n in range(200)])
    cache.close()
    cache.get(_keys("text 1"))
    _no_database(_file(folder))
    cache.get(_keys("text 1", "text 100"))
    cache.put([_row("new")])
    assert cache.get(_keys("new"))
    assert "set aside" in "".join(cache.warnings)


def test_two_processes_find_the_damage_and_share_the_next_file(make, folder):
    one, other = make(), make()
    one.put([_row("a")])
    other.get(_keys("a"))
    one.close()
    other.close()
    _no_database(_file(folder))
    one.put([_row("b")])
    other.put([_row("c")])
    assert set(make().get(_keys("b", "c"))) == set(_keys("b", "c"))
    assert len(list(folder.glob("*.sqlite"))) == 1


def test_a_link_where_the_file_belongs_is_refused_and_untouched(make, folder, tmp_path):
    make().put([_row("a")])
    path = _file(folder)
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    for link in (Path.symlink_to, Path.hardlink_to):
        path.unlink(missing_ok=True)
        link(path, precious)
        cache = make()
        cache.put([_row("a")])
        assert cache.get(_keys("a")) == {}
        assert len(cache.warnings) == 1
        assert "link" in cache.warnings[0]
        assert precious.read_bytes() == b"mine"


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_link_where_a_side_file_belongs_is_refused(make, folder, tmp_path, suffix, link):
    cache = make()
    cache.put([_row("a")])
    cache.close()
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    path = _file(folder)
    link(path.with_name(path.name + suffix), precious)
    cache = make()
    cache.put([_row("b")])
    assert "link" in cache.warnings[0]
    assert precious.read_bytes() == b"mine"


def test_a_linked_folder_is_refused(make, folder, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    cache = make()
    cache.put([_row("a")])
    assert cache.get(_keys("a")) == {}
    assert len(cache.warnings) == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said_once(make, tmp_path):
    (tmp_path / "file").write_text("")
    cache = make(folder=tmp_path / "file" / "vectors")
    for _ in range(3):
        assert cache.get(_keys("a")) == {}
        cache.put([_row("a")])
    assert len(cache.warnings) == 1
    assert cache.warnings[0].startswith("working without the cache of vectors")


WORKER = """
import os, resource, sys
import numpy as np
from pathlib import Path
from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_file import CachedVector
from memruler.embedding.checked import CheckedEmbedder, text_key
from memruler.embedding.toy import Toy

def rows(names, width=64):
    return [CachedVector(text_key(n)[1], np.full(width, 1, "<f4").tobytes(), False) for n in names]

folder = Path(sys.argv[1])
cache = VectorCache(Toy().identity(), "test", folder=folder)
"""


def _python(code, *arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-c", WORKER + textwrap.dedent(code), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def _output(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.split()


def test_processes_that_start_and_write_at_once(make, folder):
    code = """
    me = int(sys.argv[2])
    for block in range(20):
        # Half of every block is written by all of them.
        names = [f"{me if n % 2 else 'all'} {block} {n}" for n in range(50)]
        cache.put(rows(names))
        assert len(cache.get([r.key for r in rows(names)])) == 50
    print(len(cache.warnings), *cache.warnings)
    """
    workers = [_python(code, folder, me) for me in range(4)]
    assert [_output(worker) for worker in workers] == [["0"]] * 4
    names = [f"{who} {b} {n}" for b in range(20) for n in range(50) for who in (0, 1, 2, 3, "all")]
    wanted = [n for n in names if n.startswith("all") == (int(n.split()[2]) % 2 == 0)]
    cache = make()
    assert len(cache.get(_keys(*wanted))) == len(wanted) == 20 * 25 * 5
    with closing(sqlite3.connect(_file(folder))) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA journal_mode").fetchall() == [("wal",)]


def test_a_killed_process_leaves_a_sound_file(make, folder):
    code = """
    print("started", flush=True)
    for block in range(100_000):
        cache.put(rows([f"{block} {n}" for n in range(20)]))
    """
    for _ in range(5):
        worker = _python(code, folder)
        worker.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            worker.wait(0.2)
        worker.kill()
        worker.communicate()
        cache = make()
        cache.put([_row("after")])
        assert cache.get(_keys("after"))
        assert cache.warnings == []
        cache.close()
    with closing(sqlite3.connect(_file(folder))) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_forked_child_opens_its_own(folder):
    code = """
    cache.put(rows(["parent"]))
    child = os.fork()
    if child == 0:
        cache.put(rows(["child"]))
        found = cache.get([r.key for r in rows(["parent", "child"])])
        os._exit(0 if len(found) == 2 and not cache.warnings else 1)
    assert os.waitpid(child, 0)[1] == 0
    cache.put(rows(["later"]))
    print(len(cache.get([r.key for r in rows(["parent", "child", "later"])])), *cache.warnings)
    """
    assert _output(_python(code, folder)) == ["3"]


UNWRITABLE = """
os.umask(0)
cache.put(rows(["before"]))
cache.close()
os.chmod(folder, 0o555)
for path in folder.iterdir():
    os.chmod(path, 0o444)
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
cache = VectorCache(Toy().identity(), "test", folder=folder)
checked = CheckedEmbedder(Toy(), cache)
plain = CheckedEmbedder(Toy(), None)
for _ in range(3):
    assert checked.vectors(["a", "b"])[0].tobytes() == plain.vectors(["a", "b"])[0].tobytes()
print(len(checked.usage.warnings), checked.usage.embedded)
"""


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs POSIX permissions")
def test_a_read_only_folder_costs_the_cache_only(tmp_path):
    folder = tmp_path / "vectors"
    for parent in tmp_path.parents[:2]:  # so that the other account can get there
        parent.chmod(parent.stat().st_mode | 0o111)
    tmp_path.chmod(0o755)
    try:
        assert _output(_python(UNWRITABLE, folder)) == ["1", "6"]
    finally:
        folder.chmod(0o755)


FULL = """
cache.put(rows(["before"]))
# What the file may still grow by: SQLite meets a real refusal of the operating system.
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
checked = CheckedEmbedder(Toy(), cache)
plain = CheckedEmbedder(Toy(), None)
texts = [f"text {n}" for n in range(3000)]
for _ in range(2):
    assert checked.vectors(texts)[0].tobytes() == plain.vectors(texts)[0].tobytes()
assert len(cache.get([r.key for r in rows(["before"])])) == 1  # what is there is still read
print(len(checked.usage.warnings), checked.usage.warnings[0])
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="needs limits on file size")
def test_a_full_disk_costs_the_cache_only(make, folder):
    count, *sentence = _output(_python(FULL, folder))
    assert count == "1"
    assert " ".join(sentence).startswith("the cache of vectors keeps nothing new")
    cache = make()
    assert len(cache.get(_keys("before"))) == 1
    assert cache.warnings == []


def test_a_read_is_not_a_write(make, folder):
    clock = [0.0]
    cache = make(clock=lambda: clock[0])
    cache.put([_row(f"text {n}") for n in range(10)])
    clock[0] = 100 * 3600.0
    statements = Counter()
    cache._opened()._db.set_trace_callback(lambda sql: statements.update([sql.split()[0]]))
    for n in range(10):
        cache.get(_keys(f"text {n}"))
    assert set(statements) == {"SELECT"}
    cache.close()  # noted together
    with closing(sqlite3.connect(_file(folder))) as db:
        assert db.execute("SELECT DISTINCT used FROM recency").fetchall() == [(100,)]


def test_uses_are_noted_without_a_close(make, folder, monkeypatch):
    monkeypatch.setattr(cache_module, "_NOTE_AFTER", 5)
    clock = [0.0]
    cache = make(clock=lambda: clock[0])
    cache.put([_row(f"text {n}") for n in range(5)])
    clock[0] = 3600.0
    cache.get(_keys(*(f"text {n}" for n in range(5))))
    with closing(sqlite3.connect(_file(folder))) as db:
        assert db.execute("SELECT DISTINCT used FROM recency").fetchall() == [(1,)]


def test_the_least_recently_used_make_room(make, folder):
    clock = [0.0]
    cache = make(limit=400_000, clock=lambda: clock[0])
    wide = [CachedVector(text_key(f"{n}")[1], bytes(1536), None) for n in range(400)]
    cache.put(wide[:150])
    clock[0] = 3600.0
    cache.put(wide[150:200])
    clock[0] = 7200.0
    assert len(cache.get([row.key for row in wide[:50]])) == 50  # used again
    cache.put(wide[200:240])
    assert _file(folder).stat().st_size <= 400_000
    found = cache.get([row.key for row in wide])
    assert {row.key for row in wide[:50] + wide[200:240]} <= set(found)
    assert not {row.key for row in wide[50:100]} & set(found)
    assert cache.warnings == []


def test_the_limit_is_a_setting(make, monkeypatch):
    monkeypatch.setenv("MEMRULER_CACHE_MAX", "0")
    cache = make()
    cache.put([_row("a")])
    assert cache.get(_keys("a")) == {}
    assert cache.warnings == []


def test_forgetting_the_cache_closes_its_file(folder):
    cache = VectorCache(Toy().identity(), "test", folder=folder)
    cache.put([_row("a")])
    del cache
    gc.collect()
    assert [path.suffix for path in folder.iterdir()] == [".sqlite"]  # no -wal, no -shm


def test_the_folder_is_private_and_can_come_and_go(make, folder):
    cache = make()
    cache.put([_row("a")])
    assert folder.stat().st_mode & 0o777 == 0o700
    cache.close()
    shutil.rmtree(folder)
    cache.put([_row("a")])
    assert cache.get(_keys("a"))
