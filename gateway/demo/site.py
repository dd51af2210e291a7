"""The to-do site's own backend: static pages, a login that is always `demo`, and tickets from its service key.

It knows the gateway only by its address and its key, as any site would.
"""

from pathlib import Path
from typing import Final

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

PAGE: Final = Path(__file__).parent / "page"
USER: Final = "demo"
COOKIE: Final = "todo_user"
_TYPES: Final = {"index.html": "text/html", "style.css": "text/css", "app.js": "text/javascript"}


def site_app(*, origin: str, gateway: str, key: str) -> Starlette:
    """The site at `origin`, embedding the surface host of `gateway`."""
    policy = (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; "
        f"script-src 'self' {gateway}; connect-src 'self' {gateway} {gateway.replace('http', 'ws', 1)}; "
        f"frame-src {gateway}/sandbox/; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    )

    async def asset(request: Request) -> Response:
        name = request.url.path.lstrip("/") or "index.html"
        text = (PAGE / name).read_text().replace("__GATEWAY__", gateway)
        response = Response(text, media_type=_TYPES[name], headers={"Content-Security-Policy": policy})
        if name == "index.html":
            # A real site has a login here.
            response.set_cookie(COOKIE, USER, httponly=True, samesite="strict")
        return response

    async def ticket(request: Request) -> Response:
        if request.headers.get("origin") != origin or request.cookies.get(COOKIE) != USER:
            return JSONResponse({"error": "not signed in"}, status_code=401)
        async with httpx.AsyncClient() as client:
            answer = await client.post(
                f"{gateway}/v1/host-tokens",
                headers={"Authorization": f"Bearer {key}"},
                json={"user": USER, "origin": origin},
            )
        if answer.status_code != 200:
            return JSONResponse({"error": "the gateway refused"}, status_code=502)
        return JSONResponse({"ticket": answer.json()["ticket"]})

    async def nothing(_: Request) -> Response:
        return Response(status_code=204)

    return Starlette(
        routes=[
            *(Route(path, asset) for path in ("/", "/style.css", "/app.js")),
            Route("/ostiary/ticket", ticket, methods=["POST"]),
            Route("/favicon.ico", nothing),
        ]
    )
