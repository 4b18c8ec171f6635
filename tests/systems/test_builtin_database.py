import sqlite3
import struct
import subprocess
import sys

import pytest

from memruler.errors import InstrumentError, UsageError
from memruler.systems.builtin import database
from memruler.systems.builtin.database import FILE_NAME


def test_fts5_missing(open_memory, monkeypatch):
    monkeypatch.setattr(database, "_WORDS", "CREATE VIRTUAL TABLE words USING absent(text)")
    with pytest.raises(InstrumentError, match="has no FTS5"):
        open_memory("lexical")
    open_memory("dense")  # needs no index


def test_a_file_that_is_no_database(open_memory, tmp_path):
    (tmp_path / FILE_NAME).write_bytes(b"not a database, but long enough to be read as one" * 50)
    with pytest.raises(InstrumentError, match="not a database") as caught:
        open_memory("lexical", folder=tmp_path)
    assert FILE_NAME in str(caught.value)


def test_a_folder_that_is_a_file(open_memory, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InstrumentError, match="database failed"):
        open_memory("lexical", folder=tmp_path / "file")


def test_a_symbolic_link_is_refused(open_memory, tmp_path):
    (tmp_path / "elsewhere").touch()
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / FILE_NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="symbolic link"):
        open_memory("lexical", folder=tmp_path / "n")
    assert (tmp_path / "elsewhere").read_bytes() == b""


@pytest.mark.parametrize(
    ("preset", "given"), [("lexical", {"capacity": "9"}), ("hybrid", {}), ("dense", {})]
)
def test_other_settings_are_refused(open_memory, tmp_path, preset, given):
    open_memory("lexical", folder=tmp_path).close()
    with pytest.raises(UsageError, match="other settings or another embedder"):
        open_memory(preset, given, folder=tmp_path)


def test_another_embedder_is_refused(open_memory, tmp_path, fake):
    open_memory("dense", folder=tmp_path, embedder=fake(dimension=8)).close()
    with pytest.raises(UsageError, match="another embedder"):
        open_memory("dense", folder=tmp_path, embedder=fake(dimension=9))


def test_a_damaged_vector_is_found(open_memory, turns, tmp_path):
    memory = open_memory("dense", folder=tmp_path)
    memory.ingest(turns.session("jazz"))
    memory.close()
    for blob, said in ((b"\0" * 7, "damaged"), (struct.pack("<24f", *[9] * 24), "unit")):
        db = sqlite3.connect(tmp_path / FILE_NAME)
        db.execute("UPDATE items SET vector = ?", (blob,))
        db.commit()
        db.close()
        with pytest.raises(InstrumentError, match=said):
            open_memory("dense", folder=tmp_path)


def test_a_full_disk_is_an_instrument_error(open_memory, turns):
    memory = open_memory("lexical")
    memory.ingest(turns.session("jazz"))
    pages = memory._shelf.database._db.execute("PRAGMA page_count").fetchone()[0]
    memory._shelf.database._db.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(InstrumentError, match="full"):
        memory.ingest(turns.session("blues " * 50_000, key="s1"))
    assert [item.text for item in memory.lineage()] == ["jazz"]
    assert [hit.item for hit in memory.search("jazz", 5, turns.at).hits] == ["1"]


def test_a_locked_database_is_an_instrument_error(open_memory, turns, tmp_path):
    memory = open_memory("lexical", folder=tmp_path)
    memory._shelf.database._db.execute("PRAGMA busy_timeout=1")
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(InstrumentError, match="locked"):
            memory.ingest(turns.session("jazz"))
    finally:
        other.execute("ROLLBACK")
        other.close()
    memory.ingest(turns.session("jazz"))
    assert len(list(memory.lineage())) == 1


def test_a_closed_memory_says_so(open_memory, turns):
    memory = open_memory("lexical")
    memory.close()
    with pytest.raises(InstrumentError, match="closed"):
        memory.search("jazz", 1, turns.at)


def test_write_ahead_log_and_one_transaction_a_session(open_memory, turns):
    memory = open_memory("lexical")
    db = memory._shelf.database._db
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert db.execute("PRAGMA synchronous").fetchone()[0] >= 1
    statements = []
    db.set_trace_callback(statements.append)
    memory.ingest(turns.session("jazz", "blues", "folk"))
    db.set_trace_callback(None)
    assert statements.count("COMMIT") == 1


def test_a_kill_in_the_middle_of_a_session_leaves_the_sessions_before(open_memory, turns, tmp_path):
    code = """
import os, sys
from pathlib import Path
from memruler.model.system import Namespace, SessionInput, TurnInput
from memruler.systems.builtin.database import Database
from memruler.systems.registry import open_system

def session(key):
    made = [TurnInput(key=f"{key}.t{n}", text=f"jazz {key} {n}", speaker="A") for n in range(5)]
    return SessionInput(key=key, turns=tuple(made))

memory = open_system("builtin:lexical", {}).system.open(Namespace("n", Path(sys.argv[1])))
memory.ingest(session("s0"))
insert, calls = Database.insert, []
def dies(self, *arguments):
    calls.append(1)
    return os._exit(9) if len(calls) == 4 else insert(self, *arguments)
Database.insert = dies
memory.ingest(session("s1"))
"""
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert run.returncode == 9
    memory = open_memory("lexical", folder=tmp_path)
    assert [item.sources for item in memory.lineage()] == [(f"s0.t{n}",) for n in range(5)]
    assert len(memory.search("jazz", 50, turns.at).hits) == 5
