"""The private names of the SDK this adapter needs, and nothing else may touch. A test holds the version."""

# pyright: reportPrivateUsage=false
# ruff: noqa: SLF001
from collections.abc import Callable
from typing import Any, Final

from mcp.server.session import ServerSession
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

SDK: Final = "2.3."
"""The versions these names were read in."""


def transport_of(manager: StreamableHTTPSessionManager, session: str) -> StreamableHTTPServerTransport | None:
    """The transport of a live legacy session."""
    return manager._server_instances.get(session)


def live_sessions(manager: StreamableHTTPSessionManager) -> tuple[str, ...]:
    """The ids of all live legacy sessions."""
    return tuple(manager._server_instances)


def session_id_of(session: ServerSession) -> str | None:
    """The legacy session a message came in; None for a stateless one."""
    return session._connection.session_id


def is_ready(session: ServerSession) -> bool:
    """Whether the handshake of a legacy session was made."""
    return session._connection.initialize_accepted


def when_closed(session: ServerSession, work: Callable[[], Any]) -> None:
    """Call `work` when the connection of a legacy session ends."""
    session._connection.exit_stack.callback(work)
