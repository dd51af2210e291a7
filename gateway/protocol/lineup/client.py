"""What the gateway tells an agent: the inventory, receipts, results, and what a person did in a surface."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from gateway.protocol.lineup.agent import AppId, InstanceId, Revision, Version
from gateway.protocol.lineup.base import CallId, Closed, Envelope, JsonObject, Name
from gateway.protocol.lineup.words import Status
from policy.vocabulary import Effect, Risk

ReceiptStatus = Literal[
    "accepted",
    "starting",
    "activation_ready",
    "activation_failed",
    "activation_cancelled",
    "started",
    "progress",
]
"""The seven words of rules F1."""

ComponentId = Literal["choice", "confirm", "input"]

EventName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9._:-]{0,63}$")]


# -- the inventory ------------------------------------------------------------------------------------------


class Component(Closed):
    """A standard component, called as a tool under `ui.` and its id (rules E4)."""

    id: ComponentId
    version: Literal["1"]


class OfferedSurface(Closed):
    """A surface of an app, and the events it may send."""

    id: str
    events: list[EventName]


class Application(Closed):
    """An enabled app this session may use."""

    id: AppId
    version: Version
    surfaces: list[OfferedSurface]


class Capability(Closed):
    """A capability this session may call now. `risk` says who must agree."""

    name: Name
    version: str
    risk: Risk


class ToolDescriptor(Closed):
    """What an agent needs to call a mini app's tool (seed 002 §4.1); nothing of it runs."""

    app_scope: AppId
    method: Name
    contract_version: str
    title: str
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None
    call_model: Literal["query", "command", "interactive", "operation"]
    idempotency: Literal["call_id", "arguments"]
    timeout_ms: Annotated[int, Field(ge=1)]
    readiness: Literal["app_ready", "foreground_required", "activation_not_required"]
    requires: list[Literal["workspace", "app.open_url", "clipboard.write", "artifact.save", "notification.show"]]
    permissions: list[str]
    effect: Effect
    risk: Risk
    confirm: Literal["never", "policy", "always"]


class ClientInventory(Closed):
    """All this session may use now (rules E2)."""

    revision: Revision
    standard_components: list[Component]
    applications: list[Application]
    capabilities: list[Capability]
    tools: list[ToolDescriptor]


class ListedCapability(Capability):
    """A capability with the schema of its arguments."""

    input_schema: JsonObject


class AppList(Closed):
    """The capabilities of the inventory alone."""

    capabilities: list[ListedCapability]


# -- calls --------------------------------------------------------------------------------------------------


class ToolReceipt(Closed):
    """A fact about an accepted call, never its result (rules F1). `at` is in milliseconds since 1970."""

    call_id: CallId
    app_scope: AppId | None
    status: ReceiptStatus
    reason: str | None = None
    seq: Annotated[int, Field(ge=1)]
    at: int


class CallError(Closed):
    """Why there is no result."""

    code: str
    message: str
    retryable: bool
    data: JsonObject | None = None


class AppResult(Closed):
    """What became of an `app.call`: told once for each call_id that was accepted."""

    call_id: CallId
    status: Status
    reason: str | None = None
    result: Any = None
    evidence: Any = None
    error: CallError | None = None
    late: Literal[True] | None = None


class ToolResult(AppResult):
    """What became of a `tool.call`: told once for each call_id that was accepted."""

    app_scope: AppId | None


# -- surfaces -----------------------------------------------------------------------------------------------


class UiEvent(Closed):
    """What a person did in a surface."""

    instance_id: InstanceId
    event: EventName
    data: JsonObject


# -- messages -----------------------------------------------------------------------------------------------


class ClientInventoryMessage(Envelope):
    type: Literal["lineup.v1.client.inventory"]
    payload: ClientInventory


class AppListMessage(Envelope):
    type: Literal["lineup.v1.app.list"]
    payload: AppList


class ToolReceiptMessage(Envelope):
    type: Literal["lineup.v1.tool.receipt"]
    payload: ToolReceipt


class ToolResultMessage(Envelope):
    type: Literal["lineup.v1.tool.result"]
    payload: ToolResult


class AppResultMessage(Envelope):
    type: Literal["lineup.v1.app.result"]
    payload: AppResult


class UiEventMessage(Envelope):
    type: Literal["lineup.v1.ui.event"]
    payload: UiEvent


ClientMessage = (
    ClientInventoryMessage
    | AppListMessage
    | ToolReceiptMessage
    | ToolResultMessage
    | AppResultMessage
    | UiEventMessage
)

EVENT_DATA_BYTES: Final = 16 * 1024
"""`data` of an event is smaller than this in UTF-8 (rules G2)."""
