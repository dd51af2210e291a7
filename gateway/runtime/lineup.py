"""What an agent does over `lineup.v1`: call what its inventory holds, and work with surfaces (seed 000, seed 002).

Calls enter the one spine; their receipts and ends come back by the log of the conversation. Nobody waits for them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import Call, Receipt, Result
from gateway.domain.conversations import Asked, Following, Talk
from gateway.runtime.calls import Calls, is_finished
from gateway.runtime.conversations import why_not_started
from gateway.runtime.ports import Tx
from gateway.runtime.requests import CallRequest
from gateway.runtime.spine import Spine


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """A call as a message asks for it. `page` is the page it names, if any; `expires_at` in ms since the epoch."""

    asked: Asked
    call_id: str
    capability: str
    arguments: dict[str, Any]
    page: str | None = None
    inventory_revision: int | None = None
    reason: str | None = None
    expires_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a call stands: `receipt` is the newest one of a call that is not finished, `result` that of one that is.

    `reason` says why its app was not started, where that ended it.
    """

    call: Call
    receipt: Receipt | None = None
    result: Result | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A surface to open under `instance`: one of an installed app, or a bundle the agent brought, never both."""

    instance: str
    app: str
    version: str
    state: Mapping[str, Any]
    surface: str | None = None
    bundle: Mapping[str, Any] | None = None


class Surfaces(Protocol):
    """Who shows surfaces on pages. Each method returns once it is sure to happen; what the person does in a surface
    comes back by the log of the conversation.

    Raises:
        GatewayError: it will not: nothing was changed. The door tells and audits it.
    """

    async def open(self, session: AgentSession, opening: Opening) -> None:
        """Open it, in the place of one under the same instance id."""
        ...

    async def patch(self, session: AgentSession, instance: str, state: Mapping[str, Any]) -> None:
        """Replace the state of an open one, whole."""
        ...

    async def close(self, session: AgentSession, instance: str, reason: str | None) -> None:
        """Close an open one."""
        ...


class Lineup:
    """Use cases behind the envelope."""

    def __init__(self, *, spine: Spine, calls: Calls, surfaces: Surfaces) -> None:
        self._spine = spine
        self._calls = calls
        self.surfaces = surfaces

    async def call(
        self, session: AgentSession, wanted: AgentCall, *, arrival: int, traceparent: str | None
    ) -> Standing:
        """Admit the call, or find the one it already is; never waits for its end.

        Raises:
            GatewayError: it is refused, and audited; the call_id stays free.
        """
        request = CallRequest(
            caller=session,
            capability=wanted.capability,
            arguments=wanted.arguments,
            page=wanted.page,
            call_id=wanted.call_id,
            expires_at=wanted.expires_at,
            arrival=arrival,
            traceparent=traceparent,
            inventory_revision=wanted.inventory_revision,
            reason=wanted.reason,
            following=Following(talk=Talk.of(session), asked=wanted.asked),
        )
        outcome, waiter = await self._calls.submit(request)
        self._calls.attendance.leave(waiter)
        call = outcome.call

        def work(tx: Tx) -> Standing:
            if is_finished(call):
                return Standing(call=call, result=outcome.result, reason=why_not_started(tx, call))
            return Standing(call=call, receipt=tx.calls.receipts_of(call.ref)[-1])

        return await self._spine.store.run(work)
