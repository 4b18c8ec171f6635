"""The tables open anywhere, and a damaged one says so."""

import importlib.util
import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.errors import FormatError, InstrumentError
from memruler.store import tables
from memruler.store.columns import array_of, batch_of
from memruler.store.folder import TABLES, RunFolder
from memruler.store.seal import seal
from memruler.store.tables import SCHEMAS, batches, read_table, table_writer, write_table


@pytest.fixture
def folder(tmp_path, records, add):
    with RunFolder.claim(tmp_path, "run") as folder:
        with folder.journal() as journal:
            for instance in range(3):
                add(journal, records(instance, items=20, queries=10))
        seal(folder)
        yield folder


@pytest.mark.parametrize("name", TABLES)
def test_schemas(folder, name):
    assert read_table(folder, name).schema.equals(SCHEMAS[name])


def test_schema_names_are_what_a_run_has():
    assert tuple(SCHEMAS) == TABLES


def test_pyarrow_opens_them_by_path(folder):
    table = pq.read_table(folder.path / "lineage.parquet")
    assert table.num_rows == 60
    meta = pq.read_metadata(folder.path / "lineage.parquet")
    assert meta.row_group(0).column(0).compression == "ZSTD"


@pytest.mark.skipif(not importlib.util.find_spec("duckdb"), reason="duckdb is not installed")
def test_duckdb_joins_hits_to_items(folder):
    import duckdb  # noqa: PLC0415

    found = duckdb.sql(
        f"select count(*) from (select unnest(items) as row from '{folder.path}/trace.parquet')"  # noqa: S608
    )
    assert found.fetchall() == [(27 * 20,)]


@pytest.mark.skipif(not importlib.util.find_spec("polars"), reason="polars is not installed")
def test_polars_reads_nested_columns(folder):
    import polars as pl  # noqa: PLC0415

    queries = pl.read_parquet(folder.path / "queries.parquet")
    assert queries["evidence"].list.len().sum() == 57


def test_some_columns(folder):
    table = read_table(folder, "lineage", ["status", "id"])
    assert set(table.column_names) == {"status", "id"}
    assert pc.count_distinct(table.column("status")).as_py() == 2


def test_batches_are_the_table(folder):
    found = list(batches(folder, "lineage", ["id", "item"], rows=7))
    assert max(batch.num_rows for batch in found) == 7
    whole = read_table(folder, "lineage", ["id", "item"])
    assert pa.Table.from_batches(found).equals(whole)


@pytest.mark.parametrize("read", [read_table, lambda *a: list(batches(*a))])
class TestRefused:
    def test_a_missing_table(self, folder, read):
        with pytest.raises(FormatError, match=r"lacks scores\.parquet"):
            read(folder, "scores", None)

    def test_an_unknown_column(self, folder, read):
        with pytest.raises(FormatError, match="lacks colour"):
            read(folder, "trace", ["colour", "items"])

    def test_other_columns_than_the_schema(self, folder, read):
        write_table(folder, "trace", pa.table({"items": [1]}))
        with pytest.raises(FormatError, match="other columns"):
            read(folder, "trace", ["items"])

    @pytest.mark.parametrize("damage", ["empty", "half", "garbage", "middle"])
    def test_a_damaged_table(self, folder, read, damage):
        data = folder.read("lineage.parquet")
        middle = bytearray(data)
        middle[4 : len(data) // 2] = bytes(len(data) // 2 - 4)
        folder.write(
            "lineage.parquet",
            {"empty": b"", "half": data[: len(data) // 2], "garbage": b"x" * 999}.get(
                damage, bytes(middle)
            ),
        )
        with pytest.raises(FormatError, match="cannot be read") as caught:
            read(folder, "lineage", None)
        assert "\n" not in str(caught.value)


class TestWrite:
    def test_same_rows_same_bytes(self, folder):
        table = pa.table({"metric": ["a", "b"], "value": [0.5, None]})
        write_table(folder, "scores", table)
        first = folder.read("scores.parquet")
        write_table(folder, "scores", pa.table(table.to_pydict(), schema=table.schema))
        assert folder.read("scores.parquet") == first
        assert read_table(folder, "scores").equals(table)

    def test_chunks_do_not_change_what_is_read(self, folder, monkeypatch):
        monkeypatch.setattr(tables, "ROW_GROUP", 3)
        table = pa.table({"value": list(range(10))})
        write_table(folder, "scores", table)
        meta = pq.read_metadata(folder.path / "scores.parquet")
        assert [meta.row_group(i).num_rows for i in range(4)] == [3, 3, 3, 1]

    def test_an_error_leaves_the_table_from_before(self, folder):
        write_table(folder, "scores", pa.table({"value": [1]}))
        before = sorted(path.name for path in folder.path.iterdir())

        def fail() -> None:
            with table_writer(folder, "scores", pa.schema([("value", pa.int64())])) as writer:
                writer.write_table(pa.table({"value": [2]}))
                raise InstrumentError("stop")

        with pytest.raises(InstrumentError, match="stop"):
            fail()
        assert read_table(folder, "scores").to_pydict() == {"value": [1]}
        assert sorted(path.name for path in folder.path.iterdir()) == before


class TestColumns:
    KIND = pa.list_(pa.struct([("name", pa.string()), ("marks", pa.list_(pa.int32()))]))

    @settings(deadline=None)
    @given(
        st.lists(
            st.lists(st.tuples(st.none() | st.text("ab\0"), st.lists(st.integers(-9, 9)))),
        )
    )
    def test_nested_lists_are_what_pyarrow_would_build(self, rows):
        built = array_of(self.KIND, rows)
        built.validate(full=True)
        slow = pa.array([[{"name": n, "marks": m} for n, m in row] for row in rows], type=self.KIND)
        assert built.equals(slow)

    def test_a_value_of_another_type_is_an_error(self):
        with pytest.raises(pa.ArrowInvalid):
            batch_of(pa.schema([("a", pa.int32())]), [("x",)])


def test_the_folder_itself_needs_no_pyarrow():
    """A verb that only looks at manifests stays light."""
    code = (
        "import sys, memruler.store.folder as f; f.check_stem('a'); "
        "sys.exit(bool({'pyarrow', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
