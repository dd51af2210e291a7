"""What an installed mini app offers, as its manifest says and its administrator allows."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from capabilities.contract import Descriptor, HandlerKind, Leaving, Readiness
from capabilities.manifest import Manifest
from capabilities.manifest_shape import SurfaceEntry
from capabilities.package import Package
from gateway.domain.app_catalog import AppTool, OfferedApp, OfferedSurface
from gateway.domain.mini_apps import AppVersion, MiniApp
from surface_host.bundles import Parts, integrity_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A package as far as it must be known while it is installed. `integrities` are those of the bundles of its
    surfaces by id; they are not known where its files were not read."""

    manifest: Manifest
    integrities: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, package: Package) -> "Known":
        """Know a package whose files are at hand."""
        integrities = {surface.id: integrity_of(parts_of(package, surface)) for surface in package.manifest.surfaces}
        return cls(manifest=package.manifest, integrities=integrities)


def parts_of(package: Package, surface: SurfaceEntry) -> Parts:
    """The bundle of one surface."""

    def text(path: str | None) -> str:
        return "" if path is None else package.files[path].decode()

    return Parts(html=text(surface.html), css=text(surface.css), js=text(surface.js))


def offered(app: MiniApp, known: Known, fault: str | None) -> OfferedApp:
    """`app` in its current version, which is `known`; `fault` says why it cannot run now."""
    manifest, surfaces = known.manifest, _surfaces(known)
    tools = [
        AppTool(
            app=app.id,
            descriptor=descriptor,
            permissions=descriptor.permissions,
            is_on_page=_is_on_page(manifest, descriptor),
        )
        for descriptor in manifest.descriptors()
    ]
    return OfferedApp(
        id=app.id,
        name=manifest.app.name,
        version=manifest.app.version,
        digest=app.digest,
        is_enabled=app.is_enabled,
        granted=frozenset(app.granted),
        tools={tool.descriptor.id: tool for tool in tools},
        fault=fault,
        surface=surfaces[0] if surfaces else None,
        others=surfaces[1:],
        leaving=Leaving(left_workspace=manifest.leaving.left_workspace, closed=manifest.leaving.closed),
        has_worker=manifest.python is not None,
    )


def unreadable(app: MiniApp, version: AppVersion, fault: str) -> OfferedApp:
    """`app` where nothing is known of what it declares."""
    return OfferedApp(
        id=app.id, name=app.id, version=version.version, digest=app.digest, is_enabled=app.is_enabled, fault=fault
    )


def _is_on_page(manifest: Manifest, tool: Descriptor) -> bool:
    waits = tool.readiness is not Readiness.ACTIVATION_NOT_REQUIRED
    return tool.handler is HandlerKind.MINIAPP_SDK or bool(tool.requires) or (waits and bool(manifest.surfaces))


def _surfaces(known: Known) -> tuple[OfferedSurface, ...]:
    has_handlers = any(tool.handler.kind == HandlerKind.MINIAPP_SDK for tool in known.manifest.tools)
    return tuple(
        OfferedSurface(
            id=surface.id,
            title=surface.title,
            integrity=known.integrities.get(surface.id, ""),
            events=tuple(surface.events),
            has_handlers=has_handlers,
        )
        for surface in known.manifest.surfaces
    )
