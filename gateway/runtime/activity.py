"""What the badge of a page shows: which agents are connected, what they did last, what was refused."""

import asyncio
from typing import Any, Final

from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call
from gateway.domain.denials import Denial
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime import audit
from gateway.runtime.agent_sessions import AgentSessions
from gateway.runtime.callers import label_of
from gateway.runtime.calls import Calls
from gateway.runtime.effects import After
from gateway.runtime.pages import Pages
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.spine import Spine
from gateway.runtime.world import Live, LivePage

SHOWN: Final = 10
RECENT_MS: Final = 300_000
"""An agent counts as connected for this long after it last spoke."""

Named = tuple[Call, str]
"""A call, and what people call who asked for it."""


class Activity:
    """Pushes full snapshots, at most one at a time per user; answers the badge's actions (entry `ui_action`)."""

    def __init__(
        self, *, spine: Spine, live: Live, clock: Clock, calls: Calls, pages: Pages, sessions: AgentSessions
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._pages = pages
        self._sessions = sessions
        self._stale: set[str] = set()
        calls.on_change(self._call_changed)

    def refresh(self, user: str) -> None:
        """Something a page of `user` shows has changed."""
        if user not in self._stale and any(page.is_connected for page in self._live.world.pages_of(user)):
            self._stale.add(user)
            self._spine.spawn(self._push(user))

    async def act(self, page: LivePage, action: str, *, agent: str | None, capability: str | None) -> None:
        """Do what the person asked for on the badge.

        Raises:
            GatewayError: `bad_request` for an action that lacks what it needs.
        """
        user, site = page.session.user, page.session.site
        match action:
            case "pin" | "unpin":
                await self._pages.pin(page.id, pinned=action == "pin")
            case "lift_deny" if capability:
                # What a mini app asked for in the person's name was denied to no agent.
                await self._lift(page, capability, agent or "")
            case "disconnect_agent" if agent:
                await self._sessions.disconnect(agent, user, site)
            case _:
                raise GatewayError(ErrorCode.BAD_REQUEST, f"action `{action[:40]}` is not known or lacks a field")
        self.refresh(user)

    async def _lift(self, page: LivePage, capability: str, agent: str) -> None:
        now = self._clock.now()

        def work(tx: Tx) -> After:
            lifted = tx.denials.lift(page.session.user, capability, agent)
            record = audit.of_page(
                AuditEvent.DENIAL_LIFTED,
                page.session,
                now,
                capability=capability[:160],
                agent=agent[:80] or None,
                lifted=lifted,
            )
            tx.audit.append(record)
            return After(None)

        await self._spine.run(work)

    def _call_changed(self, call: Call) -> None:
        if call.page is not None or call.approval is not None:
            self.refresh(call.user)

    async def _push(self, user: str) -> None:
        await asyncio.sleep(0)
        self._stale.discard(user)
        now, world = self._clock.now(), self._live.world

        def read(tx: Tx) -> tuple[list[Named], list[Denial]]:
            recent = [(call, label_of(tx, world, call)) for call in tx.calls.recent(limit=SHOWN, user=user)]
            return recent, list(tx.denials.list(user, now))

        calls, denials = await self._spine.store.run(read)
        for page in self._live.world.pages_of(user):
            if page.is_connected:
                self._pages.send(page.id, page.session.epoch, self._frame(page, calls, denials, now))

    def _frame(self, page: LivePage, calls: list[Named], denials: list[Denial], now: int) -> dict[str, Any]:
        agents = {
            session.agent: {"agent": session.agent, "label": self._label(session.agent), "connected": True}
            for session in self._sessions.seen(page.session.user, page.session.site, now - RECENT_MS)
        }
        return {
            "type": "activity",
            "agents": list(agents.values()),
            "entries": [
                self._entry(page, call, label, now) for call, label in calls if call.site in (None, page.session.site)
            ],
            "pinned": page.session.pinned_at is not None,
            "denied": [
                {
                    "capability": denial.capability,
                    "title": denial.title,
                    "agent": denial.agent,
                    "remaining": max(0, denial.until - now),
                }
                for denial in denials
            ],
        }

    def _entry(self, page: LivePage, call: Call, label: str, now: int) -> dict[str, Any]:
        declared = self._live.world.declared(call.capability, page if call.page else None)
        return {
            "ref": call.ref,
            "agent": label,
            "capability": call.capability,
            "title": (declared.title if declared else "") or call.capability,
            "state": call.state.value,
            "ago": max(0, now - (call.ended_at or call.dispatched_at or call.admitted_at)),
        }

    def _label(self, agent: str) -> str:
        return self._live.world.configuration.agent_label(agent)
