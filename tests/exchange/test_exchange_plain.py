"""What is read by quotes alone is what a strict parser reads, or is left to it."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.exchange.plain_mapping import plain_mapping
from memruler.exchange.plain_ranked import plain_ranked

NAMES = ["raw", "source"]
text = st.text(st.characters(blacklist_characters='"\\', blacklist_categories=["C"]), max_size=12)
texts = st.lists(text, max_size=4)
other = st.one_of(text, texts, st.none(), st.booleans(), st.integers(), st.floats(-9, 9))
ranked_line = st.fixed_dictionaries(
    {"query_id": text, "ranked": texts},
    optional={"category": st.none() | text, "cluster": text, "note": other, "7": other},
)
group = st.fixed_dictionaries(
    {"anchor": st.integers() | text}, optional={"raw": st.none() | texts, "x": other}
)
mapping_line = st.fixed_dictionaries(
    {"query_id": text},
    optional={
        "groups": st.none() | st.lists(group, max_size=3),
        "raw_ids": st.none() | texts,
        "source_ids": texts,
        "note": other,
    },
)
spacing = st.sampled_from([(",", ":"), (", ", ": "), (" , ", " :  ")])


def _text(lines, separators):
    return "\n".join(
        json.dumps(line, ensure_ascii=False, separators=separators) for line in lines
    ).encode()


def _ranked_rows(table):
    return [
        {name: value for name, value in row.items() if value is not None}
        for row in table.to_pylist()
    ]


def _ranked_wanted(lines):
    names = ("query_id", "category", "cluster", "instance", "ranked")
    return [{name: line[name] for name in names if line.get(name) is not None} for line in lines]


def _mapping_wanted(lines):
    return [
        {
            "query_id": line["query_id"],
            **{f"{name}_ids": line.get(f"{name}_ids") for name in NAMES},
            "groups": None
            if line.get("groups") is None
            else [{name: group.get(name) for name in NAMES} for group in line["groups"]],
        }
        for line in lines
    ]


@given(st.lists(ranked_line, min_size=1, max_size=5), spacing)
def test_rankings_are_what_a_parser_reads(lines, separators):
    table = plain_ranked(_text(lines, separators))
    assert table is None or _ranked_rows(table) == _ranked_wanted(lines)


@given(st.lists(mapping_line, min_size=1, max_size=5), spacing)
def test_targets_are_what_a_parser_reads(lines, separators):
    table = plain_mapping(_text(lines, separators), NAMES)
    assert table is None or table.to_pylist() == _mapping_wanted(lines)


def test_the_lines_of_the_documents_are_plain():
    """Else the property tests above would hold for a reader that reads nothing."""
    ranked = {"query_id": "q1", "category": "c", "note": [], "ranked": ["a", "é", "b"], "n": 1}
    empty = {"ranked": [], "query_id": "q2", "instance": "i"}
    for separators in ((",", ":"), (", ", ": ")):
        table = plain_ranked(_text([ranked, empty, ranked], separators))
        assert _ranked_rows(table) == _ranked_wanted([ranked, empty, ranked])
    groups = [
        {"anchor": 123456789012, "raw": ["a"], "canonical": ["c", "d"]},
        {"anchor": "b", "raw": None},
        {"raw": [], "source": ["s"], "anchor": -1.5e3},
    ]
    lines = [
        {"query_id": "q1", "groups": groups, "raw_ids": ["a"], "source_ids": []},
        {"query_id": "q2", "groups": []},
        {"raw_ids": None, "query_id": "q3"},
        {"query_id": "q4", "groups": None, "raw_ids": ["z"]},
    ]
    for separators in ((",", ":"), (", ", ": ")):
        table = plain_mapping(_text(lines, separators), NAMES)
        assert table.to_pylist() == _mapping_wanted(lines)


PIECES = [
    *('"', "{", "}", "[", "]", ",", ":", "\n", " ", "0", "12", "-", ".", "e5", "n", "null", "true"),
    *('"raw":', '"groups":[{', '"x":null,', "{}", "[]", "\\", "\t", '"ranked":[]', "}\n{", "01"),
    *("nu ll", "- 1", "1 2", '""', '":"', "},{", "]}", ":[", '"a":{"b":1}', '"query_id":"z",'),
]


def _mutations(data, edits):
    for place, length, piece in edits:
        at = place % (len(data) + 1)
        data = data[:at] + piece + data[at + length :]
    return data


edits = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 3), st.sampled_from(["", *PIECES])),
    min_size=1,
    max_size=3,
)
GOOD_RANKED = '{"query_id":"q1","category":"c","ranked":["a","b"]}\n{"ranked":[],"query_id":"q2"}'
GOOD_MAPPING = (
    '{"query_id":"q1","groups":[{"anchor":3,"raw":["a","b"],"source":[]},{"raw":["c"]}],'
    '"raw_ids":["a"]}\n{"groups":[],"query_id":"q2","source_ids":["s"]}'
)


def _strict(data):
    """The lines as a strict parser reads them, or None where one is no object."""
    try:
        lines = [msgspec.json.decode(line) for line in data.split(b"\n")]
        pairs = [json.loads(line, object_pairs_hook=_distinct) for line in data.split(b"\n")]
    except ValueError:
        return None
    return lines if all(isinstance(line, dict) for line in pairs) else None


def _distinct(pairs):
    names = [name for name, _ in pairs if name in {"query_id", "ranked", "category", "groups"}]
    if len(set(names)) < len(names):
        raise ValueError("twice")
    return dict(pairs)


@settings(max_examples=600)
@given(edits)
def test_a_damaged_ranking_is_never_taken_for_a_sound_one(changes):
    data = _mutations(GOOD_RANKED, changes).strip().encode()
    table = plain_ranked(data)
    if table is not None:
        lines = _strict(data)
        assert lines is not None
        assert _ranked_rows(table) == _ranked_wanted(lines)


@settings(max_examples=600)
@given(edits)
def test_damaged_targets_are_never_taken_for_sound_ones(changes):
    data = _mutations(GOOD_MAPPING, changes).strip().encode()
    table = plain_mapping(data, NAMES)
    if table is not None:
        lines = _strict(data)
        assert lines is not None
        assert table.to_pylist() == _mapping_wanted(lines)


@pytest.mark.parametrize(
    "data",
    [
        b'{"query_id":"q","ranked":["\xff"]}',
        b'{"query_id":"q","ranked":["\xed\xa0\x80"]}',
        b'{"query_id":"a\\u0041","ranked":[]}',
        b'{"query_id":"a\x00","ranked":[]}',
        b'{"query_id":"a\tb","ranked":[]}',
        b'{"query_id":"q","ranked":["a"],"ranked":["b"]}',
        b'{"query_id":"q","query_id":"r","ranked":[]}',
        b'{"query_id":"q","category":1,"ranked":[]}',
        b'{"query_id":"q","ranked":"a"}',
        b'{"query_id":"q","x":' + b"[" * 300 + b'"a"' + b"]" * 300 + b',"ranked":["a"]}',
        b'{"query_id":"q","category":n,"ranked":["a"]}',
        b'{"query_id":"q","note":012,"ranked":["a"]}',
        b'{"query_id":"q","note":1 2,"ranked":["a"]}',
        b'{"query_id":"q}\n{","ranked":["a"]}',
        b'{"query_id":"q","ranked":null}',
        b'{"query_id":["q"],"ranked":["a"]}',
        b'{"query_id":"q","ranked":["a",1]}',
        b'{"query_id":"q"}',
        b'{"ranked":["a"]}',
        b'{"query_id":"q","ranked":["a"]}null',
        b'"query_id"',
        b"{}",
        b"null",
        b"",
    ],
)
def test_lines_that_are_not_plain_are_left_to_the_parser(data):
    assert plain_ranked(data) is None
