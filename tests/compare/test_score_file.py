import json

import pytest

from memruler.compare.score_file import read_score_file
from memruler.errors import CorpusError, UsageError


@pytest.fixture
def read(tmp_path):
    def build(content, ending=".csv", meta=None):
        path = tmp_path / f"scores{ending}"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        if meta is not None:
            beside = path.with_name(path.name + ".meta.json")
            beside.write_bytes(meta if isinstance(meta, bytes) else json.dumps(meta).encode())
        return read_score_file(path, "a")

    return build


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


CSV = "id,score,conv,note\n1,1,c1,x\n2,0,c1,y\n3,,c2,z\n4,0.5,c2,\n"
ROWS = (
    {"id": 1, "score": 1, "conv": "c1", "note": "x"},
    {"id": "2", "score": 0.0, "conv": "c1", "note": "y"},
    {"id": 3, "score": None, "conv": "c2", "note": "z"},
    {"id": 4, "score": 0.5, "conv": "c2"},
)


def test_csv(read):
    found = read(CSV)
    assert (found.name, found.source, found.ids) == ("a", "file", ("1", "2", "3", "4"))
    assert found.values == {"score": {"1": 1.0, "2": 0.0, "4": 0.5}}
    assert found.absent == {"score": {"3": "no value in the file"}}
    assert found.keys["conv"] == {"1": "c1", "2": "c1", "3": "c2", "4": "c2"}
    assert found.keys["note"] == {"1": "x", "2": "y", "3": "z"}
    assert list(found.keys) == ["conv", "note", "score"]
    assert (found.deterministic, dict(found.declared), found.repeats) == (False, {}, 1)


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".ndjson", ".JSONL"])
def test_json_lines_say_the_same(read, ending):
    left, right = read(CSV), read(lines(*ROWS), ending)
    for field in ("ids", "values", "absent"):
        assert getattr(left, field) == getattr(right, field)
    assert {k: left.keys[k] for k in ("conv", "note")} == {
        k: right.keys[k] for k in ("conv", "note")
    }


@pytest.mark.parametrize("ends", ["\r\n", "\n"])
def test_windows_lines_a_mark_and_a_last_empty_line(read, ends):
    text = "\ufeff" + CSV.replace("\n", ends) + ends
    assert read(text).values == {"score": {"1": 1.0, "2": 0.0, "4": 0.5}}
    text = "\ufeff" + lines(*ROWS).replace("\n", ends) + ends
    assert read(text, ".jsonl").ids == ("1", "2", "3", "4")


def test_quoted_newlines_and_commas_stay_in_a_cell(read):
    found = read('id,score,conv\n"a\nb",1,"x, ""y""\r\nz"\nc,0,w\n')
    assert found.ids == ("a\nb", "c")
    assert found.keys["conv"]["a\nb"] == 'x, "y"\r\nz'


def test_line_separators_inside_json_texts(read):
    row = '{"id":"a\u2028b\x85c","score":1}\n'
    assert read(row, ".jsonl").ids == ("a\u2028b\x85c",)


def test_labels_may_be_words(read):
    want = {"ok": {"1": 1.0, "2": 0.0}}
    assert read("id,ok\n1,True\n2,FALSE\n").values == want
    assert read(lines({"id": 1, "ok": True}, {"id": 2, "ok": False}), ".jsonl").values == want


def test_a_number_can_be_a_cluster_key_too(read):
    found = read("id,score,category\n1,1,3\n2,0,3\n3,1,5\n")
    assert list(found.values) == ["score", "category"]
    assert found.keys["category"] == {"1": "3", "2": "3", "3": "5"}


def test_what_only_python_takes_for_a_number_is_text(read):
    assert list(read("id,score,conv\n1,1,1_0\n2,1,2_0\n").values) == ["score"]


def test_majority_a_tie_is_nought_and_an_error_counts_for_nothing(read):
    found = read(
        "id,repeat,score,error\n"
        "won,1,1,\nwon,2,1,\nwon,3,0,\n"
        "tie,1,1,\ntie,2,0,\n"
        "half,1,1,\nhalf,2,,timeout\nhalf,3,ERR,boom\n"
        "gone,1,,timeout\ngone,2,nan,refused\n"
        "none,1,,\n"
    )
    assert found.values["score"] == {"won": 1.0, "tie": 0.0, "half": 1.0}
    assert found.absent["score"] == {"gone": "error: refused", "none": "no value in the file"}
    assert (found.repeats, found.majority) == (3, {"score"})


def test_scores_are_averaged_even_where_an_item_has_only_noughts_and_ones(read):
    found = read("id,repeat,f1\na,1,1\na,2,0\nb,1,0.5\nb,2,0.25\n")
    assert found.values["f1"] == {"a": 0.5, "b": 0.375}
    assert not found.majority


@pytest.mark.parametrize("said", ["0", "False", "false", " ", "0.0"])
def test_words_for_no_error(read, said):
    assert read(f"id,score,error\n1,1,{said}\n2,0,\n").values["score"] == {"1": 1.0, "2": 0.0}


def test_no_error_in_json(read):
    rows = [{"id": i, "score": 1, "error": error} for i, error in enumerate([False, 0, "", None])]
    assert len(read(lines(*rows), ".jsonl").values["score"]) == 4


def test_columns_of_erred_rows_alone_are_no_metrics(read):
    assert list(read("id,score,error,code\n1,1,,\n2,,timeout,504\n").values) == ["score"]


def test_repeats_of_an_item_share_its_cluster(read):
    with pytest.raises(CorpusError, match="different values of conv"):
        read("id,repeat,score,conv\na,1,1,x\na,2,1,y\n")
    found = read("id,repeat,score,conv\na,1,1,x\na,2,0,\n")
    assert found.keys["conv"] == {"a": "x"}
    assert found.keys["score"] == {}


def test_what_a_file_declares(read):
    found = read(CSV, meta={"reader": "m", "deterministic": True})
    assert found.declared == {"reader": "m", "deterministic": True}
    assert found.deterministic
    assert not read(CSV, meta={"deterministic": "true"}).deterministic


@pytest.mark.parametrize(
    "meta",
    [
        b"",
        b"[]",
        b'{"a": NaN}',
        b"\xff",
        b'{"a": "\xff"}',
        b'{"a": 1, "a": 2}',
        b'{"a": ' + b"[" * 100_000,
    ],
)
def test_a_declaration_that_cannot_be_read(read, meta):
    with pytest.raises(CorpusError) as caught:
        read(CSV, meta=meta)
    assert "scores.csv.meta.json" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "line", "what"),
    [
        ("id,score\n1,nan\n", 2, "score is not finite"),
        ("id,score\n1,1\n2,-inf\n", 3, "score is not finite"),
        ("id,score\n1,1\n2,1e400\n", 3, "score is not finite"),
        ("id,score\n1,1e101\n", 2, "score is not finite, or beyond 1e+100"),
        ("id,score\n1,1\n1,1\n", 3, "the item '1' comes twice"),
        ("id,repeat,score\n1,1,1\n1,1,0\n", 3, "the item '1' comes twice"),
        ("id,score\n1,1\n2\n", 3, "1 cells under 2 headings"),
        ("id,score\n1,1,9\n", 2, "3 cells under 2 headings"),
        ("id,score,score\n1,1,1\n", 1, "a column comes twice"),
        ("name,score\nx,1\n", 2, "no `id`"),
        ("id,score\n,1\n", 2, "no `id`"),
        ('id,score\n"1,1\n2,1\n', 3, "malformed CSV: unexpected end of data"),
        ('id,score\n"a"b,1\n', 2, "malformed CSV"),
        ("id,score\n1,1\n2,\0\n", 3, "a NUL character"),
        ("id,score,x\n1,1," + "w" * 200_000 + "\n", 2, "malformed CSV: field larger"),
    ],
)
def test_a_wrong_row_of_csv(read, content, line, what):
    with pytest.raises(CorpusError, match=f"scores.csv:{line}") as caught:
        read(content)
    assert caught.value.what.startswith(what)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "row",
    [
        "[]",
        "[{}]",
        "1",
        '{"id": 1, "score": NaN}',
        '{"id": 1, "score": Infinity}',
        '{"id": 1, "score": 1e999}',
        '{"id": 1, "score": 1' + "0" * 400 + "}",
        '{"id": 1, "score": 1' + "0" * 5000 + "}",
        '{"id": 1, "score": 1, "score": 0}',
        '{"id": 1, "score": [1]}',
        '{"id": 1, "x": {"y": 1}}',
        '{"id": "\\u0000", "score": 1}',
        '{"id": "\\ud800", "score": 1}',
        '{"id": "", "score": 1}',
        '{"id": null, "score": 1}',
        '{"score": 1}',
        '{"id": 0, "score": 1}',
        '{"id": "0", "score": 1}',
        '{"id": 1, "score"',
        '{"id": 1, "score": "nan"}',
    ],
)
def test_a_wrong_row_of_json(read, row):
    with pytest.raises(CorpusError, match=r"scores\.jsonl:2") as caught:
        read('{"id": 0, "score": 1}\n' + row, ".jsonl")
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "ending"),
    [("id,score\n", ".csv"), *((c, e) for c in ("", "\n", "\ufeff") for e in (".csv", ".jsonl"))],
)
def test_no_row(read, content, ending):
    with pytest.raises(CorpusError, match="the file has no row"):
        read(content, ending)


def test_not_utf_8(read):
    with pytest.raises(CorpusError, match="not UTF-8"):
        read("id,score\ncaf\xe9,1\n".encode("latin-1"))
    with pytest.raises(CorpusError, match="not UTF-8"):
        read(CSV.encode("utf-16"))


def test_another_ending(read, tmp_path):
    with pytest.raises(UsageError, match="neither a run folder nor a file of scores"):
        read(CSV, ".xlsx")
    with pytest.raises(UsageError):
        read_score_file(tmp_path / "gone.csv", "a")


def test_text_alone_has_no_metric(read):
    assert read("id,conv\n1,x\n2,y\n").values == {}


def test_a_hundred_thousand_rows(read):
    rows = "".join(f"conv-{i % 500}/{i},{i % 2},c{i % 500}\n" for i in range(100_000))
    found = read("id,score,conv\n" + rows)
    assert len(found.ids) == len(found.values["score"]) == 100_000
    assert len(set(found.keys["conv"].values())) == 500
