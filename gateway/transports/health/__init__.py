"""`/livez` and `/readyz` for whoever supervises the process; `/healthz` is the older name of the first.

They ask for no credential and no host name (a kubelet knows only an address), and tell no secret.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from gateway.domain.errors import GatewayError
from gateway.runtime.services import Services
from gateway.transports.doors import Browsers, Door, allowed_hosts, json_response, public_host
from gateway.transports.doors.hosts import judge_hosts

DOORS = tuple(
    Door(name="health", prefix=path, browsers=Browsers.OWN, is_guarded=False)
    for path in ("/livez", "/readyz", "/healthz")
)

__all__ = ["DOORS", "routes"]


def routes(services: Services) -> list[BaseRoute]:
    """What this door serves."""

    async def livez(_: Request) -> Response:
        return json_response({"status": "ok"})

    async def readyz(_: Request) -> Response:
        report = await services.readiness.report()
        checks = {**report.checks, "public_url": _judged_public_url(services)}
        is_ready = report.is_ready and checks["public_url"] == "ok"
        body = {"status": "ready" if is_ready else "not ready", "checks": checks, "warnings": report.warnings}
        return json_response(body, status=200 if is_ready else 503, headers={} if is_ready else {"Retry-After": "1"})

    return [
        Route("/livez", livez, methods=["GET"]),
        Route("/healthz", livez, methods=["GET"]),
        Route("/readyz", readyz, methods=["GET"]),
    ]


def _judged_public_url(services: Services) -> str:
    """Whether the doors would answer to the name agents are told: green health with every call refused helps nobody."""
    server = services.live.world.configuration.server
    try:
        judge_hosts(allowed_hosts(server), [public_host(server)])
    except GatewayError:
        return "the doors refuse this name; see `server.hosts`"
    return "ok"
