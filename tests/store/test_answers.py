"""The folder of answers: one writer, whole files, versions, and texts that files can hold."""

import json
import subprocess
import sys

import msgspec
import pytest

from memruler.errors import FormatError, UsageError
from memruler.model.answers import AnswerRecord, AnswersManifest, InstrumentIdentity
from memruler.store import staged
from memruler.store.answers import (
    ANSWERS,
    READ_TABLES,
    answer_names,
    answers_path,
    answers_table,
    claim_answers,
    read_answers_manifest,
    write_answers_manifest,
)
from memruler.store.folder import MANIFEST, RunFolder
from memruler.store.seal import seal
from memruler.store.tables import read_table

RECORD = AnswerRecord(instance=0, query=1, text="x", items=(2, 1), context_chars=9)


@pytest.fixture
def run(tmp_path, manifest, records, add):
    with RunFolder.claim(tmp_path, "run") as folder:
        with folder.journal() as journal:
            add(journal, records(0))
        seal(folder)
        digests = dict.fromkeys(READ_TABLES, "0" * 64)
        told = msgspec.structs.replace(manifest("run", sealed=True), tables=digests)
        folder.write_manifest(told)
    return RunFolder.open(tmp_path / "run")


def made(**fields):
    return AnswersManifest(
        **{
            "version": 1,
            "name": "a",
            "run": "run",
            "run_tables": dict.fromkeys(READ_TABLES, "0" * 64),
            "run_fingerprint": {},
            "reader": InstrumentIdentity(kind="extractive", prompt="p", prompt_sha256="0"),
            "started": "2026-01-01T00:00:00",
            "finished": "2026-01-01T00:00:00",
            **fields,
        }
    )


def written(run, *found, name="a"):
    with claim_answers(run, name) as folder:
        with answers_table(folder) as table:
            for record in found or (RECORD,):
                table.add(record)
        write_answers_manifest(folder, made(name=name))
    return read_table(RunFolder(answers_path(run.path, name)), ANSWERS)


def test_a_row_holds_the_record(run):
    table = written(run, RECORD, AnswerRecord(instance=0, query=2, text=None, error="down"))
    rows = table.to_pylist()
    assert rows[0] == {**msgspec.structs.asdict(RECORD), "items": [2, 1]}
    assert (rows[1]["text"], rows[1]["error"], rows[1]["items"]) == (None, "down", [])
    assert table.column_names == list(AnswerRecord.__struct_fields__)
    assert read_answers_manifest(run, "a").tables.keys() == {ANSWERS}
    assert answer_names(run.path) == ("a",)


def test_half_a_surrogate_pair_is_replaced(run):
    table = written(run, msgspec.structs.replace(RECORD, text="a\ud800b", finish="\udc00"))
    assert table.column("text").to_pylist() == ["a?b"]
    assert table.column("finish").to_pylist() == ["?"]


def test_no_answers_at_all_is_a_table_too(run):
    with claim_answers(run, "a") as folder, answers_table(folder):
        pass
    assert read_table(RunFolder(answers_path(run.path, "a")), ANSWERS).num_rows == 0


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_where_rows_are_staged_changes_no_value(run, monkeypatch, rows):
    monkeypatch.setattr(staged, "_STAGE", rows)
    found = [msgspec.structs.replace(RECORD, query=n, text="x" * n) for n in range(20)]
    assert written(run, *found).column("text").to_pylist() == ["x" * n for n in range(20)]


@pytest.mark.parametrize("name", ["..", "a/b", "", "con", "a\0b"])
def test_a_name_is_a_plain_folder_name(run, name):
    with pytest.raises(UsageError):
        answers_path(run.path, name)
    with pytest.raises(UsageError), claim_answers(run, name):
        pass


def test_one_writer_at_a_time(run):
    child = (
        "import sys; from pathlib import Path\n"
        "from memruler.store.folder import RunFolder\n"
        "from memruler.store.answers import claim_answers\n"
        "with claim_answers(RunFolder.open(Path(sys.argv[1])), 'a'): pass\n"
    )
    with claim_answers(run, "a"):
        done = subprocess.run(
            [sys.executable, "-c", child, str(run.path)], capture_output=True, check=False
        )
        assert b"another process is writing these answers" in done.stderr
        with claim_answers(run, "b"):
            pass


def broken(run, *, whole):
    """Fails after the table was written, or while it is."""
    with claim_answers(run, "a") as folder:
        with answers_table(folder) as table:
            table.add(RECORD)
            if not whole:
                raise OSError("full")
        raise OSError("full")


@pytest.mark.parametrize("whole", [True, False])
def test_an_error_before_the_manifest_leaves_nothing(run, whole):
    with pytest.raises(OSError, match="full"):
        broken(run, whole=whole)
    assert not (run.path / ANSWERS).exists()
    assert answer_names(run.path) == ()


def test_an_error_later_keeps_what_was_there(run):
    written(run, RECORD, msgspec.structs.replace(RECORD, query=2))
    with pytest.raises(OSError, match="full"):
        broken(run, whole=False)
    read_answers_manifest(run, "a")
    # Between the table and its manifest nothing is known any more, and it is said.
    with pytest.raises(OSError, match="full"):
        broken(run, whole=True)
    with pytest.raises(FormatError, match=r"finished with.*answer the run again"):
        read_answers_manifest(run, "a")


def test_a_link_in_the_place_of_the_folder_is_refused(run, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (run.path / ANSWERS).mkdir()
    answers_path(run.path, "a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="symbolic link"), claim_answers(run, "a"):
        pass
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 2}, "answers of version 2.*upgrade memruler"),
        ({"version": None}, "answers of version None"),
        ({"reader": 5}, "cannot be read"),
        ({"run_tables": {"queries": "x"}}, "measured anew"),
        ({"tables": {}}, "finished with"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(run, change, said):
    written(run)
    path = answers_path(run.path, "a") / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change), "utf-8")
    with pytest.raises(FormatError, match=said):
        read_answers_manifest(run, "a")


def test_answers_that_are_not_there_name_those_that_are(run):
    with pytest.raises(FormatError, match="memruler answer RUN"):
        read_answers_manifest(run, "a")
    written(run, name="b")
    with pytest.raises(FormatError, match="there are: b"):
        read_answers_manifest(run, "a")


def test_times_and_cost_alone_write_no_new_manifest(run):
    written(run)
    path = answers_path(run.path, "a") / MANIFEST
    before = path.read_bytes()
    with claim_answers(run, "a") as folder:
        write_answers_manifest(folder, made(started="2027-01-01T00:00:00", tool={"x": 1}))
        assert path.read_bytes() == before
        write_answers_manifest(folder, made(repeats=2))
    assert path.read_bytes() != before
