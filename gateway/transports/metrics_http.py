"""`GET /metrics` on a listener of its own: it knows no credential, so it must never share one with the doors."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PATH: Final = "/metrics"

_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def metrics_app(text: Callable[[], Awaitable[bytes]], content_type: str, *, listen_host: str) -> Starlette:
    """The application of that listener; `text` reads and writes everything at the moment it is asked.

    On a loopback address it answers to loopback names alone, so that no web page can have a browser read it.
    """

    async def metrics(request: Request) -> Response:
        if listen_host in _LOOPBACK and request.url.hostname not in _LOOPBACK:
            return Response("this listener answers to loopback names\n", status_code=421, media_type="text/plain")
        return Response(await text(), media_type=content_type, headers={"Cache-Control": "no-store"})

    return Starlette(routes=[Route(PATH, metrics, methods=["GET"])])
