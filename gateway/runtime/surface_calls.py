"""What agents do with surfaces: `ui.surface_open`, `ui.surface_patch`, `ui.surface_close` (rules G), in units of work.

Each is done in the transaction that dispatches its call and has its answer there; pages follow the commit.
"""

import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson

from capabilities.builtin.surfaces import EVENTS, OPEN, PATCH, SHUT
from gateway.domain import surfaces
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.app_catalog import OfferedApp
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call
from gateway.domain.canonical import canonical
from gateway.domain.conversations import Talk
from gateway.domain.errors import ErrorCode
from gateway.domain.surfaces import Surface, SurfaceMove, SurfaceState
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.effects import ChangeSurface, Effect, HideSurface, ShowSurface
from gateway.runtime.inventory import question_of
from gateway.runtime.ports import Tx
from gateway.runtime.settlement import Answer, settle
from gateway.runtime.surface_events import carry_events
from gateway.runtime.world import World
from policy.vocabulary import Verdict

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


def _open(tx: Tx, world: World, call: Call, session: AgentSession, given: Given, now: int) -> Done:
    app = world.apps.apps.get(given["app"])
    talk = Talk.of(session)
    refusal = _not_shown(tx, app, talk, given) or _other_package(tx, app, talk)
    if refusal is not None or app is None:
        return refusal or _unknown_app(given), ()
    there, most = tx.surfaces.live_of_talk(talk), world.configuration.limits.surfaces_per_conversation
    former = next((surface for surface in there if surface.instance == given["instance_id"]), None)
    if former is None and len(there) >= most:
        return Answer(code=ErrorCode.BUSY, message=f"{most} surfaces are open in this conversation; close one"), ()
    effects = () if former is None else close(tx, former, "replaced", now)
    assert call.page is not None
    assert call.site is not None
    surface = Surface(
        id=surfaces.PREFIX + call.ref.removeprefix("call_"),
        session=session.id,
        agent=session.agent,
        user=session.user,
        conversation=session.conversation,
        instance=given["instance_id"],
        app=app.id,
        version=app.version,
        digest=app.digest,
        surface=given["surface"],
        title=_shown_title(given.get("title")),
        site=call.site,
        page=call.page,
        state=SurfaceState.OPENING,
        is_told=given.get("tell") == "conversation",
        opened_at=now,
    )
    tx.surfaces.add(surface, canonical(given.get("state", {})).decode())
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
    surface = _own(tx, world, call, session, given)
    if surface is None:
        return _said(closed=False), ()
    return _said(closed=True), close(tx, surface, given.get("reason", "agent"), now)


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


def _not_shown(tx: Tx, app: OfferedApp | None, talk: Talk, given: Given) -> Answer | None:
    """Why the surface that is asked for is not there to be shown."""
    if app is not None and app.is_enabled and app.fault is None:
        if app.version != given["version"]:
            message = f"app `{app.id}` is here in version `{app.version}`"
            return Answer(code=ErrorCode.UNSUPPORTED, message=message)
        if app.surface_named(given["surface"]) is None:
            return Answer(code=ErrorCode.UNSUPPORTED, message=f"app `{app.id}` has no surface `{given['surface']}`")
        return None
    # Only who had it is told that it is gone (rules B3).
    if tx.surfaces.of_app(talk, given["app"]):
        return Answer(code=ErrorCode.REVOKED, message=f"app `{given['app']}` is not enabled any more")
    return _unknown_app(given)


def _unknown_app(given: Given) -> Answer:
    return Answer(code=ErrorCode.UNSUPPORTED, message=f"app `{given['app']}` is not known here")


def _other_package(tx: Tx, app: OfferedApp | None, talk: Talk) -> Answer | None:
    """Refuse an app that says of two packages that they are the same version (rules G3)."""
    if app is None:
        return None
    known = tx.surfaces.of_app(talk, app.id)
    if all(surface.digest == app.digest for surface in known if surface.version == app.version):
        return None
    message = f"app `{app.id}` `{app.version}` was another package before; it needs a version of its own"
    return Answer(code=ErrorCode.UNSUPPORTED, message=message)


def _said(**output: Any) -> Answer:
    return Answer(output=canonical(output).decode())


def _shown_title(title: str | None) -> str | None:
    """The agent's words as they may stand beside a name of ours: one line, nothing that hides or turns text around."""
    if title is None:
        return None
    kept = "".join(c if c.isprintable() and not unicodedata.category(c).startswith("C") else " " for c in title)
    return " ".join(kept.split()) or None
