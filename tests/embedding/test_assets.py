import hashlib
import importlib
import sys

import pytest

from memruler.embedding.assets import Asset
from memruler.errors import ChecksumError, InstrumentError

DATA = b"weights"
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package whose import would fail loudly."""
    folder = tmp_path / "site" / "carrier_of_data"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise AssertionError('imported')")
    (folder / "model.bin").write_bytes(DATA)
    monkeypatch.syspath_prepend(folder.parent)
    importlib.invalidate_caches()
    return folder


def test_reads_pinned_bytes_without_importing(package):
    assert Asset("carrier_of_data", "model.bin", DIGEST).load() == DATA
    assert package.name not in sys.modules


def test_follows_the_links_of_package_managers(package):
    (package / "model.bin").rename(package / "store.bin")
    (package / "model.bin").symlink_to(package / "store.bin")
    (package / "hard.bin").hardlink_to(package / "store.bin")
    assert Asset("carrier_of_data", "model.bin", DIGEST).load() == DATA
    assert Asset("carrier_of_data", "hard.bin", DIGEST).load() == DATA


def test_one_flipped_bit_is_refused(package):
    (package / "model.bin").write_bytes(b"weightt")
    with pytest.raises(ChecksumError, match=r"has SHA-256 .* expected .*memruler\[local\]"):
        Asset("carrier_of_data", "model.bin", DIGEST).load()


@pytest.mark.parametrize("name", ["carrier_of_data", "no_such_package_here"])
def test_missing_says_how_to_install(package, name):
    (package / "model.bin").unlink()
    with pytest.raises(InstrumentError, match=r"pip install 'memruler\[local\]'"):
        Asset(name, "model.bin", DIGEST).load()


def test_a_module_without_a_spec_counts_as_missing(monkeypatch):
    module = type(sys)("handmade")
    module.__spec__ = None
    monkeypatch.setitem(sys.modules, "handmade", module)
    with pytest.raises(InstrumentError, match="not installed"):
        Asset("handmade", "model.bin", DIGEST).locate()
