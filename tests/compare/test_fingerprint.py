import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.compare.fingerprint import differences, flatten
from memruler.errors import UsageError

BASE = {
    "corpus": {"sha256": "aa", "tier": "local-file", "version": "1", "name": "c"},
    "ingest": {"text": {"date": False}},
    "system": {"name": "s", "digest": "d1", "settings": {"decay_rate": 0.03, "mmr": False}},
    "population": {"name": "p", "digest": "d2"},
    "embedder": None,
}


def with_(**parts):
    return {**BASE, **parts}


def keys(found):
    return [d.key for d in found]


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
TREES = st.dictionaries(
    st.text(max_size=3),
    st.recursive(LEAVES, lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_size=4,
)


@given(TREES)
def test_a_fingerprint_does_not_differ_from_itself(tree):
    found = differences(tree, tree)
    assert [*found.declared, *found.undeclared, *found.labels] == []


@given(TREES, TREES)
def test_differences_see_exactly_what_flattened_parts_see(left, right):
    found = differences(left, right)
    equal = flatten(left) == flatten(right) and repr(sorted_(left)) == repr(sorted_(right))
    assert bool(found.undeclared or found.labels) == (not equal)


def sorted_(tree):
    if not isinstance(tree, dict):
        return tree
    return sorted((key, sorted_(value)) for key, value in tree.items())


@given(TREES, TREES)
def test_swapping_the_runs_swaps_the_values(left, right):
    there = {(d.key, repr(d.base), repr(d.candidate)) for d in differences(left, right).undeclared}
    back = {(d.key, repr(d.candidate), repr(d.base)) for d in differences(right, left).undeclared}
    assert there == back


def test_dotted_names_cannot_hide_a_difference():
    assert flatten({"a": {"b": 1}, "a.b": 2}) == {"a.b": 1, '"a.b"': 2}
    found = differences({"a": {"b": 1}}, {"a.b": 1})
    assert len(found.undeclared) == 2


def test_true_is_not_one_but_one_is_one_point_nought():
    assert keys(differences({"a": True}, {"a": 1}).undeclared) == ["a"]
    assert not differences({"a": 1}, {"a": 1.0}).undeclared


@pytest.mark.parametrize(
    "name",
    ["decay_rate", "settings.decay_rate", "system.settings.decay_rate", "system", "settings"],
)
def test_every_way_to_name_a_key(name):
    changed = with_(system={**BASE["system"], "settings": {"decay_rate": 0.0, "mmr": False}})
    found = differences(BASE, changed, [name])
    assert keys(found.declared) == ["system.settings.decay_rate"]
    assert not found.undeclared
    assert not found.idle


def test_a_part_is_no_prefix_of_a_longer_name():
    found = differences({"a": 1, "ab": 1}, {"a": 2, "ab": 2}, ["a"])
    assert keys(found.declared) == ["a"]
    assert keys(found.undeclared) == ["ab"]


def test_an_ambiguous_name_lists_what_it_could_mean():
    with pytest.raises(UsageError, match=r"system\.digest or population\.digest"):
        differences(BASE, BASE, ["digest"])


def test_an_unknown_name_gets_a_suggestion():
    with pytest.raises(UsageError, match=r"did you mean decay_rate\?"):
        differences(BASE, BASE, ["decay_rat"])


def test_declared_but_equal_is_idle():
    assert differences(BASE, BASE, ["mmr"]).idle == ("system.settings.mmr",)


def test_a_key_of_one_run_only_says_which_run_lacks_it():
    more = {**BASE["system"], "settings": {**BASE["system"]["settings"], "cap": 9}}
    (difference,) = differences(BASE, with_(system=more)).undeclared
    assert (difference.key, difference.missing) == ("system.settings.cap", "base")


def test_no_embedder_against_one_is_one_difference_and_declaring_inside_it_is_not_idle():
    found = differences(BASE, with_(embedder={"kind": "onnx", "model": "m"}), ["embedder.kind"])
    assert keys(found.undeclared) == ["embedder"]
    assert not found.idle
    found = differences(BASE, with_(embedder={"kind": "onnx"}), ["embedder"])
    assert keys(found.declared) == ["embedder"]


@pytest.mark.parametrize("label", ["tier", "version"])
def test_a_label_of_equal_bytes_does_not_matter(label):
    found = differences(BASE, with_(corpus={**BASE["corpus"], label: "other"}))
    assert keys(found.labels) == [f"corpus.{label}"]
    assert not found.undeclared


def test_a_label_matters_where_the_bytes_differ_or_are_not_known():
    other = {**BASE["corpus"], "tier": "other", "sha256": "bb"}
    found = differences(BASE, with_(corpus=other))
    assert set(keys(found.undeclared)) == {"corpus.sha256", "corpus.tier"}
    found = differences({"corpus": {"tier": "a"}}, {"corpus": {"tier": "b"}})
    assert keys(found.undeclared) == ["corpus.tier"]
