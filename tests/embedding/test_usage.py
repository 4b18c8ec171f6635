from hypothesis import given
from hypothesis import strategies as st

from memruler.embedding.cache import VectorCache
from memruler.embedding.checked import CheckedEmbedder
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
