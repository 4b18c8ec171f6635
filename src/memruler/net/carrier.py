"""The retry policy for clients that other libraries drive: an asynchronous transport."""

from datetime import UTC, datetime

import anyio
import httpx2

from memruler.net.errors import HttpError
from memruler.net.retry import RETRIES, Budget, retry_after

__all__ = ["RetryingTransport"]


class RetryingTransport(httpx2.AsyncBaseTransport):
    """Sends requests again as `memruler.net.retry` says; the last answer is handed on as it is.

    Args:
        inner: What carries the requests.
        retries: Tries after a broken connection or a 5xx.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, retries: int = RETRIES) -> None:
        self._inner = inner
        self._retries = retries

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it until an answer is no 429 or 5xx, or the tries are spent."""
        budget = Budget(self._retries)
        while True:
            try:
                response = await self._inner.handle_async_request(request)
            except httpx2.ConnectError as error:
                # Only where nothing was sent: another break may have been heard by the server.
                wait = budget.wait(HttpError(str(error), transient=True))
                if wait is None:
                    raise
            else:
                wait = budget.wait(_as_error(response))
                if wait is None:
                    return response
                await response.aclose()
            await anyio.sleep(wait)

    async def aclose(self) -> None:
        """Close what carries the requests."""
        await self._inner.aclose()


def _as_error(response: httpx2.Response) -> HttpError:
    status = response.status_code
    limited = status == httpx2.codes.TOO_MANY_REQUESTS
    wait = retry_after(response.headers.get("Retry-After"), datetime.now(UTC)) if limited else None
    transient = limited or bool(httpx2.codes.is_server_error(status))
    return HttpError("", status=status, transient=transient, retry_after=wait)
