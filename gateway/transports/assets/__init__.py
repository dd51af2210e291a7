"""The browser files, and two addresses for whoever watches the process."""

from gateway.transports.assets.routes import routes

__all__ = ["routes"]
