"""Drafts the TOML file of an MCP server from the tools that it lists."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from memruler.systems.remote.hiding import secrets_in

__all__ = ["ListedTool", "draft", "guessed", "listed"]

_ROLES = {
    "write": re.compile(r"add|store|write|save|create|remember|ingest|file|put|retain"),
    "search": re.compile(r"search|query|recall|retrieve|find|lookup"),
    "erase": re.compile(r"delete|remove|forget|clear|erase|wipe"),
}
_ARGUMENTS = {
    "text": ("{text}", "{query}"),
    "content": ("{text}", "{query}"),
    "query": ("{text}", "{query}"),
    "limit": ("", "{k}"),
    "k": ("", "{k}"),
    "n_results": ("", "{k}"),
    "top_k": ("", "{k}"),
    "max_results": ("", "{k}"),
    "workspace": ("{namespace}", "{namespace}"),
    "project": ("{namespace}", "{namespace}"),
    "namespace": ("{namespace}", "{namespace}"),
    "user_id": ("{namespace}", "{namespace}"),
    "timestamp": ("{time}", "{at}"),
    "time": ("{time}", "{at}"),
    "key": ("{key}", ""),
    "id": ("{key}", ""),
}


class ListedTool(NamedTuple):
    """A tool as a server lists it.

    Attributes:
        name: Its name.
        description: What the server says of it.
        arguments: Argument to its JSON type.
        required: Those that must be given.
    """

    name: str
    description: str
    arguments: Mapping[str, str]
    required: tuple[str, ...]


def guessed(tools: Iterable[ListedTool]) -> dict[str, ListedTool]:
    """`write`, `search`, `erase` to the tool whose name fits best; a guess, to be checked."""
    found: dict[str, ListedTool] = {}
    for tool in tools:
        for role, pattern in _ROLES.items():
            if role not in found and pattern.search(tool.name.lower()):
                found[role] = tool
                break
    return found


def draft(name: str, target: str, tools: Iterable[ListedTool], *, is_url: bool) -> str:
    """A TOML file to start from; what could not be guessed is a comment.

    Args:
        name: What to call the memory.
        target: URL or command as typed.
        tools: What the server lists.
        is_url: Whether `target` is one.
    """
    roles = guessed(tools)
    for word in secrets_in(target):
        target = target.replace(word, "{env:MEMORY_SECRET}")
    lines = [
        "# A draft from the tools that the server lists. Check every line against a real reply,",
        "# then run: memruler systems check THIS.toml",
        f"name = {_text(name)}",
        "",
    ]
    if is_url:
        lines += ["[mcp]", f"url = {_text(target)}"]
    else:
        words = ", ".join(_text(word) for word in shlex.split(target))
        lines += ["[server]", f"command = [{words}]", 'per = "namespace"', "", "[mcp]"]
    lines += ["", "[write]", _call(roles.get("write"), 0), "", "[search]"]
    lines += [
        _call(roles.get("search"), 1),
        "# Where the hits sit in a reply (dotted paths); `source` is what carries {key} back.",
        'result = { lists = [{ at = "results", id = "id", text = "text", score = "score" }] }',
        "",
    ]
    erase = roles.get("erase")
    lines += ["[erase]", _call(erase, 0)] if erase is not None else ["# no tool seems to erase"]
    return "\n".join(lines) + "\n"


def _call(tool: ListedTool | None, side: int) -> str:
    if tool is None:
        return '# no tool seems to do this: mcp = { tool = "...", arguments = { } }'
    pairs: list[str] = []
    for argument, kind in tool.arguments.items():
        value = _ARGUMENTS.get(argument.lower(), ("", ""))[side]
        if value:
            pairs.append(f"{_key(argument)} = {_text(value)}")
        elif argument in tool.required:
            pairs.append(f"{_key(argument)} = {_text(f'TODO: {kind}')}")
    return f"mcp = {{ tool = {_text(tool.name)}, arguments = {{ {', '.join(pairs)} }} }}"


def _text(value: str) -> str:
    # A JSON string of ASCII is a TOML basic string too; a server's names are hostile.
    return json.dumps(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def listed(tool: Any) -> ListedTool:
    """A tool of the SDK as a record; what is no schema has no arguments."""
    schema = getattr(tool, "input_schema", None) or {}
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    kinds = {
        str(key): str(value.get("type", "any")) if isinstance(value, dict) else "any"
        for key, value in properties.items()
    }
    required = schema.get("required", ()) if isinstance(schema, dict) else ()
    return ListedTool(
        str(tool.name), str(tool.description or ""), kinds, tuple(str(r) for r in required)
    )
