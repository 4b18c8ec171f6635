"""A memory server that repeats every secret it is given, in every form, wherever it can.

Run as `echo_server.py PORT FOLDER MODE --token T`. MODE `sound` measures, `dies` falls over at
once, `refuses` answers every search with an error.
"""

import base64
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

PORT, FOLDER, MODE = int(sys.argv[1]), sys.argv[2], sys.argv[3]
KEPT = {}
COUNT = {"/write": 0, "/search": 0}
OWN = [
    sys.argv[5],
    *(os.environ[name] for name in ("OWN_KEY", "DUMMY_TOKEN", "PASSED_TOKEN", "PASSED")),
]


def forms(secret):
    """As a log, a URL, a JSON text or a header would show it."""
    raw = secret.encode()
    yield from (secret, quote(secret, safe=""), json.dumps(secret), raw.hex(), secret.upper())
    yield from (base64.b64encode(b"x" * n + raw + b":rest").decode() for n in range(3))


def tell(secrets):
    for secret in secrets:
        sys.stdout.write(f"my key is {' '.join(forms(secret))}\n")
    sys.stdout.flush()


class Page(BaseHTTPRequestHandler):
    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status, "no " + self.secrets()[-1])
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def secrets(self):
        given = self.headers["Authorization"].split()[1]
        password = base64.b64decode(given + "==").decode().partition(":")[2] or given
        path = self.path.partition("?")[2]
        return [password, self.headers["X-Custom"], unquote(path.partition("=")[2])]

    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def do_DELETE(self):
        KEPT.clear()
        self.reply(200, {})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = [*self.secrets(), body["secret"], *OWN]
        tell([self.requestline, *told])
        # However a message is cut, one of these lies across the cut.
        echo = " ".join(form for secret in told for form in forms(secret))
        path = self.path.partition("?")[0]
        COUNT[path] += 1
        if path == "/write":
            KEPT[body["key"]] = body["text"]
            bad = COUNT[path] % 50 == 0
            self.reply(200, {"id": body["key"] + told[0], "refused": f"bad key {echo}" * bad})
        elif MODE == "refuses" or COUNT[path] % 20 == 0:
            self.reply(400, {"error": "y" * (COUNT[path] * 11 % 300) + echo})
        else:
            hits = [{"id": key + told[0], "source": key, "text": KEPT[key]} for key in KEPT]
            hits[0] |= {"text": f"I am called with {echo}"}
            self.reply(200, {"hits": hits[: body["k"]]})

    def log_message(self, *_):
        pass


tell(OWN)
# Longer than what is read of a line at once, so that the secret lies across the border.
sys.stdout.write("x" * 8185 + OWN[0] + "\n")
sys.stdout.flush()
if MODE == "dies":
    sys.exit(f"bad key {OWN[0]}")
ThreadingHTTPServer(("127.0.0.1", PORT), Page).serve_forever()
