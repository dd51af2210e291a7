"""Documents of agents as pages show them: told of what is open, brought up to date, taken away, and heard (design §12).

What agents ask for is decided with their calls (`document_calls`). A document belongs to a person on a site: every page
of theirs there that has a panel shows it, and a page that lost its place asks for it again. What is told of one document
leaves in the order of its commits.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final, Protocol

from capabilities.builtin.documents import INTELLIGENT, SHOWN_ON_PAGES, STREAM_OPEN, STRUCTURED
from gateway.domain import documents
from gateway.domain.calls import Call
from gateway.domain.documents import Closed, DocumentMove, DocumentState, ShownDocument, is_document
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.callers import ended_grant
from gateway.runtime.calls import Calls
from gateway.runtime.document_calls import close, lost
from gateway.runtime.document_judging import EPOCH, epoch_of
from gateway.runtime.effects import (
    After,
    ChangeDocument,
    Effect,
    EndDocument,
    HideDocument,
    SessionEnded,
    ShowDocument,
    TellAction,
)
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.spine import Spine
from gateway.runtime.surface_calls import may
from gateway.runtime.world import Live, LivePage
from policy.patterns import PatternSet

Effects = tuple[Effect, ...]


_FROM: Final = {"structured": (STRUCTURED.id, STREAM_OPEN.id), "intelligent": (INTELLIGENT.id, STREAM_OPEN.id)}
"""By what a document of a kind may have come: one of them must still be allowed where it is shown."""


class DocumentLink(Protocol):
    """The way to the panels of pages. False: the document of the page is not connected."""

    def listed(self, page: LivePage, shown: Sequence[ShownDocument]) -> bool:
        """Tell what is open, without what it shows."""
        ...

    def open(self, page: LivePage, effect: ShowDocument, *, agent: str) -> bool:
        """Show a document as it is now."""
        ...

    def change(self, page: LivePage, effect: ChangeDocument) -> bool:
        """Lead a document to its next revision."""
        ...

    def end(self, page: LivePage, document: ShownDocument) -> bool:
        """Say that a document was completed or given up."""
        ...

    def close(self, page: LivePage, name: str, reason: str) -> bool:
        """Take a document away."""
        ...

    def action(self, page: LivePage, effect: TellAction) -> bool:
        """Say how an action of a document stands."""
        ...


class Documents:
    """One per gateway."""

    def __init__(self, *, spine: Spine, live: Live, clock: Clock, calls: Calls, link: DocumentLink) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._link = link
        self._judged_by = live.world.configuration
        spine.on(ShowDocument, self._show)
        spine.on(ChangeDocument, self._change)
        spine.on(EndDocument, self._end)
        spine.on(HideDocument, self._hide)
        spine.on(TellAction, self._tell)
        spine.observe(self._observed)
        live.subscribe(self._world_changed)
        calls.on_change(self._call_changed)

    # -- what pages say -------------------------------------------------------------------------------------------

    async def arrived(self, page: LivePage) -> None:
        """A document of a page is there: it is told what is open for its person, and asks for what it wants to show."""
        if not _shows(page):
            return
        user, site = page.session.user, page.session.site
        found = await self._spine.store.run(lambda tx: list(tx.documents.live_of_person(user, site)))
        if found:
            self._link.listed(page, found)

    async def wanted(self, page: LivePage, name: str) -> None:
        """A page shows nothing of a document yet, or missed something of it: it gets the whole as it is now."""

        def work(tx: Tx) -> After:
            found = _of_page(tx, page, name)
            content = None if found is None else tx.documents.content_of(name)
            if found is None or content is None:
                return After(False)
            pairs = ((action, tx.calls.find(action.call)) for action in tx.documents.actions_of(name))
            actions = tuple((action, call) for action, call in pairs if call is not None)
            return After(True, (ShowDocument(document=found, content=content, page=page.id, actions=actions),))

        if not await self._spine.run(work):
            # The same for one that never was: whose it is is no page's business.
            self._link.close(page, name, "unknown")

    async def closed(self, page: LivePage, name: str) -> None:
        """The person closed a document.

        Raises:
            GatewayError: it is not one of theirs on this site.
        """

        def work(tx: Tx) -> After:
            found = _of_page(tx, page, name)
            if found is None:
                return After(False)
            return After(True, lost(tx, found, Closed.PERSON, self._clock.now()))

        if not await self._spine.insist(partial(self._spine.run, work)):
            raise GatewayError(ErrorCode.DOCUMENT_NOT_CURRENT, "no such document is open on this page")

    # -- what a document stands on --------------------------------------------------------------------------------

    async def restore(self) -> None:
        """After a restart: its epoch begins, nobody goes on with what was begun, and what ended grants showed goes."""
        world = self._live.world

        def work(tx: Tx) -> After:
            now, effects = self._clock.now(), Effects()
            tx.installation.put(EPOCH, str(epoch_of(tx) + 1).encode())
            for document in tx.documents.all_live():
                if ended_grant(world, tx.sessions.find(document.session), now) is not None:
                    effects += close(tx, document, Closed.SESSION_ENDED, now)
                elif document.state is DocumentState.STREAMING:
                    ended = documents.step(document, DocumentMove.CANCEL, now=now, reason=Closed.RESTART)
                    tx.documents.save(ended, was=document)
            return After(None, effects)

        await self._spine.run(work)

    def _observed(self, effect: Effect) -> None:
        if isinstance(effect, SessionEnded):
            self._spine.spawn(self._spine.insist(partial(self._end_session, effect.session)))

    async def _end_session(self, session: str) -> None:
        def work(tx: Tx) -> After:
            effects = Effects()
            for document in tx.documents.live_of_session(session):
                effects += close(tx, document, Closed.SESSION_ENDED, self._clock.now())
            return After(None, effects)

        await self._spine.run(work)

    def _world_changed(self) -> None:
        if self._live.world.configuration is not self._judged_by:
            self._judged_by = self._live.world.configuration
            self._spine.spawn(self._spine.insist(self._judge_again))

    async def _judge_again(self) -> None:
        world = self._live.world

        def work(tx: Tx) -> After:
            effects = Effects()
            for document in tx.documents.all_live():
                session = tx.sessions.find(document.session)
                if session is None or not any(
                    may(world, session, one, document.site) for one in _FROM[document.kind]
                ):
                    effects += lost(tx, document, Closed.NOT_EXPOSED, self._clock.now())
            return After(None, effects)

        await self._spine.run(work)

    def _call_changed(self, call: Call) -> None:
        if call.instance is not None and is_document(call.instance):
            self._spine.spawn(self._spine.insist(partial(self._tell_of, call.ref)))

    async def _tell_of(self, ref: str) -> None:
        def work(tx: Tx) -> After:
            call, action = tx.calls.find(ref), tx.documents.action_of_call(ref)
            document = tx.documents.find(action.document) if action is not None else None
            if call is None or action is None or document is None:
                return After(None)
            return After(None, (TellAction(document=document, action=action, call=call),))

        await self._spine.run(work)

    # -- what follows on pages ------------------------------------------------------------------------------------

    def _show(self, effect: ShowDocument) -> None:
        agent = self._live.world.configuration.agent_label(effect.document.agent)
        for page in self._pages_of(effect.document):
            if effect.page in (None, page.id):
                self._link.open(page, effect, agent=agent)

    def _change(self, effect: ChangeDocument) -> None:
        for page in self._pages_of(effect.document):
            self._link.change(page, effect)

    def _end(self, effect: EndDocument) -> None:
        for page in self._pages_of(effect.document):
            self._link.end(page, effect.document)

    def _hide(self, effect: HideDocument) -> None:
        for page in self._pages_of(effect.document):
            self._link.close(page, effect.document.id, effect.document.reason or "")

    def _tell(self, effect: TellAction) -> None:
        for page in self._pages_of(effect.document):
            self._link.action(page, effect)

    def _pages_of(self, document: ShownDocument) -> Iterable[LivePage]:
        pages = self._live.world.pages_of(document.user, document.site)
        return (page for page in pages if page.is_connected and _shows(page))


def _shows(page: LivePage) -> bool:
    """Whether a page has a panel, and its ticket lets documents be shown there."""
    ticket = PatternSet.of(page.session.capabilities)
    return page.has_workspace and any(ticket.matches(name) for name in SHOWN_ON_PAGES)


def _of_page(tx: Tx, page: LivePage, name: str) -> ShownDocument | None:
    found = tx.documents.find(name)
    where = (page.session.user, page.session.site)
    is_its = found is not None and found.is_live and (found.user, found.site) == where
    return found if is_its and _shows(page) else None
