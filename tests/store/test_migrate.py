"""Newer is refused, older is migrated, and the oldest folder there is keeps opening."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from memruler.errors import FormatError
from memruler.store import folder as folders
from memruler.store import migrate, tables
from memruler.store.folder import MANIFEST, TABLES, RunFolder
from memruler.store.safe import write_atomic
from memruler.store.seal import seal
from memruler.store.tables import batches, read_table

HERE = Path(__file__).parent


def test_version_1_keeps_opening():
    """Never change or remove tests/store/data/v1: runs like it are on people's disks."""
    folder = RunFolder.open(HERE / "data" / "v1")
    assert folder.manifest().stem == "v1"
    rows = {name: read_table(folder, name).num_rows for name in TABLES}
    assert rows == {"queries": 5, "lineage": 7, "trace": 5, "timings": 5, "ingest": 2}


def test_version_1_reads_as_when_it_was_made(tmp_path):
    """Compared by content: another pyarrow may write other bytes."""
    command = [sys.executable, str(HERE / "make_v1.py"), str(tmp_path)]
    subprocess.run(command, check=True)
    old, new = RunFolder.open(HERE / "data" / "v1"), RunFolder.open(tmp_path / "v1")
    assert old.manifest() == new.manifest()
    for name in TABLES:
        assert read_table(old, name).equals(read_table(new, name)), name


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
    ("version", "message"), [(2, "upgrade memruler"), (0, "no longer reads"), (-1, "no longer")]
)
def test_other_versions_are_refused(sealed, version, message):
    change(sealed, schema_version=version)
    with pytest.raises(FormatError, match=message):
        RunFolder.open(sealed)


class Step:
    """From an imagined version 1 whose manifest said `name`, to version 2."""

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
        monkeypatch.setattr(module, "SCHEMA_VERSION", 2)
    monkeypatch.setitem(migrate.MIGRATIONS, 1, Step())
    folder = RunFolder.open(sealed)
    assert folder.version == 1
    today = msgspec.structs.replace(manifest("run", sealed=True), schema_version=2)
    assert folder.manifest() == today
    assert read_table(folder, "ingest").column("key").to_pylist() == ["migrated key-0"]
    assert read_table(folder, "ingest", ["key"]).column_names == ["key"]
    (batch,) = batches(folder, "ingest", ["key"])
    assert batch.column("key").to_pylist() == ["migrated key-0"]
    assert read_table(folder, "trace").num_rows == 2
    assert {p.name: p.read_bytes() for p in sealed.iterdir()} == before
