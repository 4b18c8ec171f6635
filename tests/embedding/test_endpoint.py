import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from memruler.embedding.code import code_digest
from memruler.embedding.probes import PROBE
from memruler.embedding.registry import open_embedder
from memruler.embedding.toy import Toy
from memruler.errors import InstrumentError, UsageError

pytest.importorskip("openai", reason="needs memruler[llm]")
from memruler.embedding.endpoint import Endpoint

SECRET = "sk-very-secret-0123456789"  # noqa: S105 - invented


class Server(ThreadingHTTPServer):
    """An OpenAI-compatible server with a script.

    Attributes:
        seen: Request bodies, in order of arrival.
        spoil: What becomes of a sound reply; it may change it or return (status, body).
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = []
        self.keys = []
        self.spoil = lambda reply, _: (200, reply)
        self.busy = self.most = 0
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.seen.append(body)
            server.keys.append(self.headers["Authorization"])
            server.busy += 1
            server.most = max(server.most, server.busy)
            number = len(server.seen)
        vector = Toy().embed([body["input"]])[0].tolist()
        reply = {
            "object": "list",
            "model": body["model"],
            "data": [{"object": "embedding", "index": 0, "embedding": vector}],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
        status, reply = server.spoil(reply, number)
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
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMRULER_EMBED_BASE_URL", server.url)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def _changed(**changes):
    """A spoiler that changes every reply but the probe's."""

    def spoil(reply, number):
        return 200, reply if number == 1 else {**reply, **changes}

    return spoil


def _data(*vectors):
    return {"data": [{"object": "embedding", "index": 0, "embedding": v} for v in vectors]}


@pytest.mark.usefixtures("server")
def test_vectors_arrive_as_served(same_bits):
    texts = [f"text {n}" for n in range(20)]
    assert same_bits(Endpoint("m").embed(texts), Toy().embed(texts))


def test_one_text_a_request_and_few_at_a_time(server):
    Endpoint("m").embed([f"text {n}" for n in range(20)])
    assert server.seen[0]["input"] == PROBE
    assert sorted(body["input"] for body in server.seen[1:]) == sorted(
        f"text {n}" for n in range(20)
    )
    assert {body["encoding_format"] for body in server.seen} == {"float"}
    assert 1 <= server.most <= 4


def test_identity_is_what_the_server_says(server):
    server.spoil = lambda reply, _: (200, {**reply, "model": "served-name"})
    identity = Endpoint("alias").identity()
    assert identity.model == f"served-name @ 127.0.0.1:{server.server_port}"
    assert (identity.model_sha256, identity.tokenizer_sha256) == (None, None)
    assert (identity.kind, identity.pooling, identity.dimension) == ("openai", "remote", 64)
    assert identity.max_tokens is None
    assert identity.code_sha256 == code_digest("memruler.embedding.endpoint")


@pytest.mark.parametrize(
    ("served", "shown"),
    [
        ("/srv/models/m.gguf", "m.gguf"),
        ("models/m.gguf", "m.gguf"),
        ("C:\\models\\m", "m"),
        ("./m", "m"),
        ("BAAI/bge-small-en", "BAAI/bge-small-en"),
        ("nomic:v1.5", "nomic:v1.5"),
    ],
)
def test_a_path_of_the_server_is_not_shown(server, served, shown):
    server.spoil = lambda reply, _: (200, {**reply, "model": served})
    assert Endpoint("m").identity().model.startswith(f"{shown} @ ")


FAULTS = {
    "no vectors": _changed(data=[]),
    "two vectors": _changed(**_data([1.0] * 64, [1.0] * 64)),
    "narrow": _changed(**_data([1.0] * 63)),
    "empty": _changed(**_data([])),
    "none": _changed(**_data(None)),
    "none inside": _changed(**_data([1.0] * 63 + [None])),
    "text inside": _changed(**_data([1.0] * 63 + ["1"])),
    "nan": _changed(**_data([1.0] * 63 + [float("nan")])),
    "huge": _changed(**_data([1.0] * 63 + [1e39])),
    "huge whole": _changed(**_data([1.0] * 63 + [10**400])),
    "base64": _changed(**_data("AAAA")),
    "other model": _changed(model="another"),
    "no data": lambda reply, number: (200, reply if number == 1 else {"object": "list"}),
    "not JSON": lambda reply, number: (200, reply if number == 1 else b"<html>"),
    "bad request": lambda reply, number: (
        (200, reply) if number == 1 else (400, {"error": {"message": "too long"}})
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_vector_stops_the_run(server, fault):
    embedder = Endpoint("m")
    server.spoil = FAULTS[fault]
    with pytest.raises(InstrumentError, match="the embedding server"):
        embedder.embed(["a"])


def test_a_server_that_never_answers_a_vector_is_refused_at_the_start(server):
    server.spoil = lambda *_: (404, {"error": {"message": "no such model"}})
    with pytest.raises(InstrumentError, match="no such model"):
        Endpoint("m")


def test_the_sdk_tries_again(server, monkeypatch):
    monkeypatch.setattr("openai._base_client.BaseClient._sleep_for_retry", _no_sleep, raising=False)
    embedder = Endpoint("m")
    fine = server.spoil
    server.spoil = lambda reply, n: (503, {}) if n == 2 else fine(reply, n)
    assert np.array_equal(embedder.embed(["a"]), Toy().embed(["a"]))
    assert len(server.seen) == 3


def _no_sleep(self, *args, **kwargs):
    del self, args, kwargs


def test_the_key_is_sent_and_never_shown(server, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with caplog.at_level(logging.INFO):
        embedder = Endpoint("m")
        server.spoil = lambda *_: (401, {"error": {"message": f"wrong key {SECRET}"}})
        with pytest.raises(InstrumentError) as caught:
            embedder.embed(["a"])
    assert server.keys[0] == f"Bearer {SECRET}"
    assert "wrong key ***" in str(caught.value)
    shown = [str(caught.value), str(embedder.identity()), embedder.runtime(), caplog.text]
    assert not any(SECRET in text for text in shown)
    assert caught.value.__cause__ is None


def test_a_password_in_the_url_is_never_shown(server, monkeypatch):
    monkeypatch.setenv(
        "MEMRULER_EMBED_BASE_URL", server.url.replace("http://", "http://ann:pass-word@")
    )
    embedder = Endpoint("m")
    assert "pass-word" not in str(embedder.identity())
    server.spoil = lambda *_: (400, {"error": {"message": "no"}})
    with pytest.raises(InstrumentError) as caught:
        embedder.embed(["a"])
    assert "pass-word" not in str(caught.value)


def test_the_general_variable_serves_too(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.delenv("MEMRULER_EMBED_BASE_URL")
    assert Endpoint("m").identity().dimension == 64


def test_nothing_set_is_a_usage_error(monkeypatch):
    for name in ("MEMRULER_EMBED_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="MEMRULER_EMBED_BASE_URL"):
        Endpoint("m")


@pytest.mark.parametrize("url", ["localhost:11434", "ftp://host/v1", "http://", "http://[bad"])
def test_a_url_that_is_none_is_a_usage_error(monkeypatch, url):
    monkeypatch.setenv("MEMRULER_EMBED_BASE_URL", url)
    with pytest.raises(UsageError, match="base URL"):
        Endpoint("m")


def test_no_name_is_a_usage_error():
    with pytest.raises(UsageError, match="openai:MODEL"):
        Endpoint("")


def test_a_dead_server_says_where(monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as gone:
        port = gone.server_port
    monkeypatch.setenv("MEMRULER_EMBED_BASE_URL", f"http://127.0.0.1:{port}/v1")
    monkeypatch.setattr("memruler.embedding.endpoint._RETRIES", 0)
    with pytest.raises(InstrumentError, match=f"127.0.0.1:{port}"):
        Endpoint("m")


def test_the_cache_serves_the_second_run_until_the_model_changes(server, same_bits):
    with_cache = open_embedder("openai:m")
    first, _ = with_cache.vectors(["a", "b"])
    asked = len(server.seen)
    second, _ = open_embedder("openai:m").vectors(["b", "a"])
    assert same_bits(first, second[::-1])
    assert [body["input"] for body in server.seen[asked:]] == [PROBE, PROBE]
    assert with_cache.usage.truncated is None
    server.spoil = lambda reply, _: (
        200,
        {**reply, **_data(reply["data"][0]["embedding"][::-1])},
    )
    with pytest.raises(InstrumentError, match="not the one whose vectors are cached"):
        open_embedder("openai:m")
