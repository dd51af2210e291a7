"""`ui.open`, `ui.patch` and `ui.close` of `lineup.v1`: the same calls any agent makes, with no other rules (rules E1, G).

Events of what is opened here come on the stream of the conversation.
"""

from collections.abc import Mapping
from typing import Any

from capabilities.builtin.surfaces import OPEN, PATCH, SHUT
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.answers import failure_of
from gateway.runtime.calls import Calls, is_finished
from gateway.runtime.inventories import Inventories
from gateway.runtime.lineup import Opening
from gateway.runtime.requests import CallRequest


class LineupSurfaces:
    """`lineup.Surfaces` over the spine."""

    def __init__(self, *, calls: Calls, inventories: Inventories) -> None:
        self._calls = calls
        self._inventories = inventories

    async def open(self, session: AgentSession, opening: Opening) -> None:
        shown = (
            {"app": opening.app, "version": opening.version, "surface": opening.surface}
            if opening.bundle is None
            else {"bundle": dict(opening.bundle)}
        )
        arguments = {
            **shown,
            "instance_id": opening.instance,
            "state": dict(opening.state),
            "tell": "conversation",
        }
        await self._do(session, OPEN.id, arguments)

    async def patch(self, session: AgentSession, instance: str, state: Mapping[str, Any]) -> None:
        await self._do(session, PATCH.id, {"instance_id": instance, "state": dict(state)})

    async def close(self, session: AgentSession, instance: str, reason: str | None) -> None:
        reasons = {} if reason is None else {"reason": reason}
        await self._do(session, SHUT.id, {"instance_id": instance, **reasons})

    async def _do(self, session: AgentSession, capability: str, arguments: dict[str, Any]) -> None:
        request = CallRequest(
            caller=session, capability=capability, arguments=arguments, arrival=self._inventories.arrive()
        )
        try:
            outcome, waiter = await self._calls.submit(request)
        except GatewayError as refusal:
            if refusal.code is not ErrorCode.UNKNOWN_CAPABILITY:
                raise
            # What the session may not do is, in the words of this door, not supported (rules E3).
            raise _told(GatewayError(ErrorCode.UNSUPPORTED, "no surface can be shown here")) from None
        self._calls.attendance.leave(waiter)
        if not is_finished(outcome.call):
            # A message has one answer, now: what needs the person's word, or a page that is away, is a `tool.call`.
            outcome = await self._calls.cancel(session, outcome.call.ref)
            message = f"`{capability}` has to wait here; ask for it by `tool.call`"
            raise _told(GatewayError(ErrorCode.APPROVAL_UNAVAILABLE, message))
        self._calls.take(outcome.call)
        if outcome.call.state is not CallState.SUCCEEDED:
            raise _told(failure_of(outcome.call))


def _told(error: GatewayError) -> GatewayError:
    error.is_audited = True
    return error
