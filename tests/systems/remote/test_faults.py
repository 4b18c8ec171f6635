"""A server that goes wrong during a run: an error that says so, never a low score, and a way on."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest

from memruler.model.system import Namespace
from memruler.systems.registry import open_system
from memruler.systems.remote import system

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="servers are started on POSIX only"),
]

SERVER = Path(__file__).with_name("faulty_server.py")
SPEC = """
name = "faulty"
[server]
command = ["{python}", "SERVER", "{port}", "{folder}", "MARKER"]
pass_env = ["FAULTY_TOKEN"]
ready = { path = "/health", timeout = 20 }
[http]
url = "http://127.0.0.1:{port}"
timeout = 2
retries = 1
HEADERS
[write]
http = { path = "/write", body = { namespace = "{namespace}", key = "{key}", text = "{text}" } }
id = "id"
[search]
http = { path = "/search", body = { namespace = "{namespace}", query = "{query}", k = "{k}" } }
result = { lists = [{ at = "hits", id = "id", text = "text", score = "score", source = "id" }] }
[erase]
http = { method = "DELETE", path = "/{namespace}" }
"""
TOKEN = "tok-very-secret-0123456789"  # noqa: S105 - invented, and must not be seen


class Bench:
    """A folder with the memory's file, and runs of it."""

    def __init__(self, folder):
        self.folder, self.marker = folder, folder / "fault"
        self.env = {**os.environ, "MEMRULER_STATE": str(folder / "state")}
        self.write("")

    def write(self, headers):
        text = SPEC.replace("SERVER", str(SERVER)).replace("MARKER", str(self.marker))
        (self.folder / "memory.toml").write_text(text.replace("HEADERS", headers))

    def command(self, stem):
        return [
            *(sys.executable, "-m", "memruler", "retrieval", "synthetic", "--limit", "10"),
            *("-k", "1,5", "--instances", "2", "--system", str(self.folder / "memory.toml")),
            *("--out", str(self.folder / "runs"), "--stem", stem),
        ]

    def run(self, stem, fault=None):
        if fault is not None:
            self.marker.write_text(fault)
        done = subprocess.run(
            self.command(stem), env=self.env, capture_output=True, text=True, check=False
        )
        self.marker.unlink(missing_ok=True)
        assert "Traceback" not in done.stderr
        return done

    def path(self, stem):
        return self.folder / "runs" / stem

    def rankings(self, stem):
        lineage = pq.read_table(self.path(stem) / "lineage.parquet").to_pylist()
        return [
            (
                row["instance"],
                row["query"],
                [lineage[at]["id"] for at in row["items"]],
                row["error"],
            )
            for row in pq.read_table(self.path(stem) / "trace.parquet").to_pylist()
        ]

    def report(self, stem):
        return json.loads((self.path(stem) / "report.json").read_text(encoding="utf-8"))


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("sound"))
    assert bench.run("run").returncode == 0
    return bench.rankings("run")


def left_behind(bench):
    running = subprocess.run(["/bin/ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in running.stdout.splitlines() if str(bench.folder) in line]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("die-ingest", "about to fall over in a write"),
        ("die-query", "about to fall over in a search"),
        ("full", "File too large"),
    ],
)
def test_a_dead_server_ends_the_run_and_resuming_finishes_it(bench, sound, fault, said):
    done = bench.run("run", fault)
    assert done.returncode == 3, done.stderr
    assert said in done.stderr
    assert not (bench.path("run") / "report.json").exists()
    assert left_behind(bench) == []
    again = bench.run("run")
    assert again.returncode == 0, again.stderr
    assert bench.rankings("run") == sound


@pytest.mark.parametrize("fault", ["hangs", "garbage", "half"])
def test_searches_that_fail_are_no_misses_and_too_many_end_the_run(bench, sound, fault):
    done = bench.run("run", fault)
    assert done.returncode == 3, done.stderr
    assert not (bench.path("run") / "report.json").exists()
    assert left_behind(bench) == []
    again = bench.run("run")
    assert again.returncode == 0, again.stderr
    assert bench.rankings("run") == sound


@pytest.mark.parametrize("fault", ["storm", "recovers", "slow"])
def test_what_passes_leaves_no_trace_in_the_rankings(bench, sound, fault):
    done = bench.run("run", fault)
    assert done.returncode == 0, done.stderr
    assert bench.rankings("run") == sound


def test_a_fixed_port_that_is_taken_is_told(bench):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        file = bench.folder / "memory.toml"
        file.write_text(file.read_text().replace("{port}", port))
        done = bench.run("run")
    assert done.returncode == 3
    assert "the port is taken by another program" in done.stderr


def test_a_port_that_is_taken_while_the_server_starts_is_given_up_for_another(bench, monkeypatch):
    others, require_free = [], system._require_free

    def then_taken(url):
        require_free(url)
        if not others:
            others.append(socket.create_server(("127.0.0.1", urlsplit(url).port)))

    monkeypatch.setattr(system, "_require_free", then_taken)
    opened = open_system(str(bench.folder / "memory.toml"), {}).system
    (bench.folder / "logs").mkdir()
    (bench.folder / "data").mkdir()
    try:
        opened.place(bench.folder / "data", bench.folder / "logs")
        memory = opened.open(Namespace("bench-x", bench.folder / "data" / "x"))
        assert memory.search("anything", 3, datetime(2024, 1, 1)).hits == ()
        memory.close()
    finally:
        opened.shut()
        others[0].close()


def test_an_item_that_stands_twice_is_told_and_earns_nothing_again(bench):
    done = bench.run("run", "twice")
    assert done.returncode == 0
    assert "100 name an item that stood in the same list before" in " ".join(done.stdout.split())
    assert bench.report("run")["summary"]["hits"]["repeated"] == 100


def test_hits_that_lead_nowhere_never_score(bench):
    done = bench.run("run", "strangers")
    assert done.returncode == 4
    assert "memruler score RUN --lineage FILE" in done.stderr


def test_a_wrong_token_is_told_and_never_stored(bench):
    bench.env["FAULTY_TOKEN"] = "another-one"  # noqa: S105 - what the server wants
    bench.env["SENT"] = TOKEN
    bench.write('headers = { Authorization = "Bearer {env:SENT}" }')
    done = bench.run("run")
    assert done.returncode == 3
    assert "401" in done.stderr
    everything = [done.stdout.encode(), done.stderr.encode()]
    everything += [file.read_bytes() for file in bench.folder.rglob("*") if file.is_file()]
    assert [data for data in everything if TOKEN.encode() in data] == []


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_an_interrupted_run(bench, sound, sent):
    bench.marker.write_text("hangs")
    running = subprocess.Popen(
        bench.command("run"), env=bench.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    end = time.monotonic() + 30
    while time.monotonic() < end and not list((bench.folder / "state").rglob("*bench*")):
        time.sleep(0.05)
    time.sleep(1)
    running.send_signal(sent)
    _, said = running.communicate(timeout=30)
    assert running.returncode != 0
    assert b"Traceback" not in said
    bench.marker.unlink(missing_ok=True)
    end = time.monotonic() + 10
    while time.monotonic() < end and left_behind(bench):
        time.sleep(0.1)
    assert left_behind(bench) == []
    again = bench.run("run")
    assert again.returncode == 0, again.stderr
    assert bench.rankings("run") == sound
