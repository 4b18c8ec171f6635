"""What is wrong with a JSON text, in one clear sentence."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.corpora.jsontext import answer_text, blemishes, convert, decode
from memruler.errors import CorpusError


class Record(msgspec.Struct):
    text: str


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"text": "a\x00b"}', "a NUL byte at byte 11"),
        (b'{"text": "a\xffb"}', "invalid UTF-8 at byte 11"),
        (b'{"text": "a\xc3', "truncated: ends in UTF-8 at byte 11"),
        (b'{"text": "a', "truncated JSON"),
        (b'{"text": "a"', "truncated JSON"),
        (b'{"text": "a"}}', "malformed JSON: Extra data (byte 13)"),
        (b'{"text": "\xc3\xa9" x}', "malformed JSON: Expecting ',' delimiter (byte 14)"),
        (b'{"text": "\\ud800"}', "half a surrogate pair"),
        (b'{"text": NaN}', "a number that JSON does not have"),
        (b'\xef\xbb\xbf{"text": "a"}', "byte order mark"),
        (b'{"other": ' + b"[" * 5000, "nested too deeply"),
        (b'{"text": 5}', "wrong schema: Expected `str`, got `int` - at `$.text`"),
        (b"{}", "wrong schema: Object missing required field `text`"),
        (b"[]", "wrong schema"),
    ],
)
def test_every_fault_is_named_with_its_place(data, message):
    with pytest.raises(CorpusError) as caught:
        decode(data, Record, where="file: element 3")
    assert message in str(caught.value)
    assert "file: element 3" in str(caught.value)


def test_convert_names_the_place():
    with pytest.raises(CorpusError, match=r"\$\[1\]\.text.*place"):
        convert([{"text": "a"}, {"text": 1}], list[Record], where="place")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (rb'{"a": [{"b": 1, "c": 2}, {"b": 3}]}', []),
        (rb'{"a": "\\u0000"}', []),
        (rb'{"a": [{"b": 1, "b": 1}]}', [("a[0]", "the name 'b' stands twice in one object")]),
        (rb'{"b": 1, "\u0062": 2}', [("", "the name 'b' stands twice in one object")]),
        (
            rb'{"a": ["x", {"b": "\u0000"}]}',
            [("a[1].b", "contains a NUL character, which databases cut at")],
        ),
        (rb'{"\u0000": 1}', [("", "the name '\\\\x00' contains a NUL character")]),
        (rb'"\u0000"', [("", "contains a NUL character, which databases cut at")]),
        (b'{"a": {"a": 1}, "a": 2}', [("", "the name 'a' stands twice in one object")]),
    ],
)
def test_what_json_allows_and_a_corpus_does_not(data, found):
    assert [tuple(blemish) for blemish in blemishes(data)] == found


def test_a_blemish_in_a_part_that_is_not_read_is_one_too():
    with pytest.raises(CorpusError, match=r"file: other\[0\]"):
        decode(rb'{"text": "a", "other": ["\u0000"]}', Record, where="file")


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_characters="\0")),
    lambda inside: (
        st.lists(inside) | st.dictionaries(st.text(st.characters(exclude_characters="\0")), inside)
    ),
)


@given(_json)
def test_ordinary_json_has_none(value):
    assert list(blemishes(json.dumps(value).encode())) == []


@given(st.binary(max_size=40))
def test_any_bytes_give_a_value_or_a_corpus_error(data):
    try:
        value = decode(data, object, where="here")
    except CorpusError:
        return
    assert value == json.loads(data)


@pytest.mark.parametrize(
    ("raw", "text"),
    [(None, None), ("as it is ", "as it is "), (3, "3"), (True, "true"), (["é", 1], '["é", 1]')],
)
def test_answers_as_text(raw, text):
    assert answer_text(raw) == text


@given(st.integers())
def test_whole_numbers_are_written_as_json_writes_them(number):
    assert answer_text(number) == json.dumps(number)
