"""The one door to the native schema library: nothing is fetched, patterns run in linear time."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import jsonschema_rs

from capabilities.json_values import Path, pointer_to
from capabilities.schemas.refusal import SchemaFault, SchemaRefused

PATTERN_BYTES: Final = 2**20
"""Memory of one compiled pattern; a larger one is refused."""

PARTS_KEPT: Final = 128
"""Compiled parts of one document kept between explanations."""

_DOCUMENT: Final = "urn:ostiary:schema"


def compile_native(schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
    """Compile a schema and check it against its meta-schema.

    Raises:
        SchemaRefused: the library does not take it.
    """
    # Without its `$id` every `#…` reference means this very document.
    document = {keyword: value for keyword, value in schema.items() if keyword != "$id"}
    try:
        return jsonschema_rs.validator_for(document, **_options())
    except jsonschema_rs.ValidationError as error:
        raise _refusal(error) from None
    except (ValueError, jsonschema_rs.ReferencingError):
        raise SchemaRefused(SchemaFault.BAD_SCHEMA, "", "the schema library cannot read it") from None


class Parts:
    """The schemas inside an accepted document, each compiled when first asked."""

    def __init__(self, document: Mapping[str, Any], dialect: str) -> None:
        """Register the document; its references keep their meaning in every part."""
        root = {keyword: value for keyword, value in document.items() if keyword != "$id"}
        self._dialect = dialect
        self._registry = jsonschema_rs.Registry([(_DOCUMENT, {"$schema": dialect, **root})], retriever=_refuse)
        self._compiled: dict[Path, jsonschema_rs.Validator] = {}

    def accepts(self, path: Path, value: Any) -> bool:
        """Whether the schema at `path` accepts `value`."""
        part = self._compiled.get(path)
        if part is None:
            if len(self._compiled) >= PARTS_KEPT:
                self._compiled.clear()
            part = self._compiled[path] = self._compile(path)
        return part.is_valid(value)

    def _compile(self, path: Path) -> jsonschema_rs.Validator:
        steps = (quote(str(step).replace("~", "~0").replace("/", "~1"), safe="~") for step in path)
        pointer = "".join(f"/{step}" for step in steps)
        return jsonschema_rs.validator_for(
            {"$schema": self._dialect, "$ref": f"{_DOCUMENT}#{pointer}"}, registry=self._registry, **_options()
        )


def _options() -> dict[str, Any]:
    # Left alone the library fetches http and file addresses and lets patterns backtrack.
    return {
        "retriever": _refuse,
        "pattern_options": jsonschema_rs.RegexOptions(size_limit=PATTERN_BYTES, dfa_size_limit=PATTERN_BYTES),
    }


def _refuse(uri: str) -> Any:  # noqa: ARG001 - the library calls it with the address it would fetch
    raise LookupError("a schema is one document")


def _refusal(error: jsonschema_rs.ValidationError) -> SchemaRefused:
    pointer = pointer_to(error.instance_path)
    match error.kind:
        case jsonschema_rs.ValidationErrorKind.Format("regex"):
            return SchemaRefused(SchemaFault.BAD_PATTERN, pointer, "wrong, too large, or needs backtracking")
        case jsonschema_rs.ValidationErrorKind.Referencing():
            return SchemaRefused(SchemaFault.DANGLING_REF, pointer, "a reference names nothing")
        case _:
            return SchemaRefused(SchemaFault.BAD_SCHEMA, pointer, "the meta-schema refuses it")
