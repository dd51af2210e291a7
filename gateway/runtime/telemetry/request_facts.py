"""What becomes known of one HTTP request on its way in, for the one line that tells of it."""

from contextvars import ContextVar, Token
from dataclasses import dataclass


@dataclass(slots=True)
class RequestFacts:
    """`peer` is the address behind the proxies, `code` the wire spelling of why it was refused,
    `traceparent` the place that what it starts belongs to.

    `error_type` is what the conventions for spans call an answer that is an error, empty for any other.
    """

    door: str | None = None
    peer: str | None = None
    agent: str | None = None
    session: str | None = None
    code: str | None = None
    traceparent: str | None = None
    error_type: str = ""


_current: ContextVar[RequestFacts | None] = ContextVar("ostiary_request_facts", default=None)


def this_request() -> RequestFacts:
    """The facts of the request being served; tasks it begins share them."""
    return _current.get() or RequestFacts()


def begin_request() -> tuple[RequestFacts, Token[RequestFacts | None]]:
    """Open the facts of a request; `end_request` closes them."""
    opened = RequestFacts()
    return opened, _current.set(opened)


def end_request(token: Token[RequestFacts | None]) -> None:
    """The request was served."""
    _current.reset(token)
