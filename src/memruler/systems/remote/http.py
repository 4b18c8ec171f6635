"""Calls over HTTP, under the one retry policy."""

from typing import Any
from urllib.parse import quote, urlencode

import httpx2

from memruler.net.client import Client
from memruler.net.errors import HttpError
from memruler.systems.process.server import ServerProcess
from memruler.systems.remote.calls import Scrub
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
        scrub: For error texts.
    """

    def __init__(
        self, transport: HttpTransport, values: Values, server: ServerProcess | None, scrub: Scrub
    ) -> None:
        self._base = values.text(transport.url).rstrip("/")
        self._server = server
        self._scrub = scrub
        timeout = httpx2.Timeout(transport.timeout, connect=min(10.0, transport.timeout))
        self._client = Client(
            headers={name: values.text(text) for name, text in transport.headers.items()},
            timeout=timeout,
            retries=transport.retries,
        )

    def __call__(self, call: HttpCall, values: Values) -> Any:
        """Send the request; see `Caller`."""
        quoted = _Quoted(values)
        url = self._base + quoted.text(call.path)
        if call.query:
            pairs = {name: values.text(text) for name, text in call.query.items()}
            url += "?" + urlencode(pairs)
        headers = {name: values.text(text) for name, text in call.headers.items()}
        try:
            reply = self._client.request(
                call.method, url, headers=headers, json=values.fill(call.body)
            )
            return reply.json() if reply.body.strip() else None
        except HttpError as error:
            if error.status in call.ok:
                return None
            if self._server is not None and error.status is None:
                self._server.require_alive(_NEWS)
            # Not chained: the cause may quote a secret.
            raise self._scrub.error(f"{call.method} {call.path}", error) from None

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
