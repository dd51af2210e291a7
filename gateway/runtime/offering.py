"""What an installed mini app offers, as its manifest says and its administrator allows."""

from dataclasses import dataclass

from capabilities.contract import HandlerKind, Leaving, Readiness
from capabilities.manifest import Manifest
from capabilities.manifest_shape import SurfaceEntry
from capabilities.package import Package
from gateway.domain.app_catalog import AppTool, OfferedApp, OfferedSurface
from gateway.domain.mini_apps import AppVersion, MiniApp
from surface_host.bundles import Parts, integrity_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A package as far as it must be known while it is installed. `integrity` is that of the first surface's bundle,
    empty where there is none or its files were not read."""

    manifest: Manifest
    integrity: str = ""

    @classmethod
    def of(cls, package: Package) -> "Known":
        """Know a package whose files are at hand."""
        surfaces = package.manifest.surfaces
        integrity = integrity_of(parts_of(package, surfaces[0])) if surfaces else ""
        return cls(manifest=package.manifest, integrity=integrity)


def parts_of(package: Package, surface: SurfaceEntry) -> Parts:
    """The bundle of one surface."""

    def text(path: str | None) -> str:
        return "" if path is None else package.files[path].decode()

    return Parts(html=text(surface.html), css=text(surface.css), js=text(surface.js))


def offered(app: MiniApp, known: Known, fault: str | None) -> OfferedApp:
    """`app` in its current version, which is `known`; `fault` says why it cannot run now."""
    manifest = known.manifest
    tools = [
        AppTool(
            app=app.id,
            descriptor=descriptor,
            permissions=descriptor.permissions,
            is_on_page=_is_on_page(manifest, descriptor.handler, descriptor.readiness),
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
        surface=_face(known),
        leaving=Leaving(left_workspace=manifest.leaving.left_workspace, closed=manifest.leaving.closed),
        has_worker=manifest.python is not None,
    )


def unreadable(app: MiniApp, version: AppVersion, fault: str) -> OfferedApp:
    """`app` where nothing is known of what it declares."""
    return OfferedApp(
        id=app.id, name=app.id, version=version.version, digest=app.digest, is_enabled=app.is_enabled, fault=fault
    )


def _is_on_page(manifest: Manifest, handler: HandlerKind, readiness: Readiness) -> bool:
    waits = readiness is not Readiness.ACTIVATION_NOT_REQUIRED
    return handler is HandlerKind.MINIAPP_SDK or (waits and bool(manifest.surfaces))


def _face(known: Known) -> OfferedSurface | None:
    if not known.manifest.surfaces:
        return None
    face = known.manifest.surfaces[0]
    return OfferedSurface(
        id=face.id,
        title=face.title,
        integrity=known.integrity,
        events=tuple(face.events),
        has_handlers=any(tool.handler.kind == HandlerKind.MINIAPP_SDK for tool in known.manifest.tools),
    )
