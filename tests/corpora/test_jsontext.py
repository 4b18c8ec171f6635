"""What is wrong with a JSON text, in one clear sentence."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.corpora.jsontext import answer_text, convert, decode
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
