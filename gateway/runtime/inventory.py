"""What one agent session may see now, and which page a call means.

`snapshot_of` and `resolve` are pure functions of one `World`; `Inventories` serves them, keeps each
session's baseline, and tells subscribers when their own snapshot changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from capabilities.contract import Descriptor, HostFeature, Visibility
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.app_catalog import OfferedApp
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.inventory import Listed, Snapshot, key_of
from gateway.runtime.callers import Caller, InDocument, Person, principal_of
from gateway.runtime.world import SURFACE_OPEN, LivePage, World
from policy.engine import effective
from policy.model import Decision, Declared, Question, Stage
from policy.patterns import PatternSet
from policy.vocabulary import Risk, Verdict, highest


def question_of(
    world: World, caller: Caller, descriptor: Descriptor, page: LivePage | None, *, on_site: str | None = None
) -> Question:
    """The facts a decision about `descriptor` for `caller` is made from; a person's `page` is the one they act on.

    `on_site` is where a mini app's call belongs while none of the person's pages there is open.
    """
    configuration = world.configuration
    where = page.session.site if page else on_site
    site = configuration.sites.get(where) if where else None
    session, who = (None if isinstance(caller, Person) else caller), principal_of(caller)
    tool, app = world.apps.tools.get(descriptor.id), world.apps.app_of(descriptor.id)
    return Question(
        agent=who.agent,
        user=who.user,
        by_person=session is None,
        capability=Declared(
            id=descriptor.id,
            effect=descriptor.effect,
            risk=risk_of(world, caller, descriptor),
            confirm=descriptor.confirm,
        ),
        page=where is not None,
        scope=PatternSet.of(session.scope if session else ()),
        enabled=(where is None or site is not None) and (app is None or app.is_enabled),
        supported=where is not None or tool is None or not tool.is_on_page,
        missing=missing(descriptor, page),
        is_visible=session is None or descriptor.visibility is Visibility.AGENTS,
        app=app.id if app else None,
        required=frozenset(tool.permissions) if tool else frozenset(),
        granted=app.granted if app else frozenset(),
        site=site.name if site else None,
        session_sites=frozenset(session.sites if session else ()),
        expose=site.expose if site else (),
        ticket=PatternSet.of(page.session.capabilities) if page else None,
        revisions={
            Stage.ENABLED: app.version if app else configuration.revision,
            Stage.EXPOSED: configuration.revision,
            Stage.POLICY: configuration.revision,
            Stage.SUPPORTED: f"generation-{world.generation}",
            Stage.MANIFEST: descriptor.fingerprint[:12],
            Stage.PERMISSIONS: app.version if app else "-",
        },
    )


def risk_of(world: World, caller: Caller, descriptor: Descriptor) -> Risk:
    """How dangerous it is: as declared, or more where the entry of the invoke table a document names says so."""
    if not isinstance(caller, InDocument):
        return descriptor.risk
    entry = world.configuration.documents.invoke.get(caller.action.entry)
    return descriptor.risk if entry is None else highest(descriptor.risk, entry.risk)


def missing(descriptor: Descriptor, page: LivePage | None) -> frozenset[str]:
    """What `descriptor` requires and `page` does not offer now (rules F5)."""
    offered: set[str] = set() if page is None else set(page.capabilities)
    if page is not None and page.has_workspace:
        offered.add(HostFeature.WORKSPACE)
    return frozenset(feature.value for feature in descriptor.requires if feature.value not in offered)


def listed(
    world: World,
    session: AgentSession,
    descriptor: Descriptor,
    pages: list[LivePage],
    *,
    on_site: str | None = None,
) -> Listed | None:
    """How `descriptor` is listed for `session`, offered by `pages` (none: by the runtime); None if it is not.

    `on_site` is the site of what needs no page there.
    """
    page = pages[0] if pages else None
    question = question_of(world, session, descriptor, page, on_site=on_site)
    decision = world.decide(question)
    return None if decision.verdict is Verdict.FORBID else _entry(descriptor, question, decision, pages)


def _entry(descriptor: Descriptor, question: Question, decision: Decision, pages: list[LivePage]) -> Listed:
    return Listed(
        key=key_of(question.site, descriptor.id),
        descriptor=descriptor,
        effective=effective(question.capability, question.expose),
        site=question.site,
        decision=decision,
        pages=tuple(p.id for p in pages),
    )


def snapshot_of(world: World, session: AgentSession) -> Snapshot:
    """The inventory of `session`: everything the intersection lets through, from the best page of each site."""
    entries: dict[str, Listed] = {}
    for descriptor in world.offered_without_page().values():
        entry = listed(world, session, descriptor, [])
        if entry is not None:
            entries[entry.key] = entry
    for site in session.sites:
        for descriptor in world.offered_on_sites().values():
            entry = listed(world, session, descriptor, [], on_site=site)
            if entry is not None:
                entries[entry.key] = entry
    for key, pages in offers_of(world, session).items():
        descriptor = world.offered_on(pages[0])[key.rpartition("/")[2]]
        entry = listed(world, session, descriptor, pages)
        if entry is not None:
            entries[entry.key] = entry
    return Snapshot.of(entries, usable_apps(world, entries))


def usable_apps(world: World, entries: Mapping[str, Listed]) -> list[OfferedApp]:
    """The enabled apps of which a tool is among `entries`, or whose surface a session that sees these may open."""
    ids = {entry.descriptor.id for entry in entries.values()}
    return [
        app
        for app in world.apps.apps.values()
        if app.is_enabled
        and app.fault is None
        and (not ids.isdisjoint(app.tools) or (app.surfaces and SURFACE_OPEN in ids))
    ]


def offers_of(world: World, session: AgentSession) -> dict[str, list[LivePage]]:
    """Which of the user's pages offer what, best page first, by inventory key."""
    offers: dict[str, list[LivePage]] = {}
    for site in session.sites:
        for page in world.pages_of(session.user, site):
            ticket = PatternSet.of(page.session.capabilities)
            for capability in world.offered_on(page):
                if ticket.matches(capability):
                    offers.setdefault(key_of(site, capability), []).append(page)
    return offers


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """What a call means: the listed entry, the declaration as the resolved page has it, and that page."""

    entry: Listed
    descriptor: Descriptor
    page: LivePage | None


def resolve(
    world: World, session: AgentSession, snapshot: Snapshot, capability: str, selector: str | None
) -> Resolved:
    """Find the one thing `capability` means for `session`: `page` argument, else the pin, else the only page.

    Raises:
        GatewayError: `unknown_capability`, `page_not_connected` or `AMBIGUOUS_PAGE`.
    """
    if selector is not None and "\0" in selector:
        # The selector is kept with the call, and one of the stores cannot hold a NUL.
        raise GatewayError(ErrorCode.PAGE_NOT_CONNECTED, "a page with a NUL in its name is not connected")
    runtime = snapshot.entries.get(capability)
    if runtime is not None and runtime.site is None:
        return Resolved(entry=runtime, descriptor=runtime.descriptor, page=None)
    candidates = [e for e in snapshot.entries.values() if e.descriptor.id == capability]
    if candidates and capability in world.offered_on_sites():
        chosen = _on_site(world, session, candidates, selector)
        return Resolved(entry=chosen, descriptor=chosen.descriptor, page=None)
    pages = [(entry, world.pages[page]) for entry in candidates for page in entry.pages if page in world.pages]
    if selector is not None:
        pages = _selected(world, session, pages, selector)
    if not pages:
        raise GatewayError(ErrorCode.UNKNOWN_CAPABILITY, f"capability `{capability}` is not known here")
    _, page = _the_one(pages, capability)
    declared = world.declared(capability, page)
    on_page = listed(world, session, declared, [page]) if declared else None
    if declared is None or on_page is None:
        raise GatewayError(ErrorCode.UNKNOWN_CAPABILITY, f"capability `{capability}` is not known here")
    return Resolved(entry=on_page, descriptor=declared, page=page)


def resolve_own(world: World, person: Person, capability: str) -> Resolved:
    """What `capability` means where a person acts: in a frame a tool of its own app, in a document one of any app, and
    in both what the page declares.

    There is no inventory to look it up in: `expose`, the page's ticket and the app, or the invoke table that named it,
    decide (rules B1).

    Raises:
        GatewayError: `unknown_capability`; why it is not offered is for the trail.
    """
    page, tool = world.pages.get(person.page.id), world.apps.tools.get(capability)
    if page is None:
        raise GatewayError(ErrorCode.PAGE_NOT_CONNECTED, "the page is not connected")
    if isinstance(person, InDocument):
        declared = world.target_on(page, capability)
    elif tool is None:
        declared = page.capabilities.get(capability)
    else:
        declared = tool.descriptor if tool.app == person.instance.app else None
    why = "neither a tool of this app nor declared by its page"
    if declared is not None:
        question = question_of(world, person, declared, page)
        decision = world.decide(question)
        if decision.verdict is not Verdict.FORBID:
            entry = _entry(declared, question, decision, [page])
            return Resolved(entry=entry, descriptor=declared, page=page)
        why = "; ".join(decision.reasons)
    message = f"`{capability[:160]}` is not offered here"
    raise GatewayError(ErrorCode.UNKNOWN_CAPABILITY, message, reason=why)


def _on_site(world: World, session: AgentSession, candidates: list[Listed], selector: str | None) -> Listed:
    """The site by whose rules something is judged that needs no page: the selected one, else the first that has it."""
    if selector is None:
        return candidates[0]
    site = selector[5:] if selector.startswith("site:") else _page_named(world, session, selector).session.site
    for entry in candidates:
        if entry.site == site:
            return entry
    raise GatewayError(ErrorCode.UNKNOWN_CAPABILITY, f"it is not known on site `{site}`")


def _page_named(world: World, session: AgentSession, selector: str) -> LivePage:
    named = world.pages.get(selector)
    if named is None or named.session.user != session.user or named.session.site not in session.sites:
        raise GatewayError(ErrorCode.PAGE_NOT_CONNECTED, f"page `{selector}` is not connected")
    return named


def _selected(
    world: World, session: AgentSession, pages: list[tuple[Listed, LivePage]], selector: str
) -> list[tuple[Listed, LivePage]]:
    if selector.startswith("site:"):
        return [pair for pair in pages if pair[0].site == selector[5:]]
    named = _page_named(world, session, selector)
    return [pair for pair in pages if pair[1].id == named.id]


def _the_one(pages: list[tuple[Listed, LivePage]], capability: str) -> tuple[Listed, LivePage]:
    pinned = [pair for pair in pages if pair[1].session.pinned_at is not None]
    if pinned:
        return max(pinned, key=lambda pair: pair[1].rank)
    if len(pages) == 1:
        return pages[0]
    raise GatewayError(
        ErrorCode.AMBIGUOUS_PAGE,
        f"`{capability}` is offered by {len(pages)} pages; name one as `page`, or pin one on its badge",
        pages=[describe_page(page) for _, page in pages],
    )


def describe_page(page: LivePage) -> dict[str, object]:
    """What an agent may know of a page: label, site, path without query."""
    return {
        "page": page.id,
        "site": page.session.site,
        "label": page.title,
        "path": urlsplit(page.url).path or "/",
        "visible": page.visible,
        "connected": page.is_connected,
        "pinned": page.session.pinned_at is not None,
    }
