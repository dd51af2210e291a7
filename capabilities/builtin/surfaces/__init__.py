"""`ui.surface_*` and `ui.events`: an agent shows a surface, and hears what the person does in it.

A surface is one of an installed app, or html, css and js that the agent sends along.

The declarations only; the gateway does the work in the transaction of the call, and only agents have them.
"""

from collections.abc import Mapping
from typing import Any, Final

from capabilities.contract import CallModel, Descriptor, HandlerKind, Idempotency
from capabilities.contract.descriptor import JsonObject
from policy.vocabulary import Confirm, Effect

WAIT_MAX_MS: Final = 25_000
"""How long `ui.events` may wait at most."""

_INSTANCE: Final[JsonObject] = {
    "type": "string",
    "pattern": r"^[A-Za-z0-9._:-]{1,128}$",
    "description": "Your own name of the surface in this conversation.",
}
_STATE: Final[JsonObject] = {
    "type": "object",
    "description": "What the surface shows: given to it whole, in the place of what it had.",
}


def _object(required: list[str], **properties: JsonObject) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": required,
        "additionalProperties": False,
    }


def _declared(
    name: str, title: str, description: str, takes: JsonObject, gives: JsonObject, **how: Any
) -> Descriptor:
    return Descriptor(
        id=name,
        title=title,
        description=description,
        input_schema=takes,
        output_schema=gives,
        # It changes what the person sees, and nothing the person or the site has.
        effect=Effect.READ,
        confirm=Confirm.POLICY,
        handler=HandlerKind.RUNTIME,
        contract_version="1.0",
        idempotency=Idempotency.ARGUMENTS,
        **how,
    )


_APP_ID: Final[JsonObject] = {
    "type": "string",
    "maxLength": 128,
    "pattern": r"^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*){1,9}$",
}
_NUMBER: Final = "(0|[1-9][0-9]*)"
_LABEL: Final = "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_VERSION: Final[JsonObject] = {
    "type": "string",
    "maxLength": 64,
    "pattern": rf"^{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_LABEL}(\.{_LABEL})*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$",
}
_BUNDLE: Final[JsonObject] = {
    **_object(
        ["id", "name", "version", "html"],
        id={**_APP_ID, "description": "A reverse domain name of your own, the same each time."},
        name={"type": "string", "minLength": 1, "maxLength": 80, "description": "Shown to the person."},
        version={**_VERSION, "description": "A new one whenever html, css or js change."},
        html={
            "type": "string",
            "description": "Content of the body: no script, frame, form target or remote address.",
        },
        css={"type": "string"},
        js={
            "type": "string",
            "description": "Has `LineUpSurface.event(name, data)`, `.onState(listener)` and `.resize(height)`; no network,"
            " no storage, and no script from text such as `innerHTML`.",
        },
        integrity={
            "type": "string",
            "pattern": r"^sha256-[A-Za-z0-9+/]{43}=$",
            "description": "Digest over html, css and js; checked if given.",
        },
        events={
            "type": "array",
            "maxItems": 64,
            "uniqueItems": True,
            "items": {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9._:-]{0,63}$", "not": {"const": "close"}},
            "description": "The events it may send; without this, all it sends are passed on.",
        },
        signature=_object(
            ["key", "signature"],
            key={"type": "string", "pattern": "^[0-9a-f]{64}$"},
            signature={"type": "string", "pattern": "^[0-9a-f]{128}$"},
        ),
    ),
    "description": "html, css and js of your own, together at most 160 KiB, in the place of an installed app.",
}

OPEN: Final = _declared(
    "ui.surface_open",
    "Show a surface",
    "Shows a surface on the person's page, in the place of one you opened under the same `instance_id`: one of an"
    " installed app (`app`, `version`, `surface`), or a `bundle` of your own, where the site takes it. It runs in a"
    " sandbox without network. The person sees whose it is, brings it to the front, and may close it at any time.",
    {
        **_object(
            ["instance_id"],
            app=_APP_ID,
            version=_VERSION,
            surface={"type": "string", "maxLength": 64, "pattern": r"^[a-z][a-z0-9-]*$"},
            bundle=_BUNDLE,
            instance_id=_INSTANCE,
            state=_STATE,
            title={"type": "string", "minLength": 1, "maxLength": 80, "description": "Shown after the app's name."},
            tell={
                "enum": ["events", "conversation"],
                "description": "Where its events go: to `ui.events` (unless said otherwise), or to the stream of a"
                " LineUp conversation.",
            },
        ),
        # Either, never both (rules G1).
        "oneOf": [
            {"required": ["app", "version", "surface"], "properties": {"bundle": False}},
            {"required": ["bundle"], "properties": {"app": False, "version": False, "surface": False}},
        ],
    },
    _object(["instance_id", "replaced"], instance_id={"type": "string"}, replaced={"type": "boolean"}),
)

PATCH: Final = _declared(
    "ui.surface_patch",
    "Change what a surface shows",
    "Replaces the state of a surface you opened, whole. Its code does not change.",
    _object(["instance_id", "state"], instance_id=_INSTANCE, state=_STATE),
    _object(["instance_id"], instance_id={"type": "string"}),
)

SHUT: Final = _declared(
    "ui.surface_close",
    "Close a surface",
    "Closes a surface you opened; one that is gone already is no mistake. There is no `close` event for it.",
    _object(["instance_id"], instance_id=_INSTANCE, reason={"type": "string", "maxLength": 200}),
    _object(["closed"], closed={"type": "boolean"}),
)

EVENTS: Final = _declared(
    "ui.events",
    "What happened in your surfaces",
    "Gives the events of the surfaces you opened that came after `cursor`, or waits for the first at most `wait_ms`."
    " What came up to `cursor` is forgotten. Name the `cursor` of the last answer, 0 or nothing the first time."
    " `close` says that a surface is gone though you did not close it.",
    _object(
        [],
        cursor={"type": "integer", "minimum": 0, "maximum": 2**53 - 1},
        wait_ms={"type": "integer", "minimum": 0, "maximum": WAIT_MAX_MS},
    ),
    _object(
        ["events", "cursor", "more"],
        events={
            "type": "array",
            "items": _object(
                ["event", "data", "instance_id", "at"],
                event={"type": "string"},
                data={"type": "object"},
                instance_id={"type": "string"},
                at={"type": "integer", "description": "Milliseconds since the epoch."},
            ),
        },
        cursor={"type": "integer"},
        more={"type": "boolean", "description": "Whether there are more already."},
    ),
    call_model=CallModel.QUERY,
)

SURFACES: Final[Mapping[str, Descriptor]] = {declared.id: declared for declared in (OPEN, PATCH, SHUT, EVENTS)}
"""By capability id."""
