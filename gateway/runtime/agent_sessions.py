"""Grants at work: what ends with a session, and the in-page sessions the gateway opens itself."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import CallEvent
from gateway.domain.configuration import IN_PAGE
from gateway.domain.errors import ErrorCode
from gateway.runtime import audit
from gateway.runtime.effects import After, Effect, SessionEnded
from gateway.runtime.ending import end
from gateway.runtime.identity import Identity, hash_of
from gateway.runtime.inventories import Inventories
from gateway.runtime.ports import Clock, Ids, Tx
from gateway.runtime.spine import Spine
from gateway.runtime.world import Live, LivePage

_ENDS: Final = {
    "revoked": (ErrorCode.SESSION_REVOKED, "the agent session was revoked"),
    "expired": (ErrorCode.SESSION_EXPIRED, "the agent session has expired"),
}


class AgentSessions:
    """Use cases over grants in use."""

    def __init__(
        self, *, spine: Spine, live: Live, clock: Clock, ids: Ids, identity: Identity, inventories: Inventories
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._ids = ids
        self._identity = identity
        self._inventories = inventories
        self._watchers: dict[str, list[Callable[[], None]]] = {}
        self._in_page: dict[str, AgentSession] = {}
        self._opening = asyncio.Lock()
        self._used: dict[str, tuple[AgentSession, int]] = {}
        self._ended: set[str] = set()
        spine.on(SessionEnded, self._on_ended)

    def watch(self, session: str, on_end: Callable[[], None]) -> Callable[[], None]:
        """Call `on_end` once when the session is revoked or expires; returns the way out."""
        if session in self._ended:
            # It ended between the door and here.
            asyncio.get_running_loop().call_soon(on_end)
        watchers = self._watchers.setdefault(session, [])
        watchers.append(on_end)

        def leave() -> None:
            if on_end in watchers:
                watchers.remove(on_end)
            if not watchers and self._watchers.get(session) is watchers:
                del self._watchers[session]

        return leave

    def used(self, session: AgentSession) -> None:
        """Note that an agent spoke; the badge shows who did lately."""
        self._used[session.id] = (session, self._clock.now())

    def seen(self, user: str, site: str, since: int) -> list[AgentSession]:
        """Live sessions of `user` reaching `site` that spoke at or after `since` or hold a stream open."""
        now = self._clock.now()
        return [
            session
            for session, at in self._used.values()
            if session.user == user
            and site in session.sites
            and session.id not in self._ended
            and session.is_live(now)
            and (at >= since or session.id in self._watchers)
        ]

    def connected(self, since: int) -> int:
        """How many live sessions spoke at or after `since` or hold a stream open."""
        return sum(at >= since or name in self._watchers for name, (_, at) in self._used.items())

    async def in_page(self, page: LivePage) -> AgentSession | None:
        """The session an in-page client of this page acts in; None where its site allows none."""
        async with self._opening:
            site = self._live.world.configuration.sites.get(page.session.site)
            scope = site.in_page_scope if site else None
            known = self._in_page.get(page.id)
            if known is not None and known.scope == scope and known.is_live(self._clock.now()):
                return known
            self.page_gone(page.id)
            if site is None or scope is None:
                return None
            return await self._open(page, site.name, scope)

    async def _open(self, page: LivePage, site: str, scope: tuple[str, ...]) -> AgentSession:
        now = self._clock.now()
        session = AgentSession(
            id=self._ids.name("sess"),
            agent=IN_PAGE + site,
            user=page.session.user,
            conversation=page.id,
            sites=(site,),
            scope=scope,
            # Nobody holds this secret: the port is the credential.
            token_hash=hash_of(self._ids.secret()),
            created_at=now,
            expires_at=now + 86_400_000,
            page=page.id,
        )
        record = audit.of_admin(
            AuditEvent.SESSION_ADDED, now, session=session.id, agent=session.agent, user=session.user, by="in-page"
        )

        def work(tx: Tx) -> After:
            tx.sessions.add(session)
            tx.audit.append(record)
            return After(None)

        await self._spine.run(work)
        self._in_page[page.id] = session
        if page.id not in self._live.world.pages:
            self.page_gone(page.id)
        return session

    def page_gone(self, page: str) -> None:
        """A page session ended, and with it its in-page session."""
        session = self._in_page.pop(page, None)
        if session is not None:
            revoke = partial(self._identity.revoke_session, session.id, by="in-page")
            self._spine.spawn(self._spine.insist(revoke))

    async def disconnect(self, agent: str, user: str, site: str) -> int:
        """The person ends every session of `agent` for them on `site`; returns how many."""
        return await self._identity.revoke_all(
            lambda s: (s.agent, s.user) == (agent, user) and site in s.sites, by=f"user:{user}"
        )

    def _on_ended(self, effect: SessionEnded) -> None:
        if effect.session in self._ended:
            return
        self._ended.add(effect.session)
        self._identity.forget(effect.session)
        self._inventories.forget(effect.session)
        self._used.pop(effect.session, None)
        for on_end in self._watchers.pop(effect.session, []):
            on_end()
        self._spine.spawn(self._end_calls(effect))

    async def _end_calls(self, effect: SessionEnded) -> None:
        code, message = _ENDS[effect.why]
        now = self._clock.now()

        def work(tx: Tx) -> After:
            effects: list[Effect] = []
            for call in tx.calls.open_of_session(effect.session):
                if call.state.is_undispatched:
                    effects += end(tx, call, CallEvent.WITHDRAW, now, code, message)[1]
            return After(None, tuple(effects))

        await self._spine.insist(partial(self._spine.run, work))
