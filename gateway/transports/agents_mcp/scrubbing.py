"""What went wrong inside stays inside: the wire gets a name, the log gets the rest."""

import secrets
from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

from gateway.transports.agents_mcp.tasks import Context

_log = structlog.get_logger("ostiary.agents_mcp")

Handler = Callable[[Context, Any], Awaitable[Any]]


def internal(error: Exception, method: str) -> MCPError:
    """Log `error` under a fresh name and make what the client is told."""
    name = secrets.token_hex(6)
    _log.error("request_failed", error_id=name, method=method, error=type(error).__name__, exc_info=error)
    return MCPError(INTERNAL_ERROR, f"internal error; the gateway's log has it as `{name}`")


def contained(handler: Handler) -> Handler:
    """Whatever a handler raises is ours; left alone, the SDK would tell a ValidationError as the client's fault."""

    async def contained_handler(context: Context, params: Any) -> Any:
        try:
            return await handler(context, params)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - the boundary to the wire
            raise internal(error, context.method) from None

    return contained_handler
