"""How a remote memory is asked: the one thing that HTTP and MCP have in common."""

from typing import Any, Protocol

from memruler.errors import SystemUnderTestError
from memruler.net.errors import HttpError
from memruler.systems.remote.template import Values

__all__ = ["Caller", "Scrub"]


class Caller(Protocol):
    """Sends one call of a memory's file and gives back decoded JSON."""

    def __call__(self, call: Any, values: Values) -> Any:
        """The reply; None where it is empty.

        Raises:
            SystemUnderTestError: This call failed; the next one may not.
            InstrumentError: The server is gone.
        """

    def close(self) -> None:
        """Let go of the connection."""


class Scrub:
    """Takes secrets out of what may quote them.

    Args:
        secrets: Values, not names.
    """

    def __init__(self, secrets: set[str]) -> None:
        self._secrets = sorted((s for s in secrets if s), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text with `***` for every secret."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def error(self, what: str, error: HttpError) -> SystemUnderTestError:
        """An error of a call, without secrets."""
        where = None if error.where is None else self(str(error.where))
        return SystemUnderTestError(
            self(f"{what}: {error.what}"), where=where, hint=error.hint, kind=error.kind
        )
