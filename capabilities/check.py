"""The linter of declarations: what a page, a mini app or a pack may register. A refusal is a value.

Knows the shape of a declaration, not who declares it: the caller says whether that is a page.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from capabilities.contract import Descriptor
from capabilities.contract.descriptor import EXECUTION_MAX_MS
from capabilities.json_values import POINTER_MAX
from capabilities.schemas.judge import SCHEMA_DEPTH, judge_schema
from capabilities.schemas.refusal import SchemaFault, SchemaRefused
from policy.patterns import is_capability_id

__all__ = [
    "APP_SCHEMA_BYTES",
    "DECLARATION_BYTES",
    "RESERVED_SEGMENTS",
    "SCHEMA_DEPTH",
    "Refusal",
    "SchemaFault",
    "SchemaRefused",
    "judge_descriptor",
    "judge_schema",
]

DECLARATION_BYTES: Final = 16_384
"""One declaration of a page as compact JSON, and each schema in it (design §17)."""

APP_SCHEMA_BYTES: Final = 65_536
"""One schema of a Python app (design §17)."""

TITLE_MAX: Final = 120
DESCRIPTION_MAX: Final = 4_096
EXECUTION_MIN_MS: Final = 1_000

RESERVED_SEGMENTS: Final = frozenset(
    {"ui", "app", "context", "clipboard", "device", "artifact", "notification", "gateway", "runtime", "webmcp"}
)
"""First segments of ids no page may register (design §4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a declaration is not taken.

    Attributes:
        code: wire spelling, for `caps_ack.rejected`.
        pointer: into the declaration as it travels (`/input_schema/properties/a`), at most 256 characters.
        reason: words for logs and the admin's view; of a schema, they begin with the fault (`remote_ref: …`).
    """

    code: Literal["id_invalid", "id_reserved", "schema_refused", "bad_request"]
    pointer: str
    reason: str


def judge_descriptor(
    descriptor: Descriptor,
    *,
    page: bool,
    app_segments: AbstractSet[str] = frozenset(),
    max_depth: int = SCHEMA_DEPTH,
) -> Refusal | None:
    """Judge one declaration; None means it is taken.

    Args:
        descriptor: the declaration.
        page: a page declares it: reserved ids are refused, the declaration is at most `DECLARATION_BYTES`.
        app_segments: first segments of the capability ids of installed mini apps, reserved as well.
        max_depth: of schemas within schemas.
    """
    if not is_capability_id(descriptor.id):
        return Refusal(code="id_invalid", pointer="/id", reason="not `area.action` in ASCII, 2 to 4 segments")
    first = descriptor.id.partition(".")[0]
    if page and (first in RESERVED_SEGMENTS or first in app_segments):
        return Refusal(code="id_reserved", pointer="/id", reason=f"`{first}.` is not for pages")
    return _judge_words(descriptor) or _judge_schemas(descriptor, page=page, max_depth=max_depth)


def _judge_words(descriptor: Descriptor) -> Refusal | None:
    if len(descriptor.title) > TITLE_MAX:
        return Refusal(code="bad_request", pointer="/title", reason=f"longer than {TITLE_MAX} characters")
    if len(descriptor.description) > DESCRIPTION_MAX:
        return Refusal(code="bad_request", pointer="/description", reason=f"longer than {DESCRIPTION_MAX} characters")
    if not EXECUTION_MIN_MS <= descriptor.timeout_ms <= EXECUTION_MAX_MS:
        return Refusal(
            code="bad_request",
            pointer="/timeout_ms",
            reason=f"not within {EXECUTION_MIN_MS} and {EXECUTION_MAX_MS} ms",
        )
    return None


def _judge_schemas(descriptor: Descriptor, *, page: bool, max_depth: int) -> Refusal | None:
    schemas: dict[str, Any] = {"input_schema": descriptor.input_schema}
    if descriptor.output_schema is not None:
        schemas["output_schema"] = descriptor.output_schema
    for keyword, schema in schemas.items():
        try:
            judge_schema(schema, max_bytes=DECLARATION_BYTES if page else APP_SCHEMA_BYTES, max_depth=max_depth)
        except SchemaRefused as refused:
            return Refusal(code=refused.code, pointer=_pointer_below(keyword, refused.pointer), reason=refused.reason)
    if page and len(_text(descriptor, schemas)) > DECLARATION_BYTES:
        return Refusal(code="bad_request", pointer="", reason=f"more than {DECLARATION_BYTES} bytes")
    return None


def _text(descriptor: Descriptor, schemas: dict[str, Any]) -> bytes:
    words = {
        "id": descriptor.id,
        "title": descriptor.title,
        "description": descriptor.description,
        "contract_version": descriptor.contract_version,
    }
    # Effect, risk and the like are words of a few bytes from closed lists; they are not counted.
    return orjson.dumps(words | schemas)


def _pointer_below(keyword: str, pointer: str) -> str:
    longer = f"/{keyword}{pointer}"
    while len(longer) > POINTER_MAX:
        longer = longer.rpartition("/")[0]
    return longer
