"""The tables depend on what was measured, never on how the run or the sealing went."""

import itertools
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.errors import FormatError, InstrumentError
from memruler.model.run import ItemRecord, QueryRecord, TraceRecord
from memruler.store import seal as seals
from memruler.store import staged
from memruler.store.anchor import Anchor
from memruler.store.folder import JOURNAL, TABLES, RunFolder
from memruler.store.safe import TEMPORARY
from memruler.store.seal import discard_journal, seal
from memruler.store.tables import read_table

IDENTICAL = ("queries", "lineage", "trace")
SIZES = {0: (3, 2), 1: (0, 0), 2: (5, 4), 3: (1, 1)}  # items and queries of the instances


@pytest.fixture
def run(tmp_path, records, add):
    """Makes a run folder with instances completed in a given order."""
    count = itertools.count()

    def make(order=(0, 1, 2, 3), took: float = 1.5) -> RunFolder:
        folder = RunFolder.claim(tmp_path, f"run-{next(count)}")
        made.append(folder)
        with folder.journal() as journal:
            for instance in order:
                items, queries = SIZES[instance]
                add(journal, records(instance, items=items, queries=queries, took=took))
        return folder

    made: list[RunFolder] = []
    yield make
    for folder in made:
        folder.release()


def contents(folder: RunFolder, names=TABLES) -> dict[str, bytes]:
    return {name: folder.read(f"{name}.parquet") for name in names}


def files(folder: RunFolder) -> set[str]:
    return {path.name for path in folder.path.iterdir()}


def rows(folder: RunFolder, name: str) -> list[dict]:
    return read_table(folder, name).to_pylist()


class TestContent:
    def test_queries(self, run, records):
        folder = run([0])
        seal(folder)
        asked = [r for r in records(0) if isinstance(r, QueryRecord)]
        for row, query in zip(rows(folder, "queries"), asked, strict=True):
            assert row.pop("instance_key") == "key-0"
            assert msgspec.json.decode(row.pop("answer_json")) == query.answer_raw
            for evidence in row["evidence"]:
                evidence["turns"] = [(t["session"], t["turn"]) for t in evidence["turns"]]
            wanted = msgspec.structs.asdict(query)
            wanted.pop("answer_raw")
            wanted["evidence"] = [
                {
                    k: v if isinstance(v, str) else list(v)
                    for k, v in msgspec.structs.asdict(e).items()
                }
                for e in query.evidence
            ]
            assert row == wanted

    def test_lineage(self, run, records):
        folder = run([3, 0])
        seal(folder)
        stored = [
            (instance, r)
            for instance in (0, 3)
            for r in records(instance, items=SIZES[instance][0])
            if isinstance(r, ItemRecord)
        ]
        for row, (instance, item) in zip(rows(folder, "lineage"), stored, strict=True):
            row["turns"] = [(t["session"], t["turn"]) for t in row["turns"]]
            wanted = msgspec.structs.asdict(item) | {"instance": instance}
            assert row == wanted | {"turns": list(item.turns), "sessions": list(item.sessions)}

    def test_hits_are_rows_of_the_whole_lineage(self, run, records):
        folder = run()
        seal(folder)
        lineage = rows(folder, "lineage")
        searched = {
            (instance, r.query): r
            for instance, (items, queries) in SIZES.items()
            for r in records(instance, items=items, queries=queries)
            if isinstance(r, TraceRecord)
        }
        trace = rows(folder, "trace")
        assert [(r["instance"], r["query"]) for r in trace] == sorted(searched)
        for row in trace:
            made = searched[row["instance"], row["query"]]
            found = [lineage[at] for at in row["items"]]
            assert [hit["item"] for hit in found] == list(made.items)
            assert {hit["instance"] for hit in found} <= {row["instance"]}
            assert row["scores"] == list(made.scores)
            assert (row["error"], row["context_chars"]) == (made.error, made.context_chars)

    def test_times_stand_apart(self, run):
        folder = run([2], took=7.0)
        seal(folder)
        assert [r["latency_ms"] for r in rows(folder, "timings")] == [7.0, 14.0, 21.0, 28.0]
        (row,) = rows(folder, "ingest")
        assert row == {
            "instance": 2, "key": "key-2", "sessions": 2, "turns": 5, "ingest_ms": 7.0,
            "batched": False,
            "truncated": None,
            "ingest_embedded": None,
            "ingest_cached": None,
            "search_embedded": None,
            "search_cached": None,
        }  # fmt: skip

    def test_a_run_without_instances(self, run):
        folder = run([])
        seal(folder)
        assert [read_table(folder, name).num_rows for name in TABLES] == [0] * 5


class TestSameBytes:
    def test_twice(self, run):
        folder = run()
        seal(folder)
        first = contents(folder)
        seal(folder)
        assert contents(folder) == first

    @pytest.mark.parametrize("order", list(itertools.permutations((0, 2, 3)))[1:])
    def test_whatever_was_completed_first(self, run, order):
        one, other = run([0, 2, 3]), run(order)
        seal(one)
        seal(other)
        assert contents(one) == contents(other)

    def test_whatever_time_it_took(self, run):
        one, other = run(took=1.0), run(took=99.5)
        seal(one)
        seal(other)
        assert contents(one, IDENTICAL) == contents(other, IDENTICAL)
        assert contents(one, ["timings"]) != contents(other, ["timings"])

    @settings(max_examples=10, deadline=None)
    @given(stage=st.integers(1, 4), data=st.data())
    def test_row_groups_end_by_content(self, tmp_path_factory, records, add, stage, data):
        """Small row groups, any order of completion: the same bytes, and no group too long."""
        order = data.draw(st.permutations(range(6)))
        found = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(staged, "ROW_GROUP", 2 * stage)
            patch.setattr(staged, "_STAGE", stage)
            for instances in (range(6), order):
                with RunFolder.claim(tmp_path_factory.mktemp("groups"), "run") as folder:
                    with folder.journal() as journal:
                        for instance in instances:
                            add(journal, records(instance, items=instance, queries=2))
                    seal(folder)
                    found.append(contents(folder))
                    meta = pq.read_metadata(folder.path / "lineage.parquet")
        assert found[0] == found[1]
        sizes = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
        assert sum(sizes) == 15
        assert set(sizes[:-1]) <= {2 * stage}, "all but the last row group are full"

    def test_long_texts_end_a_row_group_early(self, run, monkeypatch):
        monkeypatch.setattr(seals, "_ROW_GROUP_BYTES", 300)
        one, other = run([0, 2]), run([2, 0])
        seal(one)
        seal(other)
        assert contents(one) == contents(other)
        assert pq.read_metadata(one.path / "lineage.parquet").num_row_groups > 2


KILLED_AT = """
import os, signal, sys
from pathlib import Path
from memruler.store.anchor import Anchor
from memruler.store.folder import RunFolder
from memruler.store.seal import seal
real, left = Anchor.take, int(sys.argv[2])
def take(self, temporary):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    real(self, temporary)
Anchor.take = take
seal(RunFolder.claim(Path(sys.argv[1]).parent, Path(sys.argv[1]).name))
"""


class TestFaults:
    @pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
    @pytest.mark.parametrize("files_done", range(5))
    def test_a_kill_between_the_files(self, run, files_done):
        whole, folder = run(), run()
        seal(whole)
        folder.release()
        command = [sys.executable, "-c", KILLED_AT, str(folder.path), str(files_done)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        assert sum(f"{name}.parquet" in files(folder) for name in TABLES) == files_done
        with RunFolder.claim(folder.path.parent, folder.path.name) as again:
            assert not any(name.startswith(TEMPORARY) for name in files(again))
            seal(again)
            assert contents(again) == contents(whole)

    @pytest.mark.parametrize("files_done", range(5))
    def test_an_error_between_the_files(self, run, monkeypatch, files_done):
        whole, folder = run(), run()
        seal(whole)
        left = itertools.count(files_done, -1)
        real = Anchor.take

        def take(self, temporary):
            if next(left) == 0:
                raise OSError(28, "No space left on device")
            real(self, temporary)

        with monkeypatch.context() as patch:
            patch.setattr(Anchor, "take", take)
            with pytest.raises(InstrumentError, match="disk is full"):
                seal(folder)
        assert not any(name.startswith(TEMPORARY) for name in files(folder))
        assert folder.has(JOURNAL)
        seal(folder)
        assert contents(folder) == contents(whole)

    def test_a_disk_that_fills_while_pyarrow_writes(self, run, records, add, size_limit):
        """The error crosses pyarrow and comes out as ours."""
        folder = run([0])
        with folder.journal() as journal:
            add(journal, records(7, items=2000, queries=1))
        with (
            size_limit(5000),
            pytest.raises(InstrumentError, match="size this account may write"),
        ):
            seal(folder)
        assert files(folder) == {".lock", JOURNAL}
        seal(folder)
        assert read_table(folder, "lineage").num_rows == 2003

    def test_half_an_instance_is_not_sealed(self, run):
        whole, folder = run([0, 2]), run([0, 2])
        with Path(folder.path / JOURNAL).open("ab") as file:
            file.write(b'{"t":"begin","instance":3,"key":"key-3"}\n{"t":"item","it')
        seal(whole)
        seal(folder)
        assert contents(folder) == contents(whole)


class TestContradictions:
    """The sums agree and the records do not: a bug, and no table is written."""

    @pytest.mark.parametrize(
        "fault",
        [
            (TraceRecord, {"items": (0, 9), "scores": (1.0, 1.0)}, "names no item"),
            (TraceRecord, {"items": (-1,), "scores": (1.0,)}, "names no item"),
            (TraceRecord, {"items": (0, 1), "scores": (1.0,)}, "one score for each hit"),
            (TraceRecord, {"query": 5}, "search of query 5, which is not there"),
            (QueryRecord, {"query": 0}, "query 0 stands there twice"),
            (ItemRecord, {"item": 7}, "item 7 stands at row 2"),
        ],
    )
    def test_is_refused(self, run, records, add, fault):
        kind, change, message = fault
        folder = run([0])
        made = records(2)
        at = max(i for i, record in enumerate(made) if isinstance(record, kind))
        made[at] = msgspec.structs.replace(made[at], **change)
        with folder.journal() as journal:
            add(journal, made)
        with pytest.raises(FormatError, match=message) as caught:
            seal(folder)
        assert "instance key-2" in str(caught.value)
        assert files(folder) == {".lock", JOURNAL}


class TestJournalGone:
    def test_sealing_again_changes_nothing(self, run, manifest):
        folder = run()
        seal(folder)
        first = contents(folder)
        folder.write_manifest(manifest(folder.path.name, sealed=True))
        discard_journal(folder)
        assert not folder.has(JOURNAL)
        seal(folder)
        discard_journal(folder)
        assert contents(folder) == first

    def test_it_stays_until_the_manifest_says_sealed(self, run, manifest):
        folder = run()
        seal(folder)
        for state in (None, manifest(folder.path.name)):
            if state is not None:
                folder.write_manifest(state)
            with pytest.raises(ValueError, match="not sealed"):
                discard_journal(folder)
        assert folder.has(JOURNAL)

    def test_nothing_left_to_seal(self, run):
        folder = run()
        seal(folder)
        folder.remove(JOURNAL)
        folder.remove("trace.parquet")
        with pytest.raises(FormatError, match=r"neither journal\.jsonl nor trace\.parquet"):
            seal(folder)
