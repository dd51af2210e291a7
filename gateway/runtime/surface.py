"""`pling.surface/0.1`: describe, invoke, status, cancel — the same for HTTP and for an in-page port (design §9).

Nothing here runs a selector or a script; `METHODS` is the whole list.
"""

import re
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, cast

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.inventory import Listed
from gateway.runtime import audit
from gateway.runtime.agent_sessions import AgentSessions
from gateway.runtime.answers import answer_of, pending_of
from gateway.runtime.attendance import Waiter
from gateway.runtime.calls import Calls, is_finished
from gateway.runtime.context import Contexts
from gateway.runtime.effects import After
from gateway.runtime.inventories import Inventories, described
from gateway.runtime.inventory import describe_page, listed
from gateway.runtime.ports import Clock
from gateway.runtime.requests import CallRequest, Outcome
from gateway.runtime.spine import Spine
from gateway.runtime.world import Live, LivePage
from policy.patterns import PatternSet

PROTOCOL: Final = "pling.surface/0.1"
WAIT_SECONDS: Final = 25.0
WAIT_MAX_SECONDS: Final = 240.0
CONTEXT_READ: Final = "context.read"
"""The scope entry that lets a session see records."""

METHODS: Final = ("describe", "invoke", "status", "cancel")

_ID: Final = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_CALL_ID: Final = re.compile(r"[A-Za-z0-9._:-]{8,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A judged request envelope. `id` only correlates."""

    id: str
    method: str
    capability: str | None
    input: dict[str, Any]
    call_id: str | None = None
    page: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transmission:
    """What a networked door adds: the nonce and stamp of this very transmission, and how long it may wait."""

    nonce: str | None = None
    stamp: int | None = None
    wait_seconds: float = WAIT_SECONDS
    arrival: int = 0
    traceparent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled:
    """The answer to one envelope; `taken` is the ended call it tells of, for the door to note once it was sent."""

    result: dict[str, Any]
    taken: Call | None = None


def read_envelope(value: Any) -> Envelope:
    """Judge the shape of an envelope.

    Raises:
        GatewayError: `protocol_unsupported` or `bad_request`.
    """
    if not isinstance(value, dict):
        raise GatewayError(ErrorCode.BAD_REQUEST, "the envelope is an object")
    value = cast("dict[str, Any]", value)
    if value.get("protocol") != PROTOCOL:
        raise GatewayError(ErrorCode.PROTOCOL_UNSUPPORTED, f"the protocol is `{PROTOCOL}`", supported=[PROTOCOL])
    strange = sorted(set(value) - {"protocol", "id", "method", "capability", "input", "call_id", "page"})
    if strange:
        raise GatewayError(ErrorCode.BAD_REQUEST, f"`{strange[0][:80]}` is not a field of the envelope")
    method, given = value.get("method"), value.get("input", {})
    if method not in METHODS:
        raise GatewayError(ErrorCode.BAD_REQUEST, f"`method` is one of {', '.join(METHODS)}")
    if not isinstance(given, dict):
        raise GatewayError(ErrorCode.BAD_REQUEST, "`input` is an object")
    capability = value.get("capability")
    if (capability is not None) != (method == "invoke"):
        raise GatewayError(ErrorCode.BAD_REQUEST, "`capability` goes with `invoke` and with nothing else")
    return Envelope(
        id=_text(value, "id", _ID, required=True) or "",
        method=method,
        capability=None if capability is None else _string(capability, "capability"),
        input=cast("dict[str, Any]", given),
        call_id=_text(value, "call_id", _CALL_ID),
        page=None if value.get("page") is None else _string(value["page"], "page"),
    )


def _are_record_ids(value: Any, most: int) -> bool:
    if not isinstance(value, list):
        return False
    items = cast("list[Any]", value)
    return len(items) <= most and all(isinstance(item, str) and len(item) <= 256 for item in items)


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 160:
        raise GatewayError(ErrorCode.BAD_REQUEST, f"`{name}` is a text of at most 160 characters")
    return value


def _text(value: dict[str, Any], name: str, grammar: re.Pattern[str], *, required: bool = False) -> str | None:
    found = value.get(name)
    if found is None and not required:
        return None
    if not isinstance(found, str) or grammar.fullmatch(found) is None:
        raise GatewayError(ErrorCode.BAD_REQUEST, f"`{name}` matches {grammar.pattern}")
    return found


class Surface:
    """Use cases behind the envelope. Answers are `result` objects; refusals are GatewayErrors."""

    def __init__(
        self,
        *,
        spine: Spine,
        live: Live,
        clock: Clock,
        calls: Calls,
        sessions: AgentSessions,
        inventories: Inventories,
        contexts: Contexts,
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._calls = calls
        self._sessions = sessions
        self._inventories = inventories
        self._contexts = contexts

    async def handle(
        self, session: AgentSession, envelope: Envelope, sent: Transmission, waiters: list[Waiter]
    ) -> Handled:
        """Answer one envelope of `session`. The waiters it opens are put in `waiters`, for the door to hang up.

        Raises:
            GatewayError: the protocol's own failures (rules D2); business refusals are part of the result.
        """
        match envelope.method:
            case "describe":
                return Handled(result=await self.describe(session, envelope.input, page=envelope.page))
            case "invoke":
                return await self._invoke(session, envelope, sent, waiters)
            case "status":
                return await self._status(session, envelope.input, sent, waiters)
            case _:
                return await self._told(await self._calls.cancel(session, _name(envelope.input)))

    async def describe(
        self, session: AgentSession, given: dict[str, Any], *, page: str | None = None
    ) -> dict[str, Any]:
        """App, protocol, the session's capabilities, and the live projection of one page."""
        limit, offset, ids = self._window(session, given)
        pages = [p for site in session.sites for p in self._live.world.pages_of(session.user, site)]
        chosen = self._chosen(pages, page)
        entries, revision = await self._serve(session, chosen if page is not None else None)
        answer: dict[str, Any] = {
            "app": chosen.session.site if chosen else None,
            "protocol": PROTOCOL,
            "revision": f"catalog-{revision}",
            "capabilities": [described(entry) for entry in entries],
            "context": None,
            "pages": len(pages),
            "page_list": [describe_page(p) for p in pages],
        }
        if chosen is None:
            return {**answer, "open": self._addresses(session), "hint": "no page is open; ask the person to open one"}
        if not PatternSet.of(session.scope).matches(CONTEXT_READ):
            return answer
        context = await self._contexts.ask(chosen, limit=limit, offset=offset, ids=ids)
        await self._audit_context(session, chosen)
        return {**answer, "context": None, "stale": True} if context is None else {**answer, "context": context}

    async def _serve(self, session: AgentSession, page: LivePage | None) -> tuple[list[Listed], int]:
        """The capabilities to tell: all of the session, or those of one page as that page declares them."""
        if page is None:
            served = await self._inventories.serve(session)
            return list(served.snapshot.entries.values()), served.revision
        world, snapshot = self._live.world, self._inventories.snapshot(session)
        own_site = (None, page.session.site)
        elsewhere = [entry for entry in snapshot.entries.values() if not entry.pages and entry.site in own_site]
        own = [listed(world, session, declared, [page]) for declared in world.offered_on(page).values()]
        entries = [*elsewhere, *(entry for entry in own if entry is not None)]
        return entries, await self._inventories.tell(session, entries)

    def _window(self, session: AgentSession, given: dict[str, Any]) -> tuple[int, int, list[str] | None]:
        strange = sorted(set(given) - {"limit", "offset", "ids"})
        if strange:
            raise GatewayError(ErrorCode.BAD_REQUEST, f"`{strange[0][:80]}` is not a field of describe's input")
        sites = self._live.world.configuration.sites
        most = min((sites[s].record_limit for s in session.sites if s in sites), default=20)
        limit = _integer(given.get("limit", most), "limit", 1, most)
        offset = _integer(given.get("offset", 0), "offset", 0, 2**31)
        ids = given.get("ids")
        if ids is None:
            return limit, offset, None
        if not _are_record_ids(ids, most):
            raise GatewayError(ErrorCode.BAD_REQUEST, f"`ids` is a list of at most {most} texts")
        return limit, offset, ids

    def _chosen(self, pages: list[LivePage], page: str | None) -> LivePage | None:
        if page is None:
            return max((p for p in pages if p.is_connected), key=lambda p: p.rank, default=None)
        named = [p for p in pages if p.id == page]
        if not named:
            raise GatewayError(ErrorCode.PAGE_NOT_CONNECTED, f"page `{page}` is not connected")
        return named[0]

    def _addresses(self, session: AgentSession) -> list[dict[str, str]]:
        sites = self._live.world.configuration.sites
        return [{"site": name, "address": sites[name].address} for name in session.sites if name in sites]

    async def _audit_context(self, session: AgentSession, page: LivePage) -> None:
        record = audit.of_page(
            AuditEvent.CONTEXT_DESCRIBED, page.session, self._clock.now(), agent=session.agent, session=session.id
        )
        await self._spine.run(lambda tx: After(tx.audit.append(record)))

    async def _invoke(
        self, session: AgentSession, envelope: Envelope, sent: Transmission, waiters: list[Waiter]
    ) -> Handled:
        limits = self._live.world.configuration.limits
        if sent.stamp is not None:
            _check_stamp(sent.stamp, self._clock.now(), limits.nonce_window_ms)
        request = CallRequest(
            caller=session,
            capability=envelope.capability or "",
            arguments=envelope.input,
            page=envelope.page,
            call_id=envelope.call_id,
            arrival=sent.arrival,
            traceparent=sent.traceparent,
            nonce=sent.nonce,
            nonce_until=0 if sent.stamp is None else sent.stamp + 2 * limits.nonce_window_ms,
        )
        with self._place(session, sent.wait_seconds):
            outcome, waiter = await self._calls.submit(request)
            waiters.append(waiter)
            outcome = await self._waited(session, outcome, waiter, sent.wait_seconds)
        if not is_finished(outcome.call):
            await self._calls.hand_out(outcome.call.ref)
        return await self._told(outcome)

    async def _status(
        self, session: AgentSession, given: dict[str, Any], sent: Transmission, waiters: list[Waiter]
    ) -> Handled:
        name = _name(given)
        seconds = min(_integer(given.get("wait", 0), "wait", 0, 25), sent.wait_seconds)
        with self._place(session, seconds):
            outcome, waiter = await self._calls.status(session, name)
            waiters.append(waiter)
            return await self._told(await self._waited(session, outcome, waiter, seconds))

    def _place(self, session: AgentSession, seconds: float) -> AbstractContextManager[None]:
        # Who waits for nothing can always start a call, and ask where one stands.
        return self._calls.place(session) if seconds else nullcontext()

    async def _told(self, outcome: Outcome) -> Handled:
        if is_finished(outcome.call):
            return Handled(result=answer_of(outcome), taken=outcome.call)
        return Handled(result=pending_of(await self._calls.with_receipt(outcome)))

    async def _waited(self, session: AgentSession, outcome: Outcome, waiter: Waiter, seconds: float) -> Outcome:
        # What comes after the session ended is not its own any more.
        leave = self._sessions.watch(session.id, waiter.wake)
        try:
            return await self._calls.wait(outcome, waiter, seconds)
        finally:
            leave()


def _name(given: dict[str, Any]) -> str:
    name = given.get("ref", given.get("call_id"))
    if not isinstance(name, str) or not 0 < len(name) <= 80:
        raise GatewayError(ErrorCode.BAD_REQUEST, "`input` names the call by `ref` or `call_id`")
    return name


def _integer(value: Any, name: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise GatewayError(ErrorCode.BAD_REQUEST, f"`{name}` is a whole number from {least} to {most}")
    return value


def _check_stamp(stamp: int, now: int, window: int) -> None:
    if stamp > now + window:
        raise GatewayError(ErrorCode.CLOCK_SKEW, "the timestamp lies too far ahead; check the clock")
    # INVARIANT: a stamp is acceptable strictly shorter than its nonce is remembered.
    if stamp <= now - window:
        raise GatewayError(ErrorCode.CALL_TOO_OLD, "the timestamp is too old; send it again with a new nonce")
