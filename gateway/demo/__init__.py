"""A to-do site on an origin of its own, an agent that may act in it, and a person who decides."""

from gateway.demo.run import run

__all__ = ["run"]
