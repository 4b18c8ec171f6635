"""The journal survives a kill at any byte: what was committed counts, and nothing else does."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.errors import FormatError, InstrumentError, UsageError
from memruler.model.run import Begin, ItemRecord, TraceRecord
from memruler.store import journal as journals
from memruler.store import lines
from memruler.store.journal import Journal
from memruler.store.lines import HEADER

ORDER = (4, 0, 2)


class Written(msgspec.Struct):
    """A journal of three instances, and the bytes at which each of them is complete."""

    data: bytes
    ends: list[int]

    def complete(self, until: int) -> tuple[int, ...]:
        """Instances all of whose bytes stand before `until`."""
        return tuple(i for i, end in zip(ORDER, self.ends, strict=True) if end <= until)


@pytest.fixture(scope="module")
def written(tmp_path_factory, records, add) -> Written:
    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    ends = []
    with Journal.open(path) as journal:
        for instance in ORDER:
            add(journal, records(instance))
            ends.append(path.stat().st_size)
    return Written(path.read_bytes(), ends)


def counting(data: bytes) -> tuple[tuple[int, ...], int]:
    """What counts in a journal of these bytes, and how many of them can be trusted."""
    entries, good = lines.recover(BytesIO(data), "journal")
    return tuple(entry.begin.instance for entry in entries), good


def reopened(data: bytes) -> tuple[tuple[int, ...], bytes]:
    """The same through a file: what counts, and its bytes afterwards."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        path.write_bytes(data)
        with Journal.open(path) as journal:
            assert journal.cut == max(0, len(data) - path.stat().st_size)
            done = tuple(read.begin.instance for read in journal.instances())
            assert journal.done == frozenset(done)
        return done, path.read_bytes()


def test_what_is_written_is_read(tmp_path, records, add):
    with Journal.open(tmp_path / "j") as journal:
        add(journal, records(3))
        (read,) = journal.instances()
    assert [read.begin, *read.queries, *read.items, *read.traces, read.end] == records(3)


def test_records_come_by_position_and_instances_in_file_order(tmp_path, records, add):
    with Journal.open(tmp_path / "j") as journal:
        for instance in ORDER:
            add(journal, records(instance))
        assert [read.begin.instance for read in journal.instances()] == list(ORDER)
        by_position = [(entry.begin.instance, list(r)) for entry, r in journal.records()]
    assert [instance for instance, _ in by_position] == sorted(ORDER)
    assert [record for record, _ in by_position[0][1]] == records(0)


def test_cut_at_every_byte(written):
    """Exhaustive: a kill can stop a write anywhere."""
    for at in range(len(written.data) + 1):
        ends = [0 if at < len(HEADER) else len(HEADER), *(e for e in written.ends if e <= at)]
        assert counting(written.data[:at]) == (written.complete(at), ends[-1]), at


@pytest.mark.parametrize("part", range(8))
def test_cut_and_opened_again(written, part):
    for at in range(part, len(written.data) + 1, 101):
        done, left = reopened(written.data[:at])
        assert done == written.complete(at), at
        ends = [len(HEADER), *(end for end in written.ends if end <= at)]
        assert left == written.data[: ends[-1]], at


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_garbled_tail(written, data):
    """A block that was never written may read as anything: zeros, or what stood there before."""
    at = data.draw(st.integers(len(HEADER), len(written.data)), "from")
    tail = data.draw(
        st.one_of(
            st.binary(max_size=200),
            st.integers(1, 5000).map(bytes),
            st.lists(st.sampled_from(written.data.splitlines(keepends=True)[1:4])).map(b"".join),
        ),
        "tail",
    )
    if written.data[at:].startswith(tail) or tail.startswith(written.data[at:]):
        tail = b"\0" + tail
    assert counting(written.data[:at] + tail)[0] == written.complete(at)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_one_changed_bit_in_the_last_instance(written, data):
    """A changed digit is still JSON: the sum tells."""
    at = data.draw(st.integers(written.ends[-2], len(written.data) - 1), "byte")
    changed = bytearray(written.data)
    changed[at] ^= 1 << data.draw(st.integers(0, 7), "bit")
    assert counting(bytes(changed))[0] == ORDER[:-1]


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_damage_with_complete_instances_behind_it_is_no_kill(written, data):
    """Cutting there would throw away measurements without a word."""
    at = data.draw(st.integers(written.ends[0], written.ends[1] - 1), "byte")
    changed = bytearray(written.data)
    changed[at] ^= 1 << data.draw(st.integers(0, 7), "bit")
    with pytest.raises(FormatError, match=f"damaged at byte {written.ends[0]}"):
        counting(bytes(changed))


def test_a_run_goes_on_after_a_cut(tmp_path, written, records, add):
    path = tmp_path / "j"
    path.write_bytes(written.data[: written.ends[1] + 100])
    with Journal.open(path) as journal:
        assert journal.done == {4, 0}
        assert journal.cut == 100
        add(journal, records(2))
    assert path.read_bytes() == written.data


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (b'{"t":"journal","schema_version":4}\n', "upgrade memruler"),
        (b'{"t":"journal","schema_version":1}\n', "finish it with the version"),
        (b'{"t":"journal","schema_version":2}\n', "finish it with the version"),
        (b'{"t":"begin","instance":0,"key":"a"}\n', "not a journal"),
        (b"\x89PNG\r\n\x1a\n", "not a journal"),
        (b"hello", "not a journal"),
        (b"\0" * 4096, "not a journal"),
        (b"\xff\xfe\n", "not a journal"),
    ],
)
def test_foreign_files_are_refused_and_left_alone(tmp_path, first, message):
    path = tmp_path / "j"
    path.write_bytes(first)
    with pytest.raises(FormatError, match=message):
        Journal.open(path)
    assert path.read_bytes() == first


def test_an_instance_twice_is_refused(tmp_path, written):
    path = tmp_path / "j"
    path.write_bytes(written.data + written.data[len(HEADER) : written.ends[0]])
    with pytest.raises(FormatError, match="twice"):
        Journal.open(path)


def test_wrong_counts_do_not_count(written):
    begin, *rest = written.data[len(HEADER) : written.ends[0]].splitlines(keepends=True)
    tally = lines.Tally(msgspec.json.decode(begin, type=Begin))
    kept = [begin, *(line for line in rest[:-1] if b"i2" not in line)]
    assert len(kept) == len(rest) - 1
    for line in kept:
        tally.add(line)
    assert counting(HEADER + b"".join(kept) + lines.sum_line(tally))[0] == ()


class TestOrder:
    @pytest.fixture
    def journal(self, tmp_path) -> Iterator[Journal]:
        with Journal.open(tmp_path / "j") as journal:
            yield journal

    def test_a_record_outside_an_instance(self, journal, records):
        with pytest.raises(ValueError, match="outside"):
            journal.append(records(0)[1])

    def test_wrong_counts(self, journal, records):
        begin, *_, end = records(0)
        journal.append(begin)
        with pytest.raises(ValueError, match="counts"):
            journal.append(end)

    def test_an_end_of_another_instance(self, journal, records):
        for record in records(0)[:-1]:
            journal.append(record)
        with pytest.raises(ValueError, match="counts"):
            journal.append(records(1)[-1])

    def test_an_instance_that_is_done(self, journal, records, add):
        add(journal, records(0))
        with pytest.raises(ValueError, match="done already"):
            journal.append(records(0)[0])

    def test_a_begin_before_the_commit(self, journal, records):
        for record in records(0):
            journal.append(record)
        with pytest.raises(ValueError, match="no commit"):
            journal.append(records(1)[0])

    def test_nothing_counts_before_the_commit(self, journal, records):
        for record in records(0):
            journal.append(record)
        assert journal.done == frozenset()
        assert list(journal.instances()) == []
        journal.commit()
        journal.commit()
        assert journal.done == {0}

    def test_a_begin_drops_half_an_instance(self, journal, records, add, monkeypatch):
        monkeypatch.setattr(journals, "_BUFFER", 100)  # so that the half is in the file already
        for record in records(7)[:-2]:
            journal.append(record)
        assert journal.path.stat().st_size > len(HEADER)
        add(journal, records(1))
        assert [read.begin.instance for read in journal.instances()] == [1]
        with Journal.open(journal.path) as again:
            assert again.done == {1}
            assert again.cut == 0


class TestHostileRecords:
    def item(self, text: str) -> ItemRecord:
        return ItemRecord(
            item=0, id="i", kind="turn", sessions=(), turns=(), status="stored", reason=None,
            text=text,
        )  # fmt: skip

    def test_a_ten_megabyte_turn(self, tmp_path, records, add):
        begin, *_, end = records(0, items=0, queries=0)
        end = msgspec.structs.replace(end, items=1)
        item = self.item("\0" * 10_000_000)  # each NUL takes six bytes in JSON
        with Journal.open(tmp_path / "j") as journal:
            add(journal, [begin, item, end])
        with Journal.open(tmp_path / "j") as journal:
            assert next(journal.instances()).items == (item,)

    def test_a_longer_line_than_the_journal_takes(self, tmp_path, records, monkeypatch):
        monkeypatch.setattr(journals, "LONGEST_LINE", 1000)
        with Journal.open(tmp_path / "j") as journal:
            journal.append(records(0)[0])
            with pytest.raises(InstrumentError, match="longer than the journal takes"):
                journal.append(self.item("x" * 1000))

    def test_half_a_surrogate_pair(self, tmp_path, records):
        with Journal.open(tmp_path / "j") as journal:
            journal.append(records(0)[0])
            with pytest.raises(InstrumentError, match="cannot be written"):
                journal.append(self.item("\ud800"))

    def test_a_score_that_is_not_a_number_is_absent(self, tmp_path, records, add):
        begin, *_, end = records(0, items=0, queries=0)
        trace = TraceRecord(
            query=0, items=(), scores=(float("nan"),), context_chars=0, latency_ms=1.0
        )
        with Journal.open(tmp_path / "j") as journal:
            add(journal, [begin, trace, msgspec.structs.replace(end, traces=1)])
            assert next(journal.instances()).traces[0].scores == (None,)


class TestFaults:
    def test_a_failing_disk_keeps_what_was_committed(self, tmp_path, records, add, monkeypatch):
        path = tmp_path / "j"
        with Journal.open(path) as journal:
            add(journal, records(0))

            def full(_):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", full)
                with pytest.raises(InstrumentError, match="disk is full"):
                    add(journal, records(1))
            assert journal.done == {0}
            add(journal, records(2))  # space was made
            assert journal.done == {0, 2}
        with Journal.open(path) as journal:
            assert journal.done == {0, 2}

    def test_a_size_limit_in_the_middle_of_a_line(self, tmp_path, records, add, size_limit):
        path = tmp_path / "j"
        with Journal.open(path) as journal:
            add(journal, records(0))
            with (
                size_limit(path.stat().st_size + 100),
                pytest.raises(InstrumentError, match="size this account may write"),
            ):
                add(journal, records(1))
        with Journal.open(path) as journal:
            assert journal.done == {0}
            assert journal.cut == 100

    def test_a_link_is_refused(self, tmp_path):
        (tmp_path / "target").write_bytes(b"precious")
        (tmp_path / "j").hardlink_to(tmp_path / "target")
        with pytest.raises(UsageError, match="hard link"):
            Journal.open(tmp_path / "j")
        assert (tmp_path / "target").read_bytes() == b"precious"

    def test_a_record_of_another_schema(self, tmp_path, written):
        """Whole and summed, and still not what this version calls a record."""
        begin, *rest = written.data[len(HEADER) : written.ends[0]].splitlines(keepends=True)
        tally = lines.Tally(msgspec.json.decode(begin, type=Begin))
        kept = [begin, *(line.replace(b'"kind":"turn"', b'"kind":7') for line in rest[:-1])]
        for line in kept:
            tally.add(line)
        path = tmp_path / "j"
        path.write_bytes(HEADER + b"".join(kept) + lines.sum_line(tally))
        with Journal.open(path) as journal, pytest.raises(FormatError, match="cannot be read"):
            list(journal.instances())


def test_a_real_full_disk(tmp_path, records, add):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    command = [str(mount), "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if not mount or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("this account may not mount a tmpfs")
    try:
        path = disk / "j"
        with Journal.open(path) as journal:
            add(journal, records(0))
            with pytest.raises(InstrumentError, match="disk is full"):
                add(journal, records(1, items=2000))
            assert journal.done == {0}
            add(journal, records(2))
        with Journal.open(path) as journal:
            assert journal.done == {0, 2}
    finally:
        subprocess.run([str(shutil.which("umount")), str(disk)], check=True)
