"""What the TOML file of a remote memory says: how to start it, write, search and erase.

Texts in it may hold placeholders in braces; `template.py` says which, and fills them in.
"""

from typing import Any, Literal

import msgspec

__all__ = [
    "Capabilities",
    "EraseSpec",
    "HookPolicy",
    "HttpCall",
    "HttpTransport",
    "ListedHits",
    "McpCall",
    "McpTransport",
    "Ready",
    "RemoteSpec",
    "ResultShape",
    "SearchSpec",
    "ServerSpec",
    "SettleSpec",
    "WriteSpec",
]

Per = Literal["run", "namespace"]
Unit = Literal["turn", "session"]


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table that takes no field it does not know: a typing error would measure something else."""


class Ready(_Strict, frozen=True, kw_only=True):
    """How one knows that a started server answers.

    Attributes:
        path: Asked with GET until it answers with a status below 500.
        port: Connected to until it accepts; for servers without a page.
        log: Text that must stand in its log.
        timeout: Seconds until the start counts as failed.
    """

    path: str | None = None
    port: bool = False
    log: str | None = None
    timeout: float = 60.0


class ServerSpec(_Strict, frozen=True, kw_only=True):
    """How memruler starts the server itself. Without this table it must run already.

    Attributes:
        command: Program and arguments, no shell; with placeholders.
        env: Variables that it gets, with placeholders; nothing else of the caller's is passed.
        pass_env: Names of the caller's variables that it gets too (beside PATH, HOME of its own
            folder, and LANG).
        cwd: Where it is started; its data folder without it.
        ready: How to wait for it; for stdio the handshake is enough.
        per: One server for the run, or a fresh one on a fresh folder for each namespace, for
            servers that know no scopes.
        grace: Seconds between asking it to stop and killing its process group.
    """

    command: tuple[str, ...]
    env: dict[str, str] = {}
    pass_env: tuple[str, ...] = ()
    cwd: str | None = None
    ready: Ready = Ready()
    per: Per = "run"
    grace: float = 5.0


class HttpTransport(_Strict, frozen=True, kw_only=True):
    """Where an HTTP service is.

    Attributes:
        url: Base URL; `http://127.0.0.1:{port}` for a started server.
        headers: Sent with every request; secrets as `{env:NAME}`, which is never stored.
        timeout: Seconds without a byte.
        retries: Tries after a 5xx or a broken connection.
    """

    url: str
    headers: dict[str, str] = {}
    timeout: float = 60.0
    retries: int = 4


class McpTransport(_Strict, frozen=True, kw_only=True):
    """Where an MCP server is: a URL (streamable HTTP), or the started command itself (stdio).

    Attributes:
        url: Endpoint; None speaks over the standard streams of `[server]`'s command.
        headers: As in `HttpTransport`.
        timeout: Seconds for one call.
        legacy: Insist on the handshake of older servers.
    """

    url: str | None = None
    headers: dict[str, str] = {}
    timeout: float = 60.0
    legacy: bool = False


class HttpCall(_Strict, frozen=True, kw_only=True):
    """One HTTP request.

    Attributes:
        path: Appended to the base URL; with placeholders, which are percent-encoded.
        method: Verb.
        query: Query parameters.
        body: JSON body; a text that is one placeholder becomes its typed value.
        headers: Added to the transport's.
        ok: Statuses taken as done beside 2xx (404 for a delete of nothing).
    """

    path: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "POST"
    query: dict[str, str] = {}
    body: Any = None
    headers: dict[str, str] = {}
    ok: tuple[int, ...] = ()


class McpCall(_Strict, frozen=True, kw_only=True):
    """One tool call.

    Attributes:
        tool: Name of the tool.
        arguments: With placeholders, as the body of an HTTP call.
    """

    tool: str
    arguments: dict[str, Any] = {}


class HookPolicy(_Strict, frozen=True, kw_only=True):
    """How a conversation becomes hook events; every field is part of the identity.

    Attributes:
        path: The batch endpoint.
        cap: Bytes of an assistant excerpt that are sent, cut on a UTF-8 boundary.
        date_prefix: Put the session's date before each turn.
        batch: Events a request.
        resend: Rounds in which throttled or skipped items are sent again.
    """

    path: str = "/hook/batch"
    cap: int = 2048
    date_prefix: bool = True
    batch: int = 64
    resend: int = 8


class WriteSpec(_Strict, frozen=True, kw_only=True):
    """How a session is written; exactly one of `http`, `mcp` and `hook`.

    Attributes:
        unit: One call a turn, or one a session.
        id: Dotted path of the native id in the reply; None where there is none.
        refused: Dotted path of a value that, where it is true (or a non-empty text), says that
            the item was not stored; its text is the reason.
    """

    http: HttpCall | None = None
    mcp: McpCall | None = None
    hook: HookPolicy | None = None
    unit: Unit = "turn"
    id: str | None = None
    refused: str | None = None


class ListedHits(_Strict, frozen=True, kw_only=True):
    """One list of hits in a reply, and where things sit in each entry (dotted paths).

    Attributes:
        at: Path of the list; empty for the reply itself.
        kind: Kind of its hits.
        id: Path of the native id; None uses the place of the text.
        text: Path of the text.
        score: Path of the score.
        time: Path of the time.
        source: Path of the key that was written with it (a metadata field, an id, a path of
            which the last part is the key).
        pattern: Regular expression with one group that takes the key out of `source`.
    """

    at: str = ""
    kind: str = "unknown"
    id: str | None = None
    text: str | None = None
    score: str | None = None
    time: str | None = None
    source: str | None = None
    pattern: str | None = None


class ResultShape(_Strict, frozen=True, kw_only=True):
    """What a search replies: its lists, in the order in which an agent reads them."""

    lists: tuple[ListedHits, ...]


class SearchSpec(_Strict, frozen=True, kw_only=True):
    """How a question is asked; exactly one of `http` and `mcp`.

    Attributes:
        result: Where the hits sit.
        words: Ask once for each distinct word of the question that is no stop word, and merge
            in the order of how many words found an item: how an agent would use a server that
            looks for literal texts. Recorded, since it is not the server as shipped.
        cut: The server knows no limit, or gives one to each of its lists: keep the first k here.
    """

    result: ResultShape
    http: HttpCall | None = None
    mcp: McpCall | None = None
    words: bool = False
    cut: bool = False


class EraseSpec(_Strict, frozen=True, kw_only=True):
    """How a namespace is removed: at most one of `http` and `mcp`.

    With neither, the folder of a server per namespace is all there is to remove.
    """

    http: HttpCall | None = None
    mcp: McpCall | None = None


class SettleSpec(_Strict, frozen=True, kw_only=True):
    """How long writes take until they can be found.

    Attributes:
        poll: Search for the text that was written last until it comes back. Nothing is written
            for it, so that no stranger stands in the store.
        seconds: Fixed wait before it.
        timeout: Seconds after which the memory counts as broken.
    """

    poll: bool = False
    seconds: float = 0.0
    timeout: float = 60.0


class Capabilities(_Strict, frozen=True, kw_only=True):
    """What the author of the file says of the memory; `systems check` measures it.

    Attributes:
        dedup: Refuses equal or similar texts.
        event_time: Keeps the time that was written.
        needs_llm, needs_network: What a measured run needs beside the server.
        quiet_reads: How a read is told not to reinforce; None where there is no way.
    """

    dedup: bool | None = None
    event_time: bool | None = None
    needs_llm: bool = False
    needs_network: tuple[str, ...] = ()
    quiet_reads: str | None = None


class RemoteSpec(_Strict, frozen=True, kw_only=True):
    """A whole file.

    Attributes:
        name: What to call the memory.
        version: Its version where the server does not tell.
        settings: Values that `--set` may change and placeholders name as `{setting:NAME}`.
        server: How to start it.
        http, mcp: Where it is.
        write, search: How to use it.
        erase: How to remove a namespace.
        settle: How long to wait.
        capabilities: What is claimed of it.
    """

    name: str
    write: WriteSpec
    search: SearchSpec
    version: str = ""
    settings: dict[str, str | int | float | bool] = {}
    server: ServerSpec | None = None
    http: HttpTransport | None = None
    mcp: McpTransport | None = None
    erase: EraseSpec = EraseSpec()
    settle: SettleSpec = SettleSpec()
    capabilities: Capabilities = Capabilities()
