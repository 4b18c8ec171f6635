"""A local HTTP server that misbehaves on request, and retries that take no time."""

import hashlib
import re
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

import pytest
import stamina


@dataclass(kw_only=True)
class Answer:
    """What the server sends.

    Attributes:
        length: The Content-Length it claims; None for the true one, -1 for none.
        cut: Bytes of the body after which it drops the connection.
        hang: It sends nothing more until the test is over.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    cut: int | None = None
    hang: bool = False


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Server(socketserver.ThreadingTCPServer):
    """Answers with `answer`, which a test sets, and keeps what it was asked."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Asked] = []
        self.answer: Callable[[Asked], Answer | None] = lambda _: Answer()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def script(self, *answers: Answer | None) -> None:
        """Answer the requests in turn; the last one is repeated."""
        rest = list(answers)
        self.answer = lambda _: rest.pop(0) if len(rest) > 1 else rest[0]

    def handle_error(self, request: object, client_address: object) -> None:
        """A dropped connection is what the test wants."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = Asked(self.command, self.path, dict(self.headers.items()), body)
        self.server.asked.append(asked)
        self.close_connection = True
        answer = self.server.answer(asked)
        if answer is None:
            return  # drops the connection without a word
        self.send_response(answer.status)
        length = len(answer.body) if answer.length is None else answer.length
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if length >= 0:
            self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer.body[: answer.cut])
        self.wfile.flush()
        if answer.hang:
            self.server.over.wait(30)

    def log_message(self, *args: object) -> None:
        """Quiet."""


def ranged(data: bytes, etag: str | None = None, **extra: object) -> Callable[[Asked], Answer]:
    """Serve `data` as RFC 9110 says, with ranges; `extra` goes into every answer."""
    tag = etag or f'"{hashlib.sha256(data).hexdigest()[:16]}"'

    def answer(asked: Asked) -> Answer:
        headers = {"ETag": tag, "Accept-Ranges": "bytes"}
        span = re.fullmatch(r"bytes=(\d+)-", asked.headers.get("Range", ""))
        if span is None or asked.headers.get("If-Range", tag) != tag:
            return Answer(body=data, headers=headers, **extra)
        start = int(span[1])
        if start >= len(data):
            return Answer(status=416, headers={"Content-Range": f"bytes */{len(data)}"})
        headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        return Answer(status=206, body=data[start:], headers=headers, **extra)

    return answer


@pytest.fixture(name="ranged")
def _ranged() -> Callable[..., Callable[[Asked], Answer]]:
    return ranged


@pytest.fixture(name="answer")
def _answer() -> type[Answer]:
    return Answer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.over.set()
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_waits() -> Iterator[None]:
    """The policy still decides on every wait, and the tests see it; nobody sits it out."""
    with stamina.set_testing(True, attempts=1000):
        yield
