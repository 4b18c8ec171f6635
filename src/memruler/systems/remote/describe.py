"""Asks an MCP server what it is and which tools it has."""

import shlex
import tempfile
from pathlib import Path
from typing import NamedTuple

from memruler.errors import UsageError
from memruler.systems.process.environment import environment
from memruler.systems.process.secrets import Secrets
from memruler.systems.remote.draft import ListedTool, listed
from memruler.systems.remote.hiding import secrets_in
from memruler.systems.remote.mcp import McpCaller, Spoken, StdioCommand
from memruler.systems.remote.spec import McpTransport
from memruler.systems.remote.template import Values

__all__ = ["Described", "describe"]


class Described(NamedTuple):
    """What a server said."""

    spoken: Spoken
    tools: tuple[ListedTool, ...]
    is_url: bool


def describe(target: str, *, timeout: float = 30.0) -> Described:
    """Connect, ask, and end it again where it was started here.

    Args:
        target: A URL, or a command line (split like a shell's words, run without a shell).
        timeout: Seconds for each answer.

    Raises:
        UsageError: The command is empty, or the SDK is not installed.
        InstrumentError: No MCP server answers.
    """
    is_url = target.startswith(("http://", "https://"))
    with tempfile.TemporaryDirectory(prefix="memruler-describe-") as name:
        folder = Path(name).resolve()
        stdio = None
        if not is_url:
            words = tuple(shlex.split(target))
            if not words:
                raise UsageError("name a URL or a command")
            env = environment(folder, {}, ())
            stdio = StdioCommand(words, env, Path.cwd(), folder / "log")
        transport = McpTransport(url=target if is_url else None, timeout=timeout)
        caller = McpCaller(
            transport, Values({}), stdio=stdio, server=None, secrets=Secrets(secrets_in(target))
        )
        try:
            return Described(caller.spoken(), tuple(map(listed, caller.tools())), is_url)
        finally:
            caller.close()
