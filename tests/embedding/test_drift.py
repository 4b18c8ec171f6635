import sqlite3
import subprocess
import sys
from contextlib import closing

import msgspec
import numpy as np
import pytest

from memruler.embedding.cache import VectorCache
from memruler.embedding.cache_upkeep import clear
from memruler.embedding.checked import CheckedEmbedder, text_key
from memruler.embedding.drift import hold_against_cache
from memruler.embedding.probes import PROBE, PROBES
from memruler.errors import InstrumentError


def _cache(embedder, **settings):
    return VectorCache(embedder.identity(), embedder.runtime(), **settings)


def _started(embedder, **settings):
    """What the registry does at every start."""
    cache = _cache(embedder, **settings)
    hold_against_cache(embedder, cache)
    return CheckedEmbedder(embedder, cache)


def _noise(size):
    def spoil(vectors):
        return (vectors + size * np.cos(np.arange(vectors.shape[1]))).astype(np.float32)

    return spoil


def _one_bit(vectors):
    changed = vectors.copy()
    changed[:, 0] = np.nextafter(changed[:, 0], np.float32(np.inf))
    return changed


@pytest.fixture
def remote(scripted):
    """A scripted embedder whose weights are hidden."""

    def make(*arguments):
        embedder = scripted(*arguments)
        identity = msgspec.structs.replace(embedder.identity(), model_sha256=None)
        embedder.identity = lambda: identity
        return embedder

    return make


def test_the_same_model_passes_again_and_again(scripted):
    for _ in range(3):
        embedder = scripted()
        checked = _started(embedder)
        assert embedder.asked == list(PROBES)
        assert checked.usage.warnings == ()
        assert checked.usage.embedded == checked.usage.from_cache == 0
        checked.close()


@pytest.mark.parametrize("spoil", [_one_bit, _noise(1e-5), np.negative])
def test_other_bits_of_a_local_model_begin_a_new_file(scripted, same_bits, spoil):
    before = _started(scripted())
    old, _ = before.vectors(["text"])
    before.close()
    for _ in range(2):
        after = _started(scripted(spoil))
        new, _ = after.vectors(["text"])
        expected, _ = CheckedEmbedder(scripted(spoil), None).vectors(["text"])
        assert same_bits(new, expected)
        after.close()
    assert not same_bits(new, old) or spoil is _one_bit  # a bit may vanish in the norm
    assert after.usage.warnings == ()
    assert after.usage.from_cache == 1


def test_a_file_that_is_set_aside_is_told_once(scripted, cache_home):
    _started(scripted()).close()
    checked = _started(scripted(_one_bit))
    (warning,) = checked.usage.warnings
    assert "set aside" in warning
    assert "not those that the embedder makes now" in warning
    names = sorted(path.name for path in (cache_home / "vectors").glob("*.sqlite*"))
    assert [name for name in names if name.endswith(".damaged")] == [names[0]]


def test_vectors_without_a_probe_prove_nothing(scripted):
    unproven = CheckedEmbedder(scripted(), _cache(scripted()))
    unproven.vectors(["text"])
    unproven.close()
    checked = _started(scripted())
    assert "nothing in it tells" in checked.usage.warnings[0]
    checked.vectors(["text"])
    assert checked.usage.embedded == 1


def test_the_last_bits_of_a_remote_model_pass(remote):
    for spoil in (lambda vectors: vectors, _noise(1e-5)):
        embedder = remote(spoil)
        checked = _started(embedder)
        assert embedder.asked == [PROBE]
        assert checked.usage.warnings == ()
        checked.close()


@pytest.mark.parametrize("spoil", [_noise(0.5), np.negative])
def test_another_remote_model_under_the_same_name_is_refused(remote, spoil):
    _started(remote()).close()
    with pytest.raises(InstrumentError, match="not the one whose vectors are cached"):
        _started(remote(spoil))


def test_a_probe_that_is_no_vector_stops(scripted):
    with pytest.raises(InstrumentError, match="not finite"):
        _started(scripted(lambda vectors: vectors * np.float32(np.nan)))


def test_without_a_usable_cache_the_run_goes_on_with_one_warning(scripted, cache_home, same_bits):
    cache_home.write_text("a file where the folder belongs")
    checked = _started(scripted())
    for _ in range(2):
        rows, _ = checked.vectors(["a", "b"])
        assert same_bits(rows, CheckedEmbedder(scripted(), None).vectors(["a", "b"])[0])
    (warning,) = checked.usage.warnings
    assert warning.startswith("working without the cache of vectors")


def test_two_at_a_time_are_both_served(scripted):
    first, second = _started(scripted()), _started(scripted())
    first.vectors(["one"])
    second.vectors(["one", "two"])
    assert (second.usage.from_cache, second.usage.embedded) == (1, 1)
    assert first.usage.warnings == second.usage.warnings == ()
    first.close()
    second.close()


def test_an_eviction_leaves_the_proof(scripted):
    # Room for the probes and some twenty rows beside the empty file.
    for start in (0, 100):
        checked = _started(scripted(), limit=70_000)
        checked.vectors([f"text {start + n}" for n in range(100)])
        assert checked.usage.warnings == ()
        found = checked._cache.get([text_key(probe)[1] for probe in PROBES])
        assert len(found) == len(PROBES)
        checked.close()


def test_a_limit_that_holds_nothing_ends(scripted, same_bits):
    checked = _started(scripted(), limit=0)
    rows, _ = checked.vectors([f"text {n}" for n in range(30)])
    again, _ = checked.vectors([f"text {n}" for n in range(30)])
    assert same_bits(rows, again)


def _probes_in_the_file(cache_home):
    (path,) = (cache_home / "vectors").glob("*.sqlite")
    keys = [text_key(probe)[1] for probe in PROBES]
    with closing(sqlite3.connect(path)) as db:
        return [
            db.execute("SELECT 1 FROM vectors WHERE text = ?", [key]).fetchone() for key in keys
        ]


def test_the_probes_are_stored_before_any_text(scripted, cache_home):
    _started(scripted()).close()
    assert _probes_in_the_file(cache_home) == [(1,)] * len(PROBES)


def test_a_broken_probe_is_told_once_and_replaced(scripted, cache_home):
    _started(scripted()).close()
    (path,) = (cache_home / "vectors").glob("*.sqlite")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE vectors SET seal = x'00' WHERE text = ?", [text_key(PROBES[1])[1]])
    told = []
    for _ in range(2):
        checked = _started(scripted())
        told.append([warning[:33] for warning in checked.usage.warnings])
        checked.close()
    assert told == [["1 vectors in the cache were broken"[:33]], []]


def test_one_that_still_runs_does_not_mix_into_the_next_file(scripted, same_bits):
    spoil = _noise(1e-3)
    plain = [CheckedEmbedder(scripted(*one), None).vectors(["a", "b"])[0] for one in ((), (spoil,))]
    one = _started(scripted())
    one.vectors(["a"])
    other = _started(scripted(spoil))
    other.vectors(["a"])
    for _ in range(2):
        assert same_bits(one.vectors(["a", "b"])[0], plain[0])
        assert same_bits(other.vectors(["a", "b"])[0], plain[1])
        one.close()  # opens what is the current file now: the other's
        other.close()


def test_a_cleared_file_that_another_model_begins_is_not_shared(scripted, cache_home, same_bits):
    spoil = _noise(1e-3)
    one = _started(scripted())
    one.vectors(["a"])
    clear(cache_home / "vectors")
    other = _started(scripted(spoil))
    other.vectors(["a"])
    one.vectors(["b"])
    found, _ = other.vectors(["a", "b"])
    assert same_bits(found, CheckedEmbedder(scripted(spoil), None).vectors(["a", "b"])[0])
    (warning,) = one.usage.warnings
    assert "another process keeps vectors of another model in it" in warning
    one.close()
    other.close()


PROCESS = """
import sys
import numpy as np
from memruler.embedding.cache import VectorCache
from memruler.embedding.checked import CheckedEmbedder
from memruler.embedding.drift import hold_against_cache
from memruler.embedding.toy import Toy

class Model(Toy):
    def embed(self, texts):
        return super().embed(texts) + np.float32(sys.argv[1])

texts = [f"text {n}" for n in range(40)]
plain, _ = CheckedEmbedder(Model(), None).vectors(texts)
warnings = 0
for _ in range(15):
    model = Model()
    cache = VectorCache(model.identity(), "test")
    hold_against_cache(model, cache)
    checked = CheckedEmbedder(model, cache)
    for at in range(0, 40, 10):
        part, _ = checked.vectors(texts[at : at + 10])
        assert part.tobytes() == plain[at : at + 10].tobytes()
    checked.close()
    warnings += len(checked.usage.warnings)
print(warnings)
"""


@pytest.mark.parametrize(("shifts", "quiet"), [((0, 0, 0), True), ((0, 0.001, 0), False)])
def test_processes_at_once_each_get_their_own_models_vectors(shifts, quiet):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(shift)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for shift in shifts
    ]
    done = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0] * len(shifts), done
    assert not quiet or [out.split() for out, _ in done] == [["0"]] * len(shifts)
