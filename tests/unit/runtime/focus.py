"""A mini app with one tool of each kind, and the page that shows it, for the tests of running apps."""

import asyncio
from dataclasses import replace
from typing import Any, Final

import pytest

from capabilities.contract import (
    CallModel,
    DeadlineOperation,
    Descriptor,
    HandlerKind,
    InterruptOperation,
    Leave,
    Leaving,
    Readiness,
)
from gateway.domain.app_catalog import AppTool, Catalog, OfferedApp, OfferedSurface
from gateway.domain.calls import Receipt
from gateway.domain.errors import GatewayError
from gateway.domain.intents import HostIntent
from gateway.runtime.settlement import Answer
from gateway.runtime.workspaces import Action, Answered, Foregrounded, News, Opened, Place, Refused, Told
from policy.vocabulary import Confirm, Effect
from tests.unit.runtime.rig import Document, Rig, configuration, site

APP: Final = "dev.example.focus"

MINUTE: Final = 60_000

_STATUS: Final = {
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
    "additionalProperties": False,
}

START: Final = Descriptor(
    id="focus.start",
    title="Start",
    description="Starts a focus.",
    input_schema={
        "type": "object",
        "properties": {"minutes": {"type": "number", "minimum": 1, "maximum": 180}},
        "required": ["minutes"],
        "additionalProperties": False,
    },
    output_schema=_STATUS,
    effect=Effect.READ,
    confirm=Confirm.NEVER,
    readiness=Readiness.FOREGROUND_REQUIRED,
    call_model=CallModel.OPERATION,
    handler=HandlerKind.RUNTIME,
    app_scope=APP,
    runtime=DeadlineOperation(
        argument="minutes",
        unit_ms=MINUTE,
        completed={"status": "completed"},
        interrupted={"status": "interrupted"},
    ),
    not_started={"status": "not_started"},
)
STOP: Final = replace(
    START,
    id="focus.stop",
    title="Stop",
    input_schema={"type": "object", "additionalProperties": False},
    readiness=Readiness.ACTIVATION_NOT_REQUIRED,
    call_model=CallModel.COMMAND,
    runtime=InterruptOperation(
        cancelled_start={"status": "start_cancelled"},
        interrupted={"status": "interrupted"},
        nothing={"status": "nothing_to_stop"},
    ),
    not_started=None,
)
DRAW: Final = replace(
    START,
    id="focus.draw",
    title="Draw",
    input_schema={"type": "object"},
    output_schema=None,
    readiness=Readiness.APP_READY,
    call_model=CallModel.COMMAND,
    handler=HandlerKind.MINIAPP_SDK,
    runtime=None,
    not_started=None,
)
LOOK: Final = replace(DRAW, id="focus.look", title="Look", readiness=Readiness.FOREGROUND_REQUIRED)

TOOLS: Final = (START, STOP, DRAW, LOOK)

CLOSING: Final = Leaving(left_workspace=Leave.INTERRUPT, closed=Leave.INTERRUPT)


def focus(*tools: Descriptor, **changes: Any) -> OfferedApp:
    """The app as the catalogue offers it."""
    given = {
        tool.id: AppTool(
            app=APP,
            descriptor=tool,
            is_on_page=tool.readiness is not Readiness.ACTIVATION_NOT_REQUIRED,
        )
        for tool in tools or TOOLS
    }
    app = OfferedApp(
        id=APP,
        name="Focus",
        version="1.0.0",
        digest="d" * 64,
        is_enabled=True,
        tools=given,
        surface=OfferedSurface(id="face", title="Focus", integrity="sha256-x", has_handlers=True),
        leaving=CLOSING,
    )
    return replace(app, **changes)


def with_focus(**changes: Any) -> dict[str, Any]:
    """Changes of the rig's configuration: the site exposes the app."""
    exposing = site(expose=tuple(replace(site().expose[0], pattern=p) for p in ("todo.*", "orders.*", "focus.*")))
    return {"sites": {"todo": exposing, "shop": site("shop")}, **changes}


def install(rig: Rig, *apps: OfferedApp) -> None:
    """Make `apps` what is installed."""
    rig.services.live.install(Catalog.of(apps or (focus(),)))


class Screen:
    """One document's frames of mini apps, and what it says of them."""

    def __init__(self, page: Document) -> None:
        self.page = page
        self.rig = page.rig

    def told(self, op: str) -> list[dict[str, Any]]:
        """The `app` frames of one kind so far."""
        return [frame for frame in self.page.connection.of("app") if frame["op"] == op]

    @property
    def instance(self) -> str:
        """The instance the document was last asked to open."""
        name: str = self.told("open")[-1]["instance"]
        return name

    @property
    def phase(self) -> str:
        """What the instance shows."""
        frames = [f for f in self.page.connection.of("app") if f["op"] in ("open", "state")]
        phase: str = frames[-1]["state"]["phase"]
        return phase

    async def say(self, news: News, instance: str | None = None) -> None:
        place = Place(page=self.page.live, instance=instance or self.instance)
        await self.rig.services.workspaces.hear(place, news)
        await self.rig.settle()

    async def open(self) -> None:
        await self.say(Opened())

    async def come_to_front(self) -> None:
        """Open it, and let the person agree to have it in front."""
        await self.say(Opened())
        await self.say(Foregrounded())

    async def refuse(self) -> None:
        await self.say(Refused())

    async def answer(self, ref: str, text: str) -> None:
        await self.say(Answered(ref, Answer(output=text)))

    def act(self, action: str, arguments: Any = None, *, name: str = "r1", instance: str | None = None) -> "Acting":
        """Let the frame ask for `action`, under the name `name`."""
        return Acting(self, Action(id=name, action=action, arguments=arguments or {}), instance or self.instance)

    async def intend(self, intent: HostIntent, instance: str | None = None) -> None:
        place = Place(page=self.page.live, instance=instance or self.instance)
        await self.rig.services.workspaces.intended(place, intent)
        await self.rig.settle()


class Acting:
    """One request of a frame, and what the frame heard of it."""

    def __init__(self, screen: Screen, action: Action, instance: str) -> None:
        self.receipts: list[Told] = []
        self.place = Place(page=screen.page.live, instance=instance)
        workspaces = screen.rig.services.workspaces
        self.task = asyncio.create_task(workspaces.acted(self.place, action, self.receipts.append))
        self._rig = screen.rig

    @property
    def told(self) -> list[str]:
        return [receipt.status for receipt in self.receipts]

    async def settle(self) -> "Acting":
        await self._rig.settle()
        return self

    async def output(self) -> Any:
        """What it came to."""
        await self._rig.settle()
        assert self.task.done(), "it is still under way"
        return await self.task

    async def refusal(self) -> str:
        """The code of what came of it instead."""
        with pytest.raises(GatewayError) as refused:
            await self.output()
        return refused.value.code.wire

    async def hang_up(self) -> None:
        """The socket of the document ends."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        await self._rig.settle()


async def a_screen(rig: Rig, **how: Any) -> Screen:
    """A document with a workspace."""
    return Screen(await rig.page(**how))


async def receipts(rig: Rig, ref: str) -> list[str]:
    """The receipts of a call, in order."""
    found: list[Receipt] = list(await rig.store.run(lambda tx: tx.calls.receipts_of(ref)))
    assert [receipt.seq for receipt in found] == list(range(1, len(found) + 1))
    return [receipt.status for receipt in found]


async def result(rig: Rig, ref: str) -> str | None:
    """The result of a call as canonical text."""
    found = await rig.store.run(lambda tx: tx.calls.result_of(ref))
    return None if found is None else found.output


__all__ = ["APP", "MINUTE", "Screen", "a_screen", "configuration", "focus", "install", "receipts", "result"]
