"""What an agent may send: calls, and the surfaces of rules G1 to G4."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal, cast

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema

from gateway.protocol.lineup.base import PREFIX, CallId, Closed, Envelope, JsonObject, Name

REASON_MAX: Final = 500
"""Characters of a reason: it is shown to a person who has to decide."""

TAG: Final = "#"
"""Begins the steps in pydantic's locations that are no keys."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_INSTANT: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})$"
_SEMVER_NUMBER: Final = "(0|[1-9][0-9]*)"
_SEMVER_LABEL: Final = "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER: Final = (
    rf"^{_SEMVER_NUMBER}\.{_SEMVER_NUMBER}\.{_SEMVER_NUMBER}"
    rf"(-{_SEMVER_LABEL}(\.{_SEMVER_LABEL})*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$"
)


def instant_of(text: str) -> int:
    """Milliseconds since the epoch of an RFC 3339 time.

    Raises:
        ValueError: there is no such time.
    """
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)


def _an_instant(text: str) -> str:
    instant_of(text)
    return text


Instant = Annotated[str, Field(max_length=40, pattern=_INSTANT), AfterValidator(_an_instant)]
Revision = Annotated[str, Field(pattern=r"^catalog-[0-9]{1,15}$")]
InstanceId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,128}$")]
AppId = Annotated[str, Field(max_length=128, pattern=r"^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*){1,9}$")]
EventName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9._:-]{0,63}$")]
Version = Annotated[str, Field(max_length=64, pattern=_SEMVER)]
Integrity = Annotated[str, Field(pattern=r"^sha256-[A-Za-z0-9+/]{43}=$")]


# -- calls --------------------------------------------------------------------------------------------------


class ToolCall(Closed):
    """Call what the inventory of this revision holds (rules B2)."""

    call_id: CallId
    method: Name
    inventory_revision: Revision
    arguments: JsonObject


class AppCall(Closed):
    """Call a capability, with a reason for the person and an end after which it must not begin any more."""

    call_id: CallId
    capability: Name
    reason: Annotated[str, Field(min_length=1, max_length=REASON_MAX)]
    expires_at: Instant
    arguments: JsonObject


# -- surfaces -----------------------------------------------------------------------------------------------


class InstalledSurface(Closed):
    """A surface of an app that is installed and enabled here."""

    id: AppId
    version: Version
    surface: Annotated[str, Field(max_length=64, pattern=r"^[a-z][a-z0-9-]*$")]


class BundleSignature(Closed):
    """Ed25519 over a bundle's manifest and integrity. `key` is SHA-256 of the public key; both in hex."""

    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


class Bundle(Closed):
    """A surface the agent brings along: html, css and js together at most 160 KiB (G1, G4)."""

    id: AppId
    name: Annotated[str, Field(min_length=1, max_length=80)]
    version: Version
    integrity: Integrity | None = None
    html: str
    css: str = ""
    js: str = ""

    events: Annotated[list[EventName], Field(max_length=64)] | None = None
    signature: BundleSignature | None = None


def _kind_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{TAG}installed" if "surface" in cast("Mapping[str, Any]", value) else f"{TAG}bundle"
    return f"{TAG}installed" if isinstance(value, InstalledSurface) else f"{TAG}bundle"


class UiOpen(Closed):
    """Open a surface, or replace the one under this id. It brings its bundle or names an app, never both (G1)."""

    instance_id: InstanceId
    app: Annotated[
        Annotated[InstalledSurface, Tag(f"{TAG}installed")] | Annotated[Bundle, Tag(f"{TAG}bundle")],
        Discriminator(_kind_of),
        WithJsonSchema({"oneOf": [{"$ref": "#/$defs/InstalledSurface"}, {"$ref": "#/$defs/Bundle"}]}),
    ]
    state: JsonObject = Field(default_factory=dict)


class UiPatch(Closed):
    """Replace the state of an open surface, whole; never its code (G3)."""

    instance_id: InstanceId
    state: JsonObject


class UiClose(Closed):
    """Close a surface."""

    instance_id: InstanceId
    reason: Annotated[str, Field(max_length=200)] | None = None


# -- messages -----------------------------------------------------------------------------------------------


class ToolCallMessage(Envelope):
    type: Literal["lineup.v1.tool.call"]
    payload: ToolCall


class AppCallMessage(Envelope):
    type: Literal["lineup.v1.app.call"]
    payload: AppCall


class UiOpenMessage(Envelope):
    type: Literal["lineup.v1.ui.open"]
    payload: UiOpen


class UiPatchMessage(Envelope):
    type: Literal["lineup.v1.ui.patch"]
    payload: UiPatch


class UiCloseMessage(Envelope):
    type: Literal["lineup.v1.ui.close"]
    payload: UiClose


AgentMessage = ToolCallMessage | AppCallMessage | UiOpenMessage | UiPatchMessage | UiCloseMessage
AgentPayload = ToolCall | AppCall | UiOpen | UiPatch | UiClose

PAYLOADS: Final[Mapping[str, type[AgentPayload]]] = {
    f"{PREFIX}tool.call": ToolCall,
    f"{PREFIX}app.call": AppCall,
    f"{PREFIX}ui.open": UiOpen,
    f"{PREFIX}ui.patch": UiPatch,
    f"{PREFIX}ui.close": UiClose,
}
"""Every type an agent may send; any other is `unsupported`."""
