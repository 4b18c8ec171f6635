"""The journal survives a kill at any byte: what was committed counts, and nothing else does."""

import errno
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.errors import FormatError, InstrumentError, UsageError
from memruler.model.run import Begin, End, ItemRecord
from memruler.store import lines
from memruler.store.journal import Journal
from memruler.store.lines import HEADER


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> tuple[bytes, list[int]]:
    """A journal of three instances, and the byte at which each of them is complete."""
    from tests_store_records import add_instance, make_records  # noqa: PLC0415

    path = tmp_path_factory.mktemp("journal") / "journal.jsonl"
    ends = []
    with Journal.open(path) as journal:
        for instance in (4, 0, 2):
            add_instance(journal, make_records(instance))
            ends.append(path.stat().st_size)
    return path.read_bytes(), ends
