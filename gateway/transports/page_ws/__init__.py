"""The page channel: one WebSocket at `/page/v1` joins one document to the gateway (docs/spec/page-channel.md)."""

from gateway.transports.page_ws.endpoint import page_endpoint, routes

__all__ = ["page_endpoint", "routes"]
