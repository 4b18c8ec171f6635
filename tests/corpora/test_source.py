"""A file that is hashed, read, and watched."""

import hashlib
import os

import pytest

from memruler.corpora.source import Source, as_local_file
from memruler.errors import CorpusError


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "corpus"
    path.write_bytes(b"some bytes")
    return path


def test_the_digest_is_of_the_bytes(file):
    assert Source(file).sha256 == hashlib.sha256(b"some bytes").hexdigest()


def test_a_file_without_a_pin_is_local():
    assert as_local_file("00") == ("local-file", "unknown")


def test_missing(tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        Source(tmp_path / "nothing")


def test_a_folder(tmp_path):
    with pytest.raises(CorpusError, match="is a folder"):
        Source(tmp_path)


def test_an_empty_file(tmp_path):
    (tmp_path / "empty").touch()
    with pytest.raises(CorpusError, match="is empty"):
        Source(tmp_path / "empty")


def test_a_nul_in_the_name(tmp_path):
    with pytest.raises(CorpusError, match="cannot read"):
        Source(tmp_path / "a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CorpusError, match="not a regular file"):
        Source(tmp_path / "pipe")


def test_an_unreadable_file(file, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(file), "open", refuse)
    with pytest.raises(CorpusError, match="cannot read the file: Permission denied"):
        Source(file)


def test_a_change_before_reading(file):
    source = Source(file)
    file.write_bytes(b"other bytes")
    with pytest.raises(CorpusError, match="changed while it was in use"), source.open():
        pass


def test_a_change_while_reading(file):
    source = Source(file)
    with pytest.raises(CorpusError, match="changed while it was in use"), source.open():
        os.utime(file, ns=(1, 1))


def test_a_file_that_was_replaced(file, tmp_path):
    source = Source(file)
    state = file.stat()
    other = tmp_path / "other"
    other.write_bytes(b"same bytes")
    os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns))
    other.replace(file)  # same name, size and time: only the inode differs
    with pytest.raises(CorpusError, match="changed while it was in use"), source.open():
        pass


def test_a_file_that_vanishes_while_reading(file):
    source = Source(file)
    with pytest.raises(CorpusError, match="cannot read"), source.open():
        file.unlink()
