"""The frames of the page channel, version 1, as closed types (docs/spec/page-channel.md).

Text has been through the strict JSON reader before it comes here. What a page sends is judged by type, nothing
else: whether a ref is known, a snapshot too large or a decision valid is not known here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field, TypeAdapter, ValidationError, WithJsonSchema

from capabilities.contract import CallModel, Descriptor, HandlerKind, Readiness
from capabilities.contract.descriptor import EXECUTION_MS
from capabilities.json_values import pointer_to
from gateway.protocol.app_frames import NEWS, NEWS_RESULTS, AppAction, AppFrame, Intent
from gateway.protocol.document_frames import DOCUMENT_NEWS, DocumentAct, DocumentNews
from gateway.protocol.frame import Frame, Name, Ref, ResultError, Token
from gateway.protocol.panel_frames import PanelAnswer, PanelClose
from policy.vocabulary import Confirm, Effect, Risk

FRAME_BYTES_BEFORE_WELCOME: Final = 16 * 1024
FRAME_BYTES: Final = 1_310_720
"""1.25 MiB (design §17)."""

FRAME_DEPTH: Final = 128
"""Room for a declaration's schema of 32 levels; a deeper frame is refused whole, unless it is a snapshot."""

SNAPSHOT_DEPTH: Final = 1_023
"""How deep a snapshot is read, so that what is wrong is told of the one declaration: as far as the reader goes."""

Visibility = Literal["visible", "hidden"]

Span = Annotated[str, Field(max_length=256)]
"""Where in a trace the page did its work; what is no `traceparent` is ignored, not refused."""

DECLARATIONS_SCHEMA: Final = {"type": "array", "items": {"$ref": "#/$defs/Declaration"}}


# -- page to gateway ----------------------------------------------------------------------------------------


class Hello(Frame):
    type: Literal["hello"]
    v: Literal[1]
    site: Name
    doc: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{16,64}$")]
    ticket: Token
    resume: Token = ""
    seen: Annotated[list[Ref], Field(max_length=256)]
    url: Annotated[str, Field(min_length=1, max_length=2048, pattern=r"^[^?#]*$")]
    title: Annotated[str, Field(max_length=120)] = ""
    visibility: Visibility
    automated: bool
    workspace: bool = False


class TicketFrame(Frame):
    type: Literal["ticket"]
    ticket: Token


class Caps(Frame):
    type: Literal["caps"]
    seq: Annotated[int, Field(ge=0)]
    part: Annotated[int, Field(ge=1)]
    parts: Annotated[int, Field(ge=1, le=500)]
    # Judged one by one: a bad declaration is rejected by name and never hides its siblings.
    capabilities: Annotated[list[Any], WithJsonSchema(DECLARATIONS_SCHEMA)]
    host: Annotated[list[Name], Field(max_length=32)] = Field(default_factory=list[str])
    """What the surface host itself can do here, by the ids the gateway declares them under; in the first part."""


RefusedWhy = Literal[
    "stale_epoch",
    "stale_fingerprint",
    "unknown_capability",
    "not_available",
    "arguments_invalid",
    "approval_missing",
    "input_differs",
]


class Refused(Frame):
    type: Literal["refused"]
    ref: Ref
    why: RefusedWhy
    message: str = ""


class Started(Frame):
    type: Literal["started"]
    ref: Ref
    traceparent: Span = ""


class Progress(Frame):
    type: Literal["progress"]
    ref: Ref
    n: float
    total: float | None = None
    message: Annotated[str, Field(max_length=200)] = ""


class Succeeded(Frame):
    type: Literal["result"]
    ref: Ref
    epoch: int
    ok: Literal[True]
    output: Any
    evidence: Any = None
    traceparent: Span = ""


class Failed(Frame):
    type: Literal["result"]
    ref: Ref
    epoch: int
    ok: Literal[False]
    error: ResultError
    traceparent: Span = ""


class RecordWindow(Frame):
    offset: Annotated[int, Field(ge=0)]
    limit: Annotated[int, Field(ge=0)]
    total: Annotated[int, Field(ge=0)]
    next: int | None


class Context(Frame):
    records: list[Any]
    recordIds: list[str]  # noqa: N815 - the seed's spelling
    recordWindow: RecordWindow  # noqa: N815 - the seed's spelling


class Described(Frame):
    type: Literal["described"]
    id: Name
    context: Context | None
    unavailable: list[str]


class Decision(Frame):
    type: Literal["decision"]
    approval: Name
    nonce: Token
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    decision: Literal["approve", "deny"]
    visible: bool


class SurfaceRequest(Frame):
    type: Literal["surface"]
    id: Name
    envelope: Any


class Action(Frame):
    """What the person did on the badge; what a mini app's own frame asked for is an `AppAction`."""

    type: Literal["action"]
    id: Name
    action: Literal["pin", "unpin", "lift_deny", "disconnect_agent"]
    agent: Name = ""
    capability: Name = ""


class Pong(Frame):
    type: Literal["pong"]
    n: Annotated[int, Field(ge=0)]
    visibility: Visibility


class ErrorFrame(Frame):
    type: Literal["error"]
    code: Annotated[str, Field(max_length=160)]
    message: str = ""


class Bye(Frame):
    type: Literal["bye"]
    why: Annotated[str, Field(max_length=160)]


PageFrame = (
    Hello
    | TicketFrame
    | Caps
    | Refused
    | Started
    | Progress
    | Succeeded
    | Failed
    | Described
    | Decision
    | SurfaceRequest
    | Action
    | Pong
    | ErrorFrame
    | Bye
    | PanelAnswer
    | PanelClose
    | AppFrame
    | DocumentNews
    | DocumentAct
)

_RESULTS: Final[Mapping[bool, TypeAdapter[Any]]] = {True: TypeAdapter(Succeeded), False: TypeAdapter(Failed)}

_NEWS: Final[Mapping[str, TypeAdapter[Any]]] = {what: TypeAdapter(kind) for what, kind in NEWS.items()}

_NEWS_RESULTS: Final[Mapping[bool, TypeAdapter[Any]]] = {ok: TypeAdapter(kind) for ok, kind in NEWS_RESULTS.items()}

_ACTIONS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "instance": TypeAdapter(AppAction),
    "documentRef": TypeAdapter(DocumentAct),
}
"""By the field that says where a person acts; without one it is the badge."""

_ACTION: Final[TypeAdapter[Any]] = TypeAdapter(Action)

_DOCUMENT_NEWS: Final[Mapping[str, TypeAdapter[Any]]] = {
    what: TypeAdapter(kind) for what, kind in DOCUMENT_NEWS.items()
}

_FRAMES: Final[Mapping[str, TypeAdapter[Any]]] = {
    "hello": TypeAdapter(Hello),
    "ticket": TypeAdapter(TicketFrame),
    "caps": TypeAdapter(Caps),
    "refused": TypeAdapter(Refused),
    "started": TypeAdapter(Started),
    "progress": TypeAdapter(Progress),
    "described": TypeAdapter(Described),
    "decision": TypeAdapter(Decision),
    "surface": TypeAdapter(SurfaceRequest),
    "intent": TypeAdapter(Intent),
    "pong": TypeAdapter(Pong),
    "error": TypeAdapter(ErrorFrame),
    "bye": TypeAdapter(Bye),
    "panel_answer": TypeAdapter(PanelAnswer),
    "panel_close": TypeAdapter(PanelClose),
}


class BadFrame(ValueError):
    """A value that is no frame. `pointer` is empty for the whole; `reason` holds no value of it."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(f"at `{pointer or '/'}`: {reason}")
        self.pointer: Final = pointer
        self.reason: Final = reason


def read_frame(value: Any) -> PageFrame:
    """Judge the shape of one frame of a page.

    Raises:
        BadFrame: it is none of them.
    """
    if not isinstance(value, dict):
        raise BadFrame("", "a frame is an object")
    try:
        return _adapter_of(cast("dict[str, Any]", value)).validate_python(value)
    except ValidationError as error:
        raise _bad(error) from None


def _adapter_of(frame: dict[str, Any]) -> TypeAdapter[Any]:
    match frame.get("type"):
        case "result":
            return _RESULTS[_ok_of(frame)]
        case "app_news" if frame.get("what") == "result":
            return _NEWS_RESULTS[_ok_of(frame)]
        case "app_news":
            return _one_of(_NEWS, frame.get("what"), "/what")
        case "action":
            return next((adapter for where, adapter in _ACTIONS.items() if where in frame), _ACTION)
        case "document_news":
            return _one_of(_DOCUMENT_NEWS, frame.get("what"), "/what")
        case kind:
            return _one_of(_FRAMES, kind, "/type")


def _one_of(adapters: Mapping[str, TypeAdapter[Any]], kind: object, pointer: str) -> TypeAdapter[Any]:
    adapter = adapters.get(kind) if isinstance(kind, str) else None
    if adapter is None:
        raise BadFrame(pointer, "not a frame of this protocol")
    return adapter


def _ok_of(frame: dict[str, Any]) -> bool:
    ok = frame.get("ok")
    if not isinstance(ok, bool):
        raise BadFrame("/ok", "not true or false")
    return ok


def _bad(error: ValidationError) -> BadFrame:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    return BadFrame(pointer_to(first["loc"]), first["type"].replace("_", " "))


# -- declarations -------------------------------------------------------------------------------------------


class Declaration(Frame):
    """One capability as a page declares it. Lengths, the id and the schemas are the linter's to judge."""

    id: str
    title: str = ""
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None = None
    effect: Literal["read", "write", "destructive"] = "write"
    risk: Literal["display_only", "user_confirmation", "system_permission", "restricted"] = "display_only"
    confirm: Literal["never", "policy", "always"] = "policy"
    readiness: Literal["activation_not_required", "app_ready", "foreground_required"] = "activation_not_required"
    call_model: Literal["query", "command", "interactive", "operation"] = "command"
    contract_version: Annotated[str, Field(min_length=1, max_length=64)] = "1"
    timeout_ms: int = EXECUTION_MS

    def descriptor(self) -> Descriptor:
        """The same promise as the rest of the gateway knows it."""
        return Descriptor(
            id=self.id,
            title=self.title,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=self.output_schema,
            effect=Effect(self.effect),
            risk=Risk(self.risk),
            confirm=Confirm(self.confirm),
            readiness=Readiness(self.readiness),
            call_model=CallModel(self.call_model),
            handler=HandlerKind.PAGE,
            contract_version=self.contract_version,
            timeout_ms=self.timeout_ms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """Why one declaration was not taken; `pointer` goes into the declaration."""

    id: str
    code: str
    pointer: str

    def as_wire(self) -> dict[str, str]:
        """The entry of `caps_ack.rejected`."""
        return {"id": self.id, "code": self.code, "pointer": self.pointer}


def read_declaration(value: Any) -> Descriptor | Rejection:
    """Judge the shape of one declaration; a refusal is a value, because its siblings go on."""
    try:
        return Declaration.model_validate(value).descriptor()
    except ValidationError as error:
        given: Any = cast("dict[str, Any]", value).get("id") if isinstance(value, dict) else None
        return Rejection(
            id=given[:160] if isinstance(given, str) else "", code="bad_request", pointer=_bad(error).pointer
        )


# -- gateway to page ----------------------------------------------------------------------------------------


def welcome(*, page: str, epoch: int, resume: str, ping: int, reauth: int, in_page: bool) -> dict[str, Any]:
    """The standing a document got; times in milliseconds."""
    return {
        "type": "welcome",
        "page": page,
        "epoch": epoch,
        "resume": resume,
        "ping": ping,
        "reauth": reauth,
        "in_page": in_page,
    }


def caps_ack(seq: int, accepted: Mapping[str, str], rejected: list[Rejection]) -> dict[str, Any]:
    """What of a snapshot was taken, with the fingerprints the page compares invokes with."""
    return {
        "type": "caps_ack",
        "seq": seq,
        "accepted": dict(accepted),
        "rejected": [rejection.as_wire() for rejection in rejected],
    }


def ack(ref: str) -> dict[str, Any]:
    """The answer to `ref` is stored, or will never be; the page may forget it."""
    return {"type": "ack", "ref": ref}


def surface_reply(name: str, envelope: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one request of the in-page client."""
    return {"type": "surface_reply", "id": name, "envelope": dict(envelope)}


def action_reply(
    name: str, *, code: str | None = None, message: str | None = None, output: Any = None
) -> dict[str, Any]:
    """Whether what was asked for on the badge or by a mini app's frame was done, and what came of it."""
    reply: dict[str, Any] = {"type": "action_reply", "id": name, "ok": code is None}
    if code is not None:
        return {**reply, "code": code, "message": message or ""}
    return reply if output is None else {**reply, "output": output}


def ping(n: int) -> dict[str, Any]:
    """A question only a running page answers."""
    return {"type": "ping", "n": n}


def error(code: str, message: str) -> dict[str, Any]:
    """A frame of the page was refused."""
    return {"type": "error", "code": code, "message": message}


def bye(why: str) -> dict[str, Any]:
    """Said before a close that means something to the page."""
    return {"type": "bye", "why": why}
