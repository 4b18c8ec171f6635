import gzip
import threading
from itertools import pairwise

import pytest

from memruler.errors import CorpusError, UsageError
from memruler.exchange import lines
from memruler.exchange.ahead import ahead
from memruler.exchange.lines import blocks, head


def _read(path):
    found = list(blocks(path))
    for before, after in pairwise(found):
        assert after.first == before.first + before.data.count(b"\n") + 1
    return b"\n".join(block.data for block in found), found


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_blocks_hold_whole_lines_whatever_their_size(tmp_path, monkeypatch, pack, size):
    monkeypatch.setattr(lines, "_BLOCK", size)
    text = b"".join(b"line %d\n" % n for n in range(100)) + b"the last one"
    (tmp_path / "f").write_bytes(pack(text))
    assert _read(tmp_path / "f")[0] == text


def test_a_byte_order_mark_and_crlf_say_nothing(tmp_path):
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    assert _read(tmp_path / "f")[0] == b"a\nb"
    assert head(tmp_path / "f") == b"a\r\nb\r\n"


def test_gzip_members_one_after_the_other_are_one_file(tmp_path):
    (tmp_path / "f").write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert _read(tmp_path / "f")[0] == b"a\nb"


def test_an_empty_file_has_no_block(tmp_path):
    (tmp_path / "f").write_bytes(b"")
    assert list(blocks(tmp_path / "f")) == []
    (tmp_path / "g").write_bytes(gzip.compress(b""))
    assert list(blocks(tmp_path / "g")) == []


def test_a_truncated_or_damaged_gzip_is_refused(tmp_path):
    whole = gzip.compress(bytes(range(256)) * 4000, mtime=0)
    (tmp_path / "short").write_bytes(whole[:-20])
    with pytest.raises(CorpusError, match="truncated"):
        list(blocks(tmp_path / "short"))
    (tmp_path / "bad").write_bytes(whole[:200] + b"\xff" * 40 + whole[240:])
    with pytest.raises(CorpusError, match="no sound gzip"):
        list(blocks(tmp_path / "bad"))


def test_a_bomb_of_one_line_ends_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 1 << 20)
    monkeypatch.setattr(lines, "_BLOCK", 1 << 16)
    (tmp_path / "bomb").write_bytes(gzip.compress(b"{" + b" " * (64 << 20)))
    with pytest.raises(CorpusError, match="more than 1 MB"):
        list(blocks(tmp_path / "bomb"))


def test_a_bomb_of_blank_lines_is_never_held(tmp_path):
    (tmp_path / "bomb").write_bytes(gzip.compress(b"\n" * (64 << 20)))
    assert max(len(block.data) for block in blocks(tmp_path / "bomb")) < 10 << 20


def test_a_folder_and_a_missing_file_are_told(tmp_path):
    with pytest.raises(UsageError, match="folder"):
        list(blocks(tmp_path))
    with pytest.raises(UsageError, match="no such file"):
        list(blocks(tmp_path / "nothing"))


def test_ahead_keeps_order_and_raises_what_the_source_raised():
    assert list(ahead(iter(range(50)))) == list(range(50))

    def failing():
        yield 1
        raise KeyError("broken")

    running = ahead(failing())
    assert next(running) == 1
    with pytest.raises(KeyError, match="broken"):
        next(running)


def test_ahead_leaves_no_thread_behind_when_nobody_wants_more():
    before = threading.active_count()
    ended = []

    def endless():
        try:
            while True:
                yield 0
        finally:
            ended.append(True)

    running = ahead(endless())
    assert next(running) == 0
    running.close()
    assert threading.active_count() == before
