"""`/surface-host.js` and its like, and `/surface-host/<hash>.js` for pages that pin."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.runtime.services import Services
from gateway.transports.assets.files import PREFIX, ServedFile, load_files
from gateway.transports.doors import Browsers, Door

_PARTS: Final = ("ui", "apps", "pack", "genui", "documents", "render", "standard")
"""What the script and other pages fetch beside it."""

DOORS: Final = tuple(
    Door(name="assets", prefix=prefix, browsers=Browsers.OWN, methods=("GET",))
    for prefix in (
        "/surface-host/",
        *(f"/{PREFIX}{suffix}" for suffix in (".js", ".mjs", *(f"-{part}.mjs" for part in _PARTS))),
    )
)

_OPEN: Final = {
    # Public files on purpose: pages of any origin load them, with integrity checks (CORS) or isolated (CORP).
    "Access-Control-Allow-Origin": "*",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}
_SHORT: Final = "public, max-age=60"
_FOREVER: Final = "public, max-age=31536000, immutable"


@cache
def _by_path() -> Mapping[str, tuple[ServedFile, str]]:
    served: dict[str, tuple[ServedFile, str]] = {}
    for file in load_files().values():
        served[f"/{file.name}"] = served[f"/{PREFIX}/{file.name}"] = (file, _SHORT)
        if file.address is not None:
            served[file.address] = (file, _FOREVER)
    return served


def _find(path: str) -> tuple[ServedFile, str] | None:
    try:
        return _by_path().get(path)
    except FileNotFoundError:  # no browser build here; the next request looks again
        return None


def routes(_: Services) -> list[BaseRoute]:
    """What this door serves."""

    async def asset(request: Request) -> Response:
        found = _find(request.url.path)
        if found is None:
            return PlainTextResponse("not found", status_code=404, headers=_OPEN)
        file, caching = found
        tag = f'"{file.etag}"'
        headers = {**_OPEN, "Cache-Control": caching, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(file.body, media_type=file.media_type, headers=headers)

    return [Route("/surface-host{rest:path}", asset, methods=["GET"])]
