"""Installed mini apps in memory."""

from collections.abc import Sequence

from gateway.domain.mini_apps import AppVersion, MiniApp
from gateway.runtime.ports import DuplicateKey
from gateway.testing.tables import Tables


class MemoryMiniApps:
    """`MiniApps` over dictionaries."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def put(self, app: MiniApp) -> None:
        self._tables.mini_apps[app.id] = app

    def find(self, app: str) -> MiniApp | None:
        return self._tables.mini_apps.get(app)

    def list(self) -> Sequence[MiniApp]:
        return sorted(self._tables.mini_apps.values(), key=lambda app: app.id)

    def remove(self, app: str) -> bool:
        for version in self.versions(app):
            self.drop_version(version.digest)
        return self._tables.mini_apps.pop(app, None) is not None

    def add_version(self, version: AppVersion) -> None:
        is_known = any(v.version == version.version for v in self.versions(version.app))
        if is_known or version.digest in self._tables.mini_app_versions:
            raise DuplicateKey(f"version `{version.version}` of `{version.app}` is there")
        self._tables.mini_app_versions[version.digest] = version

    def find_version(self, digest: str) -> AppVersion | None:
        return self._tables.mini_app_versions.get(digest)

    def versions(self, app: str) -> Sequence[AppVersion]:
        own = [version for version in self._tables.mini_app_versions.values() if version.app == app]
        return sorted(own, key=lambda version: (version.installed_at, version.digest))

    def digests(self) -> frozenset[str]:
        return frozenset(self._tables.mini_app_versions)

    def drop_version(self, digest: str) -> None:
        self._tables.mini_app_versions.pop(digest, None)
