"""What administration over HTTP reads beside the command line: one thing by its name, and lists a page at a time."""

from collections.abc import Sequence

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.approvals import Approval
from gateway.domain.audit import Stream
from gateway.domain.calls import Call
from gateway.domain.denials import Denial
from gateway.domain.lists import Place, Wanted
from gateway.domain.pages import PageSession
from gateway.domain.sites import SiteKey
from gateway.runtime.admin.checks import absent
from gateway.runtime.admin.trail import Trail, TrailRecord
from gateway.runtime.ports import Clock, Store
from gateway.runtime.world import Live, World
from policy.patterns import PatternSet

LOOK = 5_000
"""Calls one page of a filtered list looks at: some milliseconds of the store's time."""


class Registers:
    """Reads only."""

    def __init__(self, *, store: Store, live: Live, clock: Clock) -> None:
        self._store = store
        self._live = live
        self._clock = clock
        self._trail = Trail(store)

    async def session(self, name: str) -> AgentSession:
        """One grant.

        Raises:
            GatewayError: `not_found`.
        """
        found = await self._store.run(lambda tx: tx.sessions.find(name))
        if found is None:
            raise absent("agent session", name)
        return found

    async def key(self, name: str) -> SiteKey:
        """One service key.

        Raises:
            GatewayError: `not_found`.
        """
        found = await self._store.run(lambda tx: tx.keys.find(name))
        if found is None:
            raise absent("site key", name)
        return found

    async def calls(self, *, below: str | None, wanted: Wanted, limit: int) -> tuple[Sequence[Call], str | None]:
        """Calls from `below` down, and where to go on."""
        return await self._store.run(lambda tx: tx.calls.page(below=below, wanted=wanted, limit=limit, look=LOOK))

    async def approvals(self, *, below: Place | None, limit: int) -> Sequence[Approval]:
        """Approvals from `below` down."""
        return await self._store.run(lambda tx: tx.approvals.page(below=below, limit=limit))

    async def approval(self, name: str) -> Approval:
        """One approval.

        Raises:
            GatewayError: `not_found`.
        """
        found = await self._store.run(lambda tx: tx.approvals.find(name))
        if found is None:
            raise absent("approval", name)
        return found

    async def page_sessions(self, *, below: Place | None, limit: int) -> Sequence[PageSession]:
        """Page sessions from `below` down."""
        return await self._store.run(lambda tx: tx.pages.page(below=below, limit=limit))

    async def page_session(self, name: str) -> PageSession:
        """One page session.

        Raises:
            GatewayError: `not_found`.
        """
        found = await self._store.run(lambda tx: tx.pages.find(name))
        if found is None:
            raise absent("page session", name)
        return found

    async def denials(self, user: str) -> Sequence[Denial]:
        """What is remembered of the noes of `user`."""
        now = self._clock.now()
        return await self._store.run(lambda tx: tx.denials.list(user, now))

    async def records(self, stream: Stream, *, after: int, limit: int) -> Sequence[TrailRecord]:
        """Records of one stream behind `after`.

        Raises:
            GatewayError: a record cannot be read.
        """
        return await self._trail.read(stream, after=after, limit=limit)


def undeclared(world: World, patterns: Sequence[str], *, site: str | None = None) -> list[str]:
    """The patterns that match nothing declared now: by a page (of `site`, if named), a mini app, or the gateway."""
    pages = [page for page in world.pages.values() if site in (None, page.session.site)]
    known = {capability for page in pages for capability in page.capabilities} | world.apps.on_pages.keys()
    if site is None:
        known |= world.builtins.keys() | world.apps.tools.keys()
    return [pattern for pattern in patterns if not any(map(PatternSet.of([pattern]).matches, known))]
