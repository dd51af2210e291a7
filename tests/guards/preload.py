"""Other people's packages, imported once: a child made by fork then starts its tests in a second instead of five.

Nothing of this repository may be imported here; a child must find it in its own copy.
"""

from importlib import import_module
from typing import Final

_PACKAGES: Final = (
    "alembic.command",
    "httpx",
    "jsonschema_rs",
    "mcp.server.auth.middleware.bearer_auth",
    "mcp.server.lowlevel",
    "mcp.server.streamable_http_manager",
    "orjson",
    "pydantic",
    "pytest",
    "rfc8785",
    "rich.console",
    "sqlalchemy.dialects.sqlite",
    "sqlmodel",
    "starlette.applications",
    "structlog",
    "typer",
    "uvicorn",
    "websockets.asyncio.client",
    "yaml",
)


def preload() -> None:
    """Import them."""
    for package in _PACKAGES:
        import_module(package)
