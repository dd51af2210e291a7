"""The present as one immutable value: configuration, built-ins, installed mini apps and live pages.

The event loop swaps it; units of work on the store thread read one reference and see one moment.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from capabilities.builtin import documents, standard, surfaces
from capabilities.contract import Descriptor
from gateway.domain.app_catalog import Catalog
from gateway.domain.calls import Call
from gateway.domain.configuration import Configuration
from gateway.domain.pages import PageSession
from policy.engine import POLICY_ERROR, decide
from policy.model import Decision, Question

SURFACE_OPEN: Final = surfaces.OPEN.id
"""What needs a session that may open surfaces."""

SHOWN_ON_PAGES: Final = frozenset({SURFACE_OPEN, *standard.STANDARD, *documents.SHOWN_ON_PAGES})
"""Of what agents show, what needs a page to be shown on; the rest needs none."""


def _nobody() -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePage:
    """The live document of a page session. `dropped_at` is set while its socket is gone."""

    session: PageSession
    url: str
    title: str
    visible: bool
    visible_at: int
    automated: bool
    has_workspace: bool = False
    capabilities: Mapping[str, Descriptor] = field(default_factory=dict[str, Descriptor])
    dropped_at: int | None = None

    @property
    def id(self) -> str:
        return self.session.id

    @property
    def is_connected(self) -> bool:
        return self.dropped_at is None

    @property
    def rank(self) -> tuple[int, bool, int]:
        """Greater is better: the latest pin, then visible now, then most recently visible."""
        return (self.session.pinned_at or 0, self.visible, self.visible_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One moment. `generation` grows with every change that may alter somebody's inventory."""

    configuration: Configuration
    builtins: Mapping[str, Descriptor] = field(default_factory=dict[str, Descriptor])
    surfaces: Mapping[str, Descriptor] = field(default_factory=dict[str, Descriptor])
    """What agents show surfaces and documents with; a site's `expose` judges it, whether or not a page is open there."""
    apps: Catalog = field(default_factory=Catalog)
    pages: Mapping[str, LivePage] = field(default_factory=dict[str, LivePage])
    generation: int = 0
    on_policy_error: Callable[[], None] = _nobody
    """Told of every decision that could not be made; may be called on the store thread."""

    def decide(self, question: Question) -> Decision:
        """Answer `question` by the rules in force."""
        decision = decide(question, self.configuration.rules)
        if decision.reasons == POLICY_ERROR:
            self.on_policy_error()
        return decision

    def offered_on(self, page: LivePage) -> Mapping[str, Descriptor]:
        """What `page` offers by id: what it declares itself, and what is shown on every page with a workspace."""
        if not (page.has_workspace and (self.apps.on_pages or self.surfaces)):
            return page.capabilities
        opening = {name: declared for name, declared in self.surfaces.items() if name in SHOWN_ON_PAGES}
        return {**page.capabilities, **self.apps.on_pages, **opening}

    def _shown(self, capability: str) -> Descriptor | None:
        if capability == documents.CALLBACK.id:
            return documents.CALLBACK
        shown = self.surfaces if capability in SHOWN_ON_PAGES else self.apps.on_pages
        return shown.get(capability)

    def target_on(self, page: LivePage, capability: str) -> Descriptor | None:
        """What an action of a document that `page` shows may ask for by this id; nothing of what agents show."""
        tool = self.apps.tools.get(capability)
        if tool is not None:
            return tool.descriptor
        return documents.CALLBACK if capability == documents.CALLBACK.id else page.capabilities.get(capability)

    def offered_on_sites(self) -> Mapping[str, Descriptor]:
        """What is there by id on every site that exposes it, whether or not a page is open."""
        return {name: declared for name, declared in self.surfaces.items() if name not in SHOWN_ON_PAGES}

    def runs_elsewhere(self, capability: str) -> bool:
        """Whether no page runs `capability` itself: it is a mini app's or the gateway's own, and theirs alone."""
        return capability in self.apps.tools or capability in self.builtins

    def offered_without_page(self) -> Mapping[str, Descriptor]:
        """What is there by id whether or not a page is open."""
        return {**self.builtins, **self.apps.without_page}

    def declared(self, capability: str, page: LivePage | None) -> Descriptor | None:
        """`capability` as it is declared now, on `page` or, without one, by the gateway and its mini apps."""
        if page is None:
            own = self.builtins.get(capability) or self.apps.without_page.get(capability)
            return own or self.surfaces.get(capability)
        if page.has_workspace and (shown := self._shown(capability)) is not None:
            return shown
        return page.capabilities.get(capability)

    def declared_for(self, call: Call) -> Descriptor | None:
        """The declaration behind `call` now: its mini app's wherever that runs, else its page's or the gateway's."""
        if call.app is None:
            return self.declared(call.capability, self.pages.get(call.page) if call.page else None)
        tool = self.apps.tools.get(call.capability)
        return tool.descriptor if tool is not None and self.apps.apps[tool.app].is_enabled else None

    def with_apps(self, apps: Catalog) -> "World":
        """The same moment with other mini apps; what pages declared under ids these reserve is gone."""
        pages = {
            name: replace(page, capabilities=unreserved(page.capabilities, apps)) for name, page in self.pages.items()
        }
        return replace(self, apps=apps, pages=pages)

    def pages_of(self, user: str, site: str | None = None) -> list[LivePage]:
        """The user's live pages (dropped ones within grace included), best first."""
        own = [
            page
            for page in self.pages.values()
            if page.session.user == user and (site is None or page.session.site == site)
        ]
        return sorted(own, key=lambda page: page.rank, reverse=True)


def unreserved(capabilities: Mapping[str, Descriptor], apps: Catalog) -> Mapping[str, Descriptor]:
    """What of a page's declarations does not lie under ids that installed mini apps reserve."""
    if not any(map(apps.is_reserved, capabilities)):
        return capabilities
    return {name: declared for name, declared in capabilities.items() if not apps.is_reserved(name)}


class Live:
    """Holder of the present `World`. Only the event loop calls its methods; anyone may read `world`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._listeners: list[Callable[[], None]] = []

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every change that may alter an inventory."""
        self._listeners.append(listener)

    def configure(self, configuration: Configuration, builtins: Mapping[str, Descriptor]) -> None:
        """Swap the configuration."""
        self._swap(replace(self.world, configuration=configuration, builtins=builtins))

    def install(self, apps: Catalog) -> None:
        """Swap what the installed mini apps offer."""
        self._swap(self.world.with_apps(apps))

    def put_page(self, page: LivePage) -> None:
        """Add or replace a live page."""
        self._swap(replace(self.world, pages={**self.world.pages, page.id: page}))

    def remove_page(self, page: str) -> None:
        """Forget a live page."""
        self._swap(replace(self.world, pages={k: v for k, v in self.world.pages.items() if k != page}))

    def _swap(self, world: World) -> None:
        self.world = replace(world, generation=self.world.generation + 1)
        for listener in self._listeners:
            listener()
