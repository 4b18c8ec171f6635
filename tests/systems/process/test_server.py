import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from memruler.errors import InstrumentError
from memruler.systems.process.environment import accepts, environment, free_port
from memruler.systems.process.secrets import Secrets
from memruler.systems.process.server import ServerProcess, kept
from memruler.systems.remote.spec import Ready

pytestmark = pytest.mark.skipif(os.name != "posix", reason="servers are started on POSIX only")

SERVER = """
import http.server, os, subprocess, sys, time
port, mode = int(sys.argv[1]), sys.argv[2]
print("token is s3cr3t-token", flush=True)
if mode == "dies":
    print("no such table: memories", flush=True); sys.exit(7)
if mode == "children":
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
if mode == "deaf":
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(0.3 if mode == "slow" else 0)
if mode == "never": time.sleep(600)
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404); self.end_headers()
    def log_message(self, *_): pass
print("listening now", flush=True)
http.server.HTTPServer(("127.0.0.1", port), Page).serve_forever()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return path


def started(script: Path, port: int, mode: str, **more) -> ServerProcess:
    return ServerProcess(
        [sys.executable, str(script), str(port), mode],
        env=environment(script.parent, {}, ()),
        cwd=script.parent,
        log=script.parent / "server.log",
        **more,
    )


def descendants() -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"time.sleep(600)" in command:
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize(
    "ready", [Ready(path="/health"), Ready(port=True), Ready(log="listening"), Ready(path="/404")]
)
def test_a_server_is_waited_for_and_ended(script, ready):
    port = free_port()
    with started(script, port, "slow") as server:
        server.until_ready(ready, f"http://127.0.0.1:{port}")
        assert server.alive
        server.require_alive()
    assert not server.alive
    assert not accepts("127.0.0.1", port)


def test_a_server_that_dies_is_told_with_its_code_and_last_lines_but_no_secret(script):
    server = started(script, free_port(), "dies", secrets=Secrets(["s3cr3t-token"]))
    with pytest.raises(InstrumentError) as caught:
        server.until_ready(Ready(port=True, timeout=20), "http://127.0.0.1:1")
    assert "code 7" in str(caught.value)
    assert "no such table: memories" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)
    assert (script.parent / "server.log").read_text() == "token is ***\nno such table: memories\n"
    server.stop()


def test_death_shows_without_a_request(script):
    port = free_port()
    with started(script, port, "plain") as server:
        server.until_ready(Ready(port=True), f"http://127.0.0.1:{port}")
        inner = int(Path(f"/proc/self/task/{os.getpid()}/children").exists()) and [
            int(word)
            for word in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
        ]
        os.kill(inner[0], signal.SIGKILL)
        with pytest.raises(InstrumentError, match="code 137"):
            server.require_alive(within=5.0)


def test_one_that_is_never_ready_ends_with_what_to_do(script):
    port = free_port()
    server = started(script, port, "never")
    with pytest.raises(InstrumentError, match=r"not ready after 0.5 s.*listening|ready.timeout"):
        server.until_ready(Ready(port=True, timeout=0.5), f"http://127.0.0.1:{port}")
    assert not server.alive


def test_a_deaf_one_is_killed_after_its_grace(script):
    port = free_port()
    server = started(script, port, "deaf", grace=0.3)
    server.until_ready(Ready(port=True), f"http://127.0.0.1:{port}")
    server.stop()
    assert not accepts("127.0.0.1", port)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt")
def test_what_it_sent_into_the_background_goes_with_it(script):
    before = set(descendants())
    port = free_port()
    with started(script, port, "children") as server:
        server.until_ready(Ready(port=True), f"http://127.0.0.1:{port}")
        assert len(set(descendants()) - before) == 2
    assert set(descendants()) <= before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_is_left_when_memruler_itself_is_killed(script, tmp_path):
    port = free_port()
    folder = tmp_path / "data"
    folder.mkdir()
    program = textwrap.dedent(f"""
        import subprocess, sys, time
        from memruler.systems.process.server import kept
        command = [{sys.executable!r}, {str(script)!r}, "{port}", "children"]
        subprocess.Popen(kept(command, 1.0, {str(folder)!r}), start_new_session=True)
        time.sleep(600 + 0)
    """)
    parent = subprocess.Popen([sys.executable, "-c", program])
    try:
        wait_until(lambda: accepts("127.0.0.1", port))
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not accepts("127.0.0.1", port) and not folder.exists())


def wait_until(true, seconds=30.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


def test_a_program_that_is_not_there_is_an_instrument_error(tmp_path):
    server = ServerProcess(
        ["no-such-program-here"], env={}, cwd=tmp_path, log=tmp_path / "log", grace=0.2
    )
    with pytest.raises(InstrumentError, match=r"code 127.*cannot start 'no-such-program-here'"):
        server.until_ready(Ready(port=True, timeout=10), "http://127.0.0.1:1")
    server.stop()


def test_the_environment_is_scrubbed(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("WANTED", "yes")
    found = environment(tmp_path, {"MODE": "x", "HOME": "elsewhere"}, ["WANTED"])
    assert "OPENAI_API_KEY" not in found
    assert found["WANTED"] == "yes"
    assert found["HOME"] == "elsewhere"
    assert found["TMPDIR"] == str(tmp_path)


def test_a_command_keeps_its_words():
    assert kept(["a b", "$(c)"], 1.0)[-2:] == ["a b", "$(c)"]


def test_a_free_port_can_be_bound():
    with socket.socket() as other:
        other.bind(("127.0.0.1", free_port()))
