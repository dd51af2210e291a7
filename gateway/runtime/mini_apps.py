"""The app centre: installing, enabling, disabling, upgrading, rolling back and removing mini apps (seed 002 §4).

A package is judged whole before anything changes; its files are kept before the row that needs them is written, and
let go after the row is gone. So whatever ends the process, the database names only packages that are there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import structlog

from capabilities.manifest import Manifest
from capabilities.package import PACKAGE_BYTES
from gateway.domain.app_catalog import Catalog
from gateway.domain.audit import AuditEvent, AuditRecord
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.mini_apps import AppVersion, MiniApp
from gateway.domain.workers import WorkerState
from gateway.failpoints import Point, reach
from gateway.runtime import app_changes, audit
from gateway.runtime.app_changes import Change
from gateway.runtime.app_household import Household
from gateway.runtime.app_packages import Judged, check_claims, judged_file
from gateway.runtime.app_shelf import AppView, Shelf, with_fault
from gateway.runtime.effects import After, AppsChanged
from gateway.runtime.ports import AppFiles, AppProbe, Clock, FilesRefused, Tx, Workers
from gateway.runtime.rejudging import withdraw_changed
from gateway.runtime.spine import Spine
from gateway.runtime.world import Live, World, unreserved

T = TypeVar("T")

_log = structlog.get_logger("ostiary.apps")

REASON_MAX = 200
"""Characters of a flaw in the audit trail."""


def _nobody(_: str) -> None:
    return


class MiniApps:
    """One per gateway. Changes come one after the other; `by` says who asks for one, like `local:ada`.

    Without `probe` no app is tried out before it is enabled. `on_gone` is told the digest of each package that was
    let go.
    """

    def __init__(
        self,
        *,
        spine: Spine,
        live: Live,
        clock: Clock,
        files: AppFiles,
        workers: Workers,
        probe: AppProbe | None = None,
        on_gone: Callable[[str], None] = _nobody,
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._files = files
        self._shelf = Shelf(files, live)
        self._household = Household(
            live=live, shelf=self._shelf, files=files, workers=workers, probe=probe, on_gone=on_gone
        )
        self._turn = asyncio.Lock()
        self._changes: set[asyncio.Task[Any]] = set()
        spine.on(AppsChanged, lambda effect: self._household.follow(effect.apps))

    # -- at the start ---------------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Take over what is installed and run what is enabled. Every file is looked at: what is flawed is told and
        kept from running, what nobody needs is let go."""
        current = await self._spine.store.run(_current)
        flaws = await asyncio.gather(*(self._shelf.look(version.digest) for _, version in current))
        broken = [(version, flaw) for (_, version), flaw in zip(current, flaws, strict=True) if flaw is not None]
        await self._note_broken(broken)
        await self._household.tidy(await self._digests())
        reach(Point.APPS_VERIFIED)
        self._household.serves = True
        await self.read()

    async def read(self) -> None:
        """Take over what is installed, as its rows say; where no gateway serves, nothing of it runs."""
        self._household.follow(await self._spine.store.run(self._shelf.catalog))

    async def _note_broken(self, broken: Sequence[tuple[AppVersion, str]]) -> None:
        now, records = self._clock.now(), list[AuditRecord]()
        for version, flaw in broken:
            _log.error("app_found_broken", app=version.app, hint=flaw)
            records.append(
                audit.of_admin(
                    AuditEvent.APP_FOUND_BROKEN,
                    now,
                    app=version.app,
                    version=version.version,
                    digest=version.digest[:32],
                    reason=flaw[:REASON_MAX],
                )
            )
        if records:
            await self._spine.store.run(lambda tx: [tx.audit.append(record) for record in records])

    # -- what is there --------------------------------------------------------------------------------------------

    async def list(self, *, verify: bool = False) -> Sequence[AppView]:
        """Every installed app by id; with `verify` their files are looked at again, and flaws told as faults."""
        views = await self._spine.store.run(lambda tx: [self._shelf.view(tx, app) for app in tx.mini_apps.list()])
        if not verify:
            return views
        flaws = await asyncio.gather(*(self._shelf.flaw(view.app.digest) for view in views))
        return [with_fault(view, flaw) for view, flaw in zip(views, flaws, strict=True)]

    async def find(self, app: str) -> AppView:
        """One installed app.

        Raises:
            GatewayError: `not_found`.
        """
        return await self._spine.store.run(lambda tx: self._shelf.view(tx, app_changes.get_app(tx, app)))

    def worker_of(self, view: AppView) -> WorkerState | None:
        """Where the worker of an app stands; None where none is to run."""
        return self._household.worker_of(view)

    # -- changes --------------------------------------------------------------------------------------------------

    async def install(self, source: Path, *, by: str) -> AppView:
        """Install the package in the file `source`, disabled. The one that is installed again mends its files.

        Raises:
            GatewayError: `package_refused` or `state_conflict`; nothing was changed.
        """
        return await self._in_turn(lambda: self._take_in(source, by, app_changes.check_install, app_changes.install))

    async def upgrade(self, source: Path, *, by: str) -> AppView:
        """Replace an installed app by the later package in the file `source`. Where it is enabled it goes on so.

        Raises:
            GatewayError: `package_refused`, `not_found` or `state_conflict`; the version there was goes on.
        """
        return await self._in_turn(lambda: self._take_in(source, by, app_changes.check_upgrade, app_changes.upgrade))

    async def roll_back(self, app: str, *, to: str | None = None, by: str) -> AppView:
        """Go back to a kept version, by default the one before the current.

        Raises:
            GatewayError: `not_found`, `state_conflict` or `package_refused`; the version there was goes on.
        """

        async def work() -> AppView:
            target = await self._spine.store.run(lambda tx: app_changes.rollback_target(tx, app, to))
            judged = await self._told_if_refused(self._shelf.judged(target.digest), by, app, target.digest)
            await self._try_out(judged.package.manifest)
            self._shelf.learn(judged)
            asked = judged.package.manifest.permissions
            return await self._change(
                app, lambda tx, now: app_changes.roll_back(tx, app, target.digest, asked, now, by)
            )

        return await self._in_turn(work)

    async def enable(
        self, app: str, *, grant: Collection[str] = (), revoke: Collection[str] = (), by: str
    ) -> AppView:
        """Let agents use an installed app, with the permissions it has, with those to `grant` and without those to
        `revoke`. Enabling what is enabled changes its permissions only.

        Raises:
            GatewayError: `not_found`; `bad_request` for a permission it does not ask for; `package_refused` where
                its files will not do; `state_conflict` where it does not start.
        """

        async def work() -> AppView:
            row = await self._spine.store.run(lambda tx: app_changes.get_app(tx, app))
            judged = await self._told_if_refused(self._shelf.judged(row.digest), by, app, row.digest)
            manifest = judged.package.manifest
            for permission in (*grant, *revoke):
                _check_permission(manifest, permission)
            await self._try_out(manifest, is_enabling=not row.is_enabled)
            self._shelf.learn(judged)
            granted = ({*row.granted, *grant} - set(revoke)) & set(manifest.permissions)
            return await self._change(app, lambda tx, now: app_changes.enable(tx, app, granted, now, by))

        return await self._in_turn(work)

    async def disable(self, app: str, *, by: str) -> AppView:
        """Let no agent use an app any more: what waits for it ends, what runs has a while to end by itself.

        Raises:
            GatewayError: `not_found`.
        """
        return await self._in_turn(lambda: self._change(app, lambda tx, now: app_changes.disable(tx, app, now, by)))

    async def remove(self, app: str, *, by: str) -> None:
        """Forget a disabled app with its versions and files.

        Raises:
            GatewayError: `not_found`, or `state_conflict` where it is enabled.
        """
        await self._in_turn(lambda: self._commit(lambda tx, now: app_changes.remove(tx, app, now, by)))

    async def settled(self) -> None:
        """Return once no change is under way: the gateway stops."""
        await asyncio.gather(*self._changes, return_exceptions=True)

    # -- how a change is made -------------------------------------------------------------------------------------

    async def _in_turn(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do `work` when no other change is under way; it goes on where whoever asked for it leaves."""

        async def alone() -> T:
            async with self._turn:
                return await work()

        task = asyncio.get_running_loop().create_task(alone())
        self._changes.add(task)
        task.add_done_callback(self._changes.discard)
        return await asyncio.shield(task)

    async def _take_in(
        self,
        source: Path,
        by: str,
        check: Callable[[Tx, Judged], object],
        change: Callable[[Tx, Judged, int, str], Change],
    ) -> AppView:
        """Judge a package, keep its files, and only then let it count."""
        judged = await self._told_if_refused(self._judged_file(source), by)
        package = judged.package
        await self._spine.store.run(lambda tx: check(tx, judged))
        try:
            await self._household.keep(package)
            await self._try_out(package.manifest)
        except FilesRefused as error:
            await self._sweep()
            raise _conflict(package.manifest.app.id, str(error)) from error
        except GatewayError:
            await self._sweep()
            raise
        self._shelf.learn(judged)
        return await self._change(package.manifest.app.id, lambda tx, now: change(tx, judged, now, by))

    async def _judged_file(self, source: Path) -> Judged:
        world = self._live.world
        try:
            data = await asyncio.to_thread(self._files.fetch, source, limit=PACKAGE_BYTES)
        except FilesRefused as error:
            raise GatewayError(ErrorCode.BAD_REQUEST, str(error)) from error
        judged = await asyncio.to_thread(judged_file, data, world.configuration.app_trust)
        check_claims(judged.package.manifest, world.apps.apps.values())
        return judged

    async def _told_if_refused(
        self, judging: Awaitable[Judged], by: str, app: str | None = None, digest: str | None = None
    ) -> Judged:
        """What `judging` comes to; a refusal of the package is audited."""
        try:
            return await judging
        except GatewayError as error:
            if error.code is ErrorCode.PACKAGE_REFUSED:
                package = digest or error.facts.get("digest")
                record = audit.of_admin(
                    AuditEvent.APP_REFUSED,
                    self._clock.now(),
                    app=app or error.facts.get("app"),
                    digest=package[:32] if package else None,
                    reason=str(error.facts["reason"]),
                    by=by,
                )
                await self._spine.store.run(lambda tx: tx.audit.append(record))
                error.is_audited = True
            raise

    async def _try_out(self, manifest: Manifest, *, is_enabling: bool = False) -> None:
        flaw = await self._household.flaw_of_start(manifest, is_enabling=is_enabling)
        if flaw is not None:
            raise _conflict(manifest.app.id, f"version `{manifest.app.version}` does not start: {flaw}")

    async def _change(self, app: str, change: Callable[[Tx, int], Change]) -> AppView:
        await self._commit(change)
        return await self.find(app)

    async def _commit(self, change: Callable[[Tx, int], Change]) -> None:
        now = self._clock.now()

        def work(tx: Tx) -> After:
            changed = change(tx, now)
            catalog, world = self._shelf.catalog(tx), self._live.world
            if changed.record is not None:
                tx.audit.append(changed.record)
            for record in _withdrawn_from_pages(world, catalog, now):
                tx.audit.append(record)
            ended = withdraw_changed(tx, world.with_apps(catalog), now)
            reach(Point.APP_CHANGE_WRITTEN)
            # First the world, so that whoever is told of an end finds it changed.
            return After(None, (AppsChanged(apps=catalog), *ended))

        await self._spine.run(work)
        reach(Point.APP_CHANGE_COMMITTED)
        await self._household.stop_others()
        await self._sweep()

    async def _sweep(self) -> None:
        await self._household.keep_only(await self._digests())

    async def _digests(self) -> frozenset[str]:
        return await self._spine.store.run(lambda tx: tx.mini_apps.digests())


def _current(tx: Tx) -> list[tuple[MiniApp, AppVersion]]:
    return [(app, app_changes.get_version(tx, app.digest)) for app in tx.mini_apps.list()]


def _withdrawn_from_pages(world: World, catalog: Catalog, now: int) -> list[AuditRecord]:
    """A record for each id that a live page declared and an app now has to itself."""
    return [
        audit.of_access(
            AuditEvent.CAPABILITY_REFUSED,
            now,
            door="page",
            peer=page.id,
            code=ErrorCode.ID_RESERVED.wire,
            capability=capability,
        )
        for page in world.pages.values()
        for capability in sorted(page.capabilities.keys() - unreserved(page.capabilities, catalog).keys())
    ]


def _check_permission(manifest: Manifest, permission: str) -> None:
    if permission not in manifest.permissions:
        asked = ", ".join(f"`{known}`" for known in manifest.permissions) or "none"
        message = f"app `{manifest.app.id}` does not ask for `{permission[:160]}`; it asks for {asked}"
        raise GatewayError(ErrorCode.BAD_REQUEST, message)


def _conflict(app: str, message: str) -> GatewayError:
    return GatewayError(ErrorCode.STATE_CONFLICT, f"app `{app}`: {message}")
