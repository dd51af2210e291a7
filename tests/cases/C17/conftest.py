"""The parts of this case that need a browser stand on what the end-to-end tests stand on."""

from tests.e2e.conftest import anyio_backend, chromium, house, visit

__all__ = ["anyio_backend", "chromium", "house", "visit"]
