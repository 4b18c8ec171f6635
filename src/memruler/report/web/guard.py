"""Who may ask, how, and what every answer tells the browser to refuse."""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

__all__ = ["POLICY", "Guard"]

_Scope = MutableMapping[str, Any]
_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]
_Headers = list[tuple[bytes, bytes]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a page may load: the server's own scripts, styles and data, and nothing else."""

_SAFE: _Headers = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_TEXT: _Headers = [(b"content-type", b"text/plain; charset=utf-8")]
_NAMES = ("127.0.0.1", "localhost")
_TOKEN_BYTES = 32


class Guard:
    """Lets through what a person on this machine asks with the address that was printed.

    In this order: only HTTP; a `Host` that names this server, so that a foreign site cannot reach
    it under a name of its own (DNS rebinding); GET and HEAD; the token, once in the query and then
    in a cookie that no script and no other site can use. Every answer, refusals too, carries the
    headers that keep a browser from running, framing, keeping or passing on what it shows.

    Args:
        app: What answers once a request is let through.
        port: The port that is listened on.
        token: The secret of the address; random without it.

    Attributes:
        token: The secret in the address that is printed.
        cookie: Name of the cookie; it holds the port, since ports of one host share cookies.
    """

    def __init__(self, app: _App, port: int, token: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(_TOKEN_BYTES)
        self.cookie = f"memruler_{port}"
        self._session = secrets.token_urlsafe(_TOKEN_BYTES)
        self._app = app
        self._hosts = {f"{name}:{port}".encode() for name in _NAMES}
        if port == 80:  # noqa: PLR2004 - the one port that browsers leave out
            self._hosts |= {name.encode() for name in _NAMES}

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        headers: _Headers = list(scope["headers"])
        hosts = [value.lower() for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            await _say(send, 400, "This server answers under its own address only.")
        elif scope["method"] not in {"GET", "HEAD"}:
            await _say(send, 405, "Nothing can be changed here.", [(b"allow", b"GET, HEAD")])
        elif self._has_token(scope):
            await _say(send, 303, "", self._welcome(scope))
        elif self._known(headers):
            await self._app(scope, receive, _with_headers(send))
        else:
            text = "Open the address that `memruler view` printed: it holds this server's token."
            await _say(send, 403, text)

    def _known(self, headers: _Headers) -> bool:
        """Whether the request comes from a browser that was here with the token."""
        jar: SimpleCookie = SimpleCookie()
        try:
            jar.load(
                "; ".join(value.decode("latin-1") for name, value in headers if name == b"cookie")
            )
        except CookieError:
            return False
        return self.cookie in jar and _same(jar[self.cookie].value, self._session)

    def _has_token(self, scope: _Scope) -> bool:
        return any(name == "token" and _same(value, self.token) for name, value in _query(scope))

    def _welcome(self, scope: _Scope) -> _Headers:
        """The same address without the token, which then stands in no history and no bookmark."""
        rest = urlencode([pair for pair in _query(scope) if pair[0] != "token"])
        # A path that begins with two slashes would name another host.
        path = "/" + quote(str(scope["path"]).lstrip("/"))
        crumb = f"{self.cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"
        return [
            (b"location", (path + ("?" + rest if rest else "")).encode()),
            (b"set-cookie", crumb.encode()),
        ]


def _query(scope: _Scope) -> list[tuple[str, str]]:
    text = bytes(scope["query_string"]).decode("latin-1")
    try:
        return parse_qsl(text, keep_blank_values=True, max_num_fields=100)
    except ValueError:  # far more parts than any page has
        return []


def _same(one: str, other: str) -> bool:
    """Compare in a time that tells nothing of where they differ."""
    return secrets.compare_digest(one.encode(errors="replace"), other.encode())


def _with_headers(send: _Send) -> _Send:
    async def sent(message: _Message) -> None:
        if message["type"] == "http.response.start":
            names = {name for name, _ in _SAFE}
            own = [pair for pair in message.get("headers", []) if pair[0].lower() not in names]
            message = {**message, "headers": [*own, *_SAFE]}
        await send(message)

    return sent


async def _say(send: _Send, status: int, text: str, headers: _Headers | None = None) -> None:
    body = f"{text}\n".encode() if text else b""
    length = [(b"content-length", str(len(body)).encode())]
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [*_TEXT, *length, *(headers or []), *_SAFE]})
    await send({"type": "http.response.body", "body": body})
