"""Serves each session its snapshot, keeps its baseline, guards against changed descriptions, tells of changes."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.inventory import Baseline, Listed, Snapshot, key_of
from gateway.runtime.effects import After
from gateway.runtime.inventory import Resolved, resolve, snapshot_of
from gateway.runtime.ports import Clock
from gateway.runtime.spine import Spine
from gateway.runtime.world import Live


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A snapshot as it was served, with its revision in this session (`catalog-42`)."""

    snapshot: Snapshot
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """What a requested capability means to its session: resolved, or refused.

    `baseline` is what the session was shown once the answer is given: the call accepted, or the refusal told.
    `stale` is the inventory key whose new description the refusal tells.
    """

    resolved: Resolved | None = None
    refusal: GatewayError | None = None
    baseline: Baseline | None = None
    stale: str | None = None


class Inventories:
    """One per gateway; remembers snapshots and baselines of sessions in use."""

    def __init__(self, spine: Spine, live: Live, clock: Clock) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._snapshots: dict[str, tuple[int, Snapshot]] = {}
        self._baselines: dict[str, Baseline] = {}
        self._barriers: dict[tuple[str, str], int] = {}
        self._arrivals = 0

    def arrive(self) -> int:
        """The place of a request among all that came to this process."""
        self._arrivals += 1
        return self._arrivals

    def snapshot(self, session: AgentSession) -> Snapshot:
        """What `session` may see now; computed when asked, kept until the world changes."""
        world = self._live.world
        known = self._snapshots.get(session.id)
        if known is None or known[0] != world.generation:
            known = self._snapshots[session.id] = (world.generation, snapshot_of(world, session))
        return known[1]

    async def baseline(self, session: AgentSession) -> Baseline:
        """What `session` was last served."""
        if session.id not in self._baselines:
            stored = await self._spine.store.run(lambda tx: tx.baselines.find(session.id))
            self._baselines.setdefault(session.id, stored or Baseline())
        return self._baselines[session.id]

    async def serve(self, session: AgentSession) -> Served:
        """Serve the present snapshot: from now on it is what calls are compared with."""
        snapshot = self.snapshot(session)
        before = await self.baseline(session)
        after = before.served(snapshot)
        if after is not before:
            await self._spine.run(lambda tx: After(tx.baselines.put(session.id, after)))
            self.remember(session, after)
        return Served(snapshot=snapshot, revision=after.revision)

    async def tell(self, session: AgentSession, entries: Iterable[Listed]) -> int:
        """Serve only `entries`; returns the revision. What is left out keeps its old description."""
        before = await self.baseline(session)
        after = before.told({entry.key: entry.descriptor.fingerprint for entry in entries})
        if after is not before:
            await self._spine.run(lambda tx: After(tx.baselines.put(session.id, after)))
            self.remember(session, after)
        return after.revision

    def remember(self, session: AgentSession, baseline: Baseline, *, stale: str | None = None) -> None:
        """Take over a baseline that was just committed; `stale` is the key whose change was told with it."""
        self._baselines[session.id] = baseline
        if stale is not None:
            # INVARIANT: requests that came before this answer are refused too (design §4).
            self._barriers[session.id, stale] = self._arrivals

    def forget(self, session: str) -> None:
        """A session ended."""
        self._baselines.pop(session, None)
        self._snapshots.pop(session, None)
        for key in [key for key in self._barriers if key[0] == session]:
            del self._barriers[key]

    async def meaning(
        self,
        session: AgentSession,
        capability: str,
        page: str | None,
        arrival: int,
        *,
        decided_by: int | None = None,
    ) -> Meaning:
        """Resolve `capability` and hold it against what the session was shown (rug-pull guard).

        `decided_by` is the revision the caller names: it must have been given, and have shown what is there now.
        """
        baseline = await self.baseline(session)
        if baseline.revision == 0:
            await self.serve(session)
            baseline = await self.baseline(session)
        # INVARIANT: nothing is awaited from here on, so the snapshot is one of the world it is resolved in.
        snapshot = self.snapshot(session)
        try:
            found = resolve(self._live.world, session, snapshot, capability, page)
        except GatewayError as error:
            if any(entry.descriptor.id == capability for entry in snapshot.entries.values()):
                return Meaning(refusal=error)
            return Meaning(refusal=self._gone(session, baseline, capability, page))
        return self._guarded(session, baseline, found, arrival, decided_by)

    def _guarded(
        self, session: AgentSession, baseline: Baseline, found: Resolved, arrival: int, decided_by: int | None
    ) -> Meaning:
        key, fingerprint = found.entry.key, found.descriptor.fingerprint
        shown = baseline.shown.get(key)
        if decided_by is not None and decided_by > baseline.revision:
            return Meaning(refusal=_not_given(decided_by))
        if decided_by is not None and shown in (None, fingerprint) and not baseline.held(key, decided_by):
            return Meaning(refusal=_stale(found), baseline=baseline.told({key: fingerprint}), stale=key)
        if shown is None:
            return Meaning(resolved=found, baseline=baseline.told({key: fingerprint}))
        if shown != fingerprint:
            return Meaning(refusal=_stale(found), baseline=baseline.told({key: fingerprint}), stale=key)
        if arrival <= self._barriers.get((session.id, key), 0):
            return Meaning(refusal=_stale(found))
        return Meaning(resolved=found)

    def _gone(
        self,
        session: AgentSession,
        baseline: Baseline,
        capability: str,
        page: str | None,
    ) -> GatewayError:
        sites = [site for site in session.sites if key_of(site, capability) in baseline.shown]
        if page is not None and page.startswith("site:"):
            sites = [site for site in sites if site == page[5:]]
        if not sites:
            known = capability in baseline.shown
            return _revoked(capability) if known else _unknown(capability)
        app = self._live.world.apps.app_of(capability)
        if app is not None and not app.is_enabled:
            # No page would bring it back.
            return _revoked(capability)
        world = self._live.world
        is_paged = capability not in world.offered_on_sites()
        if not is_paged or any(p.is_connected for site in sites for p in world.pages_of(session.user, site)):
            return _revoked(capability)
        return GatewayError(
            ErrorCode.PAGE_NOT_CONNECTED,
            f"`{capability}` needs its page; ask the person to open it",
            open=[
                self._live.world.configuration.sites[site].address
                for site in sites
                if site in self._live.world.configuration.sites
            ],
        )


def _unknown(capability: str) -> GatewayError:
    return GatewayError(ErrorCode.UNKNOWN_CAPABILITY, f"capability `{capability[:160]}` is not known here")


def _revoked(capability: str) -> GatewayError:
    return GatewayError(ErrorCode.REVOKED, f"capability `{capability}` is no longer offered to this session")


def _not_given(revision: int) -> GatewayError:
    return GatewayError(
        ErrorCode.STALE_INVENTORY, f"inventory `catalog-{revision}` was never given to this session; read the newest"
    )


def _stale(found: Resolved) -> GatewayError:
    return GatewayError(
        ErrorCode.STALE_INVENTORY,
        f"capability `{found.descriptor.id}` has changed since it was listed; read it again, then decide",
        changed=described(found.entry),
    )


def described(entry: Listed) -> dict[str, object]:
    """One capability as agents read it in full."""
    d = entry.descriptor
    return {
        "id": d.id,
        "title": d.title,
        "description": d.description,
        "site": entry.site,
        "input_schema": dict(d.input_schema),
        "output_schema": None if d.output_schema is None else dict(d.output_schema),
        "effect": entry.effective.effect.value,
        "risk": entry.decision.tier.value,
        "confirm": entry.effective.confirm.value,
        "verdict": entry.decision.verdict.value,
        "fingerprint": d.fingerprint,
    }


class ListChanges:
    """Tells subscribers when their own session's snapshot changed: first at once, then at least a while apart."""

    def __init__(self, inventories: Inventories, live: Live, clock: Clock, spine: Spine) -> None:
        self._inventories = inventories
        self._clock = clock
        self._spine = spine
        self._live = live
        self._subscribers: dict[str, _Subscription] = {}
        live.subscribe(self._world_changed)

    def subscribe(self, session: AgentSession, tell: Callable[[], None]) -> Callable[[], None]:
        """Call `tell` after each change of this session's snapshot; returns the way out."""
        subscription = self._subscribers.get(session.id)
        if subscription is None:
            subscription = _Subscription(session, self._inventories.snapshot(session).hash)
            self._subscribers[session.id] = subscription
        subscription.listeners.append(tell)

        def leave() -> None:
            subscription.listeners.remove(tell)
            if not subscription.listeners:
                self._subscribers.pop(session.id, None)

        return leave

    def _world_changed(self) -> None:
        for subscription in tuple(self._subscribers.values()):
            if not subscription.is_scheduled:
                subscription.is_scheduled = True
                self._spine.spawn(self._tell(subscription))

    async def _tell(self, subscription: "_Subscription") -> None:
        limits = self._live.world.configuration.limits
        await asyncio.sleep(0)
        if subscription.told_at is not None:
            await self._clock.sleep_until(subscription.told_at + limits.listed_changes_ms)
        subscription.is_scheduled = False
        present = self._inventories.snapshot(subscription.session).hash
        if present == subscription.hash:
            return
        subscription.hash = present
        subscription.told_at = self._clock.now()
        for listener in tuple(subscription.listeners):
            listener()


@dataclass(eq=False, slots=True)
class _Subscription:
    session: AgentSession
    hash: str
    told_at: int | None = None
    is_scheduled: bool = False
    listeners: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
