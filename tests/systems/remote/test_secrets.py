"""Secrets come in wherever a file allows them, and stand in nothing that memruler writes."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="servers are started on POSIX only"),
]

HERE = Path(__file__).parent
NAMES = ["USERINFO", "CUSTOM", "QUERY", "COMMAND", "OWN_KEY", "PASSED_TOKEN", "PASSED", "BEARER"]
SECRETS = {name: f"Planted.{name}_{number}x" for number, name in enumerate(NAMES, 741)}
SECRETS["BODY"] = "planted-body-740/+ü&x"
DUMMY = "planted-dummy-999"
HTTP = f"""
name = "echo"
[settings]
mode = "sound"
[server]
command = [
  "{{python}}", "{HERE / "echo_server.py"}", "{{port}}", "{{folder}}", "{{setting:mode}}",
  "--token", "{{env:COMMAND}}",
]
env = {{ OWN_KEY = "{{env:OWN_KEY}}", DUMMY_TOKEN = "{DUMMY}" }}
pass_env = ["PASSED_TOKEN", "PASSED"]
ready = {{ path = "/", timeout = 20 }}
[http]
url = "http://joe:{{env:USERINFO}}@127.0.0.1:{{port}}"
headers = {{ X-Custom = "{{env:CUSTOM}}" }}
retries = 0
[write]
id = "id"
refused = "refused"
[write.http]
path = "/write"
query = {{ token = "{{env:QUERY}}" }}
body = {{ key = "{{key}}", text = "{{text}}", secret = "{{env:BODY}}" }}
[search.http]
path = "/search"
query = {{ token = "{{env:QUERY}}" }}
body = {{ query = "{{query}}", k = "{{k}}", secret = "{{env:BODY}}" }}
[search.result]
lists = [{{ at = "hits", id = "id", text = "text", source = "source" }}]
[erase]
http = {{ method = "DELETE", path = "/{{namespace}}", query = {{ token = "{{env:QUERY}}" }} }}
"""
MCP = f"""
name = "echo-mcp"
[settings]
mode = "sound"
[server]
command = [
  "{{python}}", "{HERE / "echo_tools.py"}", WAY "{{setting:mode}}", "--token", "{{env:COMMAND}}",
]
env = {{ OWN_KEY = "{{env:OWN_KEY}}", DUMMY_TOKEN = "{DUMMY}" }}
pass_env = ["PASSED_TOKEN", "PASSED"]
per = "namespace"
READY
[mcp]
ADDRESS
[write]
id = "id"
refused = "refused"
[write.mcp]
tool = "add"
arguments = {{ key = "{{key}}", text = "{{text}}", secret = "{{env:BODY}}" }}
[search]
mcp = {{ tool = "find", arguments = {{ query = "{{query}}", secret = "{{env:BODY}}" }} }}
result = {{ lists = [{{ at = "hits", id = "id", text = "text", source = "source" }}] }}
cut = true
"""
SERVED = """
url = "http://127.0.0.1:{port}/mcp?token={env:QUERY}"
headers = { Authorization = "Bearer {env:BEARER}", X-Custom = "{env:CUSTOM}" }
"""


def over_mcp(way):
    stdio = way == "stdio"
    text = MCP.replace("WAY", '"stdio",' if stdio else '"{port}",')
    text = text.replace("READY", "" if stdio else "ready = { port = true, timeout = 20 }")
    return text.replace("ADDRESS", "" if stdio else SERVED)


class Bench:
    """A folder, what was said in it, and whether a secret is anywhere."""

    def __init__(self, folder):
        self.folder, self.said = folder, []

    def run(self, *arguments, code=0):
        done = subprocess.run(
            [sys.executable, "-m", "memruler", *arguments],
            cwd=self.folder,
            env={**os.environ, **SECRETS, "MEMRULER_STATE": str(self.folder / "state")},
            capture_output=True,
            check=False,
        )
        assert done.returncode == code, done.stderr.decode()
        assert b"Traceback" not in done.stderr
        self.said += [done.stdout, done.stderr]
        return done

    def measure(self, stem, mode="sound", code=0):
        few = ["-k", "1,5", "--limit", "10", "--instances", "1", "--queries", "25", "--stem", stem]
        named = ["--system", "memory.toml", "--set", f"mode={mode}"]
        return self.run("retrieval", "synthetic", *few, *named, code=code)

    def leaks(self):
        written = {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and path.name != "memory.toml"
        }
        assert len(written) > 3
        written |= {f"output {at}": said for at, said in enumerate(self.said)}
        return {
            (name, where)
            for name, secret in {**SECRETS, "DUMMY": DUMMY}.items()
            for where, data in written.items()
            if any(form.encode() in data for form in forms(secret))
            # The beginning alone says too much: a message may have been cut there.
            or secret[:14].encode() in data
        }


def forms(secret):
    yield from (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], secret.upper())
    yield secret.encode().hex()
    for shift in range(3):
        whole = base64.b64encode(b"x" * shift + secret.encode()).decode().rstrip("=")
        yield whole[4:-2]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.mark.parametrize("way", ["http", "mcp over http", "stdio"])
def test_no_secret_stands_in_anything_that_is_written(bench, way):
    text = HTTP if way == "http" else over_mcp(way)
    (bench.folder / "memory.toml").write_text(text, encoding="utf-8")
    bench.measure("a")
    bench.run("report", "runs/a", "--html", "one.html", "--markdown", "one.md", "--json")
    if way == "http":
        bench.measure("b")
        bench.run("report", "runs/a", "runs/b", "--html", "two.html", "--markdown", "two.md")
        bench.run("compare", "runs/a", "runs/b", "--json")
        for form in ("jsonl", "hits", "bundle"):
            bench.run("export", "runs/a", "--format", form, "--out", form)
    bench.measure("refused", "refuses", code=3)
    assert b"bad key ***" in bench.measure("dead", "dies", code=3).stderr
    assert bench.leaks() == set()
    log = b"".join(path.read_bytes() for path in bench.folder.glob("runs/a/logs/*"))
    assert b"my key is ***" in log


def test_a_description_and_its_draft_hold_no_secret(bench):
    server = f"{sys.executable} {HERE / 'echo_tools.py'} stdio sound --token={SECRETS['COMMAND']}"
    done = bench.run("systems", "describe", server)
    assert b"--token={env:MEMORY_SECRET}" in done.stdout
    assert not any(SECRETS["COMMAND"].encode() in said for said in bench.said)
