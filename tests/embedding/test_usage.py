import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.embedding.cache import VectorCache
from memruler.embedding.checked import CheckedEmbedder
from memruler.embedding.drift import hold_against_cache
from memruler.embedding.toy import Toy
from memruler.embedding.usage import EmbedderUsage, sentences

HALF = "half \ud83d pair"
counts = st.builds(
    EmbedderUsage,
    embedded=st.integers(0, 9),
    from_cache=st.integers(0, 9),
    blank=st.integers(0, 9),
    truncated=st.none() | st.integers(0, 9),
    repaired=st.integers(0, 9),
    broken=st.integers(0, 9),
)


@given(before=counts, more=counts)
def test_since_undoes_a_sum(before, more):
    names = ("embedded", "from_cache", "blank", "repaired", "broken")
    known = before.truncated is not None and more.truncated is not None
    after = EmbedderUsage(
        **{name: getattr(before, name) + getattr(more, name) for name in names},
        truncated=before.truncated + more.truncated if known else None,
    )
    found = after.since(before)
    assert [getattr(found, name) for name in names] == [getattr(more, name) for name in names]
    assert found.truncated == (more.truncated if known else None)


def test_since_keeps_what_is_new():
    before = EmbedderUsage(warnings=("old", "1 texts"))
    assert EmbedderUsage(warnings=("old", "2 texts")).since(before).warnings == ("2 texts",)


def test_nothing_to_say():
    assert sentences(EmbedderUsage(embedded=5, from_cache=3, blank=2, truncated=1)) == ()


def test_each_trouble_is_one_sentence(cache_home):
    checked = CheckedEmbedder(Toy(), VectorCache(Toy().identity(), "test"))
    for _ in range(3):
        checked.vectors([HALF, "whole"])
    checked.close()
    (repaired,) = checked.usage.warnings
    assert repaired.startswith("3 texts held half a surrogate pair")
    assert checked.usage.repaired == 3
    assert (checked.usage.embedded, checked.usage.from_cache) == (2, 4)
    assert cache_home.is_dir()


def _started(embedder):
    cache = VectorCache(embedder.identity(), "test")
    hold_against_cache(embedder, cache)
    return CheckedEmbedder(embedder, cache)


@pytest.fixture
def kept(scripted, cache_home):
    """A cache file of an earlier run."""
    checked = _started(scripted())
    checked.vectors(["a", "b"])
    checked.close()
    (path,) = (cache_home / "vectors").glob("*.sqlite")
    return path


def _no_folder(path):
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()
    path.parent.write_text("a file where the folder belongs")


def _linked(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def _damaged(path):
    path.write_bytes(b"this was never a database " * 400)


def _cut(path):
    os.truncate(path, path.stat().st_size // 2)


def _altered(statement):
    def alter(path):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(statement)

    return alter


TROUBLE = {
    "no folder": (_no_folder, "working without the cache of vectors: "),
    "link": (_linked, "working without the cache of vectors: refusing a symbolic link"),
    "damage": (_damaged, "a cache file was set aside and begun anew, since it cannot be used: "),
    "cut": (_cut, "a cache file was set aside and begun anew, since it cannot be used: "),
    "another schema": (
        _altered("ALTER TABLE vectors RENAME TO mine"),
        "a cache file was set aside and begun anew, since it cannot be used: ",
    ),
    "broken row": (
        _altered("UPDATE vectors SET seal = x'00' WHERE id = (SELECT max(id) FROM vectors)"),
        "1 vectors in the cache were broken; their texts were embedded again",
    ),
    "no proof": (
        _altered("DELETE FROM vectors WHERE id < (SELECT max(id) FROM vectors)"),
        "a cache file was set aside and begun anew, since nothing in it tells",
    ),
    "recency of no number": (_altered("UPDATE recency SET used = 'late'"), None),
}


@pytest.mark.parametrize("name", TROUBLE)
def test_trouble_with_the_cache_is_one_sentence_and_changes_no_bit(
    scripted, kept, same_bits, monkeypatch, name
):
    trouble, sentence = TROUBLE[name]
    trouble(kept)
    monkeypatch.setenv("MEMRULER_CACHE_MAX", "60kB")  # so that room must be made, too
    checked = _started(scripted())
    before = checked.usage
    for texts in (["a", "b"], [f"text {n}" for n in range(300)], ["a", "b"]):
        plain, _ = CheckedEmbedder(scripted(), None).vectors(texts)
        assert same_bits(checked.vectors(texts)[0], plain)
    told = checked.usage.warnings
    assert len(told) == (sentence is not None)
    assert all(text.startswith(str(sentence)) for text in told)
    assert set(checked.usage.since(before).warnings) | set(before.warnings) == set(told)
    checked.close()


def test_drift_and_half_a_pair_are_two_sentences(scripted, kept):
    del kept
    checked = _started(scripted(lambda vectors: vectors + np.float32(1e-6)))
    for _ in range(2):
        checked.vectors([HALF])
    drift, half = checked.usage.warnings
    assert "not those that the embedder makes now" in drift
    assert half.startswith("2 texts held half a surrogate pair")


REFUSED = """
import os, resource, sys
from memruler.embedding.cache import VectorCache
from memruler.embedding.checked import CheckedEmbedder
from memruler.embedding.drift import hold_against_cache
from memruler.embedding.toy import Toy
model = Toy()
known = model.identity()
model.identity = lambda: known  # the other account may not read the source
if sys.argv[1] == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
elif os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
cache = VectorCache(known, "test")
hold_against_cache(model, cache)
checked = CheckedEmbedder(model, cache)
texts = [f"text {n}" for n in range(1000)]
for _ in range(2):
    plain = CheckedEmbedder(model, None).vectors(texts)[0]
    assert checked.vectors(texts)[0].tobytes() == plain.tobytes()
print(*checked.usage.warnings, sep="\\n")
"""


def _refused(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", REFUSED, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on file size")
@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("0", "working without the cache of vectors"),
        ("20000", "working without the cache of vectors"),
        ("100000", "the cache of vectors keeps nothing new"),
    ],
)
def test_a_full_disk_is_one_sentence(limit, sentence):
    (told,) = _refused("full", limit)
    assert told.startswith(sentence)


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs POSIX permissions")
def test_a_read_only_folder_is_one_sentence(cache_home, tmp_path):
    for parent in (*tmp_path.parents[:2], tmp_path):  # so that the other account can get there
        parent.chmod(parent.stat().st_mode | 0o111)
    cache_home.mkdir(mode=0o555)
    (told,) = _refused("read-only")
    assert told.startswith("working without the cache of vectors")
