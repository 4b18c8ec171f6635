"""A real server on loopback that speaks the chat-completions protocol, with a script."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class ChatServer(ThreadingHTTPServer):
    """Answers every request by `say`.

    Attributes:
        seen: Request bodies, in order of arrival.
        keys: Their Authorization headers.
        say: The user's message to the reply's text, or to (status, body).
        model: What it calls its model; None for what was asked for.
        most: Requests that were under way at once.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen, self.keys = [], []
        self.say = lambda _: "supports"
        self.model = None
        self.finish = "stop"
        self.busy = self.most = 0
        self.lock = threading.Lock()

    @property
    def host(self):
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self):
        return f"http://{self.host}/v1"

    def completion(self, body, text):
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": self.model or body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": self.finish,
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.seen.append(body)
            server.keys.append(self.headers["Authorization"])
            server.busy += 1
            server.most = max(server.most, server.busy)
        assert self.path == "/v1/chat/completions"
        said = server.say(body["messages"][-1]["content"])
        status, reply = said if isinstance(said, tuple) else (200, server.completion(body, said))
        data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        with server.lock:
            server.busy -= 1
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    server = ChatServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def no_waiting(monkeypatch):
    """The SDK tries again at once."""
    openai = pytest.importorskip("openai", reason="needs memruler[llm]")
    monkeypatch.setattr(openai._base_client.BaseClient, "_calculate_retry_timeout", lambda *_: 0.0)
