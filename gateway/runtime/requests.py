"""One request for one capability, as every door hands it to the spine."""

from dataclasses import dataclass
from typing import Any

from gateway.domain.agent_sessions import Principal
from gateway.domain.calls import Call, Entry, Receipt, Result
from gateway.domain.conversations import Following
from gateway.domain.errors import GatewayError
from gateway.domain.trace_context import read_traceparent
from gateway.runtime.callers import Caller, InDocument, InFrame, entry_of, principal_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """What a caller wants. `page` is the selector it sent, if any; `arrival` orders requests of this process.

    `may_join` says that a minted call_id may join an equal earlier call (MCP has no key of its own, design §6).
    `issued_at` and `expires_at` are milliseconds since the epoch. `inventory_revision` is the one the caller decided
    by, where its door has it say so (rules B2). `reason` is the agent's own words for the person.

    `following` says that the answer goes to a conversation: nobody has to wait for the call.
    """

    caller: Caller
    capability: str
    arguments: dict[str, Any]
    page: str | None = None
    call_id: str | None = None
    may_join: bool = False
    issued_at: int | None = None
    expires_at: int | None = None
    arrival: int = 0
    traceparent: str | None = None
    nonce: str | None = None
    nonce_until: int = 0
    inventory_revision: int | None = None
    reason: str | None = None
    following: Following | None = None

    @property
    def trace_context(self) -> str | None:
        """`traceparent`, if it is one: it is kept with the call, and a caller may send any text."""
        found = read_traceparent(self.traceparent)
        return None if found is None else found.text

    @property
    def place(self) -> str | None:
        """Where the caller says it is to run: the page it names, or what a person acts in."""
        match self.caller:
            case InFrame():
                return self.caller.place
            case InDocument(action=action):
                # The same arguments may come of other values, or of another action: that is another request.
                return f"{self.caller.place}:{action.input}"
            case _:
                return self.page

    @property
    def principal(self) -> Principal:
        """Who asks."""
        return principal_of(self.caller)

    @property
    def entry(self) -> Entry:
        """The door it came by; follows from who asks."""
        return entry_of(self.caller)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """The call a request became, or found. `result` is there when a replay found a finished one."""

    call: Call
    replayed: bool = False
    result: Result | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The request left no call behind; the refusal is audited and the call_id stays free."""

    error: GatewayError


Admission = Admitted | Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Where a call stands, for its caller: the row, its result once there is one, else its newest receipt if asked."""

    call: Call
    result: Result | None = None
    replayed: bool = False
    receipt: Receipt | None = None
