"""What every surface host can do for a page beside the page's own actions (seed 000 §5).

The declarations are the gateway's: a page only says which of them its browser supports, so no page can word one anew.
Ids under these names are reserved; the site's `expose` decides whether any agent may ask for one.
"""

from collections.abc import Mapping
from typing import Any, Final

from capabilities.contract import CallModel, Descriptor, HandlerKind, Readiness
from capabilities.contract.descriptor import JsonObject
from policy.vocabulary import Confirm, Effect, Risk

TEXT_MAX: Final = 65_536
"""Characters of a text that goes to the clipboard or into a file."""

BASE64_MAX: Final = 87_384
"""Characters of base64: 64 KiB of bytes."""

FILE_MAX: Final = 262_144
"""Bytes of a file that is picked: as base64 it fits a page result."""

REASON: Final[JsonObject] = {
    "type": "string",
    "maxLength": 280,
    "description": "Why, in a sentence the person reads before deciding.",
}


def _object(required: list[str], **properties: JsonObject) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": required,
        "additionalProperties": False,
    }


def _declared(
    name: str,
    title: str,
    description: str,
    takes: JsonObject,
    gives: JsonObject,
    *,
    risk: Risk = Risk.USER_CONFIRMATION,
    effect: Effect = Effect.WRITE,
    call_model: CallModel = CallModel.COMMAND,
    timeout_ms: int = 60_000,
) -> Descriptor:
    return Descriptor(
        id=name,
        title=title,
        description=description,
        input_schema=takes,
        output_schema=gives,
        effect=effect,
        risk=risk,
        confirm=Confirm.POLICY,
        readiness=Readiness.ACTIVATION_NOT_REQUIRED,
        call_model=call_model,
        handler=HandlerKind.PAGE,
        contract_version="1.0",
        timeout_ms=timeout_ms,
    )


_NAME: Final[JsonObject] = {"type": "string", "minLength": 1, "maxLength": 120, "pattern": r"^[^/\\\x00-\x1f\x7f]+$"}
_MEDIA_TYPE: Final[JsonObject] = {"type": "string", "maxLength": 100, "pattern": r"^[a-z0-9.+-]+/[a-z0-9.+-]+$"}

OPEN_URL: Final = _declared(
    "app.open_url",
    "Open a page in a new tab",
    "Opens an http or https address in a new tab of the person's browser. Nothing of that page comes back.",
    _object(
        ["url"],
        url={"type": "string", "maxLength": 2_048, "pattern": r"^https?://[^\s\x00-\x1f\x7f]+$"},
        reason=REASON,
    ),
    _object(["opened"], opened={"const": True}),
)

CLIPBOARD_WRITE: Final = _declared(
    "clipboard.write",
    "Copy a text to the clipboard",
    "Puts a text on the person's clipboard, in the place of what is there.",
    _object(["text"], text={"type": "string", "maxLength": TEXT_MAX}, reason=REASON),
    _object(["written"], written={"const": True}),
)

PICK_FILE: Final = _declared(
    "device.pick_file",
    "Pick a file",
    f"Lets the person pick one file of their device, at most {FILE_MAX} bytes, and returns it.",
    _object(
        [],
        accept={
            "type": "array",
            "maxItems": 20,
            "items": {
                "type": "string",
                "maxLength": 100,
                "pattern": r"^(\.[A-Za-z0-9]+|[a-z0-9.+-]+/[a-z0-9.+*-]+)$",
            },
            "description": "Extensions like `.csv`, or media types like `image/*`.",
        },
        reason=REASON,
    ),
    _object(
        ["name", "media_type", "bytes", "base64"],
        name={"type": "string"},
        media_type={"type": "string"},
        bytes={"type": "integer", "minimum": 0, "maximum": FILE_MAX},
        base64={"type": "string"},
    ),
    risk=Risk.SYSTEM_PERMISSION,
    effect=Effect.READ,
    call_model=CallModel.INTERACTIVE,
    timeout_ms=300_000,
)

SAVE: Final = _declared(
    "artifact.save",
    "Save a file",
    "Hands a file to the person's browser to be saved, as `text` or as `base64`. Where it is put is theirs to say.",
    {
        **_object(
            ["name"],
            name=_NAME,
            media_type=_MEDIA_TYPE,
            text={"type": "string", "maxLength": TEXT_MAX},
            base64={"type": "string", "maxLength": BASE64_MAX, "pattern": r"^[A-Za-z0-9+/]*={0,2}$"},
            reason=REASON,
        ),
        "oneOf": [{"required": ["text"]}, {"required": ["base64"]}],
    },
    _object(
        ["handed_over", "name", "bytes"],
        handed_over={"const": True},
        name={"type": "string"},
        bytes={"type": "integer", "minimum": 0},
    ),
)

NOTIFY: Final = _declared(
    "notification.show",
    "Show a notification",
    "Shows a notification of the person's system, in the name of this page.",
    _object(
        ["title"],
        title={"type": "string", "minLength": 1, "maxLength": 120},
        body={"type": "string", "maxLength": 500},
        reason=REASON,
    ),
    _object(["shown"], shown={"const": True}),
)

HOST: Final[Mapping[str, Descriptor]] = {
    declared.id: declared for declared in (OPEN_URL, CLIPBOARD_WRITE, PICK_FILE, SAVE, NOTIFY)
}
"""By capability id."""
