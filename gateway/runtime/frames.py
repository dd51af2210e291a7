"""What pages say of the mini app frames they show, held against what is known of them (`workspaces.Workspaces`)."""

from functools import partial
from typing import Any

import orjson

from gateway.domain.calls import Call, CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.instances import Instance
from gateway.domain.intents import HostIntent
from gateway.domain.session_data import Unfit, judged
from gateway.domain.surfaces import is_surface
from gateway.runtime import audit, session_data
from gateway.runtime.effects import After, Effect, Told
from gateway.runtime.execution import Execution
from gateway.runtime.panel import Panel
from gateway.runtime.ports import Tx
from gateway.runtime.running_apps import RunningApps
from gateway.runtime.session_data import Conflict
from gateway.runtime.spine import Spine
from gateway.runtime.steady_clock import SteadyClock
from gateway.runtime.surfaces import Surfaces
from gateway.runtime.ui_actions import UiActions
from gateway.runtime.workspaces import (
    Action,
    Answered,
    Failed,
    Foregrounded,
    FrameLink,
    Happened,
    JsonObject,
    Kept,
    News,
    Opened,
    Place,
    Progressed,
    Refused,
    Started,
    Tell,
    unknown_instance,
)
from gateway.runtime.world import Live, LivePage


class Frames:
    """One per gateway; also the executor of calls whose handler is in a bundle."""

    def __init__(
        self,
        *,
        spine: Spine,
        live: Live,
        clock: SteadyClock,
        apps: RunningApps,
        execution: Execution,
        actions: UiActions,
        surfaces: Surfaces,
        panel: Panel,
        link: FrameLink,
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._apps = apps
        self._execution = execution
        self._actions = actions
        self._surfaces = surfaces
        self._panel = panel
        self._link = link
        self._running: dict[str, str] = {}
        spine.observe(self._observed)

    # -- executor -----------------------------------------------------------------------------------------------

    def invoke(self, call: Call, arguments: str, instance: str) -> bool:
        """Hand a dispatched call to the frame of `instance`; False when its document is not connected."""
        page = self._live.world.pages.get(call.page) if call.page else None
        if page is None or page.session.epoch != call.epoch or call.execute_by is None:
            return False
        remaining_ms = max(0, call.execute_by - self._clock.now())
        if not self._link.tool(page, instance, call, arguments, remaining_ms):
            return False
        self._running[call.ref] = instance
        return True

    def cancel(self, call: Call) -> None:
        """Ask the frame that runs `call` to stop."""
        page = self._live.world.pages.get(call.page) if call.page else None
        instance = self._running.get(call.ref)
        if page is not None and instance is not None:
            self._link.cancel(page, instance, call.ref)

    def _observed(self, effect: Effect) -> None:
        if isinstance(effect, Told) and effect.call.state is not CallState.DISPATCHED:
            self._running.pop(effect.call.ref, None)

    # -- what pages say -------------------------------------------------------------------------------------------

    async def arrived(self, page: LivePage, /) -> None:
        """Tell a document what it shows."""
        await self._apps.arrived(page)
        await self._surfaces.arrived(page)
        await self._panel.arrived(page)

    async def hear(self, place: Place, news: News, /) -> None:
        """Take what a page tells of one of its frames.

        Raises:
            GatewayError: the instance is not this page's, or cannot have said that.
        """
        session = place.page.session
        match news:
            case Started(ref=ref):
                self._execution.started_on_page(session.id, session.epoch, ref)
                return
            case Progressed(ref=ref, n=n, total=total, message=message):
                await self._execution.progressed_on_page(session.id, session.epoch, ref, n, total, message)
                return
            case Answered(ref=ref, answer=answer):
                if await self._execution.answered_by_page(session.id, session.epoch, ref, answer) is None:
                    raise GatewayError(ErrorCode.UNKNOWN_CALL, "no such call was handed to this document")
                return
            case _ if is_surface(place.instance):
                await self._surfaces.hear(place, news)
            case _:
                await self._of_instance(await self._own(place), news)

    async def _of_instance(self, instance: Instance, news: News) -> None:
        match news:
            case Opened():
                await self._apps.opened(instance.id)
                await self._apps.bring_to_front(instance.id)
            case Foregrounded():
                await self._apps.foregrounded(instance.id)
            case Refused():
                await self._apps.refused(instance.id)
            case Failed(code=code, message=message):
                await self._apps.failed(instance.id, code, message or None)
            case _:
                assert isinstance(news, Happened)
                message = f"nobody takes the events of `{instance.app}` here"
                raise GatewayError(ErrorCode.UNSUPPORTED, message)

    async def keep(self, place: Place, revision: int, data: JsonObject, /) -> Kept:
        """Keep session data if `revision` is still the newest.

        Raises:
            GatewayError: the instance is not this page's, or the data is not to be kept.
        """
        instance = await self._own(place)
        text = judged(dict(data))
        if isinstance(text, Unfit):
            raise GatewayError(ErrorCode.BAD_REQUEST, text.message, reason=text.reason)

        def work(tx: Tx) -> Kept:
            now, still = self._clock.now(), tx.instances.find(instance.id)
            if still is None or not still.is_live:
                # It was closed since: what an app session kept is what it had at its end.
                raise unknown_instance(place)
            written = session_data.write(tx, instance.app, instance.app_session, text, revision=revision, now=now)
            present = written.present if isinstance(written, Conflict) else written
            is_taken = not isinstance(written, Conflict)
            return Kept(is_taken=is_taken, revision=present.revision, data=orjson.loads(present.data))

        return await self._spine.store.run(work)

    async def intended(self, place: Place, intent: HostIntent, /) -> None:
        """Take what the person or the browser did to a frame (entry `host_intent`).

        Raises:
            GatewayError: the instance is not this page's; the refusal is in the stream of host intents.
        """
        if is_surface(place.instance):
            await self._intended_surface(place, intent)
            return
        instance = await self._find(place)
        if instance is None:
            raise await self._refused_intent(place, intent)
        await self._apps.intended(instance.id, intent)

    async def _intended_surface(self, place: Place, intent: HostIntent) -> None:
        try:
            await self._surfaces.intended(place, intent)
        except GatewayError:
            raise await self._refused_intent(place, intent) from None

    async def _refused_intent(self, place: Place, intent: HostIntent) -> GatewayError:
        await self._spine.run(partial(self._refuse_intent, place=place, intent=intent))
        refusal = unknown_instance(place)
        refusal.is_audited = True
        return refusal

    def _refuse_intent(self, tx: Tx, *, place: Place, intent: HostIntent) -> After:
        record = audit.of_refused_intent(
            place.page.session, self._clock.now(), instance=place.instance[:128], intent=intent.value
        )
        tx.audit.append(record)
        return After(None)

    async def acted(self, place: Place, action: Action, tell: Tell, /) -> Any:
        """Do what a frame asks for (entry `ui_action`).

        Raises:
            GatewayError: the instance is not this page's, or nothing came of it; the stream of UI actions says why.
        """
        instance = await self._find(place)
        if instance is None:
            raise self._actions.refused(place, action, unknown_instance(place))
        return await self._actions.act(place, instance, action, tell)

    async def _own(self, place: Place) -> Instance:
        found = await self._find(place)
        if found is None:
            raise unknown_instance(place)
        return found

    async def _find(self, place: Place) -> Instance | None:
        found = await self._spine.store.run(lambda tx: tx.instances.find(place.instance))
        if found is None or not found.is_live or found.page != place.page.id:
            return None
        return found
