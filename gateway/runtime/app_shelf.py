"""What is known of installed packages: what they declare, and what is wrong with their files."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
from pydantic import ValidationError

from capabilities.manifest import Manifest
from gateway.domain.app_catalog import Catalog, OfferedApp
from gateway.domain.errors import GatewayError
from gateway.domain.mini_apps import AppVersion, MiniApp, ordered
from gateway.runtime.app_changes import get_version
from gateway.runtime.app_packages import Judged, judged_folder, refused
from gateway.runtime.offering import Known, offered, unreadable
from gateway.runtime.ports import AppFiles, FilesRefused, Tx
from gateway.runtime.world import Live


@dataclass(frozen=True, slots=True, kw_only=True)
class AppView:
    """An installed app as administrators see it.

    Attributes:
        permissions: all its current version asks for; `app.granted` are those it has.
        versions: those that are kept, newest first.
    """

    app: MiniApp
    offered: OfferedApp
    description: str
    permissions: tuple[str, ...]
    versions: tuple[AppVersion, ...]


class Shelf:
    """One per gateway. What it holds is a memory of manifests and files; rows and folders are the truth."""

    def __init__(self, files: AppFiles, live: Live) -> None:
        self._files = files
        self._live = live
        self._known: dict[str, Known] = {}
        self._faults: dict[str, str] = {}

    # -- files ----------------------------------------------------------------------------------------------------

    async def judged(self, digest: str) -> Judged:
        """The installed package, whose files were all read and found to be its own.

        Raises:
            GatewayError: `package_refused`.
        """
        return await asyncio.to_thread(self._judged, digest)

    def _judged(self, digest: str) -> Judged:
        try:
            entries = self._files.load(digest)
        except FilesRefused as error:
            raise refused("unreadable", f"{error}; install the package again") from error
        return judged_folder(entries, digest, self._live.world.configuration.app_trust)

    async def flaw(self, digest: str) -> str | None:
        """What keeps the installed package from running; None where it is whole and may run."""
        try:
            await self.judged(digest)
        except GatewayError as error:
            return error.message
        return None

    async def look(self, digest: str) -> str | None:
        """The same, remembered: a package with a flaw is offered as one that is out of order."""
        try:
            self.learn(await self.judged(digest))
        except GatewayError as error:
            self._faults[digest] = error.message
        return self._faults.get(digest)

    def learn(self, judged: Judged) -> None:
        """Remember a package that was found whole."""
        package = judged.package
        self._known[package.digest] = Known.of(package)
        self._faults.pop(package.digest, None)

    def keep_only(self, digests: Collection[str]) -> frozenset[str]:
        """Forget all others; returns which those were."""
        gone = frozenset((self._known.keys() | self._faults.keys()) - set(digests))
        for digest in gone:
            self._known.pop(digest, None)
            self._faults.pop(digest, None)
        return gone

    def module_of(self, app: OfferedApp) -> str | None:
        """The Python module an app is to be run from; None where it has none, or was not found whole."""
        known = self._known.get(app.digest)
        return known.manifest.python.module if known and known.manifest.python else None

    # -- rows -----------------------------------------------------------------------------------------------------

    def catalog(self, tx: Tx) -> Catalog:
        """What all installed apps offer, by their rows."""
        return Catalog.of(self._offered(app, get_version(tx, app.digest)) for app in tx.mini_apps.list())

    def view(self, tx: Tx, app: MiniApp) -> AppView:
        """One installed app, whole."""
        version = get_version(tx, app.digest)
        told: Mapping[str, Any] = orjson.loads(version.manifest)
        asked = {permission for tool in told["tools"] for permission in tool["permissions"]}
        return AppView(
            app=app,
            offered=self._offered(app, version),
            description=told["app"]["description"],
            permissions=tuple(sorted(asked)),
            versions=tuple(reversed(ordered(tx.mini_apps.versions(app.id)))),
        )

    def _offered(self, app: MiniApp, version: AppVersion) -> OfferedApp:
        known, fault = self._known.get(version.digest), self._faults.get(version.digest)
        if known is None:
            try:
                known = Known(manifest=Manifest.model_validate(orjson.loads(version.manifest)))
            except ValidationError:
                return unreadable(app, version, fault or "this gateway does not read its manifest")
        return offered(app, known, fault)


def with_fault(view: AppView, fault: str | None) -> AppView:
    """The same app, with another word about its files."""
    return replace(view, offered=replace(view.offered, fault=fault))
