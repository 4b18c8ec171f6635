"""Placeholders in the texts of a remote memory's file.

`{key}` stands for a value; a text that is one placeholder and nothing else becomes the value with
its type, so that `limit = "{k}"` sends a number. `{{` and `}}` stand for braces. `{env:NAME}` is a
variable of the caller's environment: a secret, which is sent and never stored. `{setting:NAME}` is
a setting of the file that `--set` may change.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from memruler.errors import UsageError

__all__ = ["FIELDS", "Values", "names_in", "secret", "secret_names"]

FIELDS: dict[str, frozenset[str]] = {
    "server": frozenset({"port", "folder", "python"}),
    "write": frozenset(
        {"namespace", "session", "key", "text", "speaker", "role", "time", "date", "epoch"}
    ),
    "search": frozenset({"namespace", "query", "k", "at", "date", "epoch"}),
    "erase": frozenset({"namespace"}),
}
"""Where a text stands, and the placeholders that have a value there; `port` and `folder` have one
everywhere when the server is started by memruler."""

_TOKEN = re.compile(r"\{\{|\}\}|\{([A-Za-z_]+(?::[A-Za-z0-9_.-]+)?)\}")


class Values:
    """What placeholders stand for.

    Args:
        plain: Name to value; settings as `setting:NAME`.
    """

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self._plain = dict(plain)

    def with_(self, **more: Any) -> "Values":
        """These and more."""
        return Values({**self._plain, **more})

    def fill(self, template: Any) -> Any:
        """A text, list or table with every placeholder replaced; what is not known is None.

        Raises:
            UsageError: A variable of the environment that is not set.
        """
        if isinstance(template, str):
            whole = _TOKEN.fullmatch(template)
            if whole is not None and whole[1] is not None:
                return self._value(whole[1])
            return self.text(template)
        if isinstance(template, Mapping):
            return {key: self.fill(value) for key, value in template.items()}
        if isinstance(template, list | tuple):
            return [self.fill(value) for value in template]
        return template

    def text(self, template: str) -> str:
        """As `fill`, but always a text; None becomes an empty one."""

        def one(found: re.Match[str]) -> str:
            if found[1] is None:
                return found[0][0]
            value = self._value(found[1])
            return "" if value is None else str(value)

        return _TOKEN.sub(one, template)

    def headers(self, templates: Mapping[str, str]) -> dict[str, str]:
        """The headers of a request.

        Raises:
            UsageError: No header can carry the text; it is not shown.
        """
        found = {name: self.text(text) for name, text in templates.items()}
        for name, text in found.items():
            if not (text.isascii() and text.isprintable()):
                raise UsageError("no header can carry this: it is not plain ASCII", where=name)
        return found

    def _value(self, name: str) -> Any:
        if name.startswith("env:"):
            return secret(name.removeprefix("env:"))
        return self._plain.get(name)


def secret(variable: str) -> str:
    """A variable of the caller's environment.

    Raises:
        UsageError: It is not set, or no header could carry it; its value is not shown.
    """
    value = os.environ.get(variable)
    if not value:
        raise UsageError(
            "the memory's file names a variable that is not set",
            where=variable,
            hint=f"export {variable}=... and call it again",
        )
    if not value.isprintable() or value != value.strip():
        raise UsageError("the variable holds a line end, or a space around it", where=variable)
    return value


def names_in(template: Any) -> Iterator[str]:
    """Every placeholder of a text, list or table, as often as it stands there."""
    if isinstance(template, str):
        yield from (found[1] for found in _TOKEN.finditer(template) if found[1] is not None)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from names_in(value)
    elif isinstance(template, list | tuple):
        for value in template:
            yield from names_in(value)


def secret_names(template: Any) -> set[str]:
    """The variables of the caller's environment that placeholders name."""
    return {n.removeprefix("env:") for n in names_in(template) if n.startswith("env:")}
