"""Addresses to pages: what may be asked of the server, and how faults are told."""

from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from memruler.errors import MemrulerError
from memruler.report.html.shell import ASSETS, asset
from memruler.report.web.compared import Compared
from memruler.report.web.data import Explorers
from memruler.report.web.guard import Guard
from memruler.report.web.pages import Pages
from memruler.report.web.render import OWN_ASSETS, page
from memruler.report.web.runs import Asked, NoSuchRunError

__all__ = ["application"]

_Answer = Callable[[Request], Response]


def application(root: Path, port: int, token: str | None = None) -> Guard:
    """What serves the runs below a folder.

    Args:
        root: The folder.
        port: The port that is listened on; requests for another host or port are refused.
        token: The secret of the address; random without it.

    Raises:
        UsageError: There is no such folder, or it is itself a run.
    """
    asked = Asked(root)
    compared = Compared()
    pages, explorers = Pages(asked, compared), Explorers(asked, compared)

    def plain(answer: Callable[[Request], str]) -> _Answer:
        return lambda request: HTMLResponse(answer(request))

    def data(answer: Callable[[Request], bytes]) -> _Answer:
        return lambda request: Response(answer(request), media_type="application/json")

    routes = [
        Route("/", plain(lambda _: pages.runs())),
        Route("/run/{key}", plain(lambda r: pages.run(r.path_params["key"]))),
        Route("/compare", plain(lambda r: pages.compare(_pairs(r)))),
        Route("/trends", plain(lambda _: pages.trends())),
        Route("/assets/{name}", _asset),
        Route("/data/{call}", data(lambda r: explorers.answer(r.path_params["call"], _pairs(r)))),
    ]
    faults: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        HTTPException: _not_found,
        MemrulerError: _told,
        Exception: _broken,
    }
    app = Starlette(routes=routes, exception_handlers=dict(faults))
    return Guard(app, port, token)


def _pairs(request: Request) -> list[tuple[str, str]]:
    return request.query_params.multi_items()


def _asset(request: Request) -> Response:
    """A style or script, by its name in a list: no path is made from the address."""
    name = str(request.path_params["name"])
    if name in ASSETS:
        text = asset(name)
    elif name in OWN_ASSETS:
        text = (files("memruler.report") / "templates" / "web" / name).read_text("utf-8")
    else:
        raise HTTPException(404)
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return PlainTextResponse(text, media_type=kind)


async def _not_found(request: Request, error: Exception) -> Response:
    del request
    status = error.status_code if isinstance(error, HTTPException) else 404
    text = page("Not here", "fault.html.j2", what="There is no such page.", hint=None)
    return HTMLResponse(text, status)


async def _told(request: Request, error: Exception) -> Response:
    """A fault that says what to do next: as a page, or as a line where a script asked."""
    status = 404 if isinstance(error, NoSuchRunError) else 422
    if request.url.path.startswith("/data/"):
        return PlainTextResponse(str(error), status)
    what, hint = (
        (error.what, error.hint) if isinstance(error, MemrulerError) else (str(error), None)
    )
    return HTMLResponse(page("Cannot be shown", "fault.html.j2", what=what, hint=hint), status)


async def _broken(request: Request, error: Exception) -> Response:
    """A fault of memruler's own; the server goes on, and writes it down where it was started."""
    del request, error
    what = "This page could not be made: a fault of memruler itself."
    hint = "the terminal that started the view says more"
    return HTMLResponse(page("Cannot be shown", "fault.html.j2", what=what, hint=hint), 500)
