"""`ui.text` to `ui.input`: the standard components an agent shows in the panel of a page, drawn by trusted code (seed 000).

The declarations only; the gateway does the work in the transaction of the call. What the person answers comes by
`ui.events`. A `ui.confirm` is a question of the agent's own: it approves no call, and no approval is asked by it.
"""

from collections.abc import Mapping
from typing import Any, Final

from capabilities.contract import Descriptor, HandlerKind, Idempotency
from capabilities.contract.descriptor import JsonObject
from policy.vocabulary import Confirm, Effect

TEXT_MAX: Final = 16_384
"""Characters of a text or of Markdown."""

LINE_MAX: Final = 400
"""Characters of a question or a label."""

OPTIONS_MAX: Final = 50

_INSTANCE: Final[JsonObject] = {
    "type": "string",
    "pattern": r"^[A-Za-z0-9._:-]{1,128}$",
    "description": "Your own name of it in this conversation; what you show under the same name takes its place.",
}
_TELL: Final[JsonObject] = {
    "enum": ["events", "conversation"],
    "description": "Where its events go: to `ui.events` (unless said otherwise), or to the stream of a LineUp"
    " conversation.",
}
_LINE: Final[JsonObject] = {"type": "string", "minLength": 1, "maxLength": LINE_MAX}
_TEXT: Final[JsonObject] = {"type": "string", "minLength": 1, "maxLength": TEXT_MAX}
_DETAIL: Final[JsonObject] = {"type": "string", "minLength": 1, "maxLength": 2_000}
_ASKS: Final = (
    " The person answers when they like, and once: the event `answer` of `ui.events` says what. `close` says that they"
    " closed it without an answer."
)


def _object(required: list[str], /, **properties: JsonObject) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": required,
        "additionalProperties": False,
    }


def _declared(
    name: str, title: str, description: str, required: list[str], /, **properties: JsonObject
) -> Descriptor:
    return Descriptor(
        id=f"ui.{name}",
        title=title,
        description=description,
        input_schema=_object(["instance_id", *required], instance_id=_INSTANCE, **properties, tell=_TELL),
        output_schema=_object(
            ["instance_id", "replaced"], instance_id={"type": "string"}, replaced={"type": "boolean"}
        ),
        # It changes what the person sees, and nothing the person or the site has.
        effect=Effect.READ,
        confirm=Confirm.POLICY,
        handler=HandlerKind.RUNTIME,
        contract_version="1.0",
        idempotency=Idempotency.ARGUMENTS,
    )


TEXT: Final = _declared("text", "Show a text", "Shows a plain text in the panel of the page.", ["text"], text=_TEXT)

MARKDOWN: Final = _declared(
    "markdown",
    "Show Markdown",
    "Shows Markdown in the panel of the page. Links, images and HTML are shown as text.",
    ["markdown"],
    markdown=_TEXT,
)

STATUS: Final = _declared(
    "status",
    "Show a status",
    "Says in the panel of the page how something stands.",
    ["label", "state"],
    label=_LINE,
    state={"enum": ["info", "running", "success", "warning", "error"]},
    detail=_DETAIL,
)

PROGRESS: Final = _declared(
    "progress",
    "Show progress",
    "Shows in the panel of the page how far something is; without `value`, that it goes on.",
    ["label"],
    label=_LINE,
    value={"type": "number", "minimum": 0, "maximum": 1e15},
    max={"type": "number", "exclusiveMinimum": 0, "maximum": 1e15, "description": "1 unless said otherwise."},
    detail=_DETAIL,
)

ERROR: Final = _declared(
    "error",
    "Show an error",
    "Says in the panel of the page what went wrong.",
    ["message"],
    message=_LINE,
    detail=_DETAIL,
)

CHOICE: Final = _declared(
    "choice",
    "Ask to choose",
    "Asks the person to pick one option, or several, in the panel of the page." + _ASKS + " `data` holds `values`.",
    ["question", "options"],
    question=_LINE,
    detail=_DETAIL,
    options={
        "type": "array",
        "minItems": 1,
        "maxItems": OPTIONS_MAX,
        "items": _object(
            ["value", "label"],
            value={"type": "string", "minLength": 1, "maxLength": 200},
            label={"type": "string", "minLength": 1, "maxLength": 200},
            description={"type": "string", "maxLength": 400},
        ),
    },
    multiple={"type": "boolean", "description": "Whether several may be picked."},
    min={"type": "integer", "minimum": 0, "maximum": OPTIONS_MAX, "description": "Of several: at least so many."},
    max={"type": "integer", "minimum": 1, "maximum": OPTIONS_MAX, "description": "Of several: at most so many."},
)

CONFIRM: Final = _declared(
    "confirm",
    "Ask yes or no",
    "Asks the person a question to be answered by yes or no, in the panel of the page. It is your own question and"
    " approves no call." + _ASKS + " `data` holds `confirmed`.",
    ["question"],
    question=_LINE,
    detail=_DETAIL,
)

INPUT: Final = _declared(
    "input",
    "Ask for an input",
    "Asks the person to write something, in the panel of the page. Never ask for a password or another secret."
    + _ASKS
    + " `data` holds `value`: a number for `number`, else a text.",
    ["question"],
    question=_LINE,
    detail=_DETAIL,
    kind={"enum": ["text", "multiline", "number", "date"]},
    placeholder={"type": "string", "maxLength": 200},
    required={"type": "boolean"},
    max_length={"type": "integer", "minimum": 1, "maximum": 4_096},
)

STANDARD: Final[Mapping[str, Descriptor]] = {
    declared.id: declared for declared in (TEXT, MARKDOWN, STATUS, PROGRESS, ERROR, CHOICE, CONFIRM, INPUT)
}
"""By capability id."""
