"""What follows a change of mini apps outside the database: files, workers, and what the world offers."""

import asyncio
from collections.abc import Callable, Collection

import structlog

from capabilities.contract import HandlerKind
from capabilities.manifest import Manifest
from capabilities.package import Package
from gateway.domain.app_catalog import Catalog
from gateway.domain.workers import WorkerState
from gateway.runtime.app_shelf import AppView, Shelf
from gateway.runtime.ports import AppFiles, AppProbe, FilesRefused, Workers
from gateway.runtime.world import Live

_log = structlog.get_logger("ostiary.apps")


class Household:
    """One per gateway. Until it `serves`, nothing of an app runs."""

    def __init__(
        self,
        *,
        live: Live,
        shelf: Shelf,
        files: AppFiles,
        workers: Workers,
        probe: AppProbe | None,
        on_gone: Callable[[str], None],
    ) -> None:
        self._live = live
        self._shelf = shelf
        self._files = files
        self._workers = workers
        self._probe = probe
        self._on_gone = on_gone
        self._running: set[str] = set()
        self._leaving: set[str] = set()
        self.serves = False

    def follow(self, apps: Catalog) -> None:
        """Let the world offer `apps`, and keep a worker for each of them that is enabled and whole."""
        # In one turn of the loop: no call of a new version meets the worker of the old one.
        self._live.install(apps)
        if not self.serves:
            return
        wanted: set[str] = set()
        for app in apps.apps.values():
            module = self._shelf.module_of(app)
            if app.is_enabled and module is not None:
                self._workers.start(app.id, self._files.folder(app.digest), module)
                wanted.add(app.id)
        self._leaving |= self._running - wanted
        self._running = wanted

    async def stop_others(self) -> None:
        """Give workers nobody wants any more a while to end what they hold; returns when they are gone."""
        leaving, self._leaving = self._leaving, set()
        await asyncio.gather(*(self._workers.stop(app) for app in leaving))

    def worker_of(self, view: AppView) -> WorkerState | None:
        """Where the worker of an app stands; None where none is to run."""
        is_wanted = view.offered.is_enabled and view.offered.has_worker
        return self._workers.state(view.app.id) if self.serves and is_wanted else None

    async def keep(self, package: Package) -> None:
        """Keep the files of a package.

        Raises:
            FilesRefused: they cannot be written.
        """
        await asyncio.to_thread(self._files.put, package.digest, package.entries())

    async def keep_only(self, digests: Collection[str]) -> None:
        """Let go of all other files; what a fault of the disk keeps goes at the next start."""
        for digest in self._shelf.keep_only(digests):
            self._on_gone(digest)
        try:
            await asyncio.to_thread(self._files.keep_only, digests)
        except FilesRefused as error:
            _log.warning("app_files_stay", hint=str(error))

    async def tidy(self, digests: Collection[str]) -> None:
        """The same at a start. A database that knows no app at all may be the wrong one: then whole packages stay."""
        await self.keep_only(digests or await asyncio.to_thread(self._files.digests))

    async def flaw_of_start(self, manifest: Manifest, *, is_enabling: bool) -> str | None:
        """Start the code of a kept package once, where it is about to run and does not run yet; what goes wrong."""
        there = self._live.world.apps.apps.get(manifest.app.id)
        is_replacing = there is not None and there.is_enabled and there.digest != manifest.digest
        if self._probe is None or manifest.python is None or not self.serves:
            return None
        if not (is_enabling or is_replacing):
            return None
        return await self._probe.flaw(
            self._files.folder(manifest.digest),
            manifest.python.module,
            {tool.method for tool in manifest.tools if tool.handler.kind == HandlerKind.PYTHON},
            within_ms=self._live.world.configuration.limits.app_start_ms,
        )
