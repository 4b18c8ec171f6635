"""An MCP memory server that repeats every secret it is given, wherever it can.

Run as `echo_tools.py stdio|PORT MODE --token T`, with the modes of `echo_server.py`.
"""

import json
import os
import sys
from urllib.parse import quote

from mcp.server.mcpserver import Context, MCPServer

WAY, MODE = sys.argv[1:3]
OWN = [
    sys.argv[-1],
    *(os.environ.get(n, "unset") for n in ("OWN_KEY", "DUMMY_TOKEN", "PASSED_TOKEN", "PASSED")),
]
KEPT = {}
COUNT = {"find": 0, "add": 0}
server = MCPServer("echo " + OWN[0], version=OWN[1])


def forms(secret):
    return [secret, quote(secret, safe=""), json.dumps(secret), secret.encode().hex()]


def tell(secrets):
    for secret in secrets:
        sys.stderr.write(f"my key is {' '.join(forms(secret))}\n")
    sys.stderr.flush()


def given(context, secret):
    request = context.request_context.request
    sent = [] if request is None else [request.headers["authorization"].split()[1]]
    sent += [] if request is None else [request.headers["x-custom"], request.query_params["token"]]
    tell([*sent, secret, *OWN])
    return [*sent, secret, *OWN]


@server.tool()
def add(key: str, text: str, secret: str, context: Context) -> dict:
    told = given(context, secret)
    KEPT[key] = text
    COUNT["add"] += 1
    bad = COUNT["add"] % 50 == 0
    return {"id": key + told[0], "refused": f"bad key {told}" if bad else ""}


@server.tool()
def find(query: str, secret: str, context: Context) -> dict:
    told = given(context, secret)
    COUNT["find"] += 1
    if MODE == "refuses" or COUNT["find"] % 20 == 0:
        echo = " ".join(form for secret in told for form in forms(secret))
        raise ValueError("y" * (COUNT["find"] * 11 % 400) + echo)
    hits = [{"id": key + told[0], "source": key, "text": KEPT[key]} for key in KEPT]
    hits[0] |= {"text": f"I am asked {query} with {told}"}
    return {"hits": hits}


tell(OWN)
if MODE == "dies":
    sys.exit(f"bad key {OWN[0]}")
if WAY == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", port=int(WAY))
