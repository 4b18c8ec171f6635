"""A list of objects read one at a time: whatever the chunks, whatever the damage."""

import io
import json
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.corpora import stream
from memruler.corpora.stream import check_ends, elements
from memruler.errors import CorpusError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=5)


def read(data: bytes, **kwargs):
    return list(elements(io.BytesIO(data), where="file", **kwargs))


@given(OBJECTS, st.booleans(), st.sampled_from([None, 1]), st.integers(1, 40))
def test_it_reads_what_json_reads_whatever_the_chunks(objects, ascii_only, indent, chunk):
    data = json.dumps(objects, ensure_ascii=ascii_only, indent=indent).encode(errors="replace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "_CHUNK", chunk)
        found = read(data)
    assert [json.loads(element.data) for element in found] == json.loads(data)
    for n, element in enumerate(found):
        assert element.position == n
        assert data[element.offset :].startswith(element.data)


@given(OBJECTS.filter(bool), st.data())
def test_every_truncation_is_noticed(objects, draw):
    data = json.dumps(objects).encode()
    cut = draw.draw(st.integers(0, len(data) - 1))
    with pytest.raises(CorpusError):
        read(data[:cut])


@settings(max_examples=300)
@given(st.binary(max_size=60).map(lambda tail: b'[{"a": "b"}' + tail))
def test_any_bytes_end_in_elements_or_a_corpus_error(data):
    try:
        found = read(data)
    except CorpusError:
        return
    assert found[0].data == b'{"a": "b"}'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "truncated: the file ends at the start"),
        (b'{"a": 1}', "expected '[' at the start of a JSON list, found '{'"),
        (b'[{"a": 1}', "truncated: the file ends after element 0"),
        (b'[{"a": 1},', "truncated: the file ends where element 1 begins"),
        (b'[{"a": 1}, {"b": "x', "the file ends inside element 1: truncated JSON"),
        (b'[{"a": 1}, {"b": "x\xff', "the file ends inside element 1: invalid UTF-8 at byte 8"),
        (b'[{"a": 1}] x', "goes on after the end of the list with 'x'"),
        (b'[{"a": 1}]\x00', "goes on after the end of the list with byte 0x00"),
        (b'[{"a": 1} {"b": 2}]', "expected ',' or ']' after element 0, found '{'"),
        (b"[1]", "expected '{' where element 0 begins, found '1'"),
        (b'[{"a": 1},]', "expected '{' where element 1 begins, found ']'"),
    ],
)
def test_damage_is_named_with_element_and_byte(data, message):
    with pytest.raises(CorpusError) as caught:
        read(data)
    assert message in str(caught.value)
    assert "file: byte" in str(caught.value)


def test_what_stands_before_the_damage_is_yielded_first():
    found = elements(io.BytesIO(b'[{"a": 1}, {"b": '), where="file")
    assert next(found).data == b'{"a": 1}'
    with pytest.raises(CorpusError, match="inside element 1"):
        next(found)


def test_an_element_over_the_bound_is_refused():
    data = json.dumps([{"a": "x" * 100}]).encode()
    assert len(read(data, largest=120)) == 1
    with pytest.raises(CorpusError, match="element 0 has more than 50 bytes"):
        read(data, largest=50)


def test_a_string_that_never_closes_stops_at_the_bound(monkeypatch):
    monkeypatch.setattr(stream, "_CHUNK", 64)
    endless = io.BytesIO(b'[{"a": "' + b"x" * 100_000)
    with pytest.raises(CorpusError, match="element 0 has more than 1,000 bytes"):
        list(elements(endless, where="file", largest=1000))
    assert endless.tell() < 10_000


def test_a_turn_of_ten_megabytes():
    big = "y" * (10 << 20)
    (element,) = read(json.dumps([{"content": big}]).encode())
    assert json.loads(element.data)["content"] == big


def test_memory_does_not_grow_with_the_number_of_elements():
    class Repeated(io.RawIOBase):
        """A file of `count` equal elements that exists nowhere as a whole."""

        def __init__(self, count):
            self.parts = iter([b"[", *[b'{"a": "' + b"z" * 50_000 + b'"},'] * count, b"{}]"])
            self.rest = b""

        def read(self, size=-1):
            while len(self.rest) < size and (part := next(self.parts, b"")):
                self.rest += part
            data, self.rest = self.rest[:size], self.rest[size:]
            return data

    def peak(count):
        tracemalloc.start()
        number = sum(1 for _ in elements(Repeated(count), where="file"))
        assert number == count + 1
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    assert peak(2000) < peak(200) + (1 << 20)  # 100 MB of file against 10 MB


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", "top level is not a JSON list"),
        (b"   ", "top level is not a JSON list"),
        (b'[{"a": 1}, {"b"', "truncated, or something follows the list"),
        (b'[{"a": 1}] trailing', "the file ends with 'g'"),
        (b'[{"a": 1}]\x00', "the file ends with byte 0x00"),
        (b" [ ]\n", "the corpus is empty"),
        (b"\xef\xbb\xbf[{}]", "byte order mark"),
    ],
)
def test_both_ends_are_looked_at_first(data, message):
    with pytest.raises(CorpusError) as caught:
        check_ends(io.BytesIO(data), where="file")
    assert message in str(caught.value)


def test_sound_ends_pass():
    check_ends(io.BytesIO(b" [{}]\r\n"), where="file")


def test_a_long_string_is_not_scanned_once_a_chunk(monkeypatch):
    monkeypatch.setattr(stream, "_CHUNK", 64)

    class Counted(io.BytesIO):
        reads = 0

        def read(self, size=-1):
            self.reads += 1
            return super().read(size)

    file = Counted(json.dumps([{"a": "x" * 1_000_000}]).encode())
    assert len(list(elements(file, where="file"))) == 1
    assert file.reads < 30  # it doubles what it reads: linear in all, not quadratic
