"""The MCP side: `memory_query` and `memory_delete`."""

import asyncio
from datetime import datetime
from typing import Any

from memruler import __version__
from memruler.serve.limits import Tokens
from memruler.serve.spaces import Spaces
from memruler.serve.words import MOST_HITS, scope

__all__ = ["mcp_server"]


def mcp_server(spaces: Spaces, tokens: Tokens) -> Any:
    """The MCP server as the SDK's object; it is mounted by `app`.

    Args:
        spaces: The memories.
        tokens: Held against the `Authorization` header of each call.
    """
    from mcp.server.mcpserver import Context, MCPServer  # noqa: PLC0415 - the extra

    server: Any = MCPServer("memruler", version=__version__, log_level="WARNING")

    def require(context: Any, workspace: str) -> None:
        request = context.request_context.request
        header = None if request is None else request.headers.get("authorization")
        if not tokens.allow(workspace, header):
            raise PermissionError("this token does not open that workspace")

    async def memory_query(  # noqa: PLR0917 - the tool's arguments, by name
        query: str,
        workspace: str,
        context: Context,
        project: str = "",
        limit: int = 10,
        at: str | None = None,
    ) -> dict[str, Any]:
        """Search a workspace: compiled pages first, raw hits after; best first in each."""
        require(context, workspace)
        when = None if at is None else datetime.fromisoformat(at)
        most = max(1, min(limit, MOST_HITS))
        work = spaces.run(lambda: spaces.search(scope(workspace, project), query, most, when))
        return {"pages": [], "hits": await asyncio.wrap_future(work)}

    async def memory_delete(
        workspace: str,
        context: Context,
        project: str = "",
    ) -> dict[str, Any]:
        """Remove a workspace and all that is in it."""
        require(context, workspace)
        work = spaces.run(lambda: spaces.erase(scope(workspace, project)))
        return {"deleted": await asyncio.wrap_future(work)}

    server.tool()(memory_query)
    server.tool()(memory_delete)
    return server
