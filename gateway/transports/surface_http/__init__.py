"""`POST /surface/v1` for programs, and `POST /v1/host-tokens` for the backends of sites."""

from starlette.routing import BaseRoute, Route

from gateway.runtime.services import Services
from gateway.transports.surface_http import host_tokens, surface
from gateway.transports.surface_http.host_tokens import host_tokens_endpoint
from gateway.transports.surface_http.surface import surface_endpoint

DOORS = (surface.EDGE, host_tokens.EDGE)

__all__ = ["DOORS", "routes"]


def routes(services: Services) -> list[BaseRoute]:
    """What this door serves."""
    return [
        Route("/surface/v1", surface_endpoint(services), methods=["POST"]),
        Route("/v1/host-tokens", host_tokens_endpoint(services), methods=["POST"]),
    ]
