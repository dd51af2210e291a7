"""Documents: `ui.structured_ui`, `ui.intelligent_ui`, `ui.stream_*`: an agent shows an interface that is data (design §12).

The declarations only; the gateway judges and keeps the documents. `ui.callback` is for documents alone: it is what an
entry of the invoke table names to have the agent told (rules H7), and no agent is ever offered it.
"""

from collections.abc import Mapping
from typing import Any, Final

from capabilities.contract import CallModel, Descriptor, HandlerKind, Idempotency
from capabilities.contract.descriptor import JsonObject
from policy.vocabulary import Confirm, Effect

CALLBACK_UNITS: Final = 4_096
"""Longest text of a callback, in UTF-16 units; the judge of documents counts them (rules H7)."""

_DOCUMENT: Final[JsonObject] = {
    "type": "object",
    "description": '`{version: "1.1", title, state?, derived?, actions?, root}`, an object, never a text that holds JSON.'
    " `root` is a node `{id, type, props, children?, visible?}`. `gateway_describe` and the document reference list the"
    " components and their props.",
}
_GENERATION: Final[JsonObject] = {
    "type": "string",
    "pattern": "^gen_[a-z2-7]{26}$",
    "description": "As the opening call named it.",
}
_EPOCH: Final[JsonObject] = {"type": "integer", "minimum": 1, "description": "As the opening call gave it."}
_SEQ: Final[JsonObject] = {
    "type": "integer",
    "minimum": 0,
    "maximum": 2**53 - 1,
    "description": "The number of this frame: one more than that of the last frame that was taken; opening was 0.",
}
_BASE: Final[JsonObject] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 2**53 - 1,
    "description": "The revision this frame builds on, as the last answer gave it.",
}
_REPLACES: Final[JsonObject] = {**_GENERATION, "description": "A document of yours this one takes the place of."}


def _object(required: list[str], **properties: JsonObject) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: dict(schema) for name, schema in properties.items()},
        "required": required,
        "additionalProperties": False,
    }


_REF: Final = _object(
    ["call", "generation", "revision"],
    call={"type": "string"},
    generation={"type": "string"},
    revision={"type": "integer"},
)
_TAKEN: Final = _object(
    ["generation", "epoch", "seq", "revision", "outcome", "state"],
    generation={"type": "string"},
    epoch={"type": "integer"},
    seq={"type": "integer"},
    revision={"type": "integer"},
    outcome={
        "enum": ["accepted", "repeated", "late"],
        "description": "`repeated` and `late` frames change nothing.",
    },
    state={"enum": ["streaming", "complete", "cancelled"]},
)


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


STRUCTURED: Final = _declared(
    "ui.structured_ui",
    "Show a document",
    "Shows a document in the panel of the person's page: layout, words, tables, lists, charts and results computed from"
    " its own data. It has no input and no actions. A refusal lists up to 20 faults as code and JSON pointer.",
    _object(["document"], document=_DOCUMENT, replaces=_REPLACES),
    _object(["documentRef"], documentRef=_REF),
)

INTELLIGENT: Final = _declared(
    "ui.intelligent_ui",
    "Show an interactive document",
    "Shows a document the person can work in: sliders, inputs, selects and buttons over its own state, and charts and"
    " results that follow. Its `invoke` actions name entries the administrator opened; the person confirms whatever"
    " changes something. A refusal lists up to 20 faults as code and JSON pointer.",
    _object(["document"], document=_DOCUMENT, replaces=_REPLACES),
    _object(["documentRef"], documentRef=_REF),
)

STREAM_OPEN: Final = _declared(
    "ui.stream_open",
    "Begin a document",
    "Begins a document that is written step by step, with a first one that is whole and legal. State, derived values,"
    " actions, the root's id and the types of nodes are fixed from here on; actions open when it is complete.",
    _object(
        ["document"],
        document=_DOCUMENT,
        kind={"enum": ["structured", "intelligent"], "description": "`intelligent` unless said otherwise."},
        replaces=_REPLACES,
    ),
    _object(["documentRef", "epoch", "seq"], documentRef=_REF, epoch={"type": "integer"}, seq={"type": "integer"}),
)

STREAM_PATCH: Final = _declared(
    "ui.stream_patch",
    "Go on with a document",
    'The next step of a document that was begun: `operations`, a list of `{op: "add", parent, index, node}`,'
    ' `{op: "update", id, props, visible?}` and `{op: "remove", id}`; or `document`, a whole checkpoint, which may skip'
    " numbers that were lost. What results must be legal, else nothing changes.",
    # One of the last two: no schema at the top says so, because few clients of models take one.
    _object(
        ["generation", "epoch", "seq", "baseRevision"],
        generation=_GENERATION,
        epoch=_EPOCH,
        seq=_SEQ,
        baseRevision=_BASE,
        operations={"type": "array"},
        document=_DOCUMENT,
    ),
    _TAKEN,
)

STREAM_COMPLETE: Final = _declared(
    "ui.stream_complete",
    "Complete a document",
    "Says that a document that was begun is whole; its actions open, and it changes no more.",
    _object(
        ["generation", "epoch", "seq", "baseRevision"],
        generation=_GENERATION,
        epoch=_EPOCH,
        seq=_SEQ,
        baseRevision=_BASE,
    ),
    _TAKEN,
)

STREAM_CANCEL: Final = _declared(
    "ui.stream_cancel",
    "Give a document up",
    "Says that a document that was begun will not be completed; what is shown stays, and its actions never open.",
    _object(
        ["generation", "epoch", "seq", "baseRevision"],
        generation=_GENERATION,
        epoch=_EPOCH,
        seq=_SEQ,
        baseRevision=_BASE,
    ),
    _TAKEN,
)

CALLBACK: Final = _declared(
    "ui.callback",
    "Tell the agent",
    "Tells the agent that showed the document; it finds the text in `ui.events`.",
    _object(["text"], text={"type": "string", "minLength": 1, "maxLength": CALLBACK_UNITS}),
    _object(["accepted"], accepted={"type": "boolean"}),
    call_model=CallModel.COMMAND,
)

DOCUMENTS: Final[Mapping[str, Descriptor]] = {
    declared.id: declared
    for declared in (STRUCTURED, INTELLIGENT, STREAM_OPEN, STREAM_PATCH, STREAM_COMPLETE, STREAM_CANCEL)
}
"""What agents may be offered, by capability id."""

SHOWN_ON_PAGES: Final = frozenset({STRUCTURED.id, INTELLIGENT.id, STREAM_OPEN.id})
"""Which of them need a page to show something on."""
