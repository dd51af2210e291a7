"""`/admin/v1`: administration over HTTP, for programs that hold an admin token."""

from typing import Final

from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.runtime.admin import Registers, Reloader
from gateway.runtime.services import Services
from gateway.transports.admin_http import declared, grants, mini_apps, watched, work
from gateway.transports.admin_http.app import DOOR, PREFIX, AdminDoor, refused
from gateway.transports.admin_http.openapi import document_of
from gateway.transports.admin_http.operations import Desk, Table
from gateway.transports.doors import Door

__all__ = ["DOORS", "TABLE", "document", "routes"]

DOORS: Final = (
    Door(
        name=DOOR,
        prefix=f"{PREFIX}/",
        methods=("GET", "POST"),
        refuse=lambda error, _: refused(error),
    ),
)
"""This door as the edge sees it."""

TABLE: Final = Table(
    [*watched.OPERATIONS, *declared.OPERATIONS, *grants.OPERATIONS, *mini_apps.OPERATIONS, *work.OPERATIONS],
)


def document() -> bytes:
    """The OpenAPI description of this door, as it is served and kept in docs/reference."""
    return document_of(TABLE)


def routes(services: Services, reloader: Reloader) -> list[BaseRoute]:
    """What this door serves."""
    registers = Registers(store=services.spine.store, live=services.live, clock=services.clock)
    desk = Desk(services=services, registers=registers, reloader=reloader)
    door = AdminDoor(desk, TABLE, document())
    return [_Below(f"{PREFIX}/", door)]


class _Below(BaseRoute):
    """Everything whose path begins with `prefix`, whatever characters follow; a pattern would stop at a line's end."""

    def __init__(self, prefix: str, app: ASGIApp) -> None:
        self._prefix = prefix
        self._app = app

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        is_here = scope["type"] == "http" and scope["path"].startswith(self._prefix)
        return (Match.FULL if is_here else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
