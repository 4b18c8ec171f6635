"""Replies become hits; what cannot be read is an error, what names no key has no source."""

from datetime import datetime

import pytest

from memruler.errors import SystemUnderTestError
from memruler.systems.remote.result import dig, hits_of
from memruler.systems.remote.spec import ListedHits, ResultShape


def shape(*lists, **fields):
    return ResultShape(lists=lists or (ListedHits(at="hits", id="id", text="text", **fields),))


def test_lists_follow_each_other_in_the_order_of_the_file():
    two = shape(
        ListedHits(at="pages", id="id", kind="page"), ListedHits(at="raw", id="id", kind="raw")
    )
    hits = hits_of(two, {"raw": [{"id": 1}], "pages": [{"id": "b"}, {"id": "a"}]})
    assert [(hit.item, hit.kind) for hit in hits] == [("b", "page"), ("a", "page"), ("1", "raw")]
    assert [hit.item for hit in hits_of(two, {"raw": [{"id": 1}]})] == ["1"]


def test_a_key_is_taken_out_of_a_path_or_an_id():
    by_path = shape(source="path", pattern=r"sessions/(s\d+)\.md$")
    entries = [{"id": 1, "path": "wing/sessions/s12.md"}, {"id": 2, "path": "wing/notes.md"}]
    assert [hit.sources for hit in hits_of(by_path, {"hits": entries})] == [("s12",), None]


@pytest.mark.parametrize("value", [None, "", 7, {"a": "k"}, [], [None, 3, ""]])
def test_what_names_no_key_has_no_source(value):
    (hit,) = hits_of(shape(source="from"), {"hits": [{"id": "x", "from": value}]})
    assert hit.sources is None


def test_several_keys_all_count():
    (hit,) = hits_of(shape(source="from"), {"hits": [{"id": "x", "from": ["a", 1, "b"]}]})
    assert hit.sources == ("a", "b")


def test_without_an_id_equal_texts_are_one_item():
    hits = hits_of(shape(), {"hits": [{"text": "t"}, {"text": "t"}, {"text": "u"}]})
    assert hits[0].item == hits[1].item != hits[2].item


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (None, "none of its lists is there: hits"),
        ("no", "none of its lists"),
        ([], "none of its lists"),
        ({"error": "x"}, "none of its lists"),
        ({"hits": {"id": 1}}, "`hits` is no list"),
        ({"hits": ["text"]}, "neither an id nor a text"),
        ({"hits": [None]}, "neither an id nor a text"),
        ({"hits": [{"id": True}]}, "an id is no text or number"),
        ({"hits": [{"id": [1]}]}, "an id is no text or number"),
        ({"hits": [{"id": 1, "text": 5}]}, "a text is no text"),
        ({"hits": [{"id": 1, "score": "high"}]}, "a score is no number"),
        ({"hits": [{"id": 1, "score": True}]}, "a score is no number"),
        ({"hits": [{"id": 1, "score": float("nan")}]}, "a score is no finite number"),
        ({"hits": [{"id": 1, "score": float("inf")}]}, "a score is no finite number"),
        ({"hits": [{"id": 1, "score": 10**400}]}, "a score is no finite number"),
    ],
)
def test_what_cannot_be_read_is_never_an_empty_result(reply, said):
    with pytest.raises(SystemUnderTestError, match=said) as caught:
        hits_of(shape(score="score"), reply)
    assert caught.value.kind == "malformed"


def test_a_huge_id_is_a_text_like_any_other():
    (hit,) = hits_of(shape(), {"hits": [{"id": 10**4000}]})
    assert len(hit.item) == 4001


def test_half_a_surrogate_pair_is_marked():
    entry = {"id": "a\ud800", "text": "b\ud800", "from": "c\ud800"}
    (hit,) = hits_of(shape(source="from"), {"hits": [entry]})
    assert (hit.item, hit.text, hit.sources) == ("a?", "b?", ("c?",))


def test_deep_replies_are_dug_without_end():
    deep = {"id": "x"}
    for _ in range(5000):
        deep = {"a": deep}
    assert dig(deep, ".".join(["a"] * 5000 + ["id"])) == "x"


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2024-05-06T07:08:09", datetime(2024, 5, 6, 7, 8, 9)),
        ("2024-05-06T07:08:09+02:00", datetime(2024, 5, 6, 5, 8, 9)),
        ("yesterday", None),
        (10**30, None),
        (True, None),
        (None, None),
    ],
)
def test_times(value, time):
    (hit,) = hits_of(shape(time="at"), {"hits": [{"id": "x", "at": value}]})
    assert hit.time == time


@pytest.mark.parametrize(
    ("path", "found"),
    [("", {"a": [1, {"b": 2}]}), ("a.1.b", 2), ("a.9", None), ("a.-1", None), ("a.b", None)],
)
def test_paths(path, found):
    assert dig({"a": [1, {"b": 2}]}, path) == found
