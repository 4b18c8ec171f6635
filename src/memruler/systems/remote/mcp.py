"""Calls of MCP tools, over streamable HTTP or the standard streams of a started server."""

import json
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from memruler.errors import (
    InstrumentError,
    MemrulerError,
    SystemUnderTestError,
    UsageError,
    printable,
)
from memruler.plugins import described
from memruler.systems.process.logs import ServerLog
from memruler.systems.process.secrets import Secrets
from memruler.systems.process.server import ServerProcess, kept
from memruler.systems.remote.spec import McpCall, McpTransport
from memruler.systems.remote.template import Values

__all__ = ["McpCaller", "Spoken", "StdioCommand", "decoded"]

_NEWS = 1.0
_SHOWN = 200
_GRACE = 1.0
"""The SDK kills a server two seconds after it asked it to end; the keeper must be done by then."""


class StdioCommand(NamedTuple):
    """A server that speaks over its standard streams."""

    command: tuple[str, ...]
    env: dict[str, str]
    cwd: Path
    log: Path


class Spoken(NamedTuple):
    """What a server said of itself in the handshake; part of the identity."""

    name: str
    version: str
    protocol: str


class McpCaller:
    """See `Caller`. The SDK is asynchronous; its event loop runs in a thread of its own.

    Args:
        transport: Where the server is.
        values: For the placeholders of the transport.
        stdio: The command, where it speaks over standard streams.
        server: The started server behind a URL; None where it runs elsewhere.
        secrets: Taken out of errors, replies and the log.

    Raises:
        UsageError: The SDK is not installed.
        InstrumentError: No server answers.
    """

    def __init__(
        self,
        transport: McpTransport,
        values: Values,
        *,
        stdio: StdioCommand | None,
        server: ServerProcess | None,
        secrets: Secrets,
    ) -> None:
        try:
            from anyio.from_thread import start_blocking_portal  # noqa: PLC0415 - the extra
            from mcp import Client  # noqa: PLC0415 - the extra
        except ImportError as error:
            raise UsageError(
                "MCP needs the SDK", where="mcp", hint="pip install 'memruler[mcp]'"
            ) from error
        self._server = server
        self._secrets = secrets
        self._timeout = transport.timeout
        self._log: ServerLog | None = None
        self._stack = ExitStack()
        mode = "legacy" if transport.legacy else "auto"
        try:
            self._portal = self._stack.enter_context(start_blocking_portal())
            carrier = (
                self._over_streams(stdio)
                if stdio is not None
                else self._over_http(transport, values)
            )
            client = Client(carrier, mode=mode, read_timeout_seconds=transport.timeout)
            self._client: Any = self._stack.enter_context(
                self._portal.wrap_async_context_manager(client)
            )
        except Exception as error:  # noqa: BLE001 - the SDK wraps causes in groups of many kinds
            self.close()
            raise self._gone("the MCP server cannot be reached", error) from None
        if self._ours is not None:
            os.close(self._ours)
            self._ours = None

    _ours: int | None = None
    """Our end of the pipe that the server logs to, until the server has its own."""

    def spoken(self) -> Spoken:
        """Name, version and protocol as the server says."""
        info = self._client.server_info
        name, version = ("", "") if info is None else (info.name, info.version)
        said = (str(name), str(version), str(self._client.protocol_version))
        return Spoken(*map(self._secrets, said))

    def tools(self) -> list[Any]:
        """Every tool that the server lists, as the SDK's record (name, description, schema)."""
        found: list[Any] = []
        cursor: str | None = None
        while True:
            list_tools = partial(self._client.list_tools, cursor=cursor)
            page = self._asked("tools/list", list_tools)
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                return found

    def __call__(self, call: McpCall, values: Values) -> Any:
        """Call the tool; see `Caller`."""
        arguments = values.fill(call.arguments)
        result = self._asked(call.tool, partial(self._client.call_tool, call.tool, arguments))
        if result.is_error:
            said = " ".join(getattr(block, "text", "") for block in result.content)
            raise SystemUnderTestError(
                # Hidden before it is cut: half a secret would not be known as one.
                f"the tool {call.tool} failed: {printable(self._secrets(said))}",
                kind="tool",
            )
        return self._secrets.reply(decoded(result))

    def close(self) -> None:
        """End the session, and the server where it speaks over standard streams."""
        with suppress(Exception):  # what is being closed may be broken
            self._stack.close()
        if self._ours is not None:
            os.close(self._ours)
            self._ours = None

    def _asked(self, what: str, call: Callable[[], Any]) -> Any:
        from mcp.shared.exceptions import MCPError  # noqa: PLC0415 - the extra
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT  # noqa: PLC0415 - the extra

        try:
            return self._portal.call(call)
        except MCPError as error:
            if self._server is not None:
                self._server.require_alive(_NEWS if error.code == CONNECTION_CLOSED else 0)
            if error.code == CONNECTION_CLOSED and self._server is None:
                raise self._gone(f"{what}: the server ended", error) from None
            kinds = {REQUEST_TIMEOUT: "timeout", CONNECTION_CLOSED: "connection"}
            raise SystemUnderTestError(
                self._secrets(f"{what}: {error.message}"), kind=kinds.get(error.code, "tool")
            ) from None
        except Exception as error:  # noqa: BLE001 - likewise
            if self._server is not None:
                self._server.require_alive(_NEWS)
            raise self._gone(f"{what}: the connection broke", error) from None

    def _gone(self, what: str, error: Exception) -> MemrulerError:
        if isinstance(error, MemrulerError):
            return error
        if self._server is not None and not self._server.alive:
            try:
                self._server.require_alive()
            except InstrumentError as death:
                return death
        if self._log is not None:
            self._log.join(_NEWS)
        said = printable(self._secrets(_innermost(error)), _SHOWN)
        return InstrumentError(
            f"{what} ({said})" + ("" if self._log is None else self._log.last_words()),
            hint="look at the server's log; finished instances are kept, and the same --stem "
            "goes on",
        )

    def _over_streams(self, stdio: StdioCommand) -> Any:
        from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415 - the extra

        command = kept(stdio.command, _GRACE)
        read, self._ours = os.pipe()
        self._log = ServerLog(os.fdopen(read, "rb"), stdio.log, self._secrets)
        parameters = StdioServerParameters(
            command=command[0], args=command[1:], env=stdio.env, cwd=stdio.cwd
        )
        errors = os.fdopen(self._ours, "w", closefd=False)
        return stdio_client(parameters, errlog=errors)

    def _over_http(self, transport: McpTransport, values: Values) -> Any:
        import httpx2  # noqa: PLC0415 - with the SDK
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 - the extra

        from memruler.net.carrier import RetryingTransport  # noqa: PLC0415 - with the SDK

        http = httpx2.AsyncClient(
            headers=values.headers(transport.headers),
            timeout=httpx2.Timeout(transport.timeout, connect=10.0),
            transport=RetryingTransport(httpx2.AsyncHTTPTransport()),
        )
        self._stack.enter_context(self._portal.wrap_async_context_manager(http))
        return streamable_http_client(values.text(transport.url or ""), http_client=http)


def decoded(result: Any) -> Any:
    """What a tool gave back: structured content, or the JSON in its text blocks, or the texts.

    One block gives its value, several give the list of theirs.
    """
    if result.structured_content is not None:
        return result.structured_content
    blocks = [_json(block.text) for block in result.content if hasattr(block, "text")]
    return blocks[0] if len(blocks) == 1 else blocks


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _innermost(error: BaseException) -> str:
    """The first cause inside the groups that task groups wrap errors in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return described(error)
