"""Answers that were made elsewhere: what fits, what does not, and what is missing."""

import json

import msgspec
import pytest

from memruler.errors import CorpusError, MemrulerError
from memruler.scoring.answer_import import FileAnswers
from memruler.scoring.answer_load import load_items
from memruler.scoring.answering import write_answers

IDS = [f"inst-{i}/{q}" for i in (0, 1) for q in range(3)]


def lines(*pairs):
    return "\n".join(json.dumps({"question_id": i, "hypothesis": h, "x": 1}) for i, h in pairs)


def taken(tmp_path, run, text):
    path = tmp_path / "said.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return write_answers(run, FileAnswers(path), "f")


@pytest.mark.parametrize("form", ["lines", "list", "bom", "crlf"])
def test_each_answer_goes_to_its_query_whatever_the_order(tmp_path, sealed_run, form):
    run, pairs = sealed_run(), [(name, f"said {name}") for name in reversed(IDS)]
    text = lines(*pairs).encode() + b"\n\n"
    if form == "list":
        text = b" [" + text.strip().replace(b"\n", b",") + b"]"
    if form == "bom":
        text = b"\xef\xbb\xbf" + text
    if form == "crlf":
        text = text.replace(b"\n", b"\r\n")
    made = taken(tmp_path, run, text)
    assert [item.response for item in load_items(run, "f")] == [f"said {name}" for name in IDS]
    assert made.counts == {"queries": 6, "answered": 6, "empty": 0, "failed": 0, "unknown": 0}
    assert (made.reader.kind, made.reader.prompt, made.k) == ("file", "said.jsonl", None)
    assert not made.warnings


def test_missing_and_unknown_ids_are_counted_and_named(tmp_path, sealed_run):
    run = sealed_run()
    made = taken(
        tmp_path, run, lines((IDS[1], ""), ("a\u202e", "x"), ("b", "y"), ("c", "z"), ("d", ""))
    )
    assert made.counts == {"queries": 6, "answered": 0, "empty": 1, "failed": 5, "unknown": 4}
    missing, unknown = made.warnings
    assert missing.startswith("5 queries have no answer in the file: inst-0/0, inst-0/2, inst-1/0")
    assert unknown == "4 ids of the file are no queries of the run: a\\u202e, b, c and 1 more"
    items = list(load_items(run, "f"))
    assert (items[0].response, items[0].error) == (None, "the file has no answer to it")
    assert (items[1].response, items[1].error) == ("", None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            lines((IDS[0], "a"), (IDS[1], "b"), (IDS[0], "a")),
            "1 questions are answered twice: inst-0/0",
        ),
        (lines(("x", "a")), "no query of any id in the file.*the file has x; the run inst-0/0"),
        ("", "holds no answer"),
        ("[]", "holds no answer"),
        ("{", "line 1"),
        (lines((IDS[0], "a")) + "\nnull", "line 2"),
        ('{"question_id": 5, "hypothesis": "x"}', "line 1"),
        ('{"question_id": "x"}', "hypothesis"),
        ('{"question_id": "x", "hypothesis": null}', "hypothesis"),
        ('[{"question_id": "x", "hypothesis": ["y"]}]', "hypothesis"),
        ('{"question_id": "x", "question_id": "y", "hypothesis": "z"}', "line 1"),
        (b'{"question_id": "\xff", "hypothesis": "z"}', "line 1"),
        ("[" * 100_000, "said.jsonl"),
    ],
)
def test_what_is_no_such_file_is_refused_and_leaves_nothing(tmp_path, sealed_run, text, said):
    run = sealed_run()
    with pytest.raises(CorpusError, match=said):
        taken(tmp_path, run, text)
    assert not (run.path / "answers").exists()


def test_an_id_that_comes_twice_is_written_with_its_conversation(
    tmp_path, sealed_run, make_instance
):
    instances = []
    for one in (make_instance(0), make_instance(1)):
        first = msgspec.structs.replace(one.queries[0], id="q")
        instances.append(msgspec.structs.replace(one, queries=(first, *one.queries[1:])))
    run = sealed_run(instances)
    taken(tmp_path, run, lines(("inst-1/q", "second"), ("inst-0/1", "plain")))
    found = [item.response for item in load_items(run, "f")]
    assert found == [None, "plain", None, "second", None, None]
    path = tmp_path / "which.jsonl"
    path.write_text(lines(("q", "which?")), encoding="utf-8")
    with pytest.raises(CorpusError, match="the file has q; the run inst-0/1"):
        write_answers(run, FileAnswers(path), "other")


def test_a_run_whose_ids_do_not_tell_queries_apart_is_refused(tmp_path, sealed_run, make_instance):
    one = make_instance(0)
    named = [msgspec.structs.replace(query, id="inst-0/0") for query in one.queries]
    run = sealed_run([msgspec.structs.replace(one, queries=tuple(named))], stem="twice")
    with pytest.raises(CorpusError, match="two queries of the run have the id inst-0/inst-0/0"):
        taken(tmp_path, run, lines((IDS[0], "x")))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(MemrulerError, match=r"none\.jsonl"):
        FileAnswers(tmp_path / "none.jsonl")


def test_another_file_does_not_take_the_place_of_the_first(tmp_path, sealed_run):
    run = sealed_run()
    taken(tmp_path, run, lines((IDS[0], "x")))
    taken(tmp_path, run, lines((IDS[0], "x")))
    with pytest.raises(MemrulerError, match="another prompt_sha256"):
        taken(tmp_path, run, lines((IDS[0], "y")))
