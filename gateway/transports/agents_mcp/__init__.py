"""The door of coding agents: MCP over HTTP, both eras on one endpoint."""

from gateway.transports.agents_mcp.app import McpEndpoint
from gateway.transports.agents_mcp.extensions import Extensions
from gateway.transports.agents_mcp.waiting import Patience

__all__ = ["Extensions", "McpEndpoint", "Patience"]
