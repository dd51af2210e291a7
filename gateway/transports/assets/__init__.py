"""The browser files."""

from gateway.transports.assets.routes import DOORS, routes

__all__ = ["DOORS", "routes"]
