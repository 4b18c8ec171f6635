import pytest

from memruler.embedding.registry import open_embedder
from memruler.errors import UsageError


def test_the_toy_is_degraded_and_never_cached(cache_home):
    embedder = open_embedder("toy")
    assert embedder.identity().degraded
    embedder.vectors(["a"])
    assert open_embedder("toy").usage.from_cache == 0
    assert not cache_home.exists()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("minilm2", "did you mean minilm?"),
        ("Toy", "did you mean toy?"),
        ("opnai:x", "did you mean openai:MODEL?"),
        ("openai", "did you mean openai:MODEL?"),
        ("sentence-transformer:x", "did you mean sentence-transformers:MODEL?"),
        ("toy:x", "did you mean toy?"),
        ("word2vec", "one of minilm, toy, openai:MODEL, sentence-transformers:MODEL"),
        ("", "one of"),
    ],
)
def test_an_unknown_name_gets_a_hint(name, hint):
    with pytest.raises(UsageError, match="no such embedder") as caught:
        open_embedder(name)
    assert hint in str(caught.value)


@pytest.mark.parametrize("name", ["openai:", "sentence-transformers:"])
def test_a_kind_without_a_model_is_a_usage_error(name):
    with pytest.raises(UsageError, match="no model is named"):
        open_embedder(name)


def test_minilm_with_and_without_cache_gives_the_same_bits(same_bits):
    pytest.importorskip("onnxruntime", reason="needs memruler[local]")
    texts = ["Ana: I adopted a cat.", "", "Ben: Which colour?", "Ana: Grey!"]
    plain, real = open_embedder("minilm", cache=False, threads=1).vectors(texts)
    first = open_embedder("minilm", threads=2)
    again = open_embedder("minilm")
    assert same_bits(first.vectors(texts[::-1])[0][::-1], plain)
    assert same_bits(again.vectors(texts)[0], plain)
    assert real.tolist() == [True, False, True, True]
    assert (first.usage.embedded, first.usage.from_cache) == (3, 0)
    assert (again.usage.embedded, again.usage.from_cache) == (0, 3)
    assert again.usage.truncated == 0
