"""A small memory server over HTTP that goes wrong in one way while a marker file says so.

Run as `faulty_server.py PORT FOLDER MARKER`. The marker's text is the fault; without the file the
server is sound. `N` counts writes or searches since the start.
"""

import json
import os
import re
import resource
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PORT, FOLDER, MARKER = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
FAULT = MARKER.read_text().strip() if MARKER.exists() else ""
TOKEN = os.environ.get("FAULTY_TOKEN", "")
seen = {"write": 0, "search": 0}
asked = set()


def tell(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def file(namespace):
    return FOLDER / f"{namespace}.jsonl"


def write(body):
    if FAULT == "die-ingest" and seen["write"] == 20:
        tell("about to fall over in a write")
        os._exit(9)
    with file(body["namespace"]).open("a", encoding="utf-8") as out:
        out.write(json.dumps({"key": body["key"], "text": body["text"]}) + "\n")
    return {"id": body["key"]}


def search(body):
    wanted = set(re.findall("[a-z]{4,}", body["query"].lower()))
    path = file(body["namespace"])
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    items = [json.loads(line) for line in lines]

    def score(item):
        return len(wanted & set(re.findall("[a-z]{4,}", item["text"].lower())))

    found = sorted(items, key=lambda item: (-score(item), item["key"]))[: body["k"]]
    return [{"id": i["key"], "text": i["text"], "score": score(i)} for i in found]


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece, else each reply waits for an acknowledgement

    def reply(self, status, body, **headers):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(200, b"{}")

    def do_DELETE(self):
        file(self.path.rpartition("/")[2]).unlink(missing_ok=True)
        self.reply(200, b"{}")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if TOKEN and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.reply(401, f"no such token: {self.headers.get('Authorization')}".encode())
            return
        kind = self.path.strip("/")
        seen[kind] += 1
        if self.put_off(kind, json.dumps(body, sort_keys=True)):
            return
        if kind == "search":
            self.found(body["k"], search(body))
            return
        try:
            self.reply(200, json.dumps(write(body)).encode())
        except OSError as error:
            tell(f"cannot write: {error}")
            self.reply(507, str(error).encode())

    def put_off(self, kind, body):
        """Turn a request away the first time it comes."""
        if (kind, body) in asked:
            return False
        asked.add((kind, body))
        if FAULT == "storm" and seen[kind] % 10 == 0:
            self.reply(429, b"slow down", Retry_After="0")
        elif FAULT == "recovers" and seen[kind] % 25 == 0:
            self.reply(503, b"back soon")
        else:
            return False
        return True

    def found(self, k, hits):
        if FAULT == "die-query" and seen["search"] == 5:
            tell("about to fall over in a search")
            os._exit(9)
        if FAULT == "hangs":
            time.sleep(60)
        if FAULT == "twice":
            hits = [hit for hit in hits for _ in range(2)][:k]
        if FAULT == "strangers":
            hits = [{"id": f"x{n}", "text": f"nobody said {n}", "score": 0} for n in range(3)]
        data = json.dumps({"hits": hits}).encode()
        if FAULT == "garbage":
            data = b'{"hits": [oops'
        if FAULT == "half":
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
            return
        self.reply(200, data)

    def log_message(self, *_):
        pass


if FAULT == "slow":
    time.sleep(3)
if FAULT == "full":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
tell("listening")
ThreadingHTTPServer(("127.0.0.1", PORT), Page).serve_forever()
