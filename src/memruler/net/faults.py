"""What servers and connections do wrong, in one line for people, without the request's secrets."""

from collections.abc import Callable
from datetime import UTC, datetime

import httpx2

from memruler.net.errors import HttpError
from memruler.net.retry import retry_after

__all__ = ["SECRET_HEADERS", "Hide", "failure", "refusal", "shown"]

SECRET_HEADERS = ("authorization", "proxy-authorization", "cookie", "x-api-key", "api-key")
"""Headers that never reach another origin, nor a message."""

_START_OF_BODY = 300
_READ_OF_BODY = 4096  # more than is shown, so that a secret is seen whole and hidden
_SHORTEST_SECRET = 4  # replacing shorter texts would only garble the message


class Hide:
    """Replaces the secrets of a request in a text that may quote it.

    Args:
        request: Whose headers and address are looked at.
        more: Replaces the secrets that the caller knows of.
    """

    def __init__(self, request: httpx2.Request, more: Callable[[str], str] | None = None) -> None:
        self._more = more
        values = [request.headers[name] for name in SECRET_HEADERS if name in request.headers]
        words = [word for value in values for word in (value, *value.split())]
        words.append(request.url.password or "")
        # Longest first, so that no secret survives as the rest of a shorter one.
        self._words = sorted((w for w in words if len(w) >= _SHORTEST_SECRET), key=len)[::-1]

    def __call__(self, text: str) -> str:
        """The text with `***` for every secret."""
        if self._more is not None:
            text = self._more(text)
        for word in self._words:
            text = text.replace(word, "***")
        return text


def shown(url: httpx2.URL | str) -> str:
    """A URL as it may stand in a message: without user, password, query (signed) and fragment."""
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return "(not a URL)"
    return f"{parsed.scheme}://{parsed.netloc.decode('ascii', 'replace')}{parsed.path}"


def refusal(response: httpx2.Response, hide: Hide) -> HttpError:
    """The error for an answer without 2xx, with the start of its body."""
    status = response.status_code
    start = bytearray()
    try:
        for chunk in response.iter_bytes():
            start += chunk
            if len(start) >= _READ_OF_BODY:
                break
    except httpx2.RequestError:
        start += b" (the rest is missing)"
    said = " ".join(hide(start[:_READ_OF_BODY].decode("utf-8", "replace")).split())[:_START_OF_BODY]
    limited, broken = status == httpx2.codes.TOO_MANY_REQUESTS, httpx2.codes.is_server_error(status)
    return HttpError(
        f"the server answered {status} {hide(response.reason_phrase)}"
        + (f": {said}" if said else ""),
        where=shown(response.url),
        hint="try again later" if limited or broken else "check the address and your access to it",
        status=status,
        transient=limited or broken,
        retry_after=(
            retry_after(response.headers.get("Retry-After"), datetime.now(UTC)) if limited else None
        ),
    )


def failure(error: httpx2.RequestError, url: str, hide: Hide) -> HttpError:
    """The error for an answer that did not come, or broke off."""
    try:
        where = shown(error.request.url)  # after redirects
    except RuntimeError:
        where = shown(url)
    kind = "connection"
    if isinstance(error, httpx2.TimeoutException):
        kind = "timeout"
        what = f"no answer in time ({type(error).__name__})"
    elif isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        what = f"cannot connect: {hide(str(error))}"
    elif isinstance(error, httpx2.LocalProtocolError):
        what = "the request is not valid HTTP"  # its text quotes header values
    else:
        what = f"the connection broke: {hide(str(error)) or type(error).__name__}"
    permanent = (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.DecodingError)
    return HttpError(
        what,
        where=where,
        hint="check the network and try again",
        transient=isinstance(error, httpx2.TransportError) and not isinstance(error, permanent),
        kind="malformed" if isinstance(error, httpx2.DecodingError) else kind,
    )
