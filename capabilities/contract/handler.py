"""The contract between a handler in Python and whoever runs it.

A handler touches nothing but its arguments and its context. So what a mini app can do is what its manifest says,
and its tests need no gateway: they hand in a context of their own.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


class HandlerFailed(Exception):
    """A business failure a handler wants its caller to read: becomes `handler_error` with this text."""


class HandlerStopped(Exception):
    """The handler gave its work up because its context said so (`cancelled`): the call ends as stopped, not as lost."""


class ContextError(Exception):
    """Something a handler asked of its context was not done. Not caught, it is the handler's own mistake."""


class NotPermitted(ContextError):
    """The host or the secret is not among the permissions the tool declares, or the gateway refuses the address."""


class NoAppSession(ContextError):
    """The call runs without an app session: its tool declares `activation_not_required` and none is live."""


class TooMuch(ContextError):
    """Session data, an event or an answer from outside is larger than allowed."""


class RequestFailed(ContextError):
    """No answer came to an outbound request, whatever the status of an answer would have said."""


class SessionConflict(ContextError):
    """The session data changed since it was read.

    Attributes:
        revision: of the data as it is now.
    """

    def __init__(self, revision: int) -> None:
        super().__init__(f"the session data is at revision {revision} now; read it again")
        self.revision = revision


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshot:
    """Session data as it was read; revision 0 means that nothing was ever written, then `data` is empty."""

    revision: int
    data: Mapping[str, Any]


class SessionData(Protocol):
    """The JSON object of the live app session of this conversation. It decides nothing: not an operation, not a call."""

    async def get(self) -> SessionSnapshot:
        """Read it.

        Raises:
            NoAppSession: there is none.
        """
        ...

    async def put(self, data: Mapping[str, Any], *, revision: int) -> int:
        """Replace it whole if it is still at `revision`; returns the new revision.

        Raises:
            SessionConflict: it is not.
            NoAppSession: there is none.
            TooMuch: it is larger than the gateway keeps.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """What a server answered; header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""

    @property
    def text(self) -> str:
        """The body as UTF-8, with `�` for what is none."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            ValueError: it is none.
        """
        return json.loads(self.body)


class Http(Protocol):
    """Outbound requests, made by the gateway, to the hosts the tool declares as `http:…` permissions."""

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        body: bytes | None = None,
        timeout_ms: int | None = None,
    ) -> HttpResponse:
        """Ask a server once; redirects are answers, not followed. `json` and `body` exclude each other.

        Raises:
            NotPermitted: the host is not declared, or its address is one the gateway never asks.
            RequestFailed: no answer in time.
            TooMuch: the answer is larger than the gateway reads.
        """
        ...


class CancelSignal(Protocol):
    """Whether the work is to stop: its caller asked, or its time is up. What was done is not undone.

    A handler that gives up raises `HandlerStopped`. One that goes on after its time is interrupted where it awaits,
    and killed with its worker where it does not; nobody is told what came of it.
    """

    def is_set(self) -> bool:
        """Whether it was asked."""
        ...

    async def wait(self) -> object:
        """Return once it is asked."""
        ...


class AppContext(Protocol):
    """What an app may touch, in a call or in an activation hook."""

    @property
    def cancelled(self) -> CancelSignal:
        """Set when the call or the activation was cancelled."""
        ...

    @property
    def session(self) -> SessionData:
        """The data of the live app session."""
        ...

    @property
    def http(self) -> Http:
        """Outbound requests to declared hosts."""
        ...

    def now(self) -> datetime:
        """The gateway's present, in UTC."""
        ...

    async def secret(self, name: str) -> str:
        """The secret the permission `secret:name` refers to. Keep it out of results, events and session data.

        Raises:
            NotPermitted: it is not declared, or the installation holds none of that name.
        """
        ...

    async def emit(self, type: str, data: Mapping[str, Any]) -> None:  # noqa: A002 - the word events use
        """Hand an event to the outbox: delivered at least once, in order, also when this call fails afterwards.

        At or after the deadline of the call nothing is taken any more.

        Args:
            type: `[A-Za-z][A-Za-z0-9._:-]{0,63}`.
            data: a JSON object.

        Raises:
            TooMuch: the data is larger than the outbox takes.
            ContextError: the call is over or its time is up, or the app emits too many events.
        """
        ...


class CallContext(Protocol):
    """What everything that runs a call is given."""

    @property
    def ref(self) -> str:
        """The gateway's name of the call."""
        ...

    async def progress(self, n: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress; `n` must grow."""
        ...


class HandlerContext(CallContext, AppContext, Protocol):
    """All a mini app's handler may touch besides its arguments."""


@dataclass(frozen=True, slots=True)
class Computation:
    """A handler that only computes: a quick function of its arguments that touches nothing else.

    So its call may be dispatched, run and settled in one transaction: what is lost in a crash never happened.
    """

    compute: Callable[[dict[str, Any]], dict[str, Any]]


Handler = Callable[[dict[str, Any], CallContext], Awaitable[dict[str, Any]]] | Computation
"""A runtime built-in: takes the validated arguments, returns the output object.

Raises:
    HandlerFailed: a failure told to the caller; any other exception is logged and told as `handler_error` only.
"""

Hook = Callable[[AppContext], Awaitable[None]]
"""Runs when an app is activated, or its activation ends; what it raises fails the activation, or is logged."""
