import json

import pytest

from memruler.compare.repeat_file import read_repeat_file
from memruler.compare.score_file import read_score_file
from memruler.errors import CorpusError, UsageError
from memruler.stats.repeats_item import Repeat

HEAD = "id,repeat,correct,top,error\n"


@pytest.fixture
def read(tmp_path):
    def build(content, ending=".csv"):
        path = tmp_path / f"a{ending}"
        path.write_text(content, encoding="utf-8")
        return read_repeat_file(path, "a")

    return build


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_csv(read):
    found = read(f"{HEAD}q1,1,1,s1 s4,\nq1,2,False,,\nq2,1,1,s2,timed out\nq2,2,,s2,\n")
    assert found.metrics == ("correct",)
    assert found.draws("correct") == {
        "q1": [Repeat(label=True, top=("s1", "s4")), Repeat(label=False)],
        "q2": [
            Repeat(label=None, reason="timed out", top=("s2",)),
            Repeat(label=None, reason="no value in the file", top=("s2",)),
        ],
    }


def test_json_says_the_same(read):
    rows = (
        {"id": "q1", "repeat": 1, "correct": True, "top": ["s1", "s4"]},
        {"id": "q1", "repeat": 2, "correct": 0, "top": None},
        {"id": "q2", "repeat": 1, "correct": 1, "top": "s2", "error": "timed out"},
        {"id": "q2", "repeat": 2, "correct": None, "top": ["s2"]},
    )
    plain = read(f"{HEAD}q1,1,1,s1 s4,\nq1,2,False,,\nq2,1,1,s2,timed out\nq2,2,,s2,\n")
    assert read(lines(*rows), ".jsonl").draws("correct") == plain.draws("correct")


@pytest.mark.parametrize(
    ("top", "known"),
    [
        ([], ()),
        ("", None),
        ("  ", None),
        (None, None),
        ("s1  s2", ("s1", "s2")),
        (["a b", 3], ("a b", "3")),
        (7, ("7",)),
    ],
)
def test_what_the_reader_was_given(read, top, known):
    found = read(lines({"id": 1, "correct": 1, "top": top}), ".jsonl")
    assert found.draws("correct")["1"][0].top == known


@pytest.mark.parametrize("top", [True, 0.5])
def test_no_key(read, top):
    with pytest.raises(CorpusError, match=r"which is no key \[.*a\.jsonl:1\]"):
        read(lines({"id": 1, "correct": 1, "top": top}), ".jsonl").draws("correct")


@pytest.mark.parametrize("top", [[None], [["s1"]], [0.5], {"s1": 1}])
def test_a_list_of_something_else(read, top):
    with pytest.raises(CorpusError, match=r"wrong schema"):
        read(lines({"id": 1, "correct": 1, "top": top}), ".jsonl")


def test_no_other_column_may_be_a_list(read):
    rows = lines({"id": 1, "correct": 1}, {"id": 2, "correct": 1, "talk": ["a"]})
    with pytest.raises(CorpusError, match=r"talk is a list \[.*a\.jsonl:2\]; only `top` may"):
        read(rows, ".jsonl")


@pytest.mark.parametrize("label", ["2", "0.5", "-1", "nan", "yes"])
def test_a_label_that_is_none(read, label):
    with pytest.raises(UsageError, match=rf"the label correct is '{label}' \[.*a\.csv:3\]"):
        read(f"{HEAD}q1,1,1,,\nq2,1,{label},,\n").draws("correct")


def test_the_label_of_a_draw_that_erred_is_not_read(read):
    found = read(f"{HEAD}q1,1,maybe,,timed out\nq1,2,1,,\n")
    assert [one.label for one in found.draws("correct")["q1"]] == [None, True]


def test_an_unknown_column_is_named_but_a_side_that_erred_throughout_has_none(read):
    with pytest.raises(UsageError, match=r"no such column of labels: 'x' \[a\]; it has correct"):
        read(f"{HEAD}q1,1,1,,\n").draws("x")
    assert read(f"{HEAD}q1,1,,,down\n").draws("correct")["q1"] == [
        Repeat(label=None, reason="down")
    ]


def test_a_folder(tmp_path):
    with pytest.raises(UsageError, match="a folder has no repeats"):
        read_repeat_file(tmp_path, "a")


@pytest.mark.parametrize("top", ["1 2", "3"])
def test_top_is_neither_metric_nor_cluster_of_a_gate(tmp_path, top):
    path = tmp_path / "a.csv"
    path.write_text(f"id,correct,top\n1,1,{top}\n", encoding="utf-8")
    found = read_score_file(path, "a")
    assert list(found.values) == list(found.keys) == ["correct"]
    path = tmp_path / "a.jsonl"
    path.write_text(lines({"id": 1, "correct": 1, "top": top.split()}), encoding="utf-8")
    assert read_score_file(path, "a").values == found.values
