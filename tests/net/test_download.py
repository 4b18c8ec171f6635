import errno
import hashlib
import io
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import ChecksumError, InstrumentError, UsageError
from memruler.net import download as module
from memruler.net.client import Client
from memruler.net.download import download, part_of
from memruler.net.errors import HttpError
from memruler.store.faults import fault

DATA = bytes(i * i % 251 for i in range(300_000))
SHA = hashlib.sha256(DATA).hexdigest()
PIN = {"size": len(DATA), "sha256": SHA}


@pytest.fixture
def client():
    with Client(timeout=httpx2.Timeout(0.5)) as made:
        yield made


@pytest.fixture
def once():
    """A client that does not try again."""
    with Client(retries=0) as made:
        yield made


@pytest.fixture
def to(tmp_path):
    return tmp_path / "cache" / "file.json"


def left_in(to):
    return sorted(path.name for path in to.parent.iterdir())


def test_a_file_is_placed_and_nothing_else_stays(server, client, to, ranged):
    server.answer = ranged(DATA)
    seen = []
    got = download(client, server.url, to, **PIN, progress=lambda *now: seen.append(now))
    assert got == (len(DATA), SHA)
    assert to.read_bytes() == DATA
    assert left_in(to) == ["file.json"]
    assert seen[0] == (0, len(DATA))
    assert seen[-1] == (len(DATA), len(DATA))
    assert seen == sorted(seen)
    assert server.asked[0].headers["Accept-Encoding"] == "identity"


def test_a_drop_is_resumed_within_the_call(server, client, to, ranged):
    whole = ranged(DATA)
    server.answer = lambda asked: (
        ranged(DATA, cut=90_000)(asked) if server.asked[2:] == [] else whole(asked)
    )
    download(client, server.url, to, **PIN)
    assert to.read_bytes() == DATA
    ranges = [asked.headers.get("Range") for asked in server.asked]
    assert ranges == [None, "bytes=90000-", "bytes=180000-"]


def test_a_drop_is_resumed_by_the_next_call(server, once, to, ranged):
    server.answer = ranged(DATA, cut=100_000)
    with pytest.raises(HttpError, match="connection broke"):
        download(once, server.url, to, **PIN)
    assert not to.exists()
    assert part_of(to).read_bytes() == DATA[:100_000]
    server.answer = ranged(DATA)
    seen = []
    download(once, server.url, to, **PIN, progress=lambda *now: seen.append(now))
    assert to.read_bytes() == DATA
    assert server.asked[1].headers["Range"] == "bytes=100000-"
    assert server.asked[1].headers["If-Range"].startswith('"')
    assert seen[0] == (100_000, len(DATA))
    assert left_in(to) == ["file.json"]


def test_last_modified_serves_where_there_is_no_strong_etag(server, once, to, answer):
    when = "Sun, 01 Mar 2026 12:00:00 GMT"
    headers = {"ETag": 'W/"weak"', "Last-Modified": when}
    rest = headers | {"Content-Range": f"bytes 5-{len(DATA) - 1}/{len(DATA)}"}
    server.script(
        answer(body=DATA, headers=headers, cut=5),
        answer(status=206, body=DATA[5:], headers=rest),
    )
    with pytest.raises(HttpError):
        download(once, server.url, to, **PIN)
    download(once, server.url, to, **PIN)
    assert server.asked[1].headers["If-Range"] == when
    assert to.read_bytes() == DATA


def test_without_a_validator_it_begins_anew(server, once, to, answer):
    server.script(answer(body=DATA, cut=5), answer(body=DATA))
    with pytest.raises(HttpError):
        download(once, server.url, to, **PIN)
    download(once, server.url, to, **PIN)
    assert "Range" not in server.asked[1].headers
    assert to.read_bytes() == DATA


def test_a_truncated_body_is_never_placed(server, client, to, answer):
    server.script(answer(body=DATA[:1000], length=len(DATA)))
    with pytest.raises(HttpError, match="connection broke"):
        download(client, server.url, to, **PIN)
    assert not to.exists()
    assert len(server.asked) == 5


def test_a_body_that_ends_early_without_a_length_is_never_placed(server, client, to, answer):
    server.script(answer(body=DATA[:1000], length=-1))
    with pytest.raises(HttpError, match="ended after 1000 of 300000"):
        download(client, server.url, to, **PIN)
    assert not to.exists()


def test_a_body_without_any_length_is_refused_where_none_is_pinned(server, client, to, answer):
    server.script(answer(body=DATA, length=-1))
    with pytest.raises(HttpError, match="how long"):
        download(client, server.url, to)
    assert not to.exists()


def test_chunked_bodies_need_no_length(server, client, to, answer):
    body = b"5\r\nhello\r\n0\r\n\r\n"
    server.script(answer(body=body, length=-1, headers={"Transfer-Encoding": "chunked"}))
    assert download(client, server.url, to).size == 5
    assert to.read_bytes() == b"hello"


def test_one_wrong_byte_is_caught_and_removed(server, client, to, ranged):
    wrong = DATA[:150_000] + bytes([DATA[150_000] ^ 1]) + DATA[150_001:]
    server.answer = ranged(wrong)
    to.parent.mkdir()
    to.write_bytes(b"the last good one")
    with pytest.raises(ChecksumError, match=SHA) as caught:
        download(client, server.url, to, **PIN)
    assert caught.value.exit_code == 3
    assert len(server.asked) == 1
    assert to.read_bytes() == b"the last good one"
    assert left_in(to) == ["file.json"]


def test_a_wrong_size_is_caught_before_the_body(server, client, to, answer):
    server.script(answer(body=b"<html>please log in</html>"))
    seen = []
    with pytest.raises(ChecksumError, match="offers 26 bytes where 300000 are pinned"):
        download(client, server.url, to, **PIN, progress=lambda *now: seen.append(now))
    assert seen == []
    assert left_in(to) == []


def test_an_endless_body_is_cut(server, client, to, answer):
    server.script(answer(body=DATA + b"x", length=-1))
    with pytest.raises(ChecksumError, match="more than the 300000 bytes"):
        download(client, server.url, to, **PIN)
    assert left_in(to) == []


def drop_once(server, once, to, ranged, data=DATA):
    server.answer = ranged(data, cut=100_000)
    with pytest.raises(HttpError):
        download(once, server.url, to, **PIN)
    assert part_of(to).stat().st_size == 100_000


def test_a_server_that_ignores_ranges_begins_anew(server, once, to, ranged, answer):
    drop_once(server, once, to, ranged)
    server.script(answer(body=DATA))
    download(once, server.url, to, **PIN)
    assert server.asked[1].headers["Range"] == "bytes=100000-"
    assert to.read_bytes() == DATA


def test_a_changed_version_begins_anew(server, once, to, ranged):
    drop_once(server, once, to, ranged, data=bytes(len(DATA)))
    server.answer = ranged(DATA)
    download(once, server.url, to, **PIN)
    assert to.read_bytes() == DATA
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "headers",
    [
        {"ETag": '"another"', "Content-Range": f"bytes 100000-299999/{len(DATA)}"},
        {"Content-Range": f"bytes 0-299999/{len(DATA)}"},
        {"Content-Range": "bytes 100000-299999/*"},
        {"Content-Range": "nonsense"},
        {},
    ],
)
def test_a_server_that_lies_about_the_range_begins_anew(  # noqa: PLR0917 - fixtures
    server, once, to, ranged, answer, headers
):
    drop_once(server, once, to, ranged)
    server.script(answer(status=206, body=b"?" * 200_000, headers=headers), answer(body=DATA))
    download(once, server.url, to, **PIN)
    assert to.read_bytes() == DATA
    assert "Range" not in server.asked[2].headers


def test_416_begins_anew(server, once, to, ranged, answer):
    drop_once(server, once, to, ranged)
    server.script(answer(status=416), answer(body=DATA))
    download(once, server.url, to, **PIN)
    assert to.read_bytes() == DATA


def test_another_url_begins_anew(server, once, to, ranged):
    drop_once(server, once, to, ranged)
    server.answer = ranged(DATA)
    download(once, f"{server.url}/moved", to, **PIN)
    assert "Range" not in server.asked[1].headers


@pytest.mark.parametrize("note", [b"", b"{", b"[]", '{"url": "%s", "validator": "é\\n"}'])
def test_a_damaged_note_begins_anew(server, once, to, ranged, note):
    drop_once(server, once, to, ranged)
    if isinstance(note, str):
        note = (note % server.url).encode()
    Path(f"{part_of(to)}.json").write_bytes(note)
    server.answer = ranged(DATA)
    download(once, server.url, to, **PIN)
    assert "Range" not in server.asked[1].headers
    assert to.read_bytes() == DATA


def test_a_part_file_that_was_whole_needs_no_server(server, once, to, ranged):
    drop_once(server, once, to, ranged)
    part_of(to).write_bytes(DATA)
    download(once, server.url, to, **PIN)
    assert len(server.asked) == 1
    assert to.read_bytes() == DATA


def test_a_part_file_that_is_wrong_is_removed_and_the_next_call_is_right(server, once, to, ranged):
    drop_once(server, once, to, ranged)
    part_of(to).write_bytes(bytes(100_000))
    server.answer = ranged(DATA)
    with pytest.raises(ChecksumError):
        download(once, server.url, to, **PIN)
    assert left_in(to) == []
    download(once, server.url, to, **PIN)
    assert to.read_bytes() == DATA


def test_a_redirect_is_followed_to_the_file(server, client, to, ranged, answer):
    whole = ranged(DATA)
    server.answer = lambda asked: (
        whole(asked)
        if asked.path == "/cdn?sig=1"
        else answer(status=302, headers={"Location": f"{server.url}/cdn?sig=1"})
    )
    download(client, f"{server.url}/file", to, **PIN)
    assert to.read_bytes() == DATA


def test_404_leaves_nothing_but_an_empty_part(server, client, to, answer):
    server.script(answer(status=404, body=b"gone"))
    with pytest.raises(HttpError, match=r"404 .*gone"):
        download(client, server.url, to, **PIN)
    assert len(server.asked) == 1
    assert not to.exists()


def test_errors_and_limits_on_the_way_cost_nothing_that_came(server, client, to, ranged, answer):
    whole = ranged(DATA)
    bad = [None, answer(status=500), answer(status=429), ranged(DATA, cut=7)]

    def in_turn(asked):
        now = bad.pop() if bad else whole
        return now(asked) if callable(now) else now

    server.answer = in_turn
    download(client, server.url, to, **PIN)
    assert to.read_bytes() == DATA
    assert server.asked[-1].headers["Range"] == "bytes=7-"


def test_a_hang_in_the_middle_is_resumed(server, to, ranged):
    whole = ranged(DATA)
    server.answer = lambda asked: (
        ranged(DATA, cut=9_000, hang=True)(asked) if len(server.asked) == 1 else whole(asked)
    )
    with Client(timeout=httpx2.Timeout(0.2)) as client:
        download(client, server.url, to, **PIN)
    assert to.read_bytes() == DATA


def test_a_killed_process_is_resumed(server, once, to, ranged):
    server.answer = ranged(DATA, cut=200_000, hang=True)
    program = (
        "import sys; from pathlib import Path\n"
        "from memruler.net.client import Client; from memruler.net.download import download\n"
        "download(Client(), sys.argv[1], Path(sys.argv[2]))"
    )
    victim = subprocess.Popen([sys.executable, "-c", program, server.url, str(to)])
    try:
        deadline = time.monotonic() + 60
        while not (part_of(to).exists() and part_of(to).stat().st_size):
            assert time.monotonic() < deadline
            assert victim.poll() is None
            time.sleep(0.01)
    finally:
        victim.kill()
        victim.wait()
    there = part_of(to).stat().st_size
    server.answer = ranged(DATA)
    download(once, server.url, to, **PIN)
    assert server.asked[-1].headers["Range"] == f"bytes={there}-"
    assert to.read_bytes() == DATA


def test_compressed_bytes_are_refused(server, client, to, answer):
    server.script(answer(body=DATA, headers={"Content-Encoding": "gzip"}))
    with pytest.raises(HttpError, match="compressed"):
        download(client, server.url, to, **PIN)
    assert not to.exists()


def test_206_without_asking_is_refused(server, client, to, answer):
    server.script(answer(status=206, body=DATA))
    with pytest.raises(HttpError, match="206 instead"):
        download(client, server.url, to, **PIN)


def test_a_destination_that_cannot_be(server, client, tmp_path, ranged):
    server.answer = ranged(DATA)
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(UsageError, match=r"not a folder|file stands"):
        download(client, server.url, tmp_path / "file" / "x", **PIN)
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="place the file"):
        download(client, server.url, tmp_path / "folder", **PIN)
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_links_are_not_written_through(server, client, to, ranged, tmp_path):
    server.answer = ranged(DATA)
    mine = tmp_path / "mine"
    mine.write_bytes(b"mine")
    to.parent.mkdir()
    part_of(to).symlink_to(mine)
    with pytest.raises(UsageError, match="symbolic link"):
        download(client, server.url, to, **PIN)
    part_of(to).unlink()
    os.link(mine, part_of(to))
    with pytest.raises(UsageError, match="hard link"):
        download(client, server.url, to, **PIN)
    part_of(to).unlink()
    to.symlink_to(mine)
    download(client, server.url, to, **PIN)
    assert to.read_bytes() == DATA
    assert not to.is_symlink()
    assert mine.read_bytes() == b"mine"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(server, client, tmp_path, ranged):
    server.answer = ranged(DATA)
    tmp_path.chmod(0o500)
    with pytest.raises(InstrumentError, match="permission denied"):
        download(client, server.url, tmp_path / "x" / "file", **PIN)


def test_a_read_only_file_system(server, client, to, ranged, monkeypatch):
    server.answer = ranged(DATA)
    real = os.open

    def refuse(path, flags, *rest, **more):
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, "injected")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InstrumentError, match="read-only file system"):
        download(client, server.url, to, **PIN)
    assert server.asked == []


def test_a_disk_that_has_no_room_for_it_is_seen_before(server, client, to, ranged, monkeypatch):
    server.answer = ranged(DATA)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=10, free=1))
    with pytest.raises(InstrumentError, match="300000 bytes are still to come, 1 are free"):
        download(client, server.url, to, **PIN)
    assert not to.exists()


def test_a_disk_that_fills_up_keeps_what_came(server, client, to, ranged, monkeypatch):
    server.answer = ranged(DATA)

    room = [100_000]

    class Full(io.FileIO):
        """A disk with room for so many bytes."""

        def write(self, data):
            if room[0] < len(data):
                raise fault("write the file", to, OSError(errno.ENOSPC, "injected"))
            room[0] -= len(data)
            return super().write(data)

    monkeypatch.setattr(module, "open_append", lambda path: io.BufferedRandom(Full(path, "ab+")))
    with pytest.raises(InstrumentError, match="disk is full"):
        download(client, server.url, to, **PIN)
    assert len(server.asked) == 1
    room[0] = len(DATA)
    download(client, server.url, to, **PIN)
    assert "Range" in server.asked[-1].headers
    assert to.read_bytes() == DATA


def test_a_real_write_failure_keeps_what_came(server, client, to, ranged):
    server.answer = ranged(DATA)
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, hard))
    try:
        with pytest.raises(InstrumentError, match="exceed the size"):
            download(client, server.url, to, **PIN)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert 0 < part_of(to).stat().st_size <= 120_000
    download(client, server.url, to, **PIN)
    assert "Range" in server.asked[-1].headers
    assert to.read_bytes() == DATA


@pytest.mark.parametrize("name", ["-rf", "a b", "ünï", "x" * 200, "semi;colon", "new\nline"])
def test_odd_file_names(server, client, tmp_path, ranged, name):
    server.answer = ranged(DATA)
    download(client, server.url, tmp_path / name, **PIN)
    assert (tmp_path / name).read_bytes() == DATA


@pytest.mark.parametrize("name", ["x" * 300, "nul\0"])
def test_impossible_file_names(server, client, tmp_path, ranged, name):
    server.answer = ranged(DATA)
    with pytest.raises(UsageError):
        download(client, server.url, tmp_path / name, **PIN)
    assert list(tmp_path.iterdir()) == []


class _Broken(httpx2.SyncByteStream):
    """Some bytes; then, where there is a cut, the connection is gone."""

    def __init__(self, data, cut):
        self.data = data
        self.cut = cut

    def __iter__(self):
        yield self.data[: self.cut]
        if self.cut is not None:
            raise httpx2.ReadError("gone")


@given(
    data=st.binary(min_size=1, max_size=400),
    cuts=st.lists(st.tuples(st.integers(0, 200), st.booleans()), max_size=8),
)
def test_any_sequence_of_drops_ends_with_the_same_bytes(tmp_path_factory, data, cuts):
    to = tmp_path_factory.mktemp("drops") / "file"
    rest = list(cuts)

    def handler(request):
        start = int(request.headers.get("Range", "bytes=0-")[6:-1])
        cut, honest = rest.pop() if rest else (None, True)
        headers = {"ETag": '"one"', "Content-Length": str(len(data) - start)}
        status = 200
        if "Range" in request.headers and honest:
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        elif "Range" in request.headers:
            start, headers["Content-Length"] = 0, str(len(data))
        return httpx2.Response(status, headers=headers, stream=_Broken(data[start:], cut))

    with Client(transport=httpx2.MockTransport(handler), retries=1) as client:
        while not to.exists():
            with suppress(HttpError):
                download(client, "https://h.example/f", to, size=len(data))
    assert to.read_bytes() == data
