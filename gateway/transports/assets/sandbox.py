"""The sandbox: the outer frame of a site's pages, and the bundles its frames run.

INVARIANT: every answer below `/sandbox/`, whatever it is, carries the frame's policy: nothing there is ever a document
with an origin, or with a network.
"""

from functools import cache
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.domain.sandbox import PREFIX
from gateway.protocol.strict_json import dumps
from gateway.runtime.services import Services
from gateway.transports.doors import Browsers, Door
from surface_host import asset_root, read_manifest

FRAME: Final = "sandbox-frame.html"
"""The built outer frame: one file, its script in it."""

POLICY: Final = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'; "
    "frame-src 'none'; object-src 'none'; worker-src 'none'"
)
"""`rules.md` G6 for the outer frame; the inner one inherits it, and says it again in its own document."""

_FIXED: Final = [
    (b"content-security-policy", POLICY.encode()),
    (b"connection-allowlist", b"()"),
    (b"cross-origin-resource-policy", b"cross-origin"),
    # A page that is itself isolated (COEP) embeds only what is.
    (b"cross-origin-embedder-policy", b"require-corp"),
    (b"x-dns-prefetch-control", b"off"),
]

DOOR: Final = Door(name="sandbox", prefix="/sandbox/", browsers=Browsers.OWN, methods=("GET",), always=_FIXED)

_FOREVER: Final = "public, max-age=31536000, immutable"
_CHECKED: Final = "public, no-cache"


@cache
def _frame() -> tuple[bytes, str]:
    return (asset_root() / FRAME).read_bytes(), read_manifest()[FRAME].sri


def _ancestors(origins: tuple[str, ...]) -> dict[str, str]:
    return {"Content-Security-Policy": "frame-ancestors " + (" ".join(origins) or "'none'")}


def _nothing() -> Response:
    # Readable, so that a page can say what it did not get.
    headers = {**_ancestors(()), "Access-Control-Allow-Origin": "*"}
    return PlainTextResponse("not found", status_code=404, headers=headers)


def routes(services: Services) -> list[BaseRoute]:
    """What this door serves."""

    async def frame(request: Request) -> Response:
        site = services.live.world.configuration.sites.get(request.path_params["site"])
        if site is None:
            return _nothing()
        try:
            body, sri = _frame()
        except FileNotFoundError:  # no browser build here; the next request looks again
            return _nothing()
        tag = f'"{sri}"'
        headers = {**_ancestors(tuple(site.origins)), "Cache-Control": _CHECKED, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="text/html", headers=headers)

    async def bundle(request: Request) -> Response:
        digest, surface = request.path_params["digest"], request.path_params["surface"]
        found = await services.bundles.find(digest, surface)
        if found is None:
            return _nothing()
        parts = {"html": found.parts.html, "css": found.parts.css, "js": found.parts.js}
        headers = {**_ancestors(()), "Cache-Control": _FOREVER, "Access-Control-Allow-Origin": "*"}
        return Response(dumps(parts), media_type="application/json", headers=headers)

    return [
        Route(PREFIX + "frame/{site}", frame, methods=["GET"]),
        Route(PREFIX + "apps/{digest}/{surface}", bundle, methods=["GET"]),
        Route("/sandbox/{rest:path}", _elsewhere),
    ]


async def _elsewhere(_: Request) -> Response:
    return _nothing()
