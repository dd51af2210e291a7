"""The frames of mini apps on the page channel: `app` down, `app_news`, `intent` and `action` up.

An instance id is a name between one gateway and one page; no other door knows it. Which instance a page may speak of,
and what follows from what it says, is not known here.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, Field

from gateway.domain.intents import HostIntent
from gateway.protocol.frame import Frame, Name, Ref, ResultError
from gateway.protocol.strict_json import dumps

EVENT_BYTES: Final = 16_384
"""An event's data is smaller than this, as compact JSON in UTF-8 (seed 000 §4.2)."""

RESERVED_EVENT: Final = "close"
"""The gateway's own word to an agent when the person closes a surface; no bundle can send it (`rules.md` G2)."""


def _not_reserved(name: str) -> str:
    if name == RESERVED_EVENT:
        raise ValueError("reserved")
    return name


def _small(data: dict[str, Any]) -> dict[str, Any]:
    try:
        size = len(dumps(data))
    except TypeError:
        raise ValueError("too deep") from None
    if size >= EVENT_BYTES:
        raise ValueError("too large")
    return data


Instance = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
EventName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9._:-]{0,63}$"), AfterValidator(_not_reserved)]
EventData = Annotated[dict[str, Any], AfterValidator(_small)]
Message = Annotated[str, Field(max_length=500)]

FailedCode = Literal["no_workspace", "too_many", "not_loaded", "integrity", "navigated", "unresponsive", "removed"]
"""Why an instance has no frame. Work its frame was doing is lost with it: whether it was done is unknown."""


# -- page to gateway ----------------------------------------------------------------------------------------


class Opened(Frame):
    """The frame of an instance is mounted and its bundle runs: it is `active`."""

    type: Literal["app_news"]
    instance: Instance
    what: Literal["opened"]


class OpenFailed(Frame):
    """There is no frame, or no more."""

    type: Literal["app_news"]
    instance: Instance
    what: Literal["failed"]
    code: FailedCode
    message: Message = ""


class Foregrounded(Frame):
    """The instance is in front in a visible document, as it was asked to be."""

    type: Literal["app_news"]
    instance: Instance
    what: Literal["foregrounded"]


class ForegroundRefused(Frame):
    """The person did not want it to come to the foreground."""

    type: Literal["app_news"]
    instance: Instance
    what: Literal["refused"]


class ToolStarted(Frame):
    """The bundle's handler is about to run."""

    type: Literal["app_news"]
    instance: Instance
    what: Literal["started"]
    ref: Ref


class ToolProgress(Frame):
    type: Literal["app_news"]
    instance: Instance
    what: Literal["progress"]
    ref: Ref
    n: float
    total: float | None = None
    message: Annotated[str, Field(max_length=200)] = ""


class ToolSucceeded(Frame):
    """What the handler returned; kept by the page until `ack`."""

    type: Literal["app_news"]
    instance: Instance
    what: Literal["result"]
    ref: Ref
    ok: Literal[True]
    output: Any


class ToolFailed(Frame):
    type: Literal["app_news"]
    instance: Instance
    what: Literal["result"]
    ref: Ref
    ok: Literal[False]
    error: ResultError


class SurfaceEvent(Frame):
    """What a surface bundle said the person did in it."""

    type: Literal["app_news"]
    instance: Instance
    what: Literal["event"]
    event: EventName
    data: EventData


class SessionData(Frame):
    """What the app wants kept for its app session, if `revision` is still the newest."""

    type: Literal["app_news"]
    instance: Instance
    what: Literal["data"]
    id: Name
    revision: Annotated[int, Field(ge=0)]
    data: dict[str, Any]


AppNews = (
    Opened
    | OpenFailed
    | Foregrounded
    | ForegroundRefused
    | ToolStarted
    | ToolProgress
    | ToolSucceeded
    | ToolFailed
    | SurfaceEvent
    | SessionData
)

NEWS: Final[Mapping[str, type[Frame]]] = {
    "opened": Opened,
    "failed": OpenFailed,
    "foregrounded": Foregrounded,
    "refused": ForegroundRefused,
    "started": ToolStarted,
    "progress": ToolProgress,
    "event": SurfaceEvent,
    "data": SessionData,
}
"""By `what`; a `result` is told apart by `ok`."""

NEWS_RESULTS: Final[Mapping[bool, type[Frame]]] = {True: ToolSucceeded, False: ToolFailed}


class Intent(Frame):
    """What the person or the browser did to an instance (entry `host_intent`)."""

    type: Literal["intent"]
    instance: Instance
    what: Literal["foregrounded", "backgrounded", "left_workspace", "closed", "restored", "locked"]

    @property
    def intent(self) -> HostIntent:
        """The same word as the domain knows it."""
        return HostIntent(self.what)


class AppAction(Frame):
    """What a mini app's own frame asks for (entry `ui_action`); answered by one `action_reply`."""

    type: Literal["action"]
    id: Name
    instance: Instance
    action: Annotated[str, Field(max_length=128, pattern=r"^[a-z][A-Za-z0-9_]*(\.[a-z][A-Za-z0-9_]*){1,3}$")]
    input: dict[str, Any]


AppFrame = AppNews | Intent | AppAction

APP_FRAMES: Final[tuple[type[Frame], ...]] = get_args(AppFrame)


# -- gateway to page ----------------------------------------------------------------------------------------


EVERY_EVENT: Final = "*"
"""Among the events of a bundle: it declares none and may send any that has the form of one. No event has this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentParts:
    """A bundle that comes with the frame, because no address may be asked for it. `agent` is who sent it, for people."""

    agent: str
    html: str
    css: str
    js: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a page needs to mount one instance.

    Attributes:
        app: the app's id; `title` its name for the person, `surface` which of its surfaces.
        sandbox: address of the outer frame, a path of this gateway.
        bundle: address of the surface's html, css and js, a path of this gateway; empty if they are `sent`.
        integrity: `sha256-` and base64 of the bundle; a page mounts nothing else.
        events: the events the bundle may send; others are dropped.
        has_handlers: the bundle answers `tool` calls and may ask for actions.
        profile: `strict`, or `compat` without Trusted Types in the frame.
        state: the projection the bundle gets first.
        revision, data: the app session's data, for a bundle with handlers; `revision` 0 means none was kept yet.
    """

    app: str
    version: str
    title: str
    surface: str
    sandbox: str
    bundle: str
    integrity: str
    events: tuple[str, ...] = ()
    has_handlers: bool = False
    profile: Literal["strict", "compat"] = "strict"
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    revision: int = 0
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sent: SentParts | None = None


def app_open(instance: str, opening: Opening) -> dict[str, Any]:
    """Mount an instance in the background; the same id again replaces its frame unless nothing but `state` differs."""
    return {
        "type": "app",
        "op": "open",
        "instance": instance,
        "app": opening.app,
        "version": opening.version,
        "title": opening.title,
        "surface": opening.surface,
        "sandbox": opening.sandbox,
        "bundle": opening.bundle,
        "integrity": opening.integrity,
        "events": list(opening.events),
        "handlers": opening.has_handlers,
        "profile": opening.profile,
        "state": dict(opening.state),
        "revision": opening.revision,
        "data": dict(opening.data),
        **({} if opening.sent is None else {"sent": asdict(opening.sent)}),
    }


def app_state(instance: str, state: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the projection an instance shows, whole."""
    return {"type": "app", "op": "state", "instance": instance, "state": dict(state)}


def app_tool(instance: str, ref: str, method: str, arguments: str, deadline: int) -> dict[str, Any]:
    """Have the bundle's handler of `method` run; `arguments` is RFC 8785 text, `deadline` in milliseconds from now."""
    return {
        "type": "app",
        "op": "tool",
        "instance": instance,
        "ref": ref,
        "method": method,
        "arguments": arguments,
        "deadline": deadline,
    }


def app_cancel(instance: str, ref: str) -> dict[str, Any]:
    """Ask the bundle's handler to stop."""
    return {"type": "app", "op": "cancel", "instance": instance, "ref": ref}


def app_foreground(instance: str, *, agent: str, remaining: int) -> dict[str, Any]:
    """Ask the person to let an instance come to the foreground, for `agent` (its label; empty: nobody's wish).

    `remaining` is for how many milliseconds the question stands.
    """
    return {"type": "app", "op": "foreground", "instance": instance, "agent": agent, "remaining": remaining}


def app_close(instance: str, reason: str) -> dict[str, Any]:
    """Take an instance's frame away, and every question about it."""
    return {"type": "app", "op": "close", "instance": instance, "reason": reason}


def app_data(instance: str, name: str, *, ok: bool, revision: int, data: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `data`: whether it was kept, and what is kept now."""
    return {
        "type": "app",
        "op": "data",
        "instance": instance,
        "id": name,
        "ok": ok,
        "revision": revision,
        "data": dict(data),
    }


def receipt(name: str, *, status: str, seq: int, reason: str | None = None) -> dict[str, Any]:
    """How far the call behind an `action` of a mini app's frame is."""
    told: dict[str, Any] = {"type": "receipt", "id": name, "status": status, "seq": seq}
    return told if reason is None else {**told, "reason": reason}
