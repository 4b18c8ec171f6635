"""The error of a request that failed."""

from memruler.errors import InstrumentError

__all__ = ["HttpError"]


class HttpError(InstrumentError):
    """A request failed, or its answer cannot be used.

    Args:
        what: What happened, without secrets.
        where: The URL without its query.
        hint: What to do next.
        status: HTTP status of the answer; None when there was none.
        transient: Whether the same request may succeed a moment later.
        retry_after: Seconds the server asks to wait, already clamped; None when it does not say.
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
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.status = status
        self.transient = transient
        self.retry_after = retry_after
