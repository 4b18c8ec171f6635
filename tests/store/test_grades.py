"""A folder of grades holds what was written, or is refused."""

from datetime import datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import FormatError, UsageError
from memruler.judges.rubric import content_sha256
from memruler.model.answers import AnswersManifest, Graded, GradesManifest, InstrumentIdentity
from memruler.store.grades import (
    GradeRow,
    claim_grades,
    grade_names,
    grades_path,
    is_grades,
    read_manifest,
    read_rows,
    write_grades,
)

FILES = {"scores.csv": b"id\n", "scores.csv.meta.json": b"{}", "summary.json": b"{}"}


def manifest(minute=0, **changes):
    when = datetime(2026, 1, 1, 0, minute)
    given = {
        "version": 1,
        "name": "g",
        "grader": "lexical",
        "grader_sha256": "a" * 64,
        "metric": "f1",
        "judge": None,
        "answers": AnswersManifest(
            version=1,
            name="x",
            run="base",
            run_tables={},
            run_fingerprint={},
            reader=InstrumentIdentity(kind="extractive", prompt="p", prompt_sha256="b" * 64),
            started=datetime(2026, 1, 1),
            finished=datetime(2026, 1, 1),
        ),
        "answers_sha256": "c" * 64,
        "started": when,
        "finished": when,
    }
    return GradesManifest(**{**given, **changes})


def row(query=0, **graded):
    return GradeRow(
        instance=0,
        query=query,
        repeat=0,
        instance_key="talk",
        id=f"q{query}",
        category="a",
        answerable=True,
        graded=Graded(**graded),
    )


def write(path, rows, made=None):
    with claim_grades(path) as folder:
        return write_grades(folder, made or manifest(), rows, FILES)


ROWS = [
    row(0, value=1.0, detail={"strict": None, "x": 0.5}, reply="yes", label="stale"),
    row(1, value=None, reason="no judge"),
    row(2, value=0.25, detail={"y": 1.0}),
]


def test_rows_come_back_as_they_were(tmp_path):
    path = grades_path(tmp_path, "x", "g")
    written = write(path, ROWS)
    assert read_rows(path) == ROWS
    assert read_manifest(path) == written
    assert is_grades(path)
    assert grade_names(tmp_path, "x") == ("g",)
    assert grade_names(tmp_path, "other") == ()


@given(
    st.lists(
        st.builds(
            Graded,
            value=st.floats(0, 1),
            reason=st.none(),
            label=st.none() | st.text(st.characters(codec="utf-8"), max_size=8),
            detail=st.dictionaries(
                st.text("abc_", min_size=1, max_size=3), st.none() | st.floats(0, 1), max_size=3
            ),
            reply=st.none() | st.text(st.characters(codec="utf-8"), max_size=8),
        ),
        max_size=5,
    )
)
def test_any_row_comes_back(tmp_path_factory, graded):
    path = grades_path(tmp_path_factory.mktemp("g"), "x", "g")
    rows = [row(at, **msgspec.structs.asdict(one)) for at, one in enumerate(graded)]
    write(path, rows)
    assert read_rows(path) == rows


def test_the_same_again_changes_no_byte_whenever_it_is(tmp_path):
    path = grades_path(tmp_path, "x", "g")
    write(path, ROWS)
    before = {p.name: p.read_bytes() for p in path.iterdir()}
    assert write(path, ROWS, manifest(minute=5)).started.minute == 0
    assert {p.name: p.read_bytes() for p in path.iterdir()} == before
    assert write(path, ROWS[:1], manifest(minute=5)).started.minute == 5
    assert read_rows(path) == ROWS[:1]


@pytest.mark.parametrize("name", ["grades.parquet", *FILES])
def test_a_file_that_is_not_the_manifests_is_refused(tmp_path, name):
    path = grades_path(tmp_path, "x", "g")
    write(path, ROWS)
    (path / name).write_bytes(b"other")
    with pytest.raises(FormatError, match="not the ones that this grading was finished with"):
        read_manifest(path)
    (path / name).unlink()
    with pytest.raises(FormatError, match=f"lacks {name}"):
        read_manifest(path)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"{", "cannot be read"),
        (b"[]", "version None"),
        (b'{"version": 2}', "version 2"),
        (b'{"version": 1}', "cannot be read"),
        (b"\xff", "cannot be read"),
    ],
)
def test_a_manifest_of_another_kind_is_refused(tmp_path, data, told):
    path = grades_path(tmp_path, "x", "g")
    write(path, ROWS)
    (path / "manifest.json").write_bytes(data)
    with pytest.raises(FormatError, match=told):
        read_manifest(path)


def test_what_is_no_folder_of_grades(tmp_path):
    with pytest.raises(FormatError, match="not a folder of grades"):
        read_manifest(tmp_path)
    assert not is_grades(tmp_path)
    for name in ("..", "a/b", ""):
        with pytest.raises(UsageError):
            grades_path(tmp_path, "x", name)
        with pytest.raises(UsageError):
            grades_path(tmp_path, name, "g")


def test_two_may_not_write_at_once(tmp_path):
    path = grades_path(tmp_path, "x", "g")
    with (
        claim_grades(path),
        pytest.raises(UsageError, match="another process is writing these grades"),
        claim_grades(path),
    ):
        pass


def test_a_kill_before_the_manifest_leaves_no_grading(tmp_path):
    path = grades_path(tmp_path, "x", "g")
    with claim_grades(path) as folder:
        folder.write("scores.csv", b"half")
    assert not is_grades(path)
    (path / ".memruler-1.tmp").write_bytes(b"left")
    write(path, ROWS)
    assert not list(path.glob(".memruler-*"))


def test_where_a_text_ends_counts():
    assert content_sha256(["ab", "c"]) != content_sha256(["a", "bc"])
