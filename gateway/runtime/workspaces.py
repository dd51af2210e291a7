"""The port between the page channel and mini app instances: what pages say of the frames they show.

The channel has judged the shape of what comes here, and that its socket still speaks for its page session. Whether
the instance exists and is this page's is for the implementation to judge: it raises `GatewayError`, its door answers
`error` and audits. Frames the other way are `protocol.app_frames`, sent with `Pages.send`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gateway.domain.app_catalog import OfferedApp
from gateway.domain.calls import Call
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.instances import Instance
from gateway.domain.intents import HostIntent
from gateway.runtime.settlement import Answer
from gateway.runtime.world import LivePage

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One instance on one live document; `page.session` names user, site and epoch."""

    page: LivePage
    instance: str


# -- what pages tell ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Opened:
    """The frame is mounted and its bundle runs; said again when an `open` changed nothing."""


@dataclass(frozen=True, slots=True)
class Failed:
    """There is no frame (`app_frames.FailedCode`). What it was doing is lost; whether it was done is unknown."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Foregrounded:
    """The person let it come to the foreground, and it is in front in a visible document."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The person did not let it come to the foreground."""


@dataclass(frozen=True, slots=True)
class Started:
    """The bundle's handler is about to run `ref`."""

    ref: str


@dataclass(frozen=True, slots=True)
class Progressed:
    """The bundle's handler got so far with `ref`."""

    ref: str
    n: float
    total: float | None
    message: str | None


@dataclass(frozen=True, slots=True)
class Answered:
    """What the bundle's handler said of `ref`. The page forgets it once this was heard or refused."""

    ref: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Happened:
    """A surface bundle's event: what the person did in it."""

    event: str
    data: JsonObject


News = Opened | Failed | Foregrounded | Refused | Started | Progressed | Answered | Happened


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The session data an app session has now; `is_taken` says whether that is what was just sent."""

    is_taken: bool
    revision: int
    data: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What a frame asks for. `id` is its own name for this one request: said again, it is the same request."""

    id: str
    action: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """How far the call behind an action of a frame is: one receipt (`rules.md` F1)."""

    status: str
    seq: int
    reason: str | None = None


Tell = Callable[[Told], None]


class Workspaces(Protocol):
    """Who runs the instances. Every method may raise `GatewayError`; only `acted` may take long."""

    async def arrived(self, page: LivePage, /) -> None:
        """A document was welcomed. It shows nothing yet, unless it kept its frames over a reconnect.

        Opening what is mounted there as it is asked to be changes nothing but its state.
        """
        ...

    async def hear(self, place: Place, news: News, /) -> None:
        """A page told something of one of its frames."""
        ...

    async def keep(self, place: Place, revision: int, data: JsonObject, /) -> Kept:
        """Keep session data if `revision` is still the newest."""
        ...

    async def intended(self, place: Place, intent: HostIntent, /) -> None:
        """What the person or the browser did to it (entry `host_intent`)."""
        ...

    async def acted(self, place: Place, action: Action, tell: Tell, /) -> Any:
        """Do what the frame asks for (entry `ui_action`); returns the output as JSON values.

        `tell` takes receipts while it is not over. Cancelled, nobody waits for it any more.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What an instance is opened with: its app, what it shows, and what it kept (`data` is canonical JSON)."""

    app: OfferedApp
    state: JsonObject
    revision: int
    data: str


class FrameLink(Protocol):
    """The way to the frames on pages. Each is a frame of the channel; False: the document is not connected."""

    def open(self, page: LivePage, instance: Instance, shown: Shown) -> bool:
        """Mount it in the background; what is mounted already only takes the new state."""
        ...

    def state(self, page: LivePage, instance: Instance, state: JsonObject) -> bool:
        """Replace what it shows."""
        ...

    def ask_front(self, page: LivePage, instance: Instance, *, agent: str, remaining_ms: int) -> bool:
        """Ask the person to let it come to the front for `agent`; its label."""
        ...

    def close(self, page: LivePage, instance: Instance, reason: str) -> bool:
        """Take its frame away, and every question about it."""
        ...

    def tool(self, page: LivePage, instance: str, call: Call, arguments: str, remaining_ms: int) -> bool:
        """Have its bundle's handler run `call`."""
        ...

    def cancel(self, page: LivePage, instance: str, ref: str) -> bool:
        """Ask its bundle's handler to stop."""
        ...


def unknown_instance(place: Place) -> GatewayError:
    """The refusal of an instance that is not this page's; the same for one that never was."""
    return GatewayError(ErrorCode.BAD_REQUEST, f"instance `{place.instance[:128]}` is not open on this page")
