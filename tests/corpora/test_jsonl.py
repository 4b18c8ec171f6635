"""The loader of memruler's own format."""

import hashlib
import json
from datetime import datetime
from pathlib import Path

import pytest

from memruler.corpora.jsonl import JsonlCorpus
from memruler.errors import CorpusError

LINE = {
    "id": "a",
    "sessions": [
        {"id": "s0", "time": "2024-03-01T10:30:00+02:00", "turns": [{"speaker": "A", "text": "x"}]},
        {
            "time": "2024-03-02",
            "turns": [
                {"speaker": "B", "text": " y ", "id": "t1", "tags": ["k"], "importance": 1},
                {"speaker": "A", "text": "z", "caption": "c"},
            ],
        },
        {"turns": []},
    ],
    "queries": [
        {"text": "q0", "answer": 3, "evidence": {"turns": ["t1", [0, 0], [1, 0]]}},
        {"text": "q1", "evidence": {"sessions": ["s0"]}, "time": "2024-04-01T00:00:00Z"},
        {"text": "q2", "answerable": False, "evidence": {"turns": [[0, 0]]}, "id": "mine"},
        {"text": "q3", "category": "c", "family": "f"},
    ],
}


def write(tmp_path, *lines, newline=b"\n"):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b"".join(json.dumps(line).encode() + newline for line in lines))
    return path


@pytest.fixture
def instance(tmp_path):
    (found,) = JsonlCorpus(write(tmp_path, LINE))
    return found


def test_sessions_and_turns(instance):
    assert instance.key == "a"
    assert [s.position for s in instance.sessions] == [0, 1, 2]
    assert [len(s.turns) for s in instance.sessions] == [1, 2, 0]
    turn = instance.sessions[1].turns[0]
    assert (turn.speaker, turn.text, turn.id) == ("B", " y ", "t1")
    assert (turn.tags, turn.importance) == (("k",), 1.0)
    assert instance.sessions[1].turns[1].caption == "c"


def test_times_are_naive_utc(instance):
    assert [s.time for s in instance.sessions] == [
        datetime(2024, 3, 1, 8, 30),
        datetime(2024, 3, 2),
        None,
    ]
    assert instance.queries[1].time == datetime(2024, 4, 1)


def test_evidence(instance):
    first, second, third, fourth = (q.evidence[0] for q in instance.queries)
    assert (first.status, first.turns, first.sessions) == ("ok", ((1, 0), (0, 0)), (0, 1))
    assert first.references == ("t1", "[0,0]", "[1,0]")
    assert (second.status, second.turns, second.sessions) == ("ok", (), (0,))
    assert (third.status, third.turns, third.references) == ("none_by_design", (), ("[0,0]",))
    assert fourth.status == "unresolved"


def test_queries(instance):
    assert [q.id for q in instance.queries] == ["a/q0", "a/q1", "mine", "a/q3"]
    assert (instance.queries[0].answer, instance.queries[0].answer_raw) == ("3", 3)
    assert instance.queries[0].category == "uncategorised"
    assert (instance.queries[3].category, instance.queries[3].family) == ("c", "f")
    assert [q.answerable for q in instance.queries] == [True, True, False, True]


def test_info(tmp_path):
    path = write(tmp_path, LINE)
    info = JsonlCorpus(path).info
    assert info.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (info.name, info.version, info.licence) == ("jsonl", "unknown", "unknown")
    assert (info.tier, info.notes) == ("local-file", ())
    assert [(p.name, p.rule) for p in info.populations] == [
        ("answerable", "labels"),
        ("all", "labels"),
    ]


def test_the_first_line_may_tell_about_the_corpus(tmp_path):
    about = {"version": "3", "licence": "MIT", "notes": ["Made up."]}
    corpus = JsonlCorpus(write(tmp_path, {"corpus": about}, LINE))
    assert (corpus.info.version, corpus.info.licence) == ("3", "MIT")
    assert corpus.info.notes == ("Made up.",)
    assert [i.position for i in corpus] == [0]


def test_windows_line_ends_and_no_last_line_end(tmp_path):
    path = write(tmp_path, LINE, {**LINE, "id": "b"}, newline=b"\r\n")
    assert [i.key for i in JsonlCorpus(path)] == ["a", "b"]
    path.write_bytes(path.read_bytes().rstrip())
    assert [i.key for i in JsonlCorpus(path)] == ["a", "b"]


def test_faults_are_refused_before_anything_is_yielded(tmp_path):
    bad = {"id": "b", "sessions": [{"turns": [{}]}]}
    with pytest.raises(CorpusError) as caught:
        JsonlCorpus(write(tmp_path, LINE, bad, bad))
    told = str(caught.value)
    assert "line 2: sessions[0].turns[0].speaker: is missing" in told
    assert "line 3" in told
    assert "and 2 more" in told
    assert f"memruler corpora check {tmp_path / 'corpus.jsonl'}" in told
    assert caught.value.exit_code == 2


def test_a_change_after_the_check(tmp_path):
    path = write(tmp_path, LINE)
    corpus = JsonlCorpus(path)
    write(tmp_path, LINE, {**LINE, "id": "b"})
    with pytest.raises(CorpusError, match="changed while it was in use"):
        list(corpus)


def test_a_turn_of_ten_megabytes(tmp_path):
    big = "y" * (10 << 20)
    line = {"id": "a", "sessions": [{"turns": [{"speaker": "A", "text": big}]}]}
    (found,) = JsonlCorpus(write(tmp_path, line))
    assert found.sessions[0].turns[0].text == big


def test_the_example_in_the_documentation_is_sound(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "corpora.md").read_text(encoding="utf-8")
    _, _, rest = page.partition("```json\n")
    example, _, _ = rest.partition("```")
    path = tmp_path / "example.jsonl"
    path.write_text(example, encoding="utf-8")
    (found,) = JsonlCorpus(path)
    assert [q.evidence[0].status for q in found.queries] == ["ok", "ok", "none_by_design"]
