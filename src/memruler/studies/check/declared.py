"""Which network connections a system was said to make, and whether it made others."""

import sys
from collections.abc import Collection, Iterator, Sequence
from urllib.parse import urlsplit

from memruler.errors import printable
from memruler.studies.check.question import Asked
from memruler.studies.check.subject import remote_file
from memruler.systems.remote.spec import RemoteSpec

__all__ = ["declared", "network"]

_SHOWN = 5


def declared(system: str, assignments: Sequence[str]) -> frozenset[str]:
    """Hosts that the memory's file names, or a setting with a URL.

    Args:
        system: As a person typed it.
        assignments: `key=value` words, likewise.
    """
    file = remote_file(system)
    urls = [word.partition("=")[2] for word in assignments]
    if file is not None:
        urls += [*_urls(file), *(str(value) for value in file.settings.values())]
    hosts = {urlsplit(url).hostname for url in urls if "://" in url}
    named = () if file is None else file.capabilities.needs_network
    return frozenset(host for host in (*hosts, *named) if host)


def network(system: str, assignments: Sequence[str], peers: Collection[str]) -> Asked:
    """The answer to the question whether every connection was declared.

    Args:
        system: As a person typed it.
        assignments: `key=value` words, likewise.
        peers: Whom the system spoke to, `host:port` or a name that was looked up.
    """
    known = declared(system, assignments)
    addresses = known | {address for host in known for address in _resolved(host)}
    strange = sorted(peer for peer in peers if _host(peer) not in addresses and peer not in known)
    counts = {"connections": len(peers), "undeclared": len(strange)}
    if strange:
        more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
        shown = ", ".join(printable(peer, 60) for peer in strange[:_SHOWN])
        return Asked("declared", "no", f"it connects to, or looks up: {shown}{more}", counts)
    if _of_others(remote_file(system)):
        said = "only connections to it were seen; what a server that others started does is not"
        return Asked("declared", "unknown", said, counts)
    if sys.platform != "linux":
        said = "no other connection of this process was seen; others were not watched (no Linux)"
        return Asked("declared", "unknown", said, counts)
    said = f"{len(peers)} connections were seen, all to where the system is said to connect"
    return Asked("declared", "yes", said if peers else "no connection was seen", counts)


def _of_others(file: RemoteSpec | None) -> bool:
    """Whether a memory's server was started by others."""
    return file is not None and file.server is None


def _urls(file: RemoteSpec) -> Iterator[str]:
    for part in (file.http, file.mcp):
        if part is not None and part.url is not None:
            yield part.url.replace("{port}", "0")


def _host(peer: str) -> str:
    host, colon, port = peer.rpartition(":")
    return host if colon and port.isdecimal() else peer


def _resolved(host: str) -> Iterator[str]:
    import socket  # noqa: PLC0415 - only where something was declared

    try:
        yield from {str(found[4][0]) for found in socket.getaddrinfo(host, None)}
    except OSError:
        return
