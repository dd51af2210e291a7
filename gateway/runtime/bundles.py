"""The surfaces of installed packages as a frame gets them: html, css and js, held against the digests of the manifest.

A package is asked for by its digest, so what is read once is right for ever; one that is not whole is not there.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import structlog

from capabilities.manifest_shape import SurfaceEntry
from capabilities.package import Package, PackageRefused, package_of
from gateway.runtime.ports import AppFiles, FilesRefused
from surface_host.bundles import Parts, integrity_of, judge_bundle

KEPT: Final = 32
"""Packages whose surfaces stay in memory; at most 160 KiB each surface."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")

_log = structlog.get_logger("ostiary.apps")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """One surface. `events` are what it may send; `has_handlers` says that it answers tools of its app."""

    surface: str
    title: str
    parts: Parts
    integrity: str
    events: tuple[str, ...]
    has_handlers: bool


class Bundles:
    """Reads them when they are first asked for."""

    def __init__(self, files: AppFiles | None) -> None:
        self._files = files
        self._read: OrderedDict[str, Mapping[str, Bundle]] = OrderedDict()

    async def find(self, digest: str, surface: str) -> Bundle | None:
        """The bundle of a surface; None where no whole package of that digest has it."""
        if self._files is None or _DIGEST.fullmatch(digest) is None:
            return None
        bundles = self._read.get(digest)
        if bundles is None:
            bundles = await asyncio.to_thread(_load, self._files, digest)
            if bundles is None:
                return None
            self._keep(digest, bundles)
        else:
            self._read.move_to_end(digest)
        return bundles.get(surface)

    def forget(self, digest: str) -> None:
        """A package was removed."""
        self._read.pop(digest, None)

    def _keep(self, digest: str, bundles: Mapping[str, Bundle]) -> None:
        self._read[digest] = bundles
        while len(self._read) > KEPT:
            self._read.popitem(last=False)


def _load(files: AppFiles, digest: str) -> Mapping[str, Bundle] | None:
    try:
        entries = files.load(digest)
    except FilesRefused:  # most likely nobody installed it
        return None
    try:
        package = package_of(entries)
        return {surface.id: _bundle(digest, package, surface) for surface in package.manifest.surfaces}
    except (PackageRefused, _NotShown) as refused:
        _log.warning("bundle_refused", digest=digest, reason=str(refused)[:500])
        return None


class _NotShown(Exception):
    """A package has a surface no frame may show, or is another one than its folder says."""


def _bundle(digest: str, package: Package, surface: SurfaceEntry) -> Bundle:
    if package.digest != digest:
        raise _NotShown(f"the manifest is that of `{package.digest}`")

    def text(path: str | None) -> str:
        return "" if path is None else package.files[path].decode()

    parts = Parts(html=text(surface.html), css=text(surface.css), js=text(surface.js))
    fault = judge_bundle(parts)
    if fault is not None:
        raise _NotShown(f"surface `{surface.id}`, {fault.part}: {fault.reason}")
    return Bundle(
        surface=surface.id,
        title=surface.title,
        parts=parts,
        integrity=integrity_of(parts),
        events=tuple(surface.events),
        has_handlers=any(tool.handler.kind == "miniapp_sdk" for tool in package.manifest.tools) and bool(parts.js),
    )
