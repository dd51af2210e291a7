"""What a test may plug into the endpoint beside the product. No configuration reaches this."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import ServerEvent


class Extensions(Protocol):
    """Tools and methods that exist for a test suite alone."""

    def install(self, server: Server[Any], publish: Callable[[ServerEvent], None]) -> None:
        """Register further methods; `publish` tells the streams of the session that asks."""
        ...

    def tools(self) -> list[dict[str, Any]]:
        """Wire forms of further tools."""
        ...

    def offers(self, name: str) -> bool:
        """Whether a tool is one of them."""
        ...

    async def call(
        self,
        context: ServerRequestContext[Any, Any],
        name: str,
        arguments: dict[str, Any],
        product: Callable[[str], Awaitable[Any]],
    ) -> Any:
        """Answer `tools/call` of one of them; `product` answers as the gateway does, for another tool name."""
        ...

    async def task(self, context: ServerRequestContext[Any, Any], task: str) -> dict[str, Any] | None:
        """Answer `tasks/*` for a task of theirs; None when it is not."""
        ...
