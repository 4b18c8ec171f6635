"""The error of a request that failed."""

from memruler.errors import InstrumentError

__all__ = ["HttpError"]

_FIRST_FAILURE = 400
_TOO_MANY_REQUESTS = 429


class HttpError(InstrumentError):
    """A request failed, or its answer cannot be used.

    Args:
        what: What happened, without secrets.
        where: The URL without its query.
        hint: What to do next.
        status: HTTP status of the answer; None when there was none.
        transient: Whether the same request may succeed a moment later.
        retry_after: Seconds the server asks to wait, already clamped; None when it does not say.
        kind: What sort of failure it was, as in `memruler.errors.SystemUnderTestError`; of a
            status it follows from that.
    """

    def __init__(
        self,
        what: str,
        *,
        where: object = None,
        hint: str | None = None,
        status: int | None = None,
        transient: bool = False,
        retry_after: float | None = None,
        kind: str = "failed",
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.status = status
        self.transient = transient
        self.retry_after = retry_after
        if status is not None and status >= _FIRST_FAILURE:
            kind = "throttled" if status == _TOO_MANY_REQUESTS else f"http {status // 100}xx"
        self.kind = kind
