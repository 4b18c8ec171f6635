"""JSON that is no JSON Lines: one fault, from the beginning of the file only."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.corpora.checking import check_file
from memruler.corpora.jsonl import JsonlCorpus
from memruler.corpora.whole_document import HEAD, public_corpus, whole_document
from memruler.errors import CorpusError

LINE = {"id": "a", "sessions": [{"turns": [{"speaker": "A", "text": "x"}]}], "queries": []}
OBJECT = "this is one JSON document over many lines; write each instance on one line (jq -c .)"
LIST = OBJECT.replace("jq -c .", "jq -c '.[]'")


def compact(value):
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (json.dumps(LINE, indent=2), OBJECT),
        (json.dumps([LINE, LINE], indent=2), LIST),
        ("\n\n" + json.dumps(LINE, indent=2), OBJECT),
        ("\ufeff" + json.dumps(LINE, indent=2), OBJECT),
        (json.dumps(LINE, indent=2).replace("\n", "\r\n"), OBJECT),
        (json.dumps(LINE, indent=2)[:-40], OBJECT),  # cut short
        ("\n".join(json.dumps(LINE, indent=2) for _ in range(2)), OBJECT),  # what jq prints
        ("[\n" + ",\n".join(json.dumps(LINE) for _ in range(3)) + "\n]\n", LIST),
        ("[\n" + json.dumps({"id": "x" * HEAD}) + "\n]\n", LIST),  # line 2 is not seen whole
        (json.dumps({"id": "a", "more": ["x" * 99] * HEAD}, indent=1), OBJECT),
    ],
)
def test_a_document_over_many_lines_is_one_fault(tmp_path, text, what):
    path = tmp_path / "pretty.json"
    path.write_bytes(text.encode())
    (fault,) = check_file(path, "jsonl").faults
    assert (fault.line, fault.field, fault.what) == (0, "", what)
    with pytest.raises(CorpusError, match="this is one JSON document") as caught:
        JsonlCorpus(path)
    assert "more" not in caught.value.what


@pytest.mark.parametrize(
    "head",
    [
        compact(LINE),
        compact(LINE) + b"\n" + compact(LINE) + b"\n",
        b'{"corpus": {}}\n' + compact(LINE),
        compact(LINE)[:-1] + b"\n" + compact(LINE) + b"\n" + compact(LINE),
        b'{"id": "a", "sessions": [\n' + compact(LINE) + b"\n" + compact(LINE),
        b'{"id": "a", "sessions": [\n' + compact(LINE),
        b'{"id": "a", "sessi\n' + compact(LINE),
        b'{"id": "a", "sessions": [\n\n',
        b"[]\n" + compact(LINE),
        b"[" * 3000 + b"\n" + b"[" * 3000,
        b'{"id": "\xff\n}',
        b"null\nnull",
        b"",
        b"\n\n",
    ],
)
def test_lines_are_judged_one_by_one(head):
    assert whole_document(head) is None


@given(st.lists(st.dictionaries(st.text(), st.text()), min_size=1), st.data())
def test_json_lines_are_never_taken_for_a_document(objects, data):
    head = b"\n".join(compact(one) for one in objects)
    assert whole_document(head) is None
    cut = data.draw(st.integers(0, len(head)))
    assert whole_document(head[:cut]) is None


@given(st.dictionaries(st.text(), st.lists(st.integers(), min_size=1), min_size=1))
def test_a_pretty_printed_object_always_is(value):
    assert whole_document(json.dumps(value, indent=2).encode()) == OBJECT


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("locomo/locomo10.json", "locomo"),
        ("longmemeval/longmemeval_s_cleaned.json", "longmemeval-s"),
    ],
)
@pytest.mark.parametrize("indent", [None, 4])
def test_public_corpora_are_pointed_to(shared_samples, tmp_path, file, name, indent):
    path = tmp_path / "given.json"
    value = json.loads((shared_samples / file).read_bytes())
    path.write_text(json.dumps(value, indent=indent))
    (fault,) = check_file(path, "jsonl").faults
    assert fault.what.endswith(f"(jq -c '.[]'), or use `{name} --path FILE`")
    assert ("over many lines" in fault.what) is (indent is not None)


def test_the_whole_of_locomo_as_jsonl_is_one_fault(locomo_path):
    with pytest.raises(CorpusError) as caught:
        JsonlCorpus(locomo_path)
    assert caught.value.what == f"{LIST}, or use `locomo --path FILE`"


def test_words_of_a_public_corpus_in_a_line_do_not_matter():
    head = compact({**LINE, "queries": [{"text": "What is a haystack_?", "id": "question_id"}]})
    assert public_corpus(head) is None
    assert public_corpus(b'[{"id": "sample_id"}]') == "locomo"  # any list is no jsonl
