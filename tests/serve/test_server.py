"""The reference server as a process: who may, how much, how often, and how it ends."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs memruler[serve]")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="it is ended by a signal"),
]

TOKENS = """
[workspaces]
"bench-a*" = "token-of-a"
"bench-b*" = "token-of-b"
"""
A, B = ({"Authorization": f"Bearer token-of-{name}"} for name in "ab")
PROBE = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


class Server:
    """A server on a free port."""

    def __init__(self, folder, *options):
        command = [sys.executable, "-m", "memruler", "serve", "--folder", str(folder)]
        command += ["--port", "0", "--system", "builtin:lexical", *map(str, options)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = self.process.stderr.readline()
        assert "memruler serves at http://127.0.0.1:" in said, said
        self.port = int(said.split(":")[2].split()[0])

    def ask(self, method, path, body=None, headers=None):
        """Status, JSON and headers of an answer; bytes are sent as they are."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            sent = {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, path, data, sent)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or "null"), answer.headers
        finally:
            connection.close()

    def write(self, workspace, text, headers=None, event="e1"):
        item = {"id": event, "event": "user-prompt-submit", "session": "s", "text": text}
        body = {"workspace": workspace, "items": [item]}
        return self.ask("POST", "/hook/batch", body, headers)

    def search(self, workspace, query, headers=None):
        body = {"workspace": workspace, "query": query}
        status, found, _ = self.ask("POST", "/search", body, headers)
        return status, [hit["text"] for hit in found.get("hits", ())]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        rest = self.process.communicate(timeout=30)[1]
        return self.process.returncode, rest


@pytest.fixture
def start(tmp_path):
    started = []

    def one(*options):
        started.append(Server(tmp_path / "data", *options))
        return started[-1]

    yield one
    for server in started:
        if server.process.poll() is None:
            server.process.kill()
        server.process.communicate()


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / "tokens.toml"
    path.write_text(TOKENS, encoding="utf-8")
    return path


def test_a_token_opens_its_own_workspaces_alone(start, tokens):
    server = start("--tokens", tokens)
    assert server.write("bench-a1", "a red kite")[0] == 401
    assert server.write("bench-a1", "a red kite", {"Authorization": "Bearer x"})[0] == 401
    assert server.write("bench-a1", "a red kite", B)[0] == 403
    assert server.write("bench-a1", "a red kite", A)[0] == 200
    assert server.search("bench-a1", "kite", A) == (200, ["a red kite"])
    assert server.search("bench-a1", "kite", B)[0] == 403
    assert server.search("bench-b1", "kite", B) == (200, [])
    assert server.ask("DELETE", "/workspaces/bench-a1", headers=B)[0] == 403
    assert server.search("bench-a1", "kite", A)[1] == ["a red kite"]
    assert server.ask("DELETE", "/workspaces/bench-a1", headers=A)[1] == {"deleted": True}
    assert server.search("bench-a1", "kite", A)[1] == []
    assert "token-of" not in server.end()[1]


def test_a_request_that_is_too_large_is_refused_however_it_is_sent(start):
    server = start("--largest", 2000)
    assert server.write("w", "x" * 3000)[0] == 413
    assert server.ask("POST", "/mcp", {**PROBE, "params": "x" * 3000})[0] == 413
    # Without a length: in pieces, which end only when their sender says so.
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
        head = "POST {} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        wire.sendall(head.format("/search").encode() + b"bb8\r\n" + b"x" * 3000 + b"\r\n0\r\n\r\n")
        assert wire.recv(100).startswith(b"HTTP/1.1 413")
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
        wire.sendall(head.format("/mcp").encode())
        assert wire.recv(100).startswith(b"HTTP/1.1 411")
    assert server.write("w", "short")[0] == 200


def test_who_asks_too_often_is_told_when_to_come_back(start):
    server = start("--rate", 0.5)
    assert server.search("w", "anything")[0] == 200
    status, said, headers = server.ask("POST", "/search", {"workspace": "w", "query": "again"})
    assert (status, said) == (429, {"error": "too many requests"})
    assert 1 <= int(headers["Retry-After"]) <= 2
    assert server.search("another", "anything")[0] == 200  # each workspace has its own rate
    assert server.ask("POST", "/mcp", PROBE)[0] != 429
    assert server.ask("POST", "/mcp", PROBE)[0] == 429


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b"[]", b'{"workspace": 3}', b'{"workspace": "w"}']
)
def test_a_body_that_cannot_be_read_is_told_and_harms_nothing(start, body):
    server = start()
    status, said, _ = server.ask("POST", "/search", body)
    assert status == 400
    assert "the body cannot be read" in said["error"]
    assert server.search("w", "anything") == (200, [])
    assert server.end() == (0, "")


def test_it_ends_when_told_to_and_keeps_what_it_was_given(start):
    server = start()
    server.write("w", "the kite is red")
    assert server.end() == (0, "")
    again = start()
    assert again.search("w", "kite") == (200, ["the kite is red"])
    # What was taken before is a duplicate: the sender had lost the reply.
    said = again.write("w", "the kite is red")[1]
    assert [one["status"] for one in said["results"]] == ["duplicate"]


def test_a_taken_port_is_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        command = [sys.executable, "-m", "memruler", "serve", "--folder", str(tmp_path / "d")]
        done = subprocess.run(
            [*command, "--port", port, "--system", "builtin:lexical"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert f"127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_from_the_network_is_no_path(start, tmp_path):
    server = start()
    assert server.write("../../outside", "here")[0] == 200
    assert server.search("../../outside", "here") == (200, ["here"])
    assert {path.name for path in Path(tmp_path).iterdir()} == {"data"}
