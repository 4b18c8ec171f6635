"""What memruler adds to a vendor's SDK: bounded answers, no redirects, a key that can be sent."""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

from memruler.errors import UsageError

__all__ = ["careful_http", "key_from"]

_LARGEST = 16 * 2**20
_LONGEST_SECONDS = 120.0


def careful_http(sdk: Any, longest: float | None = None) -> Any:
    """An HTTP client for the OpenAI SDK.

    Its own reads whatever comes, for as long as it comes, and follows redirects: the texts would
    go to another server than the one that is noted. Here a redirect is an error of its status.

    Args:
        sdk: The imported `openai`.
        longest: Seconds that the body of an answer may take to arrive; None for 120.

    Raises:
        UsageError: The variables that name a proxy are wrong.
    """

    class Careful(sdk.DefaultHttpxClient):  # type: ignore[misc]
        def __del__(self) -> None:  # as the SDK's own does: nobody closes an SDK
            with suppress(Exception):
                self.close()

    try:
        return Careful(
            follow_redirects=False,
            headers={"Accept-Encoding": "identity"},  # the bound counts bytes as they come
            event_hooks={"response": [partial(_bound, longest)]},
        )
    except Exception as error:  # also an ImportError, for want of SOCKS
        raise UsageError(
            f"the proxy settings cannot be used: {type(error).__name__}",
            where="HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY",
            hint="mend or unset them",
        ) from error


def key_from(variable: str) -> str | None:
    """The key that an environment variable holds; None where it is empty or not set.

    Raises:
        UsageError: No header can carry it. It is not shown.
    """
    key = os.environ.get(variable)
    if key and not (key.isascii() and key.isprintable() and key == key.strip()):
        raise UsageError(
            f"the key in {variable} has a space or line end around it, or is not plain ASCII",
            hint="set it anew; `tr -d '\\r\\n'` takes line ends off",
        )
    return key or None


def _bound(longest: float | None, response: Any) -> None:
    """Let an answer end with an error once it is too long or takes too long."""
    inner = response.stream
    limit = _LONGEST_SECONDS if longest is None else longest
    kind: Any = type(inner)  # the SDK's library wants one of its own streams

    class Bounded(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            pass

        def __iter__(self) -> Iterator[bytes]:
            size, end = 0, monotonic() + limit
            for chunk in inner:
                size += len(chunk)
                if size > _LARGEST:
                    raise ValueError(f"the answer is longer than {_LARGEST >> 20} MiB")
                if monotonic() > end:
                    raise ValueError(f"the answer takes longer than {limit:.0f} s")
                yield chunk

        def close(self) -> None:
            inner.close()

    response.stream = Bounded()
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ValueError("the answer is compressed, which was not asked for")
