"""How a remote memory is asked: the one thing that HTTP and MCP have in common."""

from typing import Any, Protocol

from memruler.errors import SystemUnderTestError
from memruler.net.errors import HttpError
from memruler.systems.process.secrets import Secrets
from memruler.systems.remote.template import Values

__all__ = ["Caller", "call_error"]


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


def call_error(what: str, error: HttpError, secrets: Secrets) -> SystemUnderTestError:
    """The error of a call, without secrets."""
    where = None if error.where is None else secrets(str(error.where))
    return SystemUnderTestError(
        secrets(f"{what}: {error.what}"), where=where, hint=error.hint, kind=error.kind
    )
