"""Calls over HTTP, under the one retry policy."""

from typing import Any
from urllib.parse import quote, urlencode

import httpx2

from memruler.net.client import Client
from memruler.net.errors import HttpError
from memruler.systems.process.secrets import Secrets
from memruler.systems.process.server import ServerProcess
from memruler.systems.remote.calls import call_error
from memruler.systems.remote.spec import HttpCall, HttpTransport
from memruler.systems.remote.template import Values

__all__ = ["HttpCaller"]

_NEWS = 1.0
"""Seconds in which the death of a server shows after a connection broke."""


class HttpCaller:
    """See `Caller`.

    Args:
        transport: Where the service is.
        values: For the placeholders of the transport.
        server: The started server; None where it runs elsewhere.
        secrets: Taken out of errors and replies.
    """

    def __init__(
        self,
        transport: HttpTransport,
        values: Values,
        server: ServerProcess | None,
        secrets: Secrets,
    ) -> None:
        self._base = values.text(transport.url).rstrip("/")
        self._server = server
        self._secrets = secrets
        timeout = httpx2.Timeout(transport.timeout, connect=min(10.0, transport.timeout))
        self._client = Client(
            headers=values.headers(transport.headers),
            timeout=timeout,
            retries=transport.retries,
            stay=True,
            hide=secrets,
        )

    def __call__(self, call: HttpCall, values: Values) -> Any:
        """Send the request; see `Caller`."""
        quoted = _Quoted(values)
        url = self._base + quoted.text(call.path)
        if call.query:
            pairs = {name: values.text(text) for name, text in call.query.items()}
            url += "?" + urlencode(pairs)
        headers = values.headers(call.headers)
        try:
            reply = self._client.request(
                call.method, url, headers=headers, json=values.fill(call.body)
            )
            return self._secrets.reply(reply.json()) if reply.body.strip() else None
        except HttpError as error:
            if error.status in call.ok:
                return None
            if self._server is not None and error.status is None:
                self._server.require_alive(_NEWS)
            # Not chained: the cause may quote a secret.
            raise call_error(f"{call.method} {call.path}", error, self._secrets) from None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class _Quoted(Values):
    """Values for a path: each is one percent-encoded piece of it."""

    def __init__(self, values: Values) -> None:
        self._inner = values

    def _value(self, name: str) -> Any:
        value = self._inner._value(name)  # noqa: SLF001 - its own class
        return None if value is None else quote(str(value), safe="")
