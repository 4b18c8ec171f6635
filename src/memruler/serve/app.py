"""The server as an ASGI application.

`POST /hook/batch` takes events, `POST /search` and `DELETE /workspaces/NAME` are the plain HTTP
side, `/mcp` is the MCP side, `GET /health` says that it is there.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from memruler import __version__
from memruler.errors import MemrulerError
from memruler.serve.hooks import Batch, take
from memruler.serve.limits import Rate, Tokens
from memruler.serve.spaces import Spaces
from memruler.serve.tools import mcp_server
from memruler.serve.words import LARGEST_BODY, MOST_HITS, scope

__all__ = ["application"]

_Handler = Callable[[Request], Awaitable[JSONResponse]]


class _Search(msgspec.Struct, frozen=True, kw_only=True):
    workspace: str
    query: str
    limit: int = 10
    project: str = ""
    at: datetime | None = None


class _Refused(Exception):  # noqa: N818 - becomes an answer
    def __init__(self, status: int, said: str, headers: dict[str, str] | None = None) -> None:
        self.answer = JSONResponse({"error": said}, status, headers)


def application(
    spaces: Spaces, *, tokens: Tokens, rate: Rate, largest: int = LARGEST_BODY
) -> Starlette:
    """The whole server.

    Args:
        spaces: The memories; closed when the application ends.
        tokens: Who may open which workspace.
        rate: How often.
        largest: Bytes of a request.
    """
    site = _Site(spaces, tokens, rate, largest)
    inner = mcp_server(spaces, tokens).streamable_http_app(
        streamable_http_path="/mcp", json_response=True
    )

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        del app
        async with inner.router.lifespan_context(inner):
            yield
        await asyncio.to_thread(spaces.close)

    return Starlette(
        routes=[
            Route("/health", site.health, methods=["GET"]),
            Route("/hook/batch", _told(site.hook), methods=["POST"]),
            Route("/search", _told(site.search), methods=["POST"]),
            Route("/workspaces/{workspace:str}", _told(site.erase), methods=["DELETE"]),
            Mount("/", _Guarded(inner, rate, largest)),
        ],
        lifespan=life,
    )


class _Site:
    """The plain HTTP side."""

    def __init__(self, spaces: Spaces, tokens: Tokens, rate: Rate, largest: int) -> None:
        self._spaces, self._tokens, self._rate, self._largest = spaces, tokens, rate, largest

    async def hook(self, request: Request) -> JSONResponse:
        batch = msgspec.json.decode(await self._read(request), type=Batch)
        self._admit(request, batch.workspace)
        name = scope(batch.workspace, batch.project)
        results = await self._do(lambda: take(self._spaces.space(name), batch.items))
        return JSONResponse({"results": results})

    async def search(self, request: Request) -> JSONResponse:
        asked = msgspec.json.decode(await self._read(request), type=_Search)
        self._admit(request, asked.workspace)
        name = scope(asked.workspace, asked.project)
        most = max(1, min(asked.limit, MOST_HITS))
        hits = await self._do(lambda: self._spaces.search(name, asked.query, most, asked.at))
        return JSONResponse({"pages": [], "hits": hits})

    async def erase(self, request: Request) -> JSONResponse:
        workspace = request.path_params["workspace"]
        self._admit(request, workspace)
        name = scope(workspace, request.query_params.get("project", ""))
        return JSONResponse({"deleted": await self._do(lambda: self._spaces.erase(name))})

    async def health(self, request: Request) -> JSONResponse:
        del request
        return JSONResponse({"name": "memruler", "version": __version__})

    async def _do(self, work: Callable[[], Any]) -> Any:
        return await asyncio.wrap_future(self._spaces.run(work))

    async def _read(self, request: Request) -> bytes:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > self._largest:
                raise _Refused(413, f"a request has at most {self._largest} bytes")
        return bytes(body)

    def _admit(self, request: Request, workspace: str) -> None:
        header = request.headers.get("authorization")
        if not self._tokens.known(header):
            raise _Refused(401, "no such token", {"WWW-Authenticate": "Bearer"})
        if not self._tokens.allow(workspace, header):
            raise _Refused(403, "this token does not open that workspace")
        wait = self._rate.take(workspace)
        if wait:
            raise _Refused(429, "too many requests", _after(wait))


class _Guarded:
    """The size and rate limits before the MCP side; its rate is one for all workspaces."""

    def __init__(self, inner: Any, rate: Rate, largest: int) -> None:
        self._inner, self._rate, self._largest = inner, rate, largest

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = Request(scope).headers
        length = headers.get("content-length", "0")
        wait = self._rate.take("mcp") if scope["method"] == "POST" else 0.0
        if "transfer-encoding" in headers:
            # What is behind this reads a body to its end, however long it turns out to be.
            answer = JSONResponse({"error": "say how long the request is"}, 411)
        elif not length.isdecimal() or int(length) > self._largest:
            answer = JSONResponse({"error": "the request is too large"}, 413)
        elif wait:
            answer = JSONResponse({"error": "too many requests"}, 429, _after(wait))
        else:
            await self._inner(scope, receive, send)
            return
        await answer(scope, receive, send)


def _after(wait: float) -> dict[str, str]:
    return {"Retry-After": str(max(1, math.ceil(wait)))}


def _told(handler: _Handler) -> _Handler:
    """A handler whose errors become answers of one line, without a trace."""

    async def told(request: Request) -> JSONResponse:
        try:
            return await handler(request)
        except _Refused as refused:
            return refused.answer
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return JSONResponse({"error": f"the body cannot be read: {error}"}, 400)
        except MemrulerError as error:
            return JSONResponse({"error": str(error)}, 500)

    return told
