"""The panel of a page: standard components of agents and how answers look, shown there, kept there, and answered.

What is shown stays while the agent session lives: a page that comes shows it again, and what was answered is never asked
twice. A step that fails on a page rolls nothing back (rules B8).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol

import orjson

from gateway.domain import panel_items
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.panel_items import ItemGone, ItemMove, ItemState, PanelItem
from gateway.runtime import audit
from gateway.runtime.callers import Person, ended_grant, found
from gateway.runtime.effects import After, DrawAnswer, Effect, HideItem, SessionEnded, ShowItem
from gateway.runtime.inventory import question_of
from gateway.runtime.panel_calls import close_item
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.spine import Spine
from gateway.runtime.surface_calls import may
from gateway.runtime.surface_events import gone, told_or_kept
from gateway.runtime.world import Live, LivePage, World
from policy.vocabulary import Verdict

Effects = tuple[Effect, ...]
JsonObject = Mapping[str, Any]

DRAWN_MAX: Final = 20
"""Answers that a page which comes draws again; the newest."""

_SESSION_ENDED: Final = "session_ended"


class PanelLink(Protocol):
    """The way to the panels of pages. False: the document is not connected."""

    def show(self, page: LivePage, item: PanelItem, *, agent: str) -> bool:
        """Show a standard component, or the same again."""
        ...

    def draw(self, page: LivePage, call: Call, schema: JsonObject, *, agent: str, app: str) -> bool:
        """Show how the answer of a call looks."""
        ...

    def hide(self, page: LivePage, item: str, reason: str) -> bool:
        """Take it away."""
        ...


class Panel:
    """One per gateway."""

    def __init__(self, *, spine: Spine, live: Live, clock: Clock, link: PanelLink) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._link = link
        self._judged_by = live.world.configuration
        spine.on(ShowItem, lambda effect: self._show(effect.item))
        spine.on(HideItem, lambda effect: self._hide(effect.item))
        spine.on(DrawAnswer, lambda effect: spine.spawn(self._draw(effect.call.ref)))
        spine.observe(self._observed)
        live.subscribe(self._world_changed)

    # -- what pages say ---------------------------------------------------------------------------------------

    async def arrived(self, page: LivePage) -> None:
        """A document is there: it shows what was shown on it, or on a page of its person that is gone."""
        world = self._live.world

        def work(tx: Tx) -> After:
            items = [
                moved
                for item in tx.panel_items.live_of_person(page.session.user, page.session.site)
                if (moved := _moved(tx, world, item, page)) is not None
            ]
            drawn = [
                (call, ui)
                for call, ui in tx.calls.drawn_for(page.session.user, limit=DRAWN_MAX)
                if (stage := _stage_of(tx, world, call, self._clock.now())) is not None and stage.id == page.id
            ]
            return After((items, drawn))

        items, drawn = await self._spine.run(work)
        for item in items:
            self._show(item)
        for call, ui in drawn:
            self._send_drawing(page, call, ui)

    async def answered(self, page: LivePage, name: str, given: JsonObject) -> None:
        """Take what a page says its person answered.

        Raises:
            GatewayError: the item is not this page's, was answered before, or that is no answer to it.
        """

        def work(tx: Tx) -> After:
            item, now = tx.panel_items.find(name), self._clock.now()
            if item is None or not _is_of(item, page):
                raise _unknown(name)
            if not item.is_live:
                raise GatewayError(ErrorCode.REPLAY_DETECTED, f"item `{name}` is {item.state}; nothing changes that")
            answer = panel_items.answer_of(item, given)
            if answer is None:
                raise GatewayError(ErrorCode.ARGUMENTS_INVALID, "that is no answer to what was asked")
            ended = ended_grant(self._live.world, tx.sessions.find(item.session), now)
            if ended is not None:
                raise ended
            effects = told_or_kept(tx, self._live.world, item, panel_items.ANSWER, canonical(answer).decode(), now)
            done = panel_items.step(item, ItemMove.ANSWER, now=now)
            tx.panel_items.save(done, was=ItemState.SHOWN)
            tx.audit.append(audit.of_item(AuditEvent.ITEM_ANSWERED, done, now))
            return After(None, (*effects, HideItem(item=done)))

        await self._spine.insist(partial(self._spine.run, work))

    async def dismissed(self, page: LivePage, name: str) -> None:
        """Take that the person closed an item, or how an answer looks.

        Raises:
            GatewayError: it is not this page's.
        """

        def work(tx: Tx) -> After:
            item, now = tx.panel_items.find(name), self._clock.now()
            if item is not None and _is_of(item, page):
                effects = _lost(tx, item, ItemGone.PERSON, now) if item.is_live else ()
                return After(None, effects)
            call = tx.calls.find(name)
            if call is None or call.user != page.session.user:
                raise _unknown(name)
            tx.calls.erase_ui(name)
            return After(None)

        await self._spine.insist(partial(self._spine.run, work))

    # -- what an item stands on ---------------------------------------------------------------------------------

    async def restore(self) -> None:
        """After a restart: what belonged to ended grants goes."""
        world = self._live.world
        await self._close_where(
            lambda tx, item, now: (
                _SESSION_ENDED if ended_grant(world, tx.sessions.find(item.session), now) is not None else None
            )
        )

    def _observed(self, effect: Effect) -> None:
        if isinstance(effect, SessionEnded):
            ended = effect.session
            self._spine.spawn(
                self._close_where(lambda _, item, __: _SESSION_ENDED if item.session == ended else None)
            )

    def _world_changed(self) -> None:
        world = self._live.world
        if world.configuration is self._judged_by:
            return
        self._judged_by = world.configuration

        def judge(tx: Tx, item: PanelItem, _: int) -> str | None:
            session = tx.sessions.find(item.session)
            is_fine = session is not None and may(world, session, f"ui.{item.kind}", item.site)
            return None if is_fine else ItemGone.NOT_EXPOSED

        self._spine.spawn(self._close_where(judge))

    async def _close_where(self, judge: Callable[[Tx, PanelItem, int], str | None]) -> None:
        def work(tx: Tx) -> After:
            now, effects = self._clock.now(), Effects()
            for item in tx.panel_items.all_live():
                reason = judge(tx, item, now)
                if reason == _SESSION_ENDED:
                    effects += close_item(tx, item, reason, now)
                elif reason is not None:
                    effects += _lost(tx, item, reason, now)
            return After(None, effects)

        await self._spine.insist(partial(self._spine.run, work))

    # -- what follows on the page -------------------------------------------------------------------------------

    def _show(self, item: PanelItem) -> None:
        page = self._connected(item.page)
        if page is not None:
            self._link.show(page, item, agent=self._live.world.configuration.agent_label(item.agent))

    def _hide(self, item: PanelItem) -> None:
        page = self._connected(item.page)
        if page is not None:
            self._link.hide(page, item.id, item.reason or item.state.value)

    async def _draw(self, ref: str) -> None:
        """Show how the answer of `ref` looks where its person is, if that may be seen there."""
        world = self._live.world

        def find(tx: Tx) -> tuple[Call, str, LivePage] | None:
            call, result, now = tx.calls.find(ref), tx.calls.result_of(ref), self._clock.now()
            page = None if call is None else _stage_of(tx, world, call, now)
            if call is None or result is None or result.ui is None or page is None:
                return None
            return call, result.ui, page

        found = await self._spine.store.run(find)
        if found is not None:
            call, ui, page = found
            self._send_drawing(page, call, ui)

    def _send_drawing(self, page: LivePage, call: Call, ui: str) -> None:
        world = self._live.world
        app = world.apps.apps.get(call.app or "")
        label = world.configuration.agent_label(call.agent) if call.agent else ""
        self._link.draw(page, call, orjson.loads(ui), agent=label, app=app.name if app else "")

    def _connected(self, name: str) -> LivePage | None:
        page = self._live.world.pages.get(name)
        return page if page is not None and page.is_connected else None


def _stage_of(tx: Tx, world: World, call: Call, now: int) -> LivePage | None:
    """Where an answer may be seen: the page of its call, or the best one whose site exposes the capability (design §4)."""
    caller, declared = found(tx, world, call, now), world.declared_for(call)
    if isinstance(caller, GatewayError) or declared is None:
        return None
    pages = world.pages_of(call.user)
    if call.page is not None:
        pages = [page for page in pages if page.id == call.page]
    elif isinstance(caller, Person):
        pages = [page for page in pages if page.id == caller.page.id]
    else:
        pages = [page for page in pages if page.session.site in caller.sites]
    for page in pages:
        question = question_of(world, caller, declared, page)
        if page.is_connected and page.has_workspace and world.decide(question).verdict is not Verdict.FORBID:
            return page
    return None


def _moved(tx: Tx, world: World, item: PanelItem, page: LivePage) -> PanelItem | None:
    """The item as `page` shows it from now on; None where another page of its person does."""
    if item.page == page.id:
        return item
    if item.page in world.pages:
        return None
    moved = replace(item, page=page.id)
    tx.panel_items.save(moved, was=item.state)
    return moved


def _is_of(item: PanelItem, page: LivePage) -> bool:
    return item.page == page.id and item.user == page.session.user


def _lost(tx: Tx, item: PanelItem, reason: str, now: int) -> Effects:
    return (*close_item(tx, item, reason, now), *gone(tx, item, reason, now))


def _unknown(name: str) -> GatewayError:
    return GatewayError(ErrorCode.BAD_REQUEST, f"item `{name[:128]}` is not shown on this page")
