import hashlib
import json
import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType

import filelock
import pytest
import stamina

from memruler.corpora import pins as pins_module
from memruler.corpora.cached import cached_path, record_path, state
from memruler.corpora.fetch import MIRROR, cache_dir, fetch, locate, source_url, tier_of
from memruler.corpora.pins import Pin, pins
from memruler.errors import ChecksumError, InstrumentError, UsageError

DATA = b'[{"invented": true}]' * 500
SHA = hashlib.sha256(DATA).hexdigest()
OTHER = DATA.replace(b"true", b"null")
URL = "https://h.example/" + "a" * 40 + "/"

INVENTED = {
    "up": Pin(
        title="Pinned",
        licence="MIT",
        tier="pinned-upstream",
        url=URL + "up.json",
        file="up.json",
        size=len(DATA),
        sha256=SHA,
    ),
    "first": Pin(
        title="Pinned on first fetch",
        licence="MIT",
        tier="pinned-on-first-fetch",
        url=URL + "first.json",
        file="first.json",
    ),
    "here": Pin(title="Bundled", licence="MIT", tier="bundled"),
    "yours": Pin(title="Local", licence="unknown", tier="local-file"),
}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Quiet."""

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A folder that is served as a mirror; `asked` lists the requests."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "up.json").write_bytes(DATA)
    (folder / "first.json").write_bytes(DATA)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        server.asked = []
        server.folder = folder
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setenv(MIRROR, f"http://127.0.0.1:{server.server_address[1]}/")
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _invented(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv(MIRROR, raising=False)
    monkeypatch.setattr(pins_module, "pins", lambda: MappingProxyType(INVENTED))
    with stamina.set_testing(True, attempts=1000):
        yield


@pytest.mark.parametrize("name", ["up", "first"])
def test_fetch_then_locate(mirror, name):
    news = []
    got = fetch(name, notify=news.append)
    assert got.path.read_bytes() == DATA
    assert got == (cached_path(name), INVENTED[name].tier, SHA)
    assert got.path.is_relative_to(cache_dir())
    assert locate(name) == got
    assert fetch(name) == got
    assert mirror.asked == [f"/{name}.json"]
    assert news == []
    assert state(name) == "cached"


@pytest.mark.usefixtures("mirror")
def test_the_record_says_where_and_when():
    got = fetch("first")
    record = json.loads(record_path(got.path).read_bytes())
    assert record["url"].endswith("/first.json")
    assert record["size"] == len(DATA)
    assert record["sha256"] == SHA
    assert record["fetched"].startswith("20")
    assert record["fetched"].endswith("Z")


@pytest.mark.usefixtures("mirror")
def test_progress_is_told():
    seen = []
    fetch("up", progress=lambda *now: seen.append(now))
    assert seen[-1] == (len(DATA), len(DATA))


@pytest.mark.parametrize("name", ["up", "first"])
def test_what_is_not_cached_says_how_to_get_it(name):
    with pytest.raises(UsageError, match=rf"`memruler fetch {name}`, or .*`--path FILE`"):
        locate(name)
    assert state(name) == "absent"


@pytest.mark.parametrize("use", [fetch, locate, cached_path, state])
def test_what_is_not_fetched(use):
    with pytest.raises(UsageError, match="comes with memruler"):
        use("here")
    with pytest.raises(UsageError, match="--path FILE"):
        use("yours")
    with pytest.raises(UsageError, match="no such corpus"):
        use("../up")


def test_a_pin_that_does_not_match_is_not_placed(mirror):
    (mirror.folder / "up.json").write_bytes(OTHER)
    with pytest.raises(ChecksumError, match=SHA) as caught:
        fetch("up")
    assert caught.value.exit_code == 3
    assert state("up") == "absent"
    assert not cached_path("up").exists()
    (mirror.folder / "up.json").write_bytes(DATA)
    assert fetch("up").sha256 == SHA


def test_drift_is_an_error_from_the_second_fetch_on(mirror):
    fetch("first")
    (mirror.folder / "first.json").write_bytes(OTHER)
    assert fetch("first").sha256 == SHA  # cached: nobody asks the source
    with pytest.raises(ChecksumError, match=r"has drifted .*--accept-drift"):
        fetch("first", force=True)
    assert locate("first").path.read_bytes() == DATA
    new = fetch("first", accept_drift=True)
    assert new.path.read_bytes() == OTHER
    assert new.sha256 == hashlib.sha256(OTHER).hexdigest()
    assert fetch("first", force=True) == new


@pytest.mark.usefixtures("mirror")
def test_a_changed_cached_file_of_the_second_tier_is_for_a_person_to_judge():
    path = fetch("first").path
    path.write_bytes(OTHER)
    assert state("first") == "unverified"
    for use in (locate, fetch):
        with pytest.raises(ChecksumError, match=r"--force.* --accept-drift"):
            use("first")
    assert fetch("first", force=True).path.read_bytes() == DATA


@pytest.mark.usefixtures("mirror")
def test_a_changed_cached_file_of_the_first_tier_is_fetched_again():
    path = fetch("up").path
    path.write_bytes(OTHER)
    with pytest.raises(ChecksumError, match="--force"):
        locate("up")
    news = []
    assert fetch("up", notify=news.append).path.read_bytes() == DATA
    assert news == ["the cached file is damaged; fetching it again"]


def test_there_is_no_drift_to_accept_in_the_first_tier(mirror):
    with pytest.raises(UsageError, match="no drift to accept"):
        fetch("up", accept_drift=True)
    assert mirror.asked == []


@pytest.mark.usefixtures("mirror")
def test_a_file_is_hashed_once_and_again_when_it_changes(monkeypatch):
    hashed = []
    real = hashlib.file_digest

    def counting(file, name):
        hashed.append(name)
        return real(file, name)

    path = fetch("up").path
    monkeypatch.setattr(hashlib, "file_digest", counting)
    locate("up")
    assert hashed == []
    os.utime(path, ns=(1, 1))
    locate("up")
    locate("up")
    assert len(hashed) == 1
    path.with_name("copy").write_bytes(DATA)
    path.with_name("copy").replace(path)  # another inode
    locate("up")
    assert len(hashed) == 2


def test_a_file_put_there_by_hand_counts_only_where_a_pin_decides():
    for name in ("up", "first"):
        cached_path(name).parent.mkdir(parents=True)
        cached_path(name).write_bytes(DATA)
        assert state(name) == "unverified"
    assert locate("up").sha256 == SHA
    assert state("up") == "cached"
    with pytest.raises(UsageError, match="not in the cache"):
        locate("first")


@pytest.mark.usefixtures("mirror")
def test_a_file_put_there_by_hand_is_replaced_where_none_was_fetched():
    cached_path("first").parent.mkdir(parents=True)
    cached_path("first").write_bytes(b"anything")
    assert fetch("first").path.read_bytes() == DATA


@pytest.mark.usefixtures("mirror")
def test_links_in_the_cache_are_refused_and_replaced(tmp_path):
    mine = tmp_path / "mine"
    mine.write_bytes(DATA)
    cached_path("up").parent.mkdir(parents=True)
    cached_path("up").symlink_to(mine)
    with pytest.raises(UsageError, match="symbolic link"):
        locate("up")
    path = fetch("up").path
    assert not path.is_symlink()


@pytest.mark.parametrize("damage", [b"", b"{", b'{"url": 1}'])
@pytest.mark.usefixtures("mirror")
def test_a_damaged_record(damage):
    for name in ("up", "first"):
        record_path(fetch(name).path).write_bytes(damage)
    assert locate("up").sha256 == SHA  # the pin decides
    for use in (locate, fetch, partial(fetch, force=True)):
        with pytest.raises(InstrumentError, match=r"damaged.*--accept-drift"):
            use("first")
    assert fetch("first", accept_drift=True).sha256 == SHA


def test_a_cache_that_may_only_be_read_is_enough(mirror, monkeypatch):
    path = fetch("up").path
    record_path(path).unlink()

    def refuse(*_):
        raise InstrumentError("read-only, injected")

    monkeypatch.setattr("memruler.corpora.cached.write_atomic", refuse)
    assert fetch("up").sha256 == SHA
    assert mirror.asked == ["/up.json"]


@pytest.mark.usefixtures("mirror")
def test_a_broken_download_shows_and_is_resumed():
    path = cached_path("up")
    path.parent.mkdir(parents=True)
    path.with_name("up.json.part").write_bytes(DATA[:10])
    assert state("up") == "partial"
    assert fetch("up").sha256 == SHA


def test_a_missing_file_on_the_mirror(mirror):
    (mirror.folder / "up.json").unlink()
    with pytest.raises(InstrumentError, match="404"):
        fetch("up")


def test_a_dead_mirror_says_what_it_tries(monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), _Quiet) as closed:
        port = closed.server_address[1]
    monkeypatch.setenv(MIRROR, f"http://127.0.0.1:{port}")
    news = []
    with pytest.raises(InstrumentError, match="cannot connect"):
        fetch("up", notify=news.append)
    assert len(news) == 4
    assert news[0].startswith("cannot connect")
    assert news[0].endswith("trying again in 0.5 s")


def test_the_source_without_and_with_a_mirror(monkeypatch):
    assert source_url(INVENTED["up"]) == URL + "up.json"
    monkeypatch.setenv(MIRROR, "https://m.example/data//")
    assert source_url(INVENTED["up"]) == "https://m.example/data/up.json"
    monkeypatch.setenv(MIRROR, "ftp://m.example")
    with pytest.raises(UsageError, match=MIRROR):
        source_url(INVENTED["up"])


def test_the_second_of_two_waits_says_so_and_fetches_nothing(mirror):
    folder = cached_path("up").parent
    folder.mkdir(parents=True)
    news, got, waiting = [], [], threading.Event()

    def notify(text):
        news.append(text)
        waiting.set()

    with filelock.FileLock(folder / ".lock"):  # the first process
        second = threading.Thread(target=lambda: got.append(fetch("up", notify=notify)))
        second.start()
        assert waiting.wait(20)
        cached_path("up").write_bytes(DATA)
    second.join(20)
    assert news == ["another process is fetching up; waiting for it"]
    assert got[0].sha256 == SHA
    assert mirror.asked == []


@pytest.mark.usefixtures("mirror")
def test_tier_of_goes_by_the_bytes():
    assert tier_of("up", SHA) == "pinned-upstream"
    assert tier_of("up", "0" * 64) == "local-file"
    assert tier_of("first", SHA) == "local-file"
    fetch("first")
    assert tier_of("first", SHA) == "pinned-on-first-fetch"
    assert tier_of("first", "0" * 64) == "local-file"
    assert tier_of("here", SHA) == "local-file"
    assert tier_of("no such", SHA) == "local-file"


def test_the_cache_folder(monkeypatch, tmp_path):
    assert cache_dir() == tmp_path / "cache"
    monkeypatch.setenv("MEMRULER_CACHE", "")
    assert cache_dir().name == "memruler"


def test_the_real_pins_are_left_alone():
    assert "up" not in pins()
