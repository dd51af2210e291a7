"""Surfaces of agents as pages show them: put there, kept up to date, taken away, and heard (rules G).

What agents ask for is decided with their calls (`surface_calls`); here is what follows on the page, and what the page,
the configuration, the installed apps and time do to a surface. A step that fails on a page rolls nothing back (rules B8).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol

import orjson

from capabilities.builtin.surfaces import OPEN
from gateway.domain import surfaces
from gateway.domain.app_catalog import OfferedApp, OfferedSurface
from gateway.domain.bundles import SentBundle
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.intents import HostIntent
from gateway.domain.surfaces import Gone, Surface, SurfaceMove, SurfaceState
from gateway.runtime import audit
from gateway.runtime.callers import ended_grant
from gateway.runtime.effects import After, ChangeSurface, Effect, HideSurface, SessionEnded, ShowSurface
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.sent_bundles import is_taken_still
from gateway.runtime.spine import Spine
from gateway.runtime.surface_calls import close, may
from gateway.runtime.surface_events import gone, happened
from gateway.runtime.workspaces import (
    Failed,
    Foregrounded,
    Happened,
    JsonObject,
    News,
    Opened,
    Place,
    Refused,
    unknown_instance,
)
from gateway.runtime.world import Live, LivePage, World
from surface_host.bundles import Parts

BATCH: Final = 100
"""How much is found due at a time."""

FRONT_MS: Final = 60_000
"""How long the person is asked to let a new surface come to the front."""

Effects = tuple[Effect, ...]


class SurfaceLink(Protocol):
    """The way to the frames of surfaces. False: the document is not connected."""

    def show(
        self, page: LivePage, surface: Surface, app: OfferedApp, offered: OfferedSurface, state: JsonObject
    ) -> bool:
        """Mount it in the background; what is mounted already only takes the new state."""
        ...

    def show_sent(
        self, page: LivePage, surface: Surface, bundle: SentBundle, parts: Parts, state: JsonObject, *, agent: str
    ) -> bool:
        """The same for a bundle that `agent`, as people call it, has sent."""
        ...

    def change(self, page: LivePage, surface: Surface, state: JsonObject) -> bool:
        """Replace what it shows."""
        ...

    def offer_front(self, page: LivePage, surface: Surface, *, agent: str, remaining_ms: int) -> bool:
        """Ask the person to let it come to the front for `agent`."""
        ...

    def hide(self, page: LivePage, surface: Surface) -> bool:
        """Take its frame away."""
        ...


class Surfaces:
    """One per gateway."""

    def __init__(self, *, spine: Spine, live: Live, clock: Clock, link: SurfaceLink) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._link = link
        self._judged_by = (live.world.configuration, live.world.apps)
        spine.on(ShowSurface, lambda effect: spine.spawn(self._show(effect.surface.id)))
        spine.on(ChangeSurface, lambda effect: spine.spawn(self._change(effect.surface.id)))
        spine.on(HideSurface, self._hide)
        spine.observe(self._observed)
        live.subscribe(self._world_changed)

    # -- what pages say ---------------------------------------------------------------------------------------

    async def arrived(self, page: LivePage) -> None:
        """A document is there: it is told which surfaces it shows."""

        def work(tx: Tx) -> After:
            found = tx.surfaces.live_on_page(page.id)
            for surface in found:
                if surface.page_gone_at is not None:
                    tx.surfaces.save(replace(surface, page_gone_at=None), was=surface.state)
            return After([surface.id for surface in found])

        for name in await self._spine.run(work):
            await self._show(name)

    async def hear(self, place: Place, news: News) -> None:
        """Take what a page tells of one of its surfaces.

        Raises:
            GatewayError: the surface is not this page's, or cannot have said that.
        """
        surface = await self._own(place)
        match news:
            case Opened():
                await self._mounted(surface.id, place.page)
            case Failed(code=code):
                await self._gone(surface.id, code)
            case Happened(event=event, data=data):
                await self._happened(surface.id, event, data)
            case Foregrounded() | Refused():
                # Where the person has it is theirs alone.
                return
            case _:
                raise GatewayError(ErrorCode.BAD_REQUEST, "a surface runs no calls")

    async def intended(self, place: Place, intent: HostIntent) -> None:
        """Take what the person or the browser did to a surface (entry `host_intent`).

        Raises:
            GatewayError: the surface is not this page's.
        """
        surface = await self._own(place)

        def decide(tx: Tx, found: Surface, now: int) -> Effects:
            tx.audit.append(audit.of_surface_intent(found, now, intent=intent.value))
            return _lost(tx, found, Gone.PERSON, now) if intent is HostIntent.CLOSED else ()

        await self._on(surface.id, decide)

    async def _own(self, place: Place) -> Surface:
        found = await self._spine.store.run(lambda tx: tx.surfaces.find(place.instance))
        if found is None or not found.is_live or found.page != place.page.id:
            raise unknown_instance(place)
        return found

    async def _mounted(self, name: str, page: LivePage) -> None:
        def work(tx: Tx) -> After:
            found = tx.surfaces.find(name)
            if found is None or found.state is not SurfaceState.OPENING:
                return After(None)
            opened = surfaces.step(found, SurfaceMove.MOUNT, now=self._clock.now())
            tx.surfaces.save(opened, was=SurfaceState.OPENING)
            return After(opened)

        opened: Surface | None = await self._spine.insist(partial(self._spine.run, work))
        if opened is not None:
            agent = self._live.world.configuration.agent_label(opened.agent)
            self._link.offer_front(page, opened, agent=agent, remaining_ms=FRONT_MS)

    async def _happened(self, name: str, event: str, data: JsonObject) -> None:
        def work(tx: Tx) -> After:
            found = tx.surfaces.find(name)
            if found is None or not found.is_live:
                return After(None)
            return After(None, happened(tx, self._live.world, found, event, data, self._clock.now()))

        # A page says it once.
        await self._spine.insist(partial(self._spine.run, work))

    # -- pages that stay away, and time -------------------------------------------------------------------------

    def page_gone(self, page: str) -> None:
        """A page session was forgotten: its surfaces count as closed unless it comes back in time."""
        gone_at = self._clock.now() - self._live.world.configuration.limits.page_grace_ms

        def work(tx: Tx) -> After:
            for surface in tx.surfaces.live_on_page(page):
                if surface.page_gone_at is None:
                    tx.surfaces.save(replace(surface, page_gone_at=gone_at), was=surface.state)
            return After(None)

        self._spine.spawn(self._spine.insist(partial(self._spine.run, work)))

    async def sweep(self, now: int) -> None:
        """Do what time alone asks for: close what was shown on pages that stayed away."""
        for surface in await self._spine.store.run(lambda tx: list(tx.surfaces.due(now, BATCH))):
            await self._gone(surface.id, Gone.PAGE_GONE)

    async def restore(self) -> None:
        """After a restart: pages get their time to come back, and what belonged to ended grants goes."""
        world = self._live.world

        def work(tx: Tx) -> After:
            now, effects = self._clock.now(), Effects()
            for surface in tx.surfaces.all_live():
                if ended_grant(world, tx.sessions.find(surface.session), now) is not None:
                    effects += close(tx, surface, _SESSION_ENDED, now)
                elif surface.page_gone_at is None:
                    tx.surfaces.save(replace(surface, page_gone_at=now), was=surface.state)
            for name in tx.surfaces.listeners():
                session = tx.sessions.find(name)
                if session is None or not session.is_live(now):
                    tx.surfaces.erase_events(name)
            return After(None, effects)

        await self._spine.run(work)

    # -- what a surface stands on -------------------------------------------------------------------------------

    def _observed(self, effect: Effect) -> None:
        if isinstance(effect, SessionEnded):
            self._spine.spawn(self._spine.insist(partial(self._end_session, effect.session)))

    async def _end_session(self, session: str) -> None:
        def work(tx: Tx) -> After:
            effects = Effects()
            for surface in tx.surfaces.live_of_session(session):
                effects += close(tx, surface, _SESSION_ENDED, self._clock.now())
            tx.surfaces.erase_events(session)
            return After(None, effects)

        await self._spine.run(work)

    def _world_changed(self) -> None:
        judged_by = (self._live.world.configuration, self._live.world.apps)
        if judged_by[0] is not self._judged_by[0] or judged_by[1] is not self._judged_by[1]:
            self._judged_by = judged_by
            self._spine.spawn(self._spine.insist(self._judge_again))

    async def _judge_again(self) -> None:
        world = self._live.world

        def work(tx: Tx) -> After:
            now, effects = self._clock.now(), Effects()
            for surface in tx.surfaces.all_live():
                reason = _ground_lost(tx, world, surface)
                if reason is not None:
                    effects += _lost(tx, surface, reason, now)
            return After(None, effects)

        await self._spine.run(work)

    # -- what follows on the page -------------------------------------------------------------------------------

    async def _show(self, name: str) -> None:
        shown = await self._shown(name)
        if shown is None:
            return
        surface, page, state = shown
        if surface.is_sent:
            await self._show_sent(surface, page, state)
            return
        app = self._live.world.apps.apps.get(surface.app)
        offered = app.surface_named(surface.surface) if app is not None else None
        if app is not None and offered is not None and app.digest == surface.digest:
            self._link.show(page, surface, app, offered, state)

    async def _show_sent(self, surface: Surface, page: LivePage, state: JsonObject) -> None:
        def find(tx: Tx) -> tuple[SentBundle | None, Parts | None]:
            return tx.surfaces.bundle_of(surface.id), tx.surfaces.parts_of(surface.id)

        bundle, parts = await self._spine.store.run(find)
        if bundle is not None and parts is not None:
            agent = self._live.world.configuration.agent_label(surface.agent)
            self._link.show_sent(page, surface, bundle, parts, state, agent=agent)

    async def _change(self, name: str) -> None:
        shown = await self._shown(name)
        if shown is not None:
            surface, page, state = shown
            self._link.change(page, surface, state)

    async def _shown(self, name: str) -> tuple[Surface, LivePage, dict[str, Any]] | None:
        """A live surface, the connected document it is shown on and what it shows now."""

        def find(tx: Tx) -> tuple[Surface, str | None] | None:
            found = tx.surfaces.find(name)
            return None if found is None or not found.is_live else (found, tx.surfaces.state_of(name))

        found = await self._spine.store.run(find)
        page = self._live.world.pages.get(found[0].page) if found is not None else None
        if found is None or page is None or not page.is_connected:
            return None
        return found[0], page, orjson.loads(found[1] or "{}")

    def _hide(self, effect: HideSurface) -> None:
        page = self._live.world.pages.get(effect.surface.page)
        if page is not None and page.is_connected:
            self._link.hide(page, effect.surface)

    async def _gone(self, name: str, reason: str) -> None:
        await self._on(name, lambda tx, found, now: _lost(tx, found, reason, now))

    async def _on(self, name: str, decide: Callable[[Tx, Surface, int], Effects]) -> None:
        def work(tx: Tx) -> After:
            found = tx.surfaces.find(name)
            if found is None or not found.is_live:
                return After(None)
            return After(None, decide(tx, found, self._clock.now()))

        await self._spine.insist(partial(self._spine.run, work))


_SESSION_ENDED: Final = "session_ended"


def _lost(tx: Tx, surface: Surface, reason: str, now: int) -> Effects:
    """Close a surface its agent did not close, and tell the agent."""
    return (*close(tx, surface, reason, now), *gone(tx, surface, reason, now))


def _ground_lost(tx: Tx, world: World, surface: Surface) -> Gone | None:
    """Why a surface may not be shown any more: its app is another one, or its session may not show that there."""
    session = tx.sessions.find(surface.session)
    if session is None or not may(world, session, OPEN.id, surface.site):
        return Gone.NOT_EXPOSED
    if surface.is_sent:
        bundle = tx.surfaces.bundle_of(surface.id)
        is_taken = bundle is not None and is_taken_still(
            world.configuration, bundle, site=surface.site, agent=surface.agent
        )
        return None if is_taken else Gone.NOT_EXPOSED
    app = world.apps.apps.get(surface.app)
    if app is None or not app.is_enabled or app.fault is not None or app.digest != surface.digest:
        return Gone.APP_WITHDRAWN
    return None
