"""What handlers emit: judged, bounded, and in the outbox before the handler hears that it is.

An event counts from the moment it was accepted, whatever becomes of its call: what happened is told. But only while
the call may still answer in time: what a handler emits at or after its deadline is refused, audited and never sent
(case C31).
"""

from typing import Final

from gateway.domain import announcements
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallState
from gateway.domain.workers import Asker, Denial, ServiceDenied
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.effects import After
from gateway.runtime.limiter import Limiter
from gateway.runtime.ports import Clock, Ids, Tx
from gateway.runtime.spine import Spine

PER_MINUTE: Final = 600
BURST: Final = 100
"""Events one app may emit."""


class Emissions:
    """One per gateway; without a consumer it judges as ever and writes nothing."""

    def __init__(self, *, spine: Spine, clock: Clock, ids: Ids, is_consumed: bool) -> None:
        self._spine = spine
        self._clock = clock
        self._ids = ids
        self._is_consumed = is_consumed
        self._pace = Limiter()

    async def emit(self, asker: Asker, kind: str, data: str) -> None:
        """Put one event of `asker` into the outbox; `data` is the JSON text of an object.

        Raises:
            ServiceDenied: `too_much` for large data; `refused` for what is no event, for a flood, and once the call is over
                or its time is up.
        """
        if self._pace.take(asker.app, per_minute=PER_MINUTE, burst=BURST, now=self._clock.monotonic()) is not None:
            raise ServiceDenied(Denial.REFUSED, f"`{asker.app}` emits more than {PER_MINUTE} events a minute")
        try:
            text = announcements.judged(kind, data)
        except OverflowError as error:
            raise ServiceDenied(Denial.TOO_MUCH, str(error)) from error
        except ValueError as error:
            raise ServiceDenied(Denial.REFUSED, str(error)) from error
        name = self._ids.name("evt")

        def work(tx: Tx) -> After:
            now = self._clock.now()
            call = tx.calls.find(asker.ref) if asker.ref is not None else None
            if asker.ref is not None and not may_speak(call, now):
                tx.audit.append(
                    audit.of_admin(
                        AuditEvent.OUTBOX_EMISSION_REFUSED,
                        now,
                        app=asker.app,
                        ref=asker.ref,
                        type=kind,
                        reason="over",
                    )
                )
                return After(False)
            if self._is_consumed:
                trace = None if call is None else call.traceparent
                tx.outbox.add(
                    announcements.of_emitted(
                        name,
                        kind,
                        text,
                        app=asker.app,
                        key=asker.conversation.id,
                        ref=asker.ref,
                        at=now,
                        traceparent=trace,
                    )
                )
            reach(Point.OUTBOX_EMITTED)
            return After(True)

        if not await self._spine.run(work):
            raise ServiceDenied(Denial.REFUSED, f"the call is over, or its time is up; `{kind}` is not sent")


def may_speak(call: Call | None, now: int) -> bool:
    """Whether the gateway still hears the handler of `call`: the deadline decides, not whether somebody noticed it already."""
    if call is None or call.state is not CallState.DISPATCHED:
        return False
    return call.operation is not None or call.execute_by is None or now < call.execute_by
