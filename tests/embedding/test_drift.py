import numpy as np
import pytest

from memruler.embedding.cache import VectorCache
from memruler.embedding.drift import PROBE, refuse_drift
from memruler.errors import InstrumentError


def _cache(embedder):
    return VectorCache(embedder.identity(), embedder.runtime())


def _noise(size):
    def spoil(vectors):
        return (vectors + size * np.cos(np.arange(vectors.shape[1]))).astype(np.float32)

    return spoil


def test_the_same_model_passes_again_and_again(scripted):
    for _ in range(3):
        embedder = scripted()
        refuse_drift(embedder, _cache(embedder))
        assert embedder.asked == [PROBE]


def test_the_last_bits_of_a_gpu_pass(scripted):
    refuse_drift(scripted(), _cache(scripted()))
    refuse_drift(scripted(_noise(1e-5)), _cache(scripted()))


@pytest.mark.parametrize("spoil", [_noise(0.5), np.negative, lambda v: v * np.nan])
def test_another_model_under_the_same_name_is_refused(scripted, spoil):
    refuse_drift(scripted(), _cache(scripted()))
    with pytest.raises(InstrumentError, match="not the one whose vectors are cached"):
        refuse_drift(scripted(spoil), _cache(scripted()))


def test_without_a_usable_cache_there_is_nothing_to_hold_it_against(scripted, cache_home):
    cache_home.write_text("a file where the folder belongs")
    cache = _cache(scripted())
    refuse_drift(scripted(), cache)
    refuse_drift(scripted(np.negative), cache)
    assert len(cache.warnings) == 1
