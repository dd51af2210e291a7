"""What agents do with surfaces: `ui.surface_open`, `ui.surface_patch`, `ui.surface_close` (rules G), in units of work.

Each is done in the transaction that dispatches its call and has its answer there; pages follow the commit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from capabilities.builtin.standard import STANDARD
from capabilities.builtin.surfaces import EVENTS, OPEN, PATCH, SHUT
from gateway.domain import surfaces
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.audit import AuditEvent
from gateway.domain.bundles import SentBundle
from gateway.domain.calls import Call
from gateway.domain.canonical import canonical
from gateway.domain.conversations import Talk
from gateway.domain.errors import ErrorCode
from gateway.domain.surfaces import Surface, SurfaceMove, SurfaceState
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.effects import ChangeSurface, Effect, HideSurface, ShowSurface
from gateway.runtime.inventory import question_of
from gateway.runtime.panel_calls import close_item, find_item, show_item
from gateway.runtime.ports import Tx
from gateway.runtime.sent_bundles import take_bundle
from gateway.runtime.settlement import Answer, settle
from gateway.runtime.surface_events import carry_events
from gateway.runtime.titles import shown_title
from gateway.runtime.world import World
from policy.vocabulary import Verdict
from surface_host.bundles import Parts

Effects = tuple[Effect, ...]
Given = Mapping[str, Any]
Done = tuple[Answer, Effects]


def carry_surface(tx: Tx, world: World, call: Call, arguments: str, now: int) -> tuple[Call, Effects]:
    """Do what a `ui.` call that was just dispatched asks for; its row is written already."""
    given: Given = orjson.loads(arguments)
    if call.capability == EVENTS.id:
        return carry_events(tx, world, call, given, now)
    session = tx.sessions.find(call.session)
    assert session is not None, "its grant was looked at in this transaction"
    if call.capability in STANDARD:
        answer, effects = show_item(tx, call, session, given, now)
    else:
        answer, effects = _WORK[call.capability](tx, world, call, session, given, now)
    ended, told = settle(tx, call.ref, answer, now, result_ms=world.configuration.limits.result_ms)
    assert ended is not None
    return ended, (*effects, *told)


def close(tx: Tx, surface: Surface, reason: str, now: int) -> Effects:
    """Close a surface. Whether its agent is told so is for the caller."""
    closed = surfaces.step(surface, SurfaceMove.CLOSE, now=now, reason=reason)
    tx.surfaces.save(closed, was=surface.state)
    tx.audit.append(audit.of_surface(AuditEvent.SURFACE_CLOSED, closed, now))
    reach(Point.SURFACE_CLOSED)
    return (HideSurface(surface=closed),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What is to be shown: a surface of an installed app, or a bundle its agent sent."""

    app: str
    version: str
    digest: str
    surface: str
    bundle: tuple[SentBundle, Parts] | None = None


def _open(tx: Tx, world: World, call: Call, session: AgentSession, given: Given, now: int) -> Done:
    assert call.page is not None
    assert call.site is not None
    talk = Talk.of(session)
    bundle: Given | None = given.get("bundle")
    shown = (
        _installed(tx, world, talk, given)
        if bundle is None
        else _sent(tx, world, talk, bundle, site=call.site, agent=session.agent)
    )
    if isinstance(shown, Answer):
        return shown, ()
    if find_item(tx, session, given["instance_id"]) is not None:
        message = f"`{given['instance_id']}` is shown in the panel; give the surface another name"
        return Answer(code=ErrorCode.ARGUMENTS_INVALID, message=message), ()
    there, most = tx.surfaces.live_of_talk(talk), world.configuration.limits.surfaces_per_conversation
    former = next((surface for surface in there if surface.instance == given["instance_id"]), None)
    if former is None and len(there) >= most:
        return Answer(code=ErrorCode.BUSY, message=f"{most} surfaces are open in this conversation; close one"), ()
    effects = () if former is None else close(tx, former, "replaced", now)
    surface = Surface(
        id=surfaces.PREFIX + call.ref.removeprefix("call_"),
        session=session.id,
        agent=session.agent,
        user=session.user,
        conversation=session.conversation,
        instance=given["instance_id"],
        app=shown.app,
        version=shown.version,
        digest=shown.digest,
        surface=shown.surface,
        title=shown_title(given.get("title")),
        site=call.site,
        page=call.page,
        state=SurfaceState.OPENING,
        is_told=given.get("tell") == "conversation",
        opened_at=now,
    )
    tx.surfaces.add(surface, canonical(given.get("state", {})).decode())
    if shown.bundle is not None:
        tx.surfaces.put_bundle(surface.id, *shown.bundle)
    tx.audit.append(audit.of_surface(AuditEvent.SURFACE_OPENED, surface, now, ref=call.ref))
    reach(Point.SURFACE_WRITTEN)
    return _said(instance_id=surface.instance, replaced=former is not None), (*effects, ShowSurface(surface=surface))


def _patch(tx: Tx, world: World, call: Call, session: AgentSession, given: Given, now: int) -> Done:  # noqa: ARG001
    surface = _own(tx, world, call, session, given)
    if surface is None:
        message = f"no surface `{given['instance_id']}` of yours is open in this conversation"
        return Answer(code=ErrorCode.ARGUMENTS_INVALID, message=message), ()
    tx.surfaces.put_state(surface.id, canonical(given["state"]).decode())
    reach(Point.SURFACE_WRITTEN)
    return _said(instance_id=surface.instance), (ChangeSurface(surface=surface),)


def _close(tx: Tx, world: World, call: Call, session: AgentSession, given: Given, now: int) -> Done:
    surface, reason = _own(tx, world, call, session, given), given.get("reason", "agent")
    if surface is not None:
        return _said(closed=True), close(tx, surface, reason, now)
    item = find_item(tx, session, given["instance_id"])
    if item is None or not may(world, session, call.capability, item.site):
        return _said(closed=False), ()
    return _said(closed=True), close_item(tx, item, reason, now)


_WORK: Final[Mapping[str, Callable[[Tx, World, Call, AgentSession, Given, int], Done]]] = {
    OPEN.id: _open,
    PATCH.id: _patch,
    SHUT.id: _close,
}


def _own(tx: Tx, world: World, call: Call, session: AgentSession, given: Given) -> Surface | None:
    """The open surface of this name, where its own site lets the session do that too."""
    surface = tx.surfaces.live(Talk.of(session), given["instance_id"])
    return surface if surface is not None and may(world, session, call.capability, surface.site) else None


def may(world: World, session: AgentSession, capability: str, site: str) -> bool:
    """Whether a session may use one of these capabilities for what is shown on `site`."""
    declared = world.surfaces.get(capability)
    if declared is None:
        return False
    question = question_of(world, session, declared, None, on_site=site)
    return world.decide(question).verdict is not Verdict.FORBID


def _installed(tx: Tx, world: World, talk: Talk, given: Given) -> _Shown | Answer:
    """The surface of an installed app, or why it is not there to be shown."""
    app = world.apps.apps.get(given["app"])
    if app is None or not app.is_enabled or app.fault is not None:
        # Only who had it is told that it is gone (rules B3).
        if tx.surfaces.of_app(talk, given["app"]):
            return Answer(code=ErrorCode.REVOKED, message=f"app `{given['app']}` is not enabled any more")
        return Answer(code=ErrorCode.UNSUPPORTED, message=f"app `{given['app']}` is not known here")
    if app.version != given["version"]:
        return Answer(code=ErrorCode.UNSUPPORTED, message=f"app `{app.id}` is here in version `{app.version}`")
    if app.surface_named(given["surface"]) is None:
        return Answer(code=ErrorCode.UNSUPPORTED, message=f"app `{app.id}` has no surface `{given['surface']}`")
    if _was_another(tx, talk, app.id, app.version, app.digest):
        message = f"app `{app.id}` `{app.version}` was another package before; it needs a version of its own"
        return Answer(code=ErrorCode.UNSUPPORTED, message=message)
    return _Shown(app=app.id, version=app.version, digest=app.digest, surface=given["surface"])


def _sent(tx: Tx, world: World, talk: Talk, given: Given, *, site: str, agent: str) -> _Shown | Answer:
    """The bundle an agent sent, or why it is not shown."""
    app = world.apps.apps.get(given["id"])
    if app is not None and app.is_enabled:
        message = f"`/bundle/id`: `{app.id}` is an installed app; name one of its surfaces, or use another id"
        return Answer(code=ErrorCode.SURFACE_ID_TAKEN, message=message)
    taken = take_bundle(world, given, site=site, agent=agent)
    if isinstance(taken, Answer):
        return taken
    digest = taken[0].integrity
    if _was_another(tx, talk, given["id"], given["version"], digest):
        message = "`/bundle/version`: this version was another bundle before; it needs a version of its own"
        return Answer(code=ErrorCode.SURFACE_VERSION_TAKEN, message=message)
    return _Shown(app=given["id"], version=given["version"], digest=digest, surface=surfaces.SENT, bundle=taken)


def _was_another(tx: Tx, talk: Talk, app: str, version: str, digest: str) -> bool:
    """Whether something else was shown under that id and version (rules G3)."""
    return any(shown.digest != digest for shown in tx.surfaces.of_app(talk, app) if shown.version == version)


def _said(**output: Any) -> Answer:
    return Answer(output=canonical(output).decode())
