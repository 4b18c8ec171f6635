"""What in a memory's file is secret, and what would be stored with every run if it stood there."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from memruler.systems.process.secrets import LONG_ENOUGH, Secrets
from memruler.systems.remote.spec import RemoteSpec, ServerSpec
from memruler.systems.remote.template import names_in, secret, secret_names

__all__ = ["says_secret", "secrets_in", "secrets_of", "shown_env", "spelt_out"]

_NAME = re.compile(
    r"(?:^|[-_])(?:token|secret|password|passwd|passphrase|credentials?|authorization|cookie)$"
    r"|(?:api|access|secret|private)[-_]?key$|^x-(?:.*-)?key$",
    re.IGNORECASE,
)


def says_secret(name: str) -> bool:
    """Whether the name of a header, variable, setting or argument says that its value is secret.

    `key` alone does not: memories call the ids of their items so.
    """
    return _NAME.search(name) is not None


def secrets_of(spec: RemoteSpec) -> Secrets:
    """Every secret that a memory's file brings in.

    These are the variables that placeholders name, what its server's variables hold under a name
    that says so, and the variables that are passed on, unless they are short or a path.

    Raises:
        UsageError: A variable that a placeholder names is not set.
    """
    named = {secret(name) for name in secret_names(msgspec.to_builtins(spec))}
    if spec.server is None:
        return Secrets(named)
    own = {
        text
        for name, text in spec.server.env.items()
        if says_secret(name) and not any(names_in(text))
    }
    passed = {name: os.environ.get(name, "") for name in spec.server.pass_env}
    told = {
        line.strip()
        for name, text in passed.items()
        # A key in the PEM format has several lines; a log shows them one by one.
        for line in text.splitlines()
        if says_secret(name) or (len(line) >= LONG_ENOUGH and not text.startswith("/"))
    }
    return Secrets(named | own | told)


def shown_env(server: ServerSpec) -> dict[str, str]:
    """A server's variables as they may be stored."""
    return {
        name: "***" if says_secret(name) and not any(names_in(text)) else text
        for name, text in server.env.items()
    }


def _in_url(url: str) -> list[str]:
    """The password in a URL, and values of its query under a name that says that they are secret.

    Placeholders are none: they say where a secret comes from. All are as they stand in the URL.
    """
    try:
        split = urlsplit(url)
    except ValueError:
        return []
    pairs = [pair.partition("=") for pair in split.query.split("&")]
    found = [split.password or "", *(text for name, _, text in pairs if says_secret(name))]
    return [text for text in found if text and not any(names_in(text))]


def spelt_out(spec: RemoteSpec) -> Iterator[str]:
    """Every place of a file where a secret seems to be written out, which runs would store."""
    hint = "would be stored with every run; write {env:NAME} and set that variable"
    for name in spec.settings:
        if says_secret(name):
            yield f"settings.{name} {hint}"
    plain = msgspec.to_builtins(spec)
    for table in ("http", "mcp"):
        url = getattr(getattr(spec, table), "url", None)
        if url and _in_url(url):
            yield f"the password or key in {table}.url {hint}"
    for table in ("http", "mcp", "write", "search", "erase"):
        for place in _literals(plain[table], table):
            yield f"{place} {hint}"
    if spec.server is not None:
        for name, value in _options(spec.server.command):
            if says_secret(name) and value and not any(names_in(value)):
                yield f"the value of {name} in server.command {hint}"


def _options(command: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options of a command with their values: of `--api-key X` as of `--api-key=X`."""
    for word, following in zip(command, (*command[1:], "-"), strict=True):
        name, equals, text = word.partition("=")
        if word.startswith("-") and (equals or not following.startswith("-")):
            yield name, text if equals else following


def secrets_in(target: str) -> list[str]:
    """The secrets that a URL or a command holds as a person typed it."""
    if target.startswith(("http://", "https://")):
        return _in_url(target)
    found = [value for name, value in _options(shlex.split(target)) if says_secret(name)]
    return [value for value in found if value and not any(names_in(value))]


def _literals(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, one in value.items():
            here = f"{place}.{name}"
            if isinstance(one, str) and one and says_secret(name) and not any(names_in(one)):
                yield here
            else:
                yield from _literals(one, here)
    elif isinstance(value, list | tuple):
        for position, one in enumerate(value):
            yield from _literals(one, f"{place}.{position}")
