"""Page sessions and their live documents: arriving, leaving, and what reaches them (design §2, §8).

The transaction in which a document joins is in `joining`.

Knows frames only as plain values; sockets, limits and parsing are the transport's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol

import orjson

from capabilities.contract import Descriptor
from gateway.domain.approvals import ApprovalState
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent, CallState, step
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.pages import PageSession
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.approvals import Approvals
from gateway.runtime.dispatch import dispatch, is_ready
from gateway.runtime.effects import After, Ask, AskChanged, Effect, KeyEnded, TryDispatch
from gateway.runtime.ending import end
from gateway.runtime.joining import Hello, Joining, join, use_ticket
from gateway.runtime.ports import Clock, Ids, Tx
from gateway.runtime.releasing import try_again
from gateway.runtime.settlement import lose, not_delivered
from gateway.runtime.spine import Spine
from gateway.runtime.vault import Vault
from gateway.runtime.world import Live, LivePage, unreserved

CLOSE_TICKET: Final = 4401
CLOSE_ORIGIN: Final = 4403
CLOSE_REPLACED: Final = 4409


class PageConnection(Protocol):
    """One open socket of a document."""

    def send(self, frame: Mapping[str, Any]) -> bool:
        """Queue a frame; False when the socket is closed or its reader is too slow (it is then dropped)."""
        ...

    def close(self, code: int, why: str) -> None:
        """Say `bye` and close."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The standing a document got; `resume` is told once. `open` are the calls it found on its page session."""

    page: LivePage
    resume: str
    open: frozenset[str] = frozenset()


class Pages:
    """Use cases over page sessions."""

    def __init__(
        self, *, spine: Spine, live: Live, clock: Clock, ids: Ids, approvals: Approvals, vault: Vault
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._ids = ids
        self._approvals = approvals
        self._vault = vault
        self._links: dict[str, PageConnection] = {}
        self._fresh: set[str] = set()
        self._gone_listeners: list[Callable[[str], None]] = []
        spine.on(Ask, self._ask)
        spine.on(AskChanged, self._ask_changed)
        # A page may have come by the revoked key: it signs in again, by one that is live.
        spine.on(KeyEnded, lambda effect: self.close_all("expired", site=effect.site))
        spine.on(TryDispatch, self._try)

    def on_gone(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with every page session that was forgotten."""
        self._gone_listeners.append(listener)

    # -- joining and leaving ------------------------------------------------------------------------------

    async def join(self, hello: Hello, connection: PageConnection) -> Joined:
        """Take a document in: consume its ticket, continue its page session or begin one.

        Raises:
            GatewayError: `unauthenticated`, `ticket_used`, `origin_refused` or `busy`; its door audits it.
        """
        now = self._clock.now()
        reach(Point.HELLO_RECEIVED)
        joining: Joining = await self._spine.run(lambda tx: join(tx, self._live.world, self._ids, hello, now))
        reach(Point.HELLO_COMMITTED)
        session = joining.session
        before = self._live.world.pages.get(session.id)
        page = LivePage(
            session=session,
            url=hello.url,
            title=hello.title or hello.url,
            visible=hello.visible,
            visible_at=now if hello.visible or before is None else before.visible_at,
            automated=hello.automated,
            has_workspace=hello.has_workspace,
            capabilities={} if joining.is_new_document or before is None else before.capabilities,
        )
        replaced = self._links.get(session.id)
        self._links[session.id] = connection
        self._live.put_page(page)
        if replaced is not None and replaced is not connection:
            replaced.close(CLOSE_REPLACED, "replaced")
        self._fresh.add(session.id)
        return Joined(page=page, resume=joining.resume, open=joining.open)

    async def arrived(self, joined: Joined, seen: frozenset[str]) -> None:
        """After `welcome`: end what the arrival of this document proves lost or never delivered."""
        now, session = self._clock.now(), joined.page.session
        reach(Point.WELCOME_QUEUED)

        def work(tx: Tx) -> After:
            effects: list[Effect] = []
            for call in tx.calls.open_on_page(session.id):
                if call.epoch != session.epoch:
                    effects += self._lose_page(tx, call, now, "the page was replaced by a new document")
                # What was dispatched after the join went to this very socket; `seen` cannot speak of it.
                elif call.state is CallState.DISPATCHED and call.ref in joined.open and call.ref not in seen:
                    message = "the document came back without having got the request"
                    effects += not_delivered(tx, call, now, message)[1]
            reach(Point.ARRIVAL_WRITTEN)
            return After(None, tuple(effects))

        await self._spine.run(work)

    def _shown_again(self, tx: Tx, call: Call) -> list[Effect]:
        approval = tx.approvals.find(call.approval) if call.approval else None
        if approval is None or approval.state is not ApprovalState.OPEN:
            return []
        again: list[Effect] = [Ask(approval=approval)]
        return [*again, *self._approvals.greyed(tx, call)] if call.is_orphaned else again

    def _lose_page(self, tx: Tx, call: Call, now: int, message: str) -> tuple[Effect, ...]:
        if call.state is CallState.DISPATCHED:
            return lose(tx, call, now, ErrorCode.OUTCOME_UNKNOWN, f"{message}; whether it ran is unknown")[1]
        if call.state.is_undispatched:
            return end(tx, call, CallEvent.WITHDRAW, now, ErrorCode.PAGE_NOT_CONNECTED, message)[1]
        return ()

    async def renew(self, page: LivePage, ticket: str) -> LivePage:
        """Extend the standing of a live document with a fresh ticket for the same user, site and origin.

        Raises:
            GatewayError: the ticket is refused or names somebody else.
        """
        now = self._clock.now()

        def work(tx: Tx) -> After:
            used = use_ticket(
                tx, self._live.world, ticket, site=page.session.site, origin=page.session.origin, now=now
            )
            if used.user != page.session.user:
                raise GatewayError(ErrorCode.UNAUTHENTICATED, "the ticket names another user")
            session = tx.pages.find(page.id)
            assert session is not None
            standing = now + self._live.world.configuration.limits_of(page.session.site).standing_ms
            renewed = replace(session, capabilities=used.capabilities, standing_until=standing, seen_at=now)
            tx.pages.save(renewed)
            return After(renewed)

        renewed: PageSession = await self._spine.run(work)
        return self._update(page.id, lambda live: replace(live, session=renewed)) or page

    def leave(self, page: str, connection: PageConnection) -> None:
        """A socket ended. Only the current one of its page session changes anything."""
        if self._links.get(page) is not connection:
            return
        del self._links[page]
        self._update(page, lambda live: replace(live, dropped_at=self._clock.now()))

    async def never_written(self, page: str, epoch: int, refs: Sequence[str]) -> None:
        """A socket ended with these calls still queued: their document never got them, and nobody else will."""
        now = self._clock.now()

        def work(tx: Tx) -> After:
            effects: list[Effect] = []
            for ref in refs:
                call = tx.calls.find(ref)
                if (
                    call is not None
                    and call.state is CallState.DISPATCHED
                    and (call.page, call.epoch) == (page, epoch)
                ):
                    message = "the page was gone before the request was written to it"
                    effects += not_delivered(tx, call, now, message)[1]
            return After(None, tuple(effects))

        if refs:
            await self._spine.run(work)

    async def sweep(self, now: int) -> None:
        """Forget documents that dropped and did not come back, and end standings that ran out."""
        grace = self._live.world.configuration.limits.page_grace_ms
        for page in tuple(self._live.world.pages.values()):
            if page.dropped_at is not None and now >= page.dropped_at + grace:
                await self._forget(page, now)
            elif page.is_connected and now >= page.session.standing_until:
                self._links[page.id].close(CLOSE_TICKET, "expired")

    async def _forget(self, page: LivePage, now: int) -> None:
        present = self._live.world.pages.get(page.id)
        if present is None or present.is_connected:
            return
        self._live.remove_page(page.id)
        for listener in self._gone_listeners:
            listener(page.id)

        def work(tx: Tx) -> After:
            effects: list[Effect] = []
            for call in tx.calls.open_on_page(page.id):
                effects += self._lose_page(tx, call, now, "the page went away")
            return After(None, tuple(effects))

        # The page is forgotten already: nobody would come to end its calls again.
        await self._spine.insist(partial(self._spine.run, work))

    def close_all(self, why: str, *, user: str | None = None, site: str | None = None) -> None:
        """End sockets: all of them, or those of one user or site."""
        for page_id, link in tuple(self._links.items()):
            page = self._live.world.pages.get(page_id)
            if page is None or (user is not None and page.session.user != user):
                continue
            if site is None or page.session.site == site:
                link.close(1012 if why == "shutdown" else CLOSE_TICKET, why)

    # -- what a live document says ------------------------------------------------------------------------

    async def declare(self, page: str, capabilities: Mapping[str, Descriptor]) -> None:
        """Take the full set of capabilities of a document; what was asked of a changed one is withdrawn."""
        # An app may have been installed since the door judged them.
        capabilities = unreserved(capabilities, self._live.world.apps)
        live = self._update(page, lambda live: replace(live, capabilities=dict(capabilities)))
        if live is None:
            return
        now, epoch, world = self._clock.now(), live.session.epoch, self._live.world
        is_first = page in self._fresh
        self._fresh.discard(page)
        reach(Point.SNAPSHOT_TAKEN)

        def work(tx: Tx) -> After:
            effects: list[Effect] = []
            for call in tx.calls.open_on_page(page):
                declared = world.declared(call.capability, live)
                if not call.state.is_undispatched or call.epoch != epoch:
                    continue
                if declared is None:
                    effects += end(tx, call, CallEvent.WITHDRAW, now, ErrorCode.REVOKED, "the page withdrew it")[1]
                elif declared.fingerprint != call.capability_fingerprint:
                    message = "its description changed; read it again, then decide"
                    effects += end(tx, call, CallEvent.WITHDRAW, now, ErrorCode.STALE_INVENTORY, message)[1]
                elif is_first and call.state is CallState.AWAITING_APPROVAL:
                    effects += self._shown_again(tx, call)
                elif is_first:
                    effects.append(TryDispatch(ref=call.ref))
            return After(None, tuple(effects))

        await self._spine.run(work)

    def show(self, page: str, *, visible: bool) -> None:
        """The document came to the foreground or went to the background."""
        before = self._live.world.pages.get(page)
        if before is None or before.visible == visible:
            return
        now = self._clock.now()
        self._update(page, lambda p: replace(p, visible=visible, visible_at=now if visible else p.visible_at))
        if visible:
            self._spine.spawn(self._spine.insist(partial(self._try_page, page)))

    async def pin(self, page: str, *, pinned: bool) -> None:
        """ "Agents work here": pin this page for its user and site, or take the pin off."""
        now = self._clock.now()

        def work(tx: Tx) -> After:
            session = tx.pages.find(page)
            assert session is not None
            former = tx.pages.pinned(session.user, session.site)
            changed: list[PageSession] = []
            if former is not None and former.id != page and pinned:
                changed.append(replace(former, pinned_at=None))
            changed.append(replace(session, pinned_at=now if pinned else None))
            for row in changed:
                tx.pages.save(row)
            event = AuditEvent.PAGE_PINNED if pinned else AuditEvent.PAGE_UNPINNED
            tx.audit.append(audit.of_page(event, session, now))
            return After(changed)

        for row in await self._spine.run(work):
            self._update(row.id, lambda live, row=row: replace(live, session=row))

    # -- what reaches a document --------------------------------------------------------------------------

    def link(self, page: str) -> PageConnection | None:
        """The current socket of a page session."""
        return self._links.get(page)

    def send(self, page: str, epoch: int, frame: Mapping[str, Any]) -> bool:
        """Write `frame` to the document at `epoch`, if it is the connected one."""
        live = self._live.world.pages.get(page)
        link = self._links.get(page)
        return live is not None and link is not None and live.session.epoch == epoch and link.send(frame)

    def invoke(self, call: Call, arguments: str) -> bool:
        """Hand a dispatched call to its document (`execution.PageLink`)."""
        assert call.page is not None
        assert call.epoch is not None
        assert call.execute_by is not None
        frame: dict[str, Any] = {
            "type": "invoke",
            "ref": call.ref,
            "epoch": call.epoch,
            "capability": call.capability,
            "fingerprint": call.capability_fingerprint,
            "input": arguments,
            "deadline": max(0, call.execute_by - self._clock.now()),
        }
        if call.approval is not None:
            frame["approval"] = call.approval
        if call.traceparent is not None:
            frame["traceparent"] = call.traceparent
        return self.send(call.page, call.epoch, frame)

    def cancel(self, call: Call) -> None:
        """Ask a document to stop (`execution.PageLink`)."""
        if call.page is not None and call.epoch is not None:
            self.send(call.page, call.epoch, {"type": "cancel", "ref": call.ref})

    def _ask(self, effect: Ask) -> None:
        approval = effect.approval
        if effect.is_secret:
            self._vault.put(approval.id, approval.payload)
        payload = self._approvals.payload(approval)
        if payload is None:
            return
        remaining = max(0, approval.expires_at - self._clock.now())
        reach(Point.QUESTION_ASKED)
        frame: dict[str, Any] = {"type": "approve_request", "payload": payload, "remaining": remaining}
        if self._live.world.runs_elsewhere(orjson.loads(payload)["capability"]):
            frame["elsewhere"] = True
        self.send(approval.page, approval.epoch, frame)
        reach(Point.QUESTION_QUEUED)

    def _ask_changed(self, effect: AskChanged) -> None:
        frame: dict[str, Any] = {"type": "approve_update", "approval": effect.approval, "state": effect.state}
        if effect.code is not None:
            frame["code"] = effect.code
        self.send(effect.page, effect.epoch, frame)
        # What another document may not decide is still a question for its own.
        if effect.state not in ("open", "agent_left") and effect.code != "unknown_call":
            self._vault.drop(effect.approval)

    async def try_dispatch(self, ref: str) -> None:
        """Dispatch a waiting call if its page is there now."""
        world = self._live.world
        now = self._clock.now()

        def work(tx: Tx) -> After:
            call = tx.calls.find(ref)
            if call is None:
                return After(None)
            if call.state is CallState.WAITING_ACTIVATION and call.app is not None:
                return After(None, try_again(tx, world, self._ids, call, self._vault.find, now))
            if call.state is CallState.WAITING_ACTIVATION and is_ready(world, call):
                activated = step(call, CallEvent.ACTIVATED, now=now)
                tx.calls.save(activated, was=CallState.WAITING_ACTIVATION)
                call = activated
            if call.state is not CallState.READY:
                return After(None)
            return After(None, dispatch(tx, world, call, now, arguments=self._vault.find(ref))[1])

        await self._spine.run(work)

    def _try(self, effect: TryDispatch) -> None:
        self._spine.spawn(self._spine.insist(partial(self.try_dispatch, effect.ref)))

    async def _try_page(self, page: str) -> None:
        waiting = await self._spine.store.run(lambda tx: [c.ref for c in tx.calls.open_on_page(page)])
        for ref in waiting:
            await self.try_dispatch(ref)

    def _update(self, page: str, change: Callable[[LivePage], LivePage]) -> LivePage | None:
        live = self._live.world.pages.get(page)
        if live is None:
            return None
        changed = change(live)
        self._live.put_page(changed)
        return changed
