"""The HTTP client: timeouts, bounded redirects, one retry policy, errors without secrets."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Self, TypeVar

import httpx2
import msgspec
import stamina

from memruler import __version__
from memruler.net.errors import HttpError
from memruler.net.faults import SECRET_HEADERS, Hide, failure, refusal, shown
from memruler.net.retry import RETRIES, Budget

__all__ = ["TIMEOUT", "Client", "Reply"]

# Without a handler of its own, stamina's log of each retry would reach a person's terminal.
logging.getLogger("stamina").addHandler(logging.NullHandler())

TIMEOUT = httpx2.Timeout(60.0, connect=10.0)
"""Seconds without a single byte; connecting has less."""

_REDIRECTS = 5
_LARGEST = 64 * 1024 * 1024

T = TypeVar("T")


class Reply(NamedTuple):
    """A whole answer with a 2xx status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            HttpError: It is not JSON.
        """
        try:
            return msgspec.json.decode(self.body)
        except msgspec.DecodeError as error:
            raise HttpError(
                f"the answer is not JSON: {error}", status=self.status, kind="malformed"
            ) from error


class Client:
    """Sends requests; also a context manager that closes its connections.

    Args:
        headers: Sent with every request.
        timeout: Seconds per connect, read and write.
        retries: How often a broken connection or a 5xx is tried again.
        redirects: How many redirects one request may follow.
        stay: Refuse a redirect to another origin, which headers and bodies may be secret for.
        hide: Takes secrets out of what a message quotes, beside those of well-known headers.
        on_wait: Told the error and the seconds before each wait.
        transport: What carries the requests; None for the network.
    """

    def __init__(
        self,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: httpx2.Timeout = TIMEOUT,
        retries: int = RETRIES,
        redirects: int = _REDIRECTS,
        stay: bool = False,
        hide: Callable[[str], str] | None = None,
        on_wait: Callable[[HttpError, float], None] | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        self._retries = retries
        self._redirects = redirects
        self._stay = stay
        self._hide = hide
        self._on_wait = on_wait
        self._http = httpx2.Client(
            headers={"User-Agent": f"memruler/{__version__}", **(headers or {})},
            timeout=timeout,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        largest: int = _LARGEST,
    ) -> Reply:
        """Send a request under the retry policy and read the whole answer.

        Args:
            method: `GET`, `POST`, ...
            url: An http or https URL.
            headers: Sent with this request.
            json: Sent as the JSON body; None for no body.
            largest: Refuse a longer answer, in bytes after decompression.

        Raises:
            HttpError: No usable answer after all tries.
        """
        content = None if json is None else msgspec.json.encode(json)
        described = {} if json is None else {"Content-Type": "application/json"}

        def once() -> Reply:
            with self.open(
                method, url, headers={**described, **(headers or {})}, content=content
            ) as response:
                body = bytearray()
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > largest:
                        raise HttpError(
                            f"the answer is longer than {largest} bytes", where=shown(url)
                        )
                return Reply(response.status_code, response.headers, bytes(body))

        return self.retrying(once)

    def retrying(self, operation: Callable[[], T]) -> T:
        """Run an operation under the retry policy.

        Args:
            operation: May raise `HttpError`; is called anew for every try.

        Raises:
            HttpError: The last error, when it is not transient or the tries are used up.
        """
        budget = Budget(self._retries)

        def decide(error: Exception) -> float | bool:
            wait = budget.wait(error)
            if wait is None:
                return False
            if self._on_wait is not None and isinstance(error, HttpError):
                self._on_wait(error, wait)
            return wait

        for attempt in stamina.retry_context(on=decide, attempts=None, timeout=None):
            with attempt:
                return operation()
        raise AssertionError("stamina gave up without an error")  # pragma: no cover

    @contextmanager
    def open(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Iterator[httpx2.Response]:
        """Send a request once, without retries, and hand out the answer with its body unread.

        Args:
            method: `GET`, `POST`, ...
            url: An http or https URL.
            headers: Sent with this request.
            content: The body.

        Yields:
            The answer, status 2xx; errors while its body is read become `HttpError` too.

        Raises:
            HttpError: The server cannot be reached or does not answer with 2xx.
        """
        try:
            request = self._http.build_request(method, url, headers=headers, content=content)
        except httpx2.InvalidURL as error:
            raise HttpError(f"not a URL: {error}", hint="check the address") from error
        _check_scheme(request)
        hide = Hide(request, self._hide)
        try:
            response = self._follow(request)
            try:
                if not response.is_success:
                    raise refusal(response, hide)
                yield response
            finally:
                response.close()
        except httpx2.RequestError as error:
            raise failure(error, url, hide) from error

    def _follow(self, request: httpx2.Request) -> httpx2.Response:
        """Send, following redirects by hand: the library would go from https to http."""
        for _ in range(self._redirects + 1):
            response = self._http.send(request, stream=True, follow_redirects=False)
            if not response.has_redirect_location:
                return response
            response.close()
            request = _redirected(request, response, stay=self._stay)
        raise HttpError(
            f"more than {self._redirects} redirects", where=shown(request.url), hint="try later"
        )


def _check_scheme(request: httpx2.Request) -> None:
    if request.url.scheme not in {"http", "https"} or not request.url.host:
        raise HttpError(
            "only http and https addresses with a host are used", where=shown(request.url)
        )


def _redirected(
    request: httpx2.Request, response: httpx2.Response, *, stay: bool
) -> httpx2.Request:
    """The next request, without secrets where the origin changes."""
    following = response.next_request
    if following is None:
        raise HttpError("the redirect names no usable URL", where=shown(request.url))
    if request.url.scheme == "https" and following.url.scheme != "https":
        raise HttpError(
            f"refusing a redirect from https to {following.url.scheme}: {shown(following.url)}",
            where=shown(request.url),
            hint="somebody on the way may be changing the traffic; try another network",
        )
    _check_scheme(following)
    if following.url.origin != request.url.origin:
        if stay:
            raise HttpError(
                f"refusing a redirect to another origin: {shown(following.url)}",
                where=shown(request.url),
                hint="name that address itself, if it is the one that you mean",
            )
        for name in SECRET_HEADERS:
            following.headers.pop(name, None)
    return following
