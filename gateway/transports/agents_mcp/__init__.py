"""The door of coding agents: MCP over HTTP, both eras on one endpoint."""

from gateway.transports.agents_mcp.app import EDGE, McpEndpoint
from gateway.transports.agents_mcp.extensions import Extensions
from gateway.transports.agents_mcp.waiting import Patience

DOORS = (EDGE,)

__all__ = ["DOORS", "Extensions", "McpEndpoint", "Patience"]
