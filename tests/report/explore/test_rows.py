"""Rows of a table by number, across row groups, and what happens when it is no table."""

from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import FormatError
from memruler.model.run import SCHEMA_VERSION
from memruler.report.explore.rows import Rows
from memruler.store.folder import RunFolder
from memruler.store.tables import read_table


class Folder:
    """Counts how often a table is opened."""

    version = SCHEMA_VERSION

    def __init__(self, path):
        self.path, self.opened = path, 0

    @contextmanager
    def source(self, name):
        self.opened += 1
        with (self.path / name).open("rb") as file:
            yield file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    table = pa.table({"a": list(range(50)), "b": [f"text {n}" for n in range(50)]})
    pq.write_table(table, path / "t.parquet", row_group_size=7)
    return Folder(path)


@given(rows=st.lists(st.integers(0, 49), max_size=20))
def test_any_rows_in_any_order(folder, rows):
    taken = Rows(folder, "t", ["b", "a"]).take(rows)
    assert taken == [{"b": f"text {n}", "a": n} for n in rows]


def test_a_row_group_is_read_once_and_only_a_few_stay(folder):
    rows = Rows(folder, "t", ["a"])
    rows.take([0])
    before = folder.opened
    rows.take([1, 2, 6])
    assert folder.opened == before
    rows.take([10, 20, 30])  # three more row groups push the first one out
    rows.take([1])
    assert folder.opened == before + 4


def test_rows_and_columns_that_are_not_there_are_refused(folder):
    for row in (-1, 50):
        with pytest.raises(FormatError, match="other rows"):
            Rows(folder, "t", ["a"]).take([row])
    with pytest.raises(FormatError):
        Rows(folder, "t", ["absent"]).take([0])


def test_an_older_run_is_read_as_if_it_were_of_today():
    path = Path(__file__).parents[2] / "store" / "data" / "v1"
    found = next(path.rglob("manifest.json")).parent
    run = RunFolder.open(found)
    assert run.version < SCHEMA_VERSION
    whole = read_table(run, "lineage", columns=["id", "attribution"]).to_pylist()
    numbers = list(range(len(whole)))[::-1]
    assert Rows(run, "lineage", ["id", "attribution"]).take(numbers) == whole[::-1]
