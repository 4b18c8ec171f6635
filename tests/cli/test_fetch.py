import hashlib
import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType

import pytest
import stamina
from click.testing import CliRunner

from memruler.cli import fetch as verb
from memruler.corpora import pins as pins_module
from memruler.corpora.fetch import MIRROR
from memruler.corpora.pins import Pin
from memruler.errors import ChecksumError, UsageError

DATA = b"[]" * 500
SHA = hashlib.sha256(DATA).hexdigest()
INVENTED = Pin(
    title="Invented",
    licence="CC-BY-NC-4.0",
    tier="pinned-upstream",
    revision="a" * 40,
    url=f"https://h.example/{'a' * 40}/up.json",
    file="up.json",
    size=len(DATA),
    sha256=SHA,
    source="https://h.example",
)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Quiet."""


@pytest.fixture(autouse=True)
def mirror(tmp_path, monkeypatch):
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "up.json").write_bytes(DATA)
    monkeypatch.setenv("MEMRULER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(pins_module, "pins", lambda: MappingProxyType({"up": INVENTED}))
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server,
        stamina.set_testing(True, attempts=1000),
    ):
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setenv(MIRROR, f"http://127.0.0.1:{server.server_address[1]}")
        yield folder
        server.shutdown()
        thread.join()


def run(*arguments):
    return CliRunner().invoke(verb.command, arguments)


def test_it_fetches_and_says_where(tmp_path):
    result = run("up")
    assert result.exit_code == 0
    path = tmp_path / "cache" / "corpora" / "up" / "up.json"
    assert path.read_bytes() == DATA
    assert result.stdout == f"up: pinned-upstream, sha256 {SHA}\n{path}\n"
    assert result.stderr == (
        "note: up is under CC-BY-NC-4.0: no commercial use, and credit is due; "
        "see https://h.example\n"
    )


def test_json():
    result = run("up", "--json")
    got = json.loads(result.stdout)
    assert got.pop("path").endswith("up.json")
    assert got == {
        "name": "up",
        "size": len(DATA),
        "sha256": SHA,
        "tier": "pinned-upstream",
        "version": "a" * 40,
        "licence": "CC-BY-NC-4.0",
    }


def test_errors_come_out_as_they_are(mirror):
    (mirror / "up.json").write_bytes(DATA[::-1])
    assert isinstance(run("up").exception, ChecksumError)
    assert isinstance(run("down").exception, UsageError)
    assert isinstance(run("up", "--accept-drift").exception, UsageError)
    assert run().exit_code == 2


def test_news_go_to_stderr():
    path = Path(json.loads(run("up", "--json").stdout)["path"])
    path.write_bytes(b"x")
    result = run("up")
    assert result.exit_code == 0
    assert "up: the cached file is damaged; fetching it again" in result.stderr.splitlines()


def test_a_terminal_gets_a_bar(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("CI", raising=False)
    with verb._progress("up") as (show, say):
        show(1_500_000, 3_000_000)
        say("[bold]news[/bold]")
    err = capsys.readouterr().err
    assert "1.5/3.0 MB" in err
    assert "up: [bold]news[/bold]" in err
