"""Mini apps as they run: started where they belong, told what they show, and taken down (seed 002 §5, §8).

What is decided is decided in units of work (`activation`, `releasing`, `operations`, `host_intents`); here is what
follows their commits. A step that fails on a page or in a worker rolls nothing back (rules B8): it is news.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from gateway.domain import instances
from gateway.domain.activations import Activation, FailureReason, Goal
from gateway.domain.app_catalog import Catalog, OfferedApp
from gateway.domain.calls import Call
from gateway.domain.instances import UNOWNED, Instance, InstanceEvent, InstanceState
from gateway.domain.intents import HostIntent
from gateway.domain.operations import OperationEvent, OperationState
from gateway.domain.workers import Conversation
from gateway.runtime import session_data
from gateway.runtime.activation import (
    close,
    fail,
    give_up_unwanted,
    has_worked,
    replace_app,
    take_down,
)
from gateway.runtime.callers import label_of
from gateway.runtime.effects import Activate, After, CloseInstance, Effect, Project, WaiterEnded
from gateway.runtime.host_intents import rule
from gateway.runtime.operations import complete, conclude
from gateway.runtime.ports import Clock, Tx, Workers
from gateway.runtime.projections import projection_of
from gateway.runtime.releasing import release
from gateway.runtime.spine import Spine
from gateway.runtime.vault import Vault
from gateway.runtime.workspaces import FrameLink, Shown
from gateway.runtime.world import Live, LivePage

BATCH: Final = 100
"""How much is found due at a time."""

UNOWNED_MS: Final = 600_000
"""Time between two looks for what nobody may use any more: nothing else would ever end it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What is to be shown of one instance, and who wants it in front: a goal's first waiting agent, or nobody."""

    instance: Instance
    shown: Shown
    attempt: Activation | None
    agent: str


class RunningApps:
    """One per gateway."""

    def __init__(
        self, *, spine: Spine, live: Live, clock: Clock, vault: Vault, workers: Workers, frames: FrameLink
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._vault = vault
        self._workers = workers
        self._frames = frames
        self._catalog = live.world.apps
        self._looked_at: int | None = None
        spine.on(Activate, lambda effect: self._spawn(partial(self._activate, effect.activation, effect.instance)))
        spine.on(CloseInstance, lambda effect: self._spawn(partial(self._take_down, effect.instance)))
        spine.on(Project, lambda effect: self._spawn(partial(self._project, effect.app_session)))
        spine.on(WaiterEnded, lambda effect: self._spawn(partial(self._unless_wanted, effect.activation)))
        live.subscribe(self._world_changed)

    # -- starting ---------------------------------------------------------------------------------------------

    async def restore(self) -> None:
        """After a restart: pages get their time to come back, attempts go on; a worker runs its hook when it is needed."""

        def work(tx: Tx) -> After:
            now, effects, apps = self._clock.now(), list[Effect](), self._live.world.apps.apps
            for instance in tx.instances.all_live():
                app = apps.get(instance.app)
                if app is None or not app.is_enabled or app.digest != instance.digest:
                    # It was changed while no gateway ran.
                    effects += replace_app(tx, self._live.world, instance, now)
                elif instance.page is not None and instance.page_gone_at is None:
                    tx.instances.save(replace(instance, page_gone_at=now), was=instance.state)
            for attempt in tx.activations.all_live():
                if not tx.calls.waiting_for(attempt.id):
                    # What waited ended with the last process, and nobody heard of it there.
                    effects += give_up_unwanted(tx, self._live.world, attempt, now)
                    continue
                instance = tx.instances.find(attempt.instance)
                if instance is not None and instance.is_live and instance.page is None:
                    effects.append(Activate(activation=attempt, instance=instance))
            return After(None, tuple(effects))

        await self._spine.run(work)

    async def _activate(self, attempt: Activation, instance: Instance) -> None:
        app = self._live.world.apps.apps.get(instance.app)
        if app is None or app.digest != instance.digest:
            return
        if app.has_worker and instance.state is InstanceState.STARTING:
            conversation = Conversation(instance.user, instance.conversation)
            within_ms = max(0, attempt.due_at - self._clock.now())
            failure = await self._workers.activate(app.id, conversation, within_ms=within_ms)
            if failure is not None:
                await self.failed(instance.id, FailureReason.APP_FAILED, failure.message)
                return
        if instance.page is not None:
            await self.show(instance.id)
        elif attempt.goal is Goal.FOREGROUND or (app.surface is not None and app.surface.has_handlers):
            # What runs in a frame needs one, in front or not.
            await self.failed(instance.id, FailureReason.PAGE_NOT_CONNECTED)
        else:
            await self.opened(instance.id)

    async def show(self, instance: str) -> None:
        """Have its page show an instance as it is to be shown; a page that is away is shown it when it comes."""
        wanted = await self._wanted(instance)
        page = self._page_of(wanted.instance) if wanted else None
        if wanted is None or page is None:
            return
        self._frames.open(page, wanted.instance, wanted.shown)
        if wanted.instance.state is InstanceState.RUNNING:
            self._ask_front(page, wanted)

    async def bring_to_front(self, instance: str) -> None:
        """Ask for the front what waits for it; said again it is the same question."""
        wanted = await self._wanted(instance)
        page = self._page_of(wanted.instance) if wanted else None
        if wanted is not None and page is not None:
            self._ask_front(page, wanted)

    def _ask_front(self, page: LivePage, wanted: _Wanted) -> None:
        attempt = wanted.attempt
        if attempt is not None and attempt.goal is Goal.FOREGROUND and not wanted.instance.is_foreground:
            remaining = max(0, attempt.due_at - self._clock.now())
            self._frames.ask_front(page, wanted.instance, agent=wanted.agent, remaining_ms=remaining)

    async def _wanted(self, name: str) -> _Wanted | None:
        world = self._live.world

        def find(tx: Tx) -> _Wanted | None:
            instance = tx.instances.find(name)
            app = world.apps.apps.get(instance.app) if instance else None
            if instance is None or not instance.is_live or app is None or app.surface is None:
                return None
            attempt, now = tx.activations.live_of_instance(name), self._clock.now()
            first = next(iter(tx.calls.waiting_for(attempt.id)), None) if attempt else None
            kept = session_data.read(tx, instance.app, instance.app_session, now)
            shown = Shown(app=app, state=projection_of(tx, instance, now), revision=kept.revision, data=kept.data)
            agent = label_of(tx, world, first) if first else ""
            return _Wanted(instance=instance, shown=shown, attempt=attempt, agent=agent)

        return await self._spine.store.run(find)

    def _page_of(self, instance: Instance) -> LivePage | None:
        page = self._live.world.pages.get(instance.page) if instance.page else None
        return page if page is not None and page.is_connected else None

    # -- what came of it --------------------------------------------------------------------------------------

    async def opened(self, instance: str) -> None:
        """It is there and takes calls."""

        def decide(tx: Tx, found: Instance, now: int) -> tuple[Effect, ...]:
            running = found
            if found.state is InstanceState.STARTING:
                running = instances.step(found, InstanceEvent.OPEN, now=now)
                tx.instances.save(running, was=InstanceState.STARTING)
            return release(tx, self._live.world, running, self._vault.find, now)

        await self._on(instance, decide)

    async def foregrounded(self, instance: str) -> None:
        """It came to the front as it was asked to."""

        def decide(tx: Tx, found: Instance, now: int) -> tuple[Effect, ...]:
            shown = replace(found, is_foreground=True)
            tx.instances.save(shown, was=found.state)
            return release(tx, self._live.world, shown, self._vault.find, now)

        await self._on(instance, decide)

    async def refused(self, instance: str) -> None:
        """The person did not let it come to the front: only what wanted that has failed."""

        def decide(tx: Tx, found: Instance, now: int) -> tuple[Effect, ...]:
            attempt = tx.activations.live_of_instance(found.id)
            if attempt is None or attempt.goal is not Goal.FOREGROUND:
                return ()
            effects = fail(tx, self._live.world, attempt, FailureReason.FOREGROUND_REFUSED, now)
            return (*effects, *self._unneeded(tx, found, FailureReason.FOREGROUND_REFUSED, now))

        await self._on(instance, decide)

    async def failed(self, instance: str, reason: str, message: str | None = None) -> None:
        """It could not be started, or is there no more."""

        def decide(tx: Tx, found: Instance, now: int) -> tuple[Effect, ...]:
            attempt, effects = tx.activations.live_of_instance(found.id), tuple[Effect, ...]()
            if attempt is not None:
                effects = fail(tx, self._live.world, attempt, reason, now, message=message)
            still = tx.instances.find(found.id)
            return (*effects, *close(tx, still, reason, now)) if still and still.is_live else effects

        await self._on(instance, decide)

    async def intended(self, instance: str, intent: HostIntent) -> None:
        """What the person or the browser did to it."""

        def decide(tx: Tx, found: Instance, now: int) -> tuple[Effect, ...]:
            return rule(tx, self._live.world, found, intent, self._vault.find, now)

        await self._on(instance, decide)

    def _unneeded(self, tx: Tx, found: Instance, reason: FailureReason, now: int) -> tuple[Effect, ...]:
        """Close what was only opened for the sake of an attempt that failed: the workspace shows what it did before."""
        still = tx.instances.find(found.id)
        if still is None or not still.is_live or still.is_foreground or has_worked(tx, still):
            return ()
        return close(tx, still, reason, now)

    async def _on(self, name: str, decide: Callable[[Tx, Instance, int], tuple[Effect, ...]]) -> None:
        def work(tx: Tx) -> After:
            found = tx.instances.find(name)
            if found is None or not found.is_live:
                return After(None)
            return After(None, decide(tx, found, self._clock.now()))

        await self._spine.insist(partial(self._spine.run, work))

    async def _unless_wanted(self, name: str) -> None:
        def work(tx: Tx) -> After:
            attempt = tx.activations.find(name)
            if attempt is None or not attempt.is_live:
                return After(None)
            return After(None, give_up_unwanted(tx, self._live.world, attempt, self._clock.now()))

        await self._spine.insist(partial(self._spine.run, work))

    # -- pages that come and go -------------------------------------------------------------------------------

    async def arrived(self, page: LivePage) -> None:
        """A document is there: it is told what it shows."""

        def work(tx: Tx) -> After:
            found = tx.instances.live_on_page(page.id)
            for instance in found:
                if instance.page_gone_at is not None:
                    tx.instances.save(replace(instance, page_gone_at=None), was=instance.state)
            return After([instance.id for instance in found])

        for name in await self._spine.run(work):
            await self.show(name)

    def page_gone(self, page: str) -> None:
        """A page session was forgotten: its mini apps count as closed unless it comes back in time (rules F8)."""
        self._spawn(partial(self._page_gone, page))

    async def _page_gone(self, page: str) -> None:
        def work(tx: Tx) -> After:
            gone_at = self._clock.now() - self._live.world.configuration.limits.page_grace_ms
            for instance in tx.instances.live_on_page(page):
                if instance.page_gone_at is None:
                    tx.instances.save(replace(instance, page_gone_at=gone_at), was=instance.state)
            return After(None)

        await self._spine.insist(partial(self._spine.run, work))

    # -- time ---------------------------------------------------------------------------------------------------

    async def due(self, now: int) -> Sequence[Callable[[], Awaitable[None]]]:
        """What time alone asks for: operations that are complete, attempts and absences that took too long."""

        def find(tx: Tx) -> Sequence[Callable[[], Awaitable[None]]]:
            return [
                *(partial(self._complete, operation.id) for operation in tx.operations.due(now, BATCH)),
                *(partial(self._time_out, attempt.id) for attempt in tx.activations.due(now, BATCH)),
                *(partial(self._stayed_away, instance.id) for instance in tx.instances.due(now, BATCH)),
            ]

        due = await self._spine.store.run(find)
        if self._looked_at is not None and 0 <= now - self._looked_at < UNOWNED_MS:
            return due
        self._looked_at = now
        return [*due, self._close_unowned]

    @staticmethod
    def next_due(tx: Tx) -> int | None:
        """When something is due next, as far as is known now."""
        due = (tx.operations.next_due(), tx.activations.next_due(), tx.instances.next_due())
        return min((at for at in due if at is not None), default=None)

    async def _complete(self, name: str) -> None:
        def work(tx: Tx) -> After:
            operation, now = tx.operations.find(name), self._clock.now()
            is_due = operation is not None and operation.due_at is not None and operation.due_at <= now
            return After(None, complete(tx, self._live.world, operation, now) if operation and is_due else ())

        await self._spine.run(work)

    async def _time_out(self, name: str) -> None:
        def work(tx: Tx) -> After:
            attempt, now = tx.activations.find(name), self._clock.now()
            if attempt is None or not attempt.is_live or attempt.due_at > now:
                return After(None)
            instance = tx.instances.find(attempt.instance)
            effects = fail(tx, self._live.world, attempt, FailureReason.TIMEOUT, now)
            left = self._unneeded(tx, instance, FailureReason.TIMEOUT, now) if instance else ()
            return After(None, (*effects, *left))

        await self._spine.run(work)

    async def _stayed_away(self, name: str) -> None:
        def work(tx: Tx) -> After:
            instance, now = tx.instances.find(name), self._clock.now()
            # Its page may have come back since it was found to be away.
            if instance is None or instance.due_at is None or instance.due_at > now:
                return After(None)
            return After(None, rule(tx, self._live.world, instance, HostIntent.CLOSED, self._vault.find, now))

        await self._spine.run(work)

    async def _close_unowned(self) -> None:
        def work(tx: Tx) -> After:
            now, effects = self._clock.now(), list[Effect]()
            for instance in tx.instances.unowned(now, BATCH):
                effects += take_down(tx, self._live.world, instance, UNOWNED, now)
            return After(None, tuple(effects))

        await self._spine.run(work)

    async def cancel(self, call: Call) -> None:
        """Stop the operation that carries `call`, at its caller's request."""

        def work(tx: Tx) -> After:
            operation = tx.operations.find_of_call(call.ref)
            if operation is None or operation.state is not OperationState.RUNNING:
                return After(None)
            now = self._clock.now()
            return After(None, conclude(tx, self._live.world, operation, OperationEvent.CANCEL, "cancelled", now))

        await self._spine.insist(partial(self._spine.run, work))

    # -- effects --------------------------------------------------------------------------------------------------

    async def _take_down(self, instance: Instance) -> None:
        page = self._page_of(instance)
        if page is not None:
            self._frames.close(page, instance, instance.reason or "")
        app = self._live.world.apps.apps.get(instance.app)
        if app is not None and app.has_worker:
            conversation = Conversation(instance.user, instance.conversation)
            await self._workers.deactivate(app.id, conversation, within_ms=DEACTIVATE_MS)

    async def _project(self, app_session: str | None) -> None:
        def find(tx: Tx) -> tuple[Instance, dict[str, Any]] | None:
            instance = tx.instances.of_app_session(app_session) if app_session else None
            if instance is None or not instance.is_live:
                return None
            return instance, projection_of(tx, instance, self._clock.now())

        found = await self._spine.store.run(find)
        page = self._page_of(found[0]) if found else None
        if found is not None and page is not None:
            self._frames.state(page, found[0], found[1])

    def _world_changed(self) -> None:
        apps = self._live.world.apps
        if apps is not self._catalog:
            before, self._catalog = self._catalog, apps
            self._spawn(partial(self._replace_changed, before, apps))

    async def _replace_changed(self, before: Catalog, after: Catalog) -> None:
        changed = [name for name, app in before.apps.items() if not _is_same(app, after.apps.get(name))]

        def work(tx: Tx) -> After:
            now, effects = self._clock.now(), list[Effect]()
            for name in changed:
                for instance in tx.instances.live_of_app(name):
                    effects += replace_app(tx, self._live.world, instance, now)
            return After(None, tuple(effects))

        if changed:
            await self._spine.insist(partial(self._spine.run, work))

    def _spawn(self, work: Callable[[], Awaitable[None]]) -> None:
        self._spine.spawn(_awaited(work))


DEACTIVATE_MS: Final = 10_000
"""How long the calls and the hook of an app that is taken down may take."""


async def _awaited(work: Callable[[], Awaitable[None]]) -> None:
    await work()


def _is_same(before: OfferedApp, after: OfferedApp | None) -> bool:
    return after is not None and after.digest == before.digest and after.is_enabled == before.is_enabled
