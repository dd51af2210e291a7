"""The browser files, and the sandbox."""

from starlette.routing import BaseRoute

from gateway.runtime.services import Services
from gateway.transports.assets import files_http, sandbox

__all__ = ["DOORS", "routes"]

DOORS = (*files_http.DOORS, sandbox.DOOR)


def routes(services: Services) -> list[BaseRoute]:
    """What these doors serve."""
    return [*files_http.routes(services), *sandbox.routes(services)]
