"""Which network connections a system makes, in this process and in those that it starts."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["Watch", "peers"]

_LOOK = 0.05
_LISTENS = "0A"
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_EVENTS = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
}
"""Audit event to the place of the address, or of the name, among its arguments."""


class Watch:
    """Notes whom this process and its children speak to, from `start` to `stop`.

    An audit hook cannot be taken away again, so each watch is one for the life of a process: make
    one in a process that is there for nothing else. What C code connects to is only seen where it
    lasts as long as the time between two looks at the kernel's tables; these exist on Linux.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: set[str] = set()
        self._listening: set[int] = set()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Begin to look."""
        sys.addaudithook(self._heard)
        if sys.platform == "linux":
            threading.Thread(target=self._look, daemon=True).start()

    def seen(self) -> list[str]:
        """Whom it spoke to: `host:port`, or a name that was looked up.

        Left out is what a process of its own family listens on: a server that it started.
        """
        with self._lock:
            return sorted(one for one in self._seen if not _inside(one, self._listening))

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        place = _EVENTS.get(event)
        if place is None or self._stopped.is_set():
            return
        # Whatever goes wrong here must not reach the one who connects.
        with suppress(Exception):
            named = _address(arguments[place], arguments)
            if named is not None:
                with self._lock:
                    self._seen.add(named)

    def _look(self) -> None:
        while not self._stopped.wait(_LOOK):
            found, listening = peers(os.getpid())
            with self._lock:
                self._seen |= found
                self._listening |= listening


def _address(value: Any, arguments: tuple[Any, ...]) -> str | None:
    """`host:port` of an address, or the name that is looked up; None for a local socket."""
    if isinstance(value, tuple) and len(value) >= 2:  # noqa: PLR2004 - host and port
        return f"{value[0]}:{value[1]}" if value[1] else None
    if isinstance(value, bytes):
        value = value.decode("ascii", "replace")
    if isinstance(value, str) and not value.startswith(("/", "\0")) and value:
        port = arguments[1] if len(arguments) > 1 else None
        return f"{value}:{port}" if port and str(port).isdecimal() else value
    return None


def _inside(peer: str, listening: set[int]) -> bool:
    """Whether it is a loopback port on which one of the family listens, or no port at all."""
    host, colon, port = peer.rpartition(":")
    if not colon or not port.isdecimal():
        return peer in _LOOPBACK
    if host not in _LOOPBACK:
        return False
    # Where the kernel's tables cannot be read, nobody knows who listens.
    return sys.platform != "linux" or int(port) in listening


def peers(root: int) -> tuple[set[str], set[int]]:
    """What a process and its descendants are connected to, now.

    Args:
        root: The process.

    Returns:
        Remote ends of the connections that they opened, and the ports that they listen on.
    """
    family = set(_descendants(root))
    inodes = {inode for pid in family for inode in _sockets(pid)}
    rows: list[tuple[str, int, str, int, str]] = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        rows += [row for row in _rows(root, table) if row[4] in inodes]
    listening = {local for _, local, state, remote, _ in rows if state == _LISTENS or not remote}
    opened = {
        f"{host}:{remote}"
        for host, local, state, remote, _ in rows
        if remote and state != _LISTENS and local not in listening
    }
    return opened, listening


def _descendants(pid: int) -> Iterator[int]:
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for word in (task / "children").read_text("ascii").split():
                yield from _descendants(int(word))


def _sockets(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                target = str(link.readlink())
                if target.startswith("socket:["):
                    yield target[8:-1]


def _rows(pid: int, table: str) -> Iterator[tuple[str, int, str, int, str]]:
    """Remote host, local port, state, remote port and inode of each socket."""
    try:
        lines = Path(f"/proc/{pid}/net/{table}").read_text("ascii").splitlines()[1:]
    except OSError:
        return
    for line in lines:
        words = line.split()
        local, (host, port) = words[1].split(":"), words[2].split(":")
        yield _host(host), int(local[1], 16), words[3], int(port, 16), words[9]


def _host(raw: str) -> str:
    """An address of the kernel's table: words in the machine's own order of bytes."""
    import socket  # noqa: PLC0415 - only where there is something to name

    data = b"".join(
        int(raw[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(raw), 8)
    )
    family = socket.AF_INET if len(data) == 4 else socket.AF_INET6  # noqa: PLR2004 - bytes of one
    host = socket.inet_ntop(family, data)
    return host.removeprefix("::ffff:")
