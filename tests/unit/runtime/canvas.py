"""An app whose surfaces agents show, and what a test does with them."""

import json
from dataclasses import replace
from typing import Any, Final

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.app_catalog import Catalog, OfferedApp, OfferedSurface
from gateway.domain.calls import CallState
from gateway.domain.conversations import Talk
from gateway.domain.surfaces import Surface
from gateway.runtime.requests import Outcome
from policy.model import Floor
from tests.unit.runtime.rig import Rig, site

APP: Final = "dev.example.canvas"
CANVAS: Final = OfferedSurface(
    id="canvas", title="Canvas", integrity="sha256-a", events=("draw", "resize"), has_handlers=True
)
LEGEND: Final = OfferedSurface(id="legend", title="Legend", integrity="sha256-b")
BOARD: Final = "board.01"


def canvas(**changes: Any) -> OfferedApp:
    """The app as the catalogue offers it: two surfaces, and not a single tool."""
    app = OfferedApp(
        id=APP,
        name="Canvas",
        version="1.0.0",
        digest="d" * 64,
        is_enabled=True,
        surface=CANVAS,
        others=(LEGEND,),
    )
    return replace(app, **changes)


def with_surfaces(*exposed: str, **changes: Any) -> dict[str, Any]:
    """Changes of the rig's configuration: the site exposes surfaces."""
    floors = tuple(Floor(pattern=pattern) for pattern in exposed or ("ui.*",))
    return {"sites": {"todo": site(expose=floors), "shop": site("shop", expose=floors)}, **changes}


def install(rig: Rig, *apps: OfferedApp) -> None:
    """Make `apps` what is installed."""
    rig.services.live.install(Catalog.of(apps or (canvas(),)))


async def a_grant(rig: Rig, agent: str = "alice", **changes: Any) -> AgentSession:
    """A session that may use all of `ui.`."""
    given: dict[str, Any] = {"scope": ["ui.*"], **changes}
    return await rig.grant(agent, **given)


async def call(rig: Rig, session: AgentSession, what: str, arguments: dict[str, Any], **more: Any) -> Outcome:
    """One call, as far as it goes by itself."""
    outcome, waiter = await rig.submit(session, f"ui.{what}", arguments, **more)
    rig.services.calls.attendance.leave(waiter)
    return outcome


async def done(rig: Rig, session: AgentSession, what: str, arguments: dict[str, Any], **more: Any) -> Any:
    """What a call came to."""
    outcome = await call(rig, session, what, arguments, **more)
    assert outcome.call.state is CallState.SUCCEEDED, (outcome.call.code, outcome.call.message)
    assert outcome.result is not None
    return json.loads(outcome.result.output)


async def refused(rig: Rig, session: AgentSession, what: str, arguments: dict[str, Any]) -> str:
    """The code with which a call failed."""
    outcome = await call(rig, session, what, arguments)
    assert outcome.call.state is CallState.FAILED
    assert outcome.call.code is not None
    return outcome.call.code.wire


def opening(**changes: Any) -> dict[str, Any]:
    """Good arguments of `ui.surface_open`."""
    return {"app": APP, "version": "1.0.0", "surface": "canvas", "instance_id": BOARD, "state": {"n": 1}, **changes}


async def surface(rig: Rig, session: AgentSession, instance: str = BOARD) -> Surface | None:
    """The live surface of this name."""
    return await rig.store.run(lambda tx: tx.surfaces.live(Talk.of(session), instance))


async def events(rig: Rig, session: AgentSession, cursor: int = 0, wait_ms: int = 0) -> dict[str, Any]:
    """What `ui.events` answers at once."""
    return await done(rig, session, "events", {"cursor": cursor, "wait_ms": wait_ms})
