"""The contract between a handler in Python and whoever runs it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol


class HandlerFailed(Exception):
    """A business failure a handler wants its caller to read: becomes `handler_error` with this text."""


class HandlerContext(Protocol):
    """All a handler may touch besides its arguments."""

    @property
    def ref(self) -> str:
        """The gateway's name of the call."""
        ...

    async def progress(self, n: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress; `n` must grow."""
        ...


@dataclass(frozen=True, slots=True)
class Computation:
    """A handler that only computes: a quick function of its arguments that touches nothing else.

    So its call may be dispatched, run and settled in one transaction: what is lost in a crash never happened.
    """

    compute: Callable[[dict[str, Any]], dict[str, Any]]


Handler = Callable[[dict[str, Any], HandlerContext], Awaitable[dict[str, Any]]] | Computation
"""Takes the validated arguments, returns the output object.

Raises:
    HandlerFailed: a failure told to the caller; any other exception is logged and told as `handler_error` only.
"""
