"""What the installed mini apps offer at one moment, and which ids they reserve. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from capabilities.contract import Descriptor, Leaving

_STAYS: Final = Leaving()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppTool:
    """One declared tool of an installed app.

    Attributes:
        app: the app's id.
        descriptor: what agents are told of it.
        permissions: what the administrator has to grant before it is offered.
        is_on_page: it runs or shows on a site's page, so the site's `expose` judges it (design §4): its handler is in
            a frame, it waits for an app that has a surface, or it requires something of a page. What only stops
            something needs no page.
    """

    app: str
    descriptor: Descriptor
    permissions: tuple[str, ...] = ()
    is_on_page: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedSurface:
    """One surface of an app's manifest.

    Attributes:
        integrity: `sha256-` and base64 of the bundle, as a page checks it.
        events: types the surface may send.
        has_handlers: its bundle answers calls (handler kind `miniapp_sdk`).
    """

    id: str
    title: str
    integrity: str
    events: tuple[str, ...] = ()
    has_handlers: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedApp:
    """An installed app at its current version. `fault` says why it cannot run now, None where it can.

    `surface` is its face, which activation opens: the first of its manifest, None for an app without one. `others` are
    the further ones, which only agents open. `has_worker` says that it has code of its own in Python.
    """

    id: str
    name: str
    version: str
    digest: str
    is_enabled: bool
    granted: frozenset[str] = frozenset()
    tools: Mapping[str, AppTool] = field(default_factory=dict[str, AppTool])
    fault: str | None = None
    surface: OfferedSurface | None = None
    others: tuple[OfferedSurface, ...] = ()
    leaving: Leaving = _STAYS
    has_worker: bool = False

    @property
    def surfaces(self) -> tuple[OfferedSurface, ...]:
        """All of them, the face first."""
        return () if self.surface is None else (self.surface, *self.others)

    def surface_named(self, name: str) -> OfferedSurface | None:
        """The one with this id."""
        return next((surface for surface in self.surfaces if surface.id == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Every installed app by id, enabled or not, with the indexes the rest asks by."""

    apps: Mapping[str, OfferedApp] = field(default_factory=dict[str, OfferedApp])
    tools: Mapping[str, AppTool] = field(default_factory=dict[str, AppTool])
    """By capability id, of disabled apps too."""
    segments: frozenset[str] = frozenset()
    """First segments of ids that belong to installed apps."""
    on_pages: Mapping[str, Descriptor] = field(default_factory=dict[str, Descriptor])
    """What enabled apps offer on every page a site exposes it on."""
    without_page: Mapping[str, Descriptor] = field(default_factory=dict[str, Descriptor])
    """What enabled apps offer where no page is open, too."""

    @classmethod
    def of(cls, apps: Iterable[OfferedApp]) -> "Catalog":
        """Index `apps`, no two of which share a first segment."""
        by_id = {app.id: app for app in apps}
        tools = {capability: tool for app in by_id.values() for capability, tool in app.tools.items()}
        usable = [tool for tool in tools.values() if by_id[tool.app].is_enabled]
        return cls(
            apps=by_id,
            tools=tools,
            segments=frozenset(map(segment_of, tools)),
            on_pages={tool.descriptor.id: tool.descriptor for tool in usable if tool.is_on_page},
            without_page={tool.descriptor.id: tool.descriptor for tool in usable if not tool.is_on_page},
        )

    def app_of(self, capability: str) -> OfferedApp | None:
        """The installed app that declares `capability`."""
        tool = self.tools.get(capability)
        return None if tool is None else self.apps[tool.app]

    def is_reserved(self, capability: str) -> bool:
        """Whether only an installed app may declare `capability`."""
        return segment_of(capability) in self.segments


def segment_of(capability: str) -> str:
    """The first segment of a capability id."""
    return capability.partition(".")[0]
