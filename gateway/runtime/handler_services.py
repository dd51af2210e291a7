"""What the handlers of mini apps get from the gateway through their context, each request judged anew.

A handler speaks for its call, and for as long as that is dispatched: what it asks for afterwards, late or forged, it
does not get (case C31). A hook speaks for its app in one conversation.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

import orjson

from gateway.domain import session_data
from gateway.domain.app_catalog import AppTool
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call
from gateway.domain.errors import ErrorCode
from gateway.domain.outbound import AddressRefused, Target, flaw_of_header, target_of
from gateway.domain.session_data import Unfit
from gateway.domain.workers import Asker, Denial, Inbound, Kept, Outbound, ServiceDenied
from gateway.runtime import audit
from gateway.runtime.effects import Refused
from gateway.runtime.emissions import Emissions, may_speak
from gateway.runtime.ports import Clock, OutboundHttp, StoreBusy, StoreUnavailable, Tx
from gateway.runtime.session_data import Conflict, live_session, read, write
from gateway.runtime.spine import Spine
from gateway.runtime.telemetry import Meter, names
from gateway.runtime.world import Live

T = TypeVar("T")

_TOO_LARGE: Final = "too_large"


class AppServices:
    """`HandlerServices` over the store, the configuration and one way to the network."""

    def __init__(
        self,
        *,
        spine: Spine,
        live: Live,
        clock: Clock,
        emissions: Emissions,
        http: OutboundHttp,
        environment: Mapping[str, str],
        meter: Meter,
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._emissions = emissions
        self._http = http
        self._environment = environment
        self._meter = meter

    # -- session data -----------------------------------------------------------------------------------------

    async def session_data(self, asker: Asker) -> Kept:
        def work(tx: Tx) -> Kept:
            now = self._clock.now()
            admitted(tx, asker, now)
            found = read(tx, asker.app, _app_session(tx, asker), now)
            return Kept(data=found.data, revision=found.revision)

        return await self._run(work)

    async def put_session_data(self, asker: Asker, data: str, *, revision: int) -> int:
        text = session_data.judged(_object(data))
        if isinstance(text, Unfit):
            raise ServiceDenied(Denial.TOO_MUCH if text.reason == _TOO_LARGE else Denial.REFUSED, text.message)

        def work(tx: Tx) -> int:
            now = self._clock.now()
            admitted(tx, asker, now)
            session = _app_session(tx, asker)
            written = write(tx, asker.app, session, text, revision=revision, now=now)
            if isinstance(written, Conflict):
                raise ServiceDenied(Denial.CONFLICT, "it was written meanwhile", revision=written.present.revision)
            return written.revision

        return await self._run(work)

    # -- events -----------------------------------------------------------------------------------------------

    async def emit(self, asker: Asker, kind: str, data: str) -> None:
        try:
            await self._emissions.emit(asker, kind, data)
        except (StoreBusy, StoreUnavailable):
            raise _again() from None

    # -- secrets and requests ---------------------------------------------------------------------------------

    async def secret(self, asker: Asker, name: str) -> str:
        if f"secret:{name}" not in await self._permissions(asker):
            raise self._refused(asker, "secret", name, f"the tool has no permission `secret:{name}`")
        own = self._live.world.configuration.apps.get(asker.app)
        value = self._environment.get(own.secrets.get(name, "")) if own else None
        if not value:
            message = f"there is no secret `{name}` here; an administrator sets `apps.{asker.app}.secrets`"
            raise self._refused(asker, "secret", name, message)
        return value

    async def http(self, asker: Asker, request: Outbound) -> Inbound:
        try:
            target = target_of(request.url)
        except AddressRefused as error:
            raise self._refused(asker, "http", "", str(error)) from None
        flaws = (flaw_of_header(name, value) for name, value in request.headers)
        if (flaw := next(filter(None, flaws), None)) is not None:
            raise ServiceDenied(Denial.REFUSED, flaw)
        if not target.is_permitted_by(await self._permissions(asker)):
            message = f"the tool has no permission for `{target.host}` at port {target.port}"
            raise self._refused(asker, "http", target.authority, message)
        return await self._ask(asker, request, target)

    async def _ask(self, asker: Asker, request: Outbound, target: Target) -> Inbound:
        own = self._live.world.configuration.apps.get(asker.app)
        is_internal = own is not None and target.is_internal_for(own.internal_hosts)
        try:
            answer = await self._http.send(request, target, is_internal=is_internal)
        except ServiceDenied as denied:
            if denied.denial is Denial.NOT_PERMITTED:
                raise self._refused(asker, "http", target.authority, denied.message) from None
            self._meter.add(names.HANDLER_REQUESTS, denied.denial.value)
            raise
        self._meter.add(names.HANDLER_REQUESTS, "answered")
        return answer

    async def _permissions(self, asker: Asker) -> frozenset[str]:
        """What the asker may use: what is both declared and granted."""
        call = await self._run(lambda tx: admitted(tx, asker, self._clock.now()))
        app = self._live.world.apps.apps.get(asker.app)
        if app is None:
            return frozenset()
        # A hook belongs to no tool; it may use what any of them declares.
        tools: list[AppTool | None] = [*app.tools.values()] if call is None else [app.tools.get(call.capability)]
        return app.granted.intersection(*[{p for tool in tools if tool is not None for p in tool.permissions}])

    def _refused(self, asker: Asker, what: str, name: str, message: str) -> ServiceDenied:
        """Say no, and leave a record: an app that asks for more than it declared is worth an administrator's look."""
        record = audit.of_access(
            AuditEvent.HANDLER_REFUSED,
            self._clock.now(),
            app=asker.app,
            ref=asker.ref,
            what=what,
            target=name or None,
            code=ErrorCode.FORBIDDEN.wire,
        )
        self._spine.perform(Refused(peer=asker.app, code=ErrorCode.FORBIDDEN, record=record))
        if what == "http":
            self._meter.add(names.HANDLER_REQUESTS, Denial.NOT_PERMITTED.value)
        return ServiceDenied(Denial.NOT_PERMITTED, message)

    async def _run(self, work: Callable[[Tx], T]) -> T:
        try:
            return await self._spine.store.run(work)
        except (StoreBusy, StoreUnavailable):
            raise _again() from None


def admitted(tx: Tx, asker: Asker, now: int) -> Call | None:
    """The call the asker works for; None for a hook.

    Raises:
        ServiceDenied: the call is over, or its time is up.
    """
    if asker.ref is None:
        return None
    call = tx.calls.find(asker.ref)
    # INVARIANT: after the verdict on a call, its handler changes nothing more here.
    if not may_speak(call, now):
        raise ServiceDenied(Denial.REFUSED, "the call is over, or its time is up")
    return call


def _app_session(tx: Tx, asker: Asker) -> str:
    name = live_session(tx, asker.app, asker.conversation)
    if name is None:
        raise ServiceDenied(Denial.NO_APP_SESSION, "the app is not open in this conversation")
    return name


def _again() -> ServiceDenied:
    return ServiceDenied(Denial.REFUSED, "the store does not take it now; try again")


def _object(text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise ServiceDenied(Denial.REFUSED, "what was sent is not JSON") from None
