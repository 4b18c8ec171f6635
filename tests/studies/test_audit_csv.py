import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import CorpusError, UsageError
from memruler.studies.audit_csv import (
    CASE_COLUMNS,
    LONGEST_CELL,
    CaseTable,
    check_rater,
    read_cases,
    visible,
)

HOSTILE = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\ttab",
    "\nline",
    "'quoted",
    "''twice",
    "'=1",
    "＝1",  # noqa: RUF001 - the wide form
    '=HYPERLINK("http://x","y")',
    'a "quoted", cell',
    "a\nb\n\nc",
    "semi;colon",
    "ünï 🎲 漢字",
    " space ",
    "",
]


def table(*items, head=CASE_COLUMNS, **options):
    rows = []
    for at, item in enumerate(items):
        cells = {"case": f"c{at}", "pair": f"p{at}", "item": item, "question": "Who?"}
        rows.append([cells.get(name, "x") for name in head])
    return CaseTable(head=list(head), rows=rows, numbers=list(range(2, len(rows) + 2)), **options)


def written(tmp_path, data):
    path = tmp_path / "cases.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("bom", [False, True])
def test_what_is_written_is_read_back(tmp_path, delimiter, bom):
    made = table(*HOSTILE, delimiter=delimiter, bom=bom)
    path = written(tmp_path, made.encode())
    found = read_cases(path)
    assert (found.head, found.rows, found.numbers) == (made.head, made.rows, made.numbers)
    assert (found.delimiter, found.bom) == (delimiter, bom)
    assert found.encode() == path.read_bytes()


@given(st.lists(st.text(), min_size=1, max_size=5))
def test_every_shown_text_is_read_back(tmp_path_factory, texts):
    made = table(*map(visible, texts))
    path = written(tmp_path_factory.mktemp("csv"), made.encode())
    assert read_cases(path).rows == made.rows


@given(st.text())
def test_no_cell_is_a_formula(text):
    data = table(visible(text)).encode().decode()
    *_, cell = next(r for at, r in enumerate(csv.reader(io.StringIO(data, newline=""))) if at == 1)
    assert cell[:1] not in set("=+-@\t\r\n")


@given(st.text())
def test_what_is_shown_is_harmless(text):
    shown = visible(text)
    assert "\r" not in shown
    assert "\0" not in shown
    assert "\x1b" not in shown
    assert visible(shown) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\0b", "a\\x00b"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("tab\there", "tab\there"),
        ("👩‍🚀", "👩‍🚀"),
    ],
)
def test_control_characters_are_shown(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\0" * 1_000_000, "🎲" * 1_000_000])
def test_a_long_text_says_that_it_is_cut(text):
    shown = visible(text)
    assert shown.endswith(" [cut: 1000000 characters in all]")
    assert len(shown) < LONGEST_CELL + 50
    assert len(shown.encode("utf-16-le")) // 2 < 32_767


def test_a_text_that_just_fits_is_whole():
    assert visible("x" * LONGEST_CELL) == "x" * LONGEST_CELL


def test_a_row_without_its_empty_end(tmp_path):
    made = table("a", "b", head=[*CASE_COLUMNS, "label:ann", "label:bo"])
    text = made.encode().decode().removesuffix(",x,x\r\n") + "\r\n"
    found = read_cases(written(tmp_path, text))
    assert found.column("label:bo") == ["x", ""]
    assert found.raters() == ["ann", "bo"]


def test_empty_rows_count_as_rows_of_the_spreadsheet(tmp_path):
    made = table("a", "b\nc").encode().decode()
    head, first, rest = made.split("\r\n", 2)
    blank = "," * (len(CASE_COLUMNS) - 1)
    path = written(tmp_path, f"{head}\r\n\r\n{first}\r\n{blank}\r\n{rest}\r\n\r\n")
    assert read_cases(path).numbers == [3, 5]


def test_an_empty_heading_without_cells_is_nothing(tmp_path):
    lines = table("a").encode().decode().replace("\r\n", ",,\r\n")
    assert read_cases(written(tmp_path, lines)).rows[0][-2:] == ["", ""]


def _bad():
    sound = table("a", "b").encode().decode()
    head, first, _ = sound.split("\r\n", 2)
    yield "empty", "", "first column is not `case`"
    yield "other", "id,score\r\n1,2\r\n", "first column is not `case`"
    yield "no row", head, "no case"
    yield "latin", sound.replace("Who", "Wähö").encode("latin-1"), "not UTF-8"
    yield "wide", sound.encode("utf-16"), "not UTF-8"
    yield "column", sound.replace("question", "query2"), "lacks question"
    yield "twice", sound.replace("question", "query"), "'query' comes twice"
    yield "case twice", f"{head}\r\n{first}\r\n{first}\r\n", "'c0' is in row 2 too"
    yield "no id", f"{head}\r\n{first[2:]}\r\n", "no case id"
    yield "quote", sound.replace("Who?", '"Who?'), "malformed CSV"
    yield "long", f"{head}\r\n{first},more\r\n", "17 cells under 16 headings"
    yield "rater", sound.replace("item_id", "label:"), "names no rater"
    yield "rater name", sound.replace("item_id", "label:=1"), "names no rater"
    yield "huge", f"{head}\r\n{first.replace('Who?', 'x' * 1_000_000)}\r\n", "field larger"


@pytest.mark.parametrize(
    ("data", "message"), [pytest.param(d, m, id=name) for name, d, m in _bad()]
)
def test_what_is_no_file_of_cases(tmp_path, data, message):
    path = written(tmp_path, data)
    with pytest.raises(CorpusError, match=message):
        read_cases(path, [name for name in CASE_COLUMNS if name != "item_id"])


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_cases(tmp_path / "gone.csv")


@pytest.mark.parametrize("name", ["", "a b", "=1", "-a", "x" * 41, "a\nb", "é", "a:b"])
def test_what_is_no_name(name):
    with pytest.raises(UsageError, match="no name of a rater"):
        check_rater(name)


@pytest.mark.parametrize("name", ["a", "gpt-4.1", "rater_1", "9"])
def test_a_name(name):
    assert check_rater(name) == name
