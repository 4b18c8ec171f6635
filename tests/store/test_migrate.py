"""Newer is refused, older is migrated, and the oldest folder there is keeps opening."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from memruler.errors import FormatError
from memruler.model.run import SCHEMA_VERSION
from memruler.store import folder as folders
from memruler.store import migrate, tables
from memruler.store.folder import MANIFEST, TABLES, RunFolder
from memruler.store.safe import write_atomic
from memruler.store.seal import seal
from memruler.store.tables import batches, read_table

HERE = Path(__file__).parent


VERSIONS = [path.name for path in sorted((HERE / "data").iterdir())]


def test_every_version_is_there():
    assert len(VERSIONS) == SCHEMA_VERSION
    assert set(VERSIONS) == {f"v{n + 1}" for n in range(SCHEMA_VERSION)}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_keeps_opening(version):
    """Never change or remove tests/store/data/v*: runs like them are on people's disks."""
    folder = RunFolder.open(HERE / "data" / version)
    assert folder.manifest().stem == version
    assert f"v{folder.version}" == version
    rows = {name: read_table(folder, name).num_rows for name in TABLES}
    assert rows == {"queries": 5, "lineage": 7, "trace": 5, "timings": 5, "ingest": 2}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_reads_as_when_it_was_made(tmp_path, version):
    """Compared by content: another pyarrow may write other bytes."""
    command = [sys.executable, str(HERE / f"make_{version}.py"), str(tmp_path)]
    subprocess.run(command, check=True)
    old, new = RunFolder.open(HERE / "data" / version), RunFolder.open(tmp_path / version)
    assert old.manifest() == new.manifest()
    for name in TABLES:
        assert read_table(old, name).equals(read_table(new, name)), name


def test_version_1_knew_only_what_was_reported():
    folder = RunFolder.open(HERE / "data" / "v1")
    assert folder.version == 1
    table = read_table(folder, "lineage")
    assert table.schema.equals(tables.LINEAGE)
    assert table.column("attribution").to_pylist() == ["reported"] * 7
    (batch,) = batches(folder, "lineage", ["item", "attribution"])
    assert batch.schema.names == ["item", "attribution"]


def test_an_item_of_version_1_without_sources_is_unknown():
    step = migrate.MIGRATIONS[1]
    old = read_table(RunFolder.open(HERE / "data" / "v2"), "lineage").drop_columns("attribution")
    (batch,) = old.slice(3).to_batches()
    assert not batch.column("sessions").to_pylist()[3]
    wanted = ["reported"] * 3 + ["unknown"]
    assert step.batch("lineage", batch).column("attribution").to_pylist() == wanted
    assert step.batch("lineage", batch.slice(0, 0)).schema.equals(tables.LINEAGE)
    assert step.batch("trace", batch) is batch


def test_a_run_of_version_1_was_given_turns():
    step = migrate.MIGRATIONS[1]
    raw = {"fingerprint": {"ingest": {"order": "time"}, "ruler": {"sha256": "00"}}, "stem": "r"}
    ingest = {"forms": "turns", "order": "time"}
    parts = {"ingest": ingest, "ruler": {"sha256": "00"}}
    assert step.manifest(raw) == {"fingerprint": parts, "stem": "r"}
    assert raw["fingerprint"]["ingest"] == {"order": "time"}
    assert step.manifest({"fingerprint": 5}) == {"fingerprint": 5}


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_no_system_was_asked_for_answers_before_version_3(version):
    folder = RunFolder.open(HERE / "data" / version)
    table = read_table(folder, "trace")
    assert table.schema.equals(tables.TRACE)
    for column in ("answer", "answer_error"):
        assert table.column(column).to_pylist() == [None] * 5
    step = migrate.MIGRATIONS[2]
    raw = {"schema_version": 2}
    assert step.manifest(raw) is raw
    (batch,) = read_table(folder, "lineage").to_batches()
    assert step.batch("lineage", batch) is batch


def test_version_3_keeps_answers_and_their_errors():
    table = read_table(RunFolder.open(HERE / "data" / "v3"), "trace")
    assert table.column("answer").to_pylist() == [None, "", 'on "May 7"\n\u202e', None, None]
    wanted = [None, None, None, "timed out", None]
    assert table.column("answer_error").to_pylist() == [*wanted]


def test_what_version_1_left_unfinished_is_refused(tmp_path):
    with RunFolder.claim(tmp_path, "run") as folder:
        folder.write("journal.jsonl", b'{"t":"journal","schema_version":1}\n')
        with pytest.raises(FormatError, match="finish it with the version that began it"):
            folder.journal()


@pytest.fixture
def sealed(tmp_path, manifest, records, add) -> Path:
    with RunFolder.claim(tmp_path, "run") as folder:
        with folder.journal() as journal:
            add(journal, records(0))
        seal(folder)
        folder.write_manifest(manifest("run", sealed=True))
        return folder.path


def change(path: Path, **changes: object) -> None:
    """Change keys of the manifest; None removes one."""
    raw = msgspec.json.decode((path / MANIFEST).read_bytes()) | changes
    kept = {key: value for key, value in raw.items() if value is not None}
    write_atomic(path / MANIFEST, msgspec.json.encode(kept))


@pytest.mark.parametrize(
    ("version", "message"), [(4, "upgrade memruler"), (0, "no longer reads"), (-1, "no longer")]
)
def test_other_versions_are_refused(sealed, version, message):
    change(sealed, schema_version=version)
    with pytest.raises(FormatError, match=message):
        RunFolder.open(sealed)


class Step:
    """From a version 3 whose manifest said `name`, to an imagined version 4."""

    def manifest(self, raw):
        return {**{k: v for k, v in raw.items() if k != "name"}, "stem": raw["name"]}

    def batch(self, name, batch):
        if name != "ingest":
            return batch
        values = [f"migrated {key}" for key in batch.column("key").to_pylist()]
        index = batch.schema.get_field_index("key")
        return batch.set_column(index, tables.INGEST.field("key"), pa.array(values))


def test_an_older_run_reads_as_todays(sealed, manifest, monkeypatch):
    change(sealed, name="run", stem=None)
    before = {p.name: p.read_bytes() for p in sealed.iterdir()}
    for module in (folders, migrate, tables):
        monkeypatch.setattr(module, "SCHEMA_VERSION", 4)
    monkeypatch.setitem(migrate.MIGRATIONS, 3, Step())
    folder = RunFolder.open(sealed)
    assert folder.version == 3
    today = msgspec.structs.replace(manifest("run", sealed=True), schema_version=4)
    assert folder.manifest() == today
    assert read_table(folder, "ingest").column("key").to_pylist() == ["migrated key-0"]
    assert read_table(folder, "ingest", ["key"]).column_names == ["key"]
    (batch,) = batches(folder, "ingest", ["key"])
    assert batch.column("key").to_pylist() == ["migrated key-0"]
    assert read_table(folder, "trace").num_rows == 2
    assert {p.name: p.read_bytes() for p in sealed.iterdir()} == before
