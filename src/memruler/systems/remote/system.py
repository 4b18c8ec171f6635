"""A memory that runs elsewhere: starts its server, says what it is, opens namespaces."""

import atexit
import hashlib
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from memruler.errors import InstrumentError
from memruler.model.system import Memory, Namespace, SystemIdentity
from memruler.store.safe import make_dir, remove_tree
from memruler.systems.process.environment import accepts, environment, free_port
from memruler.systems.process.server import ServerProcess
from memruler.systems.remote.calls import Caller
from memruler.systems.remote.hiding import secrets_of, shown_env
from memruler.systems.remote.http import HttpCaller
from memruler.systems.remote.mcp import McpCaller, Spoken, StdioCommand
from memruler.systems.remote.memory import Connection, remote_memory
from memruler.systems.remote.read import read_remote, with_settings
from memruler.systems.remote.spec import RemoteSpec, ServerSpec
from memruler.systems.remote.template import Values, names_in

__all__ = ["RemoteSystem", "open_remote"]

_STARTS = 3
"""Tries where another program takes the port between its choice and the server's start."""


def open_remote(path: Path, given: Mapping[str, str]) -> tuple["RemoteSystem", dict[str, Any]]:
    """The system that a file describes, and the settings that were typed, converted.

    Raises:
        UsageError: The file or a setting is wrong, or a variable that it names is not set.
    """
    spec, raw = read_remote(path)
    spec = with_settings(spec, given)
    return RemoteSystem(spec, raw), {name: spec.settings[name] for name in given}


class RemoteSystem:
    """See `MemorySystem` and `RunsElsewhere`.

    Args:
        spec: What its file says, settings in force.
        raw: The file's bytes.
    """

    def __init__(self, spec: RemoteSpec, raw: bytes) -> None:
        self._spec = spec
        self._digest = hashlib.sha256(raw).hexdigest()
        self._secrets = secrets_of(spec)
        self._data: Path | None = None
        self._logs: Path | None = None
        self._own: tempfile.TemporaryDirectory[str] | None = None
        self._live: _Live | None = None
        self._spoken: Spoken | None = None
        self._number = 0
        atexit.register(self.shut)

    def place(self, data: Path, logs: Path) -> None:
        """See `RunsElsewhere`."""
        self._data, self._logs = data, logs

    def identity(self) -> SystemIdentity:
        """What its file says, and what the running server says of itself."""
        spoken = self._ask_who()
        file = msgspec.to_builtins(msgspec.structs.replace(self._spec, capabilities=None))
        if self._spec.server is not None:
            file["server"]["env"] = shown_env(self._spec.server)
        settings = {"file": _plain(file)}
        if spoken is not None:
            settings["server"] = spoken._asdict()
        version = self._spec.version or (spoken.version if spoken else "")
        return SystemIdentity(
            name=self._spec.name,
            version=version or "unknown",
            digest=self._digest,
            settings=settings,
        )

    def open(self, namespace: Namespace) -> Memory:
        """Open a namespace, on a server of its own where the file says so."""
        server = self._spec.server
        if server is not None and server.per == "namespace":
            live = self._start(server, namespace.folder)
            return self._memory(live, namespace, live.stop, lambda: _empty(live, namespace.folder))
        live = self._running()
        return self._memory(live, namespace, lambda: None, lambda: None)

    def outlives(self) -> bool:
        """See `RunsElsewhere`."""
        return self._spec.server is None

    def quiet_reads(self) -> str | None:
        """See `TellsQuietReads`."""
        return self._spec.capabilities.quiet_reads

    def defaulted(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """The file's settings that nobody typed."""
        return {name: v for name, v in self._spec.settings.items() if name not in chosen}

    def shut(self) -> None:
        """See `RunsElsewhere`."""
        atexit.unregister(self.shut)
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._own is not None:
            with suppress(OSError):
                self._own.cleanup()
            self._own = None

    def _memory(
        self,
        live: "_Live",
        namespace: Namespace,
        end: Callable[[], None],
        forget: Callable[[], None],
    ) -> Memory:
        return remote_memory(self._spec)(
            self._spec,
            live.connection(),
            live.values,
            namespace=namespace.name,
            end=end,
            forget=forget,
        )

    def _ask_who(self) -> Spoken | None:
        """What an MCP server says of itself; asked once, of a throwaway one where each is fresh."""
        if self._spec.mcp is None or self._spoken is not None:
            return self._spoken
        server = self._spec.server
        if server is not None and server.per == "namespace":
            with tempfile.TemporaryDirectory(prefix="memruler-who-") as folder:
                live = self._start(server, Path(folder))
                try:
                    self._spoken = live.spoken()
                finally:
                    live.stop()
        else:
            self._spoken = self._running().spoken()
        return self._spoken

    def _running(self) -> "_Live":
        """The one server of the run, started when it is first needed."""
        if self._live is None:
            server = self._spec.server
            if server is None:
                self._live = _Live(self, Values(self._plain()), None, None)
            else:
                self._live = self._start(server, self._folder("data") / "server")
        return self._live

    def _start(self, server: ServerSpec, folder: Path) -> "_Live":
        make_dir(folder)
        self._number += 1
        log = self._folder("logs") / f"server-{self._number:04d}.log"
        for attempt in range(_STARTS):
            port = free_port()
            values = Values({**self._plain(), "port": port, "folder": str(folder)})
            command = tuple(values.text(word) for word in server.command)
            own = {name: values.text(text) for name, text in server.env.items()}
            env = environment(folder, own, server.pass_env)
            cwd = folder if server.cwd is None else Path(values.text(server.cwd))
            if self._spec.mcp is not None and self._spec.mcp.url is None:
                return _Live(self, values, None, StdioCommand(command, env, cwd, log))
            url = self._url(values)
            _require_free(url)
            process = ServerProcess(
                command,
                env=env,
                cwd=cwd,
                log=log,
                grace=server.grace,
                secrets=self._secrets,
            )
            try:
                process.until_ready(server.ready, url)
            except InstrumentError:
                process.stop()
                if attempt + 1 < _STARTS and _chooses_port(server) and accepts("127.0.0.1", port):
                    continue
                raise
            except BaseException:
                process.stop()
                raise
            return _Live(self, values, process, None)
        raise AssertionError("the last try raises")  # pragma: no cover

    def _url(self, values: Values) -> str | None:
        part = self._spec.http or self._spec.mcp
        return None if part is None or part.url is None else values.text(part.url)

    def _plain(self) -> dict[str, Any]:
        return {
            "python": sys.executable,
            **{f"setting:{name}": value for name, value in self._spec.settings.items()},
        }

    def _folder(self, name: str) -> Path:
        """Where data or logs go; a temporary folder where nobody said."""
        placed = self._data if name == "data" else self._logs
        if placed is None:
            self._own = self._own or tempfile.TemporaryDirectory(prefix="memruler-server-")
            placed = Path(self._own.name).resolve() / name
        make_dir(placed)
        return placed


class _Live:
    """A server that answers, and how to reach it."""

    def __init__(
        self,
        system: RemoteSystem,
        values: Values,
        process: ServerProcess | None,
        stdio: StdioCommand | None,
    ) -> None:
        self.values = values
        self._system = system
        self._process = process
        self._stdio = stdio
        self._mcp: McpCaller | None = None
        self._made: list[Connection] = []

    def connection(self) -> Connection:
        """A connection of one namespace; the MCP session is shared, since it may be the server."""
        made = Connection(self._http, lambda: _Shared(self.mcp()))
        self._made.append(made)
        return made

    def spoken(self) -> Spoken:
        """What the server says of itself over MCP."""
        return self.mcp().spoken()

    def mcp(self) -> McpCaller:
        """The MCP session."""
        if self._mcp is None:
            transport = self._system._spec.mcp  # noqa: SLF001 - its own helper
            assert transport is not None  # noqa: S101 - checked when the file was read
            self._mcp = McpCaller(
                transport,
                self.values,
                stdio=self._stdio,
                server=self._process,
                secrets=self._system._secrets,  # noqa: SLF001
            )
        return self._mcp

    def stop(self) -> None:
        """End the connections, the session and the server."""
        while self._made:
            self._made.pop().close()
        if self._mcp is not None:
            self._mcp.close()
            self._mcp = None
        if self._process is not None:
            self._process.stop()

    def _http(self) -> Caller:
        transport = self._system._spec.http  # noqa: SLF001 - its own helper
        assert transport is not None  # noqa: S101 - checked when the file was read
        return HttpCaller(transport, self.values, self._process, self._system._secrets)  # noqa: SLF001


class _Shared:
    """A caller that outlives the namespace which uses it."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __call__(self, call: Any, values: Values) -> Any:
        return self._caller(call, values)

    def close(self) -> None:
        """Leave it open: the system ends it."""


def _require_free(url: str | None) -> None:
    """Refuse a port that somebody else answers on: it would be measured instead."""
    split = urlsplit(url or "")
    if split.hostname and split.port and accepts(split.hostname, split.port):
        raise InstrumentError(
            "the port is taken by another program, which would be measured instead",
            where=f"{split.hostname}:{split.port}",
            hint="use {port} in the server's command and url, or end that program",
        )


def _chooses_port(server: ServerSpec) -> bool:
    return "port" in set(names_in([*server.command, *server.env.values()]))


def _empty(live: _Live, folder: Path) -> None:
    live.stop()
    remove_tree(folder)


def _plain(value: Any) -> Any:
    """The file without what was left at its default of None, so that it reads like the file."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items() if v is not None}
    return [_plain(v) for v in value] if isinstance(value, list) else value
