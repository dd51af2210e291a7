"""Checks arguments and results against declared schemas, compiled once per declaration.

Knows nothing of codes on the wire: the caller says whether a problem is the agent's or the handler's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from capabilities.json_values import is_deeper_than, pointer_to
from capabilities.schemas.document import open_document
from capabilities.schemas.explain import Broken, Explainer
from capabilities.schemas.native import compile_native

VALUE_DEPTH: Final = 64
"""Deepest array or object of a value, the root being 0 (design §17)."""

_ACCEPTED_BYTES: Final = 2**20
_ACCEPTED_DEPTH: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The first thing wrong with a value.

    Attributes:
        kind: `invalid`: the schema refuses it; `too_deep`: it was not looked at; `not_json`: it cannot be.
        pointer: to the place in the value, at most 256 characters, else to an ancestor.
        reason: lower-case words from the schema, never the value.
    """

    kind: Literal["invalid", "too_deep", "not_json"]
    pointer: str
    reason: str


class Validator:
    """One compiled schema. May be used from several threads."""

    def __init__(self, schema: Mapping[str, Any], *, max_depth: int = VALUE_DEPTH) -> None:
        """Compile an accepted schema.

        Raises:
            SchemaRefused: it was never judged, and is wrong.
        """
        self._schema = schema
        self._max_depth = max_depth
        self._native = compile_native(schema)
        self._explainer: Explainer | None = None

    def first_error(self, value: Any) -> Problem | None:
        """Check a JSON value.

        It is not asked here whether numbers are finite and safe: that is the reader's, or for values made in
        Python `find_unsafe_number`.
        """
        if is_deeper_than(value, self._max_depth):
            return Problem(kind="too_deep", pointer="", reason=f"nested deeper than {self._max_depth} levels")
        try:
            if self._native.is_valid(value):
                return None
            broken = self._explain(value)
        except (ValueError, TypeError):
            return Problem(kind="not_json", pointer="", reason="holds something JSON has no word for")
        return Problem(kind="invalid", pointer=pointer_to(broken.path), reason=broken.reason)

    def _explain(self, value: Any) -> Broken:
        if self._explainer is None:
            document = open_document(dict(self._schema), max_bytes=_ACCEPTED_BYTES, max_depth=_ACCEPTED_DEPTH)
            self._explainer = Explainer(document)
        return self._explainer.explain(value)


def compile_validator(schema: Mapping[str, Any], *, max_depth: int = VALUE_DEPTH) -> Validator:
    """Compile a schema that `judge_schema` accepted.

    Raises:
        SchemaRefused: it was never judged, and is wrong.
    """
    return Validator(schema, max_depth=max_depth)
