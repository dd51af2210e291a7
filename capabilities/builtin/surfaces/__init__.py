"""`ui.surface_*` and `ui.events`: an agent shows a surface of an installed app, and hears what the person does in it.

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


OPEN: Final = _declared(
    "ui.surface_open",
    "Show a surface",
    "Shows a surface of an installed app on the person's page, in the place of one you opened under the same"
    " `instance_id`. The person sees whose it is, brings it to the front, and may close it at any time.",
    _object(
        ["app", "version", "surface", "instance_id"],
        app={"type": "string", "maxLength": 128, "pattern": r"^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*){1,9}$"},
        version={"type": "string", "minLength": 5, "maxLength": 64},
        surface={"type": "string", "maxLength": 64, "pattern": r"^[a-z][a-z0-9-]*$"},
        instance_id=_INSTANCE,
        state=_STATE,
        title={"type": "string", "minLength": 1, "maxLength": 80, "description": "Shown after the app's name."},
        tell={
            "enum": ["events", "conversation"],
            "description": "Where its events go: to `ui.events` (unless said otherwise), or to the stream of a LineUp"
            " conversation.",
        },
    ),
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
