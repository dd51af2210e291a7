"""What a test may plug into the endpoint beside the product. No configuration reaches this."""

from typing import Any, Protocol

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server


class Extensions(Protocol):
    """Tools and methods that exist for a test suite alone."""

    def install(self, server: Server[Any]) -> None:
        """Register further methods."""
        ...

    def tools(self) -> list[dict[str, Any]]:
        """Wire forms of further tools."""
        ...

    def offers(self, name: str) -> bool:
        """Whether a tool is one of them."""
        ...

    async def call(self, context: ServerRequestContext[Any, Any], name: str, arguments: dict[str, Any]) -> Any:
        """Answer `tools/call` of one of them."""
        ...

    async def task(self, context: ServerRequestContext[Any, Any], task: str) -> dict[str, Any] | None:
        """Answer `tasks/*` for a task of theirs; None when it is not."""
        ...
