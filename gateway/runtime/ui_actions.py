"""What people do in the frames of mini apps and in documents: calls on the one spine, in the person's own name (seed 002 §3, rules B1).

An action is resolved, decided, approved, dispatched and settled like any other call; its door says who asks. Here is
what only this door has: the name of the request, and the frame that hears what becomes of it.
"""

from dataclasses import replace
from typing import Any, Final

import orjson

from capabilities.json_values import is_deeper_than
from gateway.domain.agent_sessions import Principal
from gateway.domain.calls import CallState, Entry
from gateway.domain.canonical import sha256_hex
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.instances import Instance
from gateway.runtime import audit
from gateway.runtime.answers import failure_of
from gateway.runtime.attendance import Waiter
from gateway.runtime.callers import InFrame
from gateway.runtime.calls import Calls, is_finished
from gateway.runtime.effects import Effect, Receipted, Refused
from gateway.runtime.ports import Clock
from gateway.runtime.requests import CallRequest, Outcome
from gateway.runtime.spine import Spine
from gateway.runtime.workspaces import Action, Place, Tell, Told
from gateway.runtime.world import Live, LivePage

LOOK_SECONDS: Final = 60.0
"""After how long it looks again though it heard nothing."""


class UiActions:
    """One per gateway."""

    def __init__(self, *, spine: Spine, live: Live, clock: Clock, calls: Calls) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._calls = calls
        self._waiting: set[Waiter] = set()
        spine.observe(self._observed)

    async def act(self, place: Place, instance: Instance, action: Action, tell: Tell) -> Any:
        """Do what the frame of `instance` asks for, or find that it was asked for before; the output as JSON values.

        Raises:
            GatewayError: there is no output, or no call was made; either way the trail says so already.
        """
        app = self._live.world.apps.apps.get(instance.app)
        if app is None or app.surface is None or not app.surface.has_handlers:
            silent = f"a frame of `{instance.app}` only shows; it asks for nothing"
            raise self.refused(place, action, GatewayError(ErrorCode.UNSUPPORTED, silent))
        most = self._live.world.configuration.limits.argument_depth
        if is_deeper_than(action.arguments, most):
            too_deep = GatewayError(ErrorCode.TOO_DEEP, f"the arguments are nested deeper than {most} levels")
            raise self.refused(place, action, too_deep)
        request = CallRequest(
            caller=InFrame(page=place.page, instance=instance),
            capability=action.action,
            arguments=dict(action.arguments),
            call_id=call_id_of(instance.id, action.id),
        )
        return await self.run(request, tell)

    async def run(self, request: CallRequest, tell: Tell) -> Any:
        """Make a call for a person, or find it made; its output as JSON values.

        Raises:
            GatewayError: there is no output, or no call was made; either way the trail says so already.
        """
        return await self._heard(*await self._calls.submit(request), tell)

    async def again(self, ref: str, tell: Tell) -> Any:
        """Hear of a call that was made before; its output as JSON values.

        Raises:
            GatewayError: there is none.
        """
        return await self._heard(*await self._calls.rejoin(ref), tell)

    async def _heard(self, outcome: Outcome, waiter: Waiter, tell: Tell) -> Any:
        self._waiting.add(waiter)
        try:
            outcome = await self._until_finished(outcome, waiter, tell)
        except BaseException:
            # Its document went away. It may come back and ask again; until then nothing is begun for it.
            self._calls.attendance.hang_up(waiter)
            raise
        finally:
            self._waiting.discard(waiter)
        self._calls.attendance.leave(waiter)
        return self._output(outcome)

    def refused(self, place: Place, action: Action, error: GatewayError) -> GatewayError:
        """Have the stream of UI actions say that `action` is refused; floods are counted there. Returns `error`."""
        return self.refused_at(place.page, place.instance, action.action, error)

    def refused_at(self, page: LivePage, where: str, what: str, error: GatewayError) -> GatewayError:
        """The same for `what` was asked for in the frame or document `where`."""
        session = page.session
        record = audit.of_refusal(
            Entry.UI_ACTION,
            Principal(agent="", user=session.user, session=""),
            error,
            self._clock.now(),
            capability=what,
            call_id=None,
            arguments=None,
            peer=None,
            traceparent=None,
            frame=(session.id, where[:128]),
        )
        self._spine.perform(Refused(peer=session.id, code=error.code, record=record))
        error.is_audited = True
        return error

    async def _until_finished(self, outcome: Outcome, waiter: Waiter, tell: Tell) -> Outcome:
        told = await self._newest(outcome) if outcome.replayed else 0
        while True:
            told = await self._tell(waiter.ref, told, tell)
            if is_finished(outcome.call):
                return outcome
            news = await waiter.next_news(LOOK_SECONDS)
            if news is not None:
                outcome = replace(outcome, call=news.call, result=news.result)

    async def _newest(self, outcome: Outcome) -> int:
        """How many receipts of a call that was there before are old news: all but the newest, all of a finished one."""
        there = len(await self._spine.store.run(lambda tx: tx.calls.receipts_of(outcome.call.ref)))
        return there if is_finished(outcome.call) else max(0, there - 1)

    async def _tell(self, ref: str, told: int, tell: Tell) -> int:
        receipts = await self._spine.store.run(lambda tx: tx.calls.receipts_of(ref))
        for receipt in receipts[told:]:
            tell(Told(status=receipt.status, seq=receipt.seq, reason=receipt.reason))
        return len(receipts)

    def _output(self, outcome: Outcome) -> Any:
        call = outcome.call
        self._calls.take(call)
        if call.state is CallState.SUCCEEDED and outcome.result is not None:
            return orjson.loads(outcome.result.output)
        failure = failure_of(call)
        failure.is_audited = True
        raise failure

    def _observed(self, effect: Effect) -> None:
        if isinstance(effect, Receipted):
            for waiter in self._waiting:
                if waiter.ref in effect.refs:
                    waiter.wake()


def call_id_of(instance: str, name: str) -> str:
    """The key of the request a frame calls `name`; no two instances have one in common."""
    return sha256_hex(f"{instance}\0{name}".encode())
