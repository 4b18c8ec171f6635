"""Every fault at once, each with its line and its field; and the published schema agrees."""

import copy
import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import inspect as types

from memruler.corpora import jsonl_check
from memruler.corpora.jsonl_check import check
from memruler.corpora.jsonl_format import InstanceLine, schema, schema_bytes
from memruler.corpora.mismatch import mismatches
from memruler.errors import CorpusError

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / "corpus.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(schema())
KIND = types.type_info(InstanceLine)

FULL = {
    "id": "a",
    "sessions": [
        {
            "id": "s0",
            "time": "2024-03-01T10:30:00+02:00",
            "turns": [
                {
                    "speaker": "A",
                    "text": "one",
                    "id": "t0",
                    "caption": "c",
                    "tags": ["x"],
                    "importance": 0.5,
                },
                {"speaker": "B", "text": ""},
            ],
        },
        {"time": "2024-03-02", "turns": []},
    ],
    "queries": [
        {
            "id": "q0",
            "text": "q?",
            "category": "c",
            "answer": [1, {"a": None}],
            "answerable": True,
            "time": "2024-03-03T00:00",
            "family": "f",
            "evidence": {"turns": [[0, 1], "t0"], "sessions": [0, "s0"]},
        },
        {"text": "q2?"},
    ],
}


def places(tmp_path, *lines):
    """The faults of a file with these lines, as (line, field)."""
    return [(fault.line, fault.field) for fault in faults(tmp_path, *lines)]


def faults(tmp_path, *lines):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(
        b"".join((x if isinstance(x, bytes) else json.dumps(x).encode()) + b"\n" for x in lines)
    )
    return check(path)


def changed(path, value):
    """`FULL` with the value at `path` (keys and positions) replaced; ... removes it."""
    line = copy.deepcopy(FULL)
    inside = line
    for step in path[:-1]:
        inside = inside[step]
    if value is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = copy.deepcopy(value)
    return line


def test_a_sound_file(tmp_path):
    assert faults(tmp_path, {"corpus": {"version": "1"}, "schema": 1}, FULL) == []
    assert faults(tmp_path, FULL, changed(["id"], "b")) == []


T0 = ["sessions", 0, "turns", 0]
Q0 = ["queries", 0]


@pytest.mark.parametrize(
    ("path", "value", "field", "what"),
    [
        (["id"], ..., "id", "is missing"),
        (["id"], "", "id", "must not be empty"),
        (["sessions"], {}, "sessions", "expected a list, got an object"),
        (["sessions", 1], 5, "sessions[1]", "expected an object, got 5"),
        (["surprise"], 1, "", "unknown field 'surprise'"),
        ([*T0, "speeker"], "A", "sessions[0].turns[0]", "did you mean speaker?"),
        ([*T0, "text"], None, "sessions[0].turns[0].text", "expected text, got null"),
        ([*T0, "text"], "a\0b", "sessions[0].turns[0].text", "contains a NUL character"),
        ([*T0, "caption"], "a\0", "sessions[0].turns[0].caption", "contains a NUL character"),
        (["sessions", 1, "id"], "a\0b", "sessions[1].id", "contains a NUL character"),
        ([*T0, "tags"], ["a", "\0"], "sessions[0].turns[0].tags[1]", "contains a NUL character"),
        (["queries", 0, "category"], "\0", "queries[0].category", "contains a NUL character"),
        (["queries", 0, "answer"], [{"a": "\0"}], "queries[0].answer[0].a", "contains a NUL"),
        (["id"], "a\0", "id", "contains a NUL character"),
        ([*T0, "importance"], 1.5, "sessions[0].turns[0].importance", "out of range: 1.5"),
        ([*T0, "importance"], -1, "sessions[0].turns[0].importance", "must be 0 to 1"),
        ([*T0, "importance"], True, "sessions[0].turns[0].importance", "got true"),
        ([*T0, "tags"], "x", "sessions[0].turns[0].tags", "expected a list"),
        ([*T0, "tags"], ["x", ""], "sessions[0].turns[0].tags[1]", "must not be empty"),
        ([*T0[:3], 1, "id"], "t0", "sessions[0].turns[1].id", "sessions[0].turns[0] has this id"),
        (["sessions", 1, "id"], "s0", "sessions[1].id", "sessions[0] has this id too"),
        (["sessions", 1, "time"], "yesterday", "sessions[1].time", "not written as it must be"),
        (
            ["sessions", 1, "time"],
            "01/05/2024",
            "sessions[1].time",
            "the text '01/05/2024'; write it as `2024-05-01` or `2024-05-01T10:30:00Z`",
        ),
        (
            ["sessions", 1, "time"],
            1714521600,
            "sessions[1].time",
            "got 1714521600; write it as `2024-05-01` or `2024-05-01T10:30:00Z`",
        ),
        ([*Q0, "time"], [], "queries[0].time", "of 0; write it as `2024-05-01` or"),
        (
            [*Q0, "evidence"],
            [[0, 1]],
            "queries[0].evidence",
            'expected an object, got a list of 1; write it as `{"turns": [[0, 0]]}`',
        ),
        (["sessions", 1, "time"], "2024-02-30", "sessions[1].time", "no such time"),
        (["sessions", 1, "time"], "0001-01-01T00:00+14:00", "sessions[1].time", "no such time"),
        ([*Q0, "text"], "", "queries[0].text", "must not be empty"),
        ([*Q0, "answerable"], 1, "queries[0].answerable", "expected true or false, got 1"),
        (["queries", 1, "id"], "q0", "queries[1].id", "queries[0] has this id too"),
        ([*Q0, "time"], "2024-13-01", "queries[0].time", "no such time"),
        (
            [*Q0, "evidence", "turns", 0],
            [0, 2],
            "queries[0].evidence.turns[0]",
            "the turns of session 0 are counted from 0 to 1",
        ),
        (
            [*Q0, "evidence", "turns", 0],
            [9, 0],
            "queries[0].evidence.turns[0]",
            "no turn [9,0]: sessions are counted from 0 to 1",
        ),
        (
            [*Q0, "evidence", "turns", 0],
            [1, 0],
            "queries[0].evidence.turns[0]",
            "[1,0]: there is none",
        ),
        ([*Q0, "evidence", "turns", 0], [0], "queries[0].evidence.turns[0]", "[session, turn]"),
        ([*Q0, "evidence", "turns", 0], [0, -1], "queries[0].evidence.turns[0][1]", "at least 0"),
        ([*Q0, "evidence", "turns", 1], "t9", "queries[0].evidence.turns[1]", 'no turn "t9"'),
        ([*Q0, "evidence", "turns", 1], 4, "queries[0].evidence.turns[1]", "or text, got 4"),
        (
            [*Q0, "evidence", "sessions", 0],
            2,
            "queries[0].evidence.sessions[0]",
            "no session 2: they are counted from 0 to 1",
        ),
        ([*Q0, "evidence", "sessions", 0], 1, "queries[0].evidence.sessions[0]", "has no turn"),
        ([*Q0, "evidence", "sessions", 1], "s9", "queries[0].evidence.sessions[1]", '"s9"'),
    ],
)
def test_each_fault_alone_is_found_once(tmp_path, path, value, field, what):
    (fault,) = faults(tmp_path, changed(path, value))
    assert (fault.line, fault.field) == (1, field)
    assert what in fault.what
    assert str(fault).startswith(f"{tmp_path / 'corpus.jsonl'}:1: ")


def test_all_faults_of_a_file_at_once(tmp_path):
    line = changed([*T0, "text"], 5)
    line["sessions"][1]["time"] = "2024-02-30"
    line["queries"][0]["evidence"]["turns"] = [[0, 9], "t9"]
    line["queries"][1] = {"txt": "q"}
    found = places(
        tmp_path,
        FULL,
        b"",
        line,
        b'{"id": "c", "sessi',
        b'{"id": "\xff"}',
        b'{"id": "a\x00"}',
        FULL,
    )
    assert found == [
        (2, ""),
        (3, "sessions[0].turns[0].text"),
        (3, "queries[1]"),
        (3, "queries[1].text"),
        (3, "sessions[1].time"),
        (3, "queries[0].evidence.turns[0]"),
        (3, "queries[0].evidence.turns[1]"),
        (3, "id"),  # the id of line 1
        (4, ""),
        (5, ""),
        (6, ""),
        (7, "id"),
    ]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"", "is a blank line"),
        (b" \t", "is a blank line"),
        (b'{"id": "a", "sessions": [', "truncated JSON"),
        (b'{"id": "\xff"}', "invalid UTF-8 at byte 8"),
        (b'{"id": "\x00"}', "a NUL byte at byte 8"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"[" * 3000, "nested too deeply"),
        (b"[]", "expected an object, got a list of 0"),
        (b"null", "expected an object, got null"),
        (b'{"id": "a", "id": "b", "sessions": []}', "the name 'id' stands twice in one object"),
    ],
)
def test_lines_that_are_no_object(tmp_path, line, what):
    (fault,) = faults(tmp_path, line)
    assert (fault.line, fault.field) == (1, "")
    assert what in fault.what


def test_files_without_an_instance(tmp_path):
    (fault,) = faults(tmp_path, {"corpus": {}})
    assert (fault.line, fault.what) == (0, "the corpus is empty: no instance")
    (tmp_path / "empty").touch()
    with pytest.raises(CorpusError, match="the file is empty"):
        check(tmp_path / "empty")
    with pytest.raises(CorpusError, match="no such file"):
        check(tmp_path / "nothing")


def test_the_line_about_the_corpus(tmp_path):
    newer = {"corpus": {"license": "MIT"}, "schema": 2}
    found = faults(tmp_path, newer, FULL)
    assert [(f.line, f.field) for f in found] == [(1, "corpus"), (1, "schema")]
    assert "did you mean licence?" in found[0].what
    assert places(tmp_path, FULL, {"corpus": {}}) == [(2, "")]


@pytest.mark.parametrize("version", [True, 2, "1", None])
def test_only_this_version_of_the_format_is_read(tmp_path, version):
    assert places(tmp_path, {"corpus": {}, "schema": version}, FULL) == [(1, "schema")]


def test_a_line_over_the_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(jsonl_check, "LONGEST", 100)
    (fault,) = faults(tmp_path, FULL, FULL)
    assert "more than 100 bytes" in fault.what


def test_hostile_text_cannot_leave_its_line(tmp_path):
    (fault,) = faults(tmp_path, changed(["a\n\x1b[31m\u202e"], 1))
    assert str(fault).isprintable()


def test_references_are_not_judged_where_the_sessions_are_unknown(tmp_path):
    assert places(tmp_path, changed(["sessions"], None)) == [(1, "sessions")]
    found = places(tmp_path, changed(["sessions", 0, "turns"], None))
    assert found == [(1, "sessions[0].turns")]


# --- the published schema, the walk and the decoder say the same


def test_the_published_schema_is_up_to_date():
    assert PUBLISHED.read_bytes() == schema_bytes(), (
        "run: memruler corpora schema > docs/schema/corpus.schema.json"
    )


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    "line", [FULL, {"id": "a", "sessions": []}, {"corpus": {"notes": ["n"]}, "schema": 1}]
)
def test_the_schema_accepts(line):
    VALIDATOR.validate(line)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["id"], ...),
        (["surprise"], 1),
        ([*T0, "speeker"], "A"),
        ([*T0, "importance"], 2),
        (["sessions", 1, "time"], "yesterday"),
        ([*Q0, "evidence", "turns", 0], [0]),
        ([*Q0, "evidence", "turns", 0], [0, 1, 2]),
        ([*Q0, "evidence", "sessions", 0], -1),
    ],
)
def test_the_schema_refuses(path, value):
    assert not VALIDATOR.is_valid(changed(path, value))


def everywhere(value, path=()):
    """Every path in a JSON value."""
    if path:
        yield list(path)
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inside in items:
            yield from everywhere(inside, (*path, step))


SPOILERS = st.one_of(
    st.just(...),
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.sampled_from([0.5, -0.5, 7.25]),
    st.sampled_from(["", "x", "2024-01-01", "2024-01-01T10:00Z"]),
    st.just([]),
    st.just({}),
    st.just([0, 1]),
)


@given(st.sampled_from(list(everywhere(FULL))), SPOILERS)
def test_schema_walk_and_decoder_agree_on_every_spoiled_line(path, value):
    line = changed(path, value)
    walk = list(mismatches(line, KIND))
    try:
        msgspec.json.decode(json.dumps(line), type=InstanceLine)
        decoded = True
    except msgspec.ValidationError:
        decoded = False
    assert decoded is not bool(walk), walk
    assert decoded is VALIDATOR.is_valid(line)


@given(st.lists(st.tuples(st.sampled_from([p for p in everywhere(FULL) if len(p) >= 4]), SPOILERS)))
def test_no_combination_of_faults_breaks_the_check(tmp_path_factory, changes):
    line = copy.deepcopy(FULL)
    for path, value in changes:
        inside = line
        try:
            for step in path[:-1]:
                inside = inside[step]
            if value is ...:
                del inside[path[-1]]
            else:
                inside[path[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue
    found = faults(tmp_path_factory.getbasetemp(), line)
    if not VALIDATOR.is_valid(line):
        assert found
    assert len({(f.field, f.what) for f in found}) == len(found)
