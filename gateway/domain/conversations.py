"""The log of one conversation: what its agent is told of its calls and surfaces, in the order it was committed. Pure.

A message points at what it tells: the text of a result is not copied here, so it is gone when the result is erased.
"""

from dataclasses import dataclass
from enum import StrEnum

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import Call, CallState, Receipt, Result
from gateway.domain.errors import ErrorCode


class Asked(StrEnum):
    """By which kind of message a call was asked for; its end is told by the same kind."""

    TOOL = "tool"
    APP = "app"


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What names the log of a conversation: to another agent or user, the same name is another one."""

    agent: str
    user: str
    name: str

    @classmethod
    def of(cls, session: AgentSession) -> "Talk":
        """The one conversation `session` belongs to; it goes on when the grant is renewed under its name."""
        return cls(agent=session.agent, user=session.user, name=session.conversation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """That a conversation is told of a call: each receipt and the end, as messages of its log."""

    talk: Talk
    asked: Asked


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptTold:
    """A receipt of a call. `seq` is the place in the log, `receipt.seq` the one among the receipts of the call."""

    seq: int
    at: int
    call: Call
    receipt: Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTold:
    """The end of a call, as it was first recorded: `unknown` counts as one, and what settles it later is not told.

    `call` is the row as it is now; `result` is None where there is none, or where it was erased.
    """

    seq: int
    at: int
    call: Call
    asked: Asked
    state: CallState
    code: ErrorCode | None
    message: str | None
    result: Result | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTold:
    """What a person did in a surface: the canonical JSON text of the payload."""

    seq: int
    at: int
    body: str


Message = ReceiptTold | EndTold | EventTold
"""One message of a log. Instants are milliseconds since the epoch."""
