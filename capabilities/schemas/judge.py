"""The verdict over one declared schema."""

from typing import Any, Final

from capabilities.schemas.document import SchemaDocument, open_document
from capabilities.schemas.graph import judge_graph
from capabilities.schemas.native import compile_native

SCHEMA_DEPTH: Final = 32
"""Schemas within schemas, the root being 0 (design §17)."""


def judge_schema(schema: Any, *, max_bytes: int, max_depth: int = SCHEMA_DEPTH) -> SchemaDocument:
    """Accept a schema that every later step can trust, or say the first thing wrong with it.

    Accepted means: a JSON object for objects, of at most `max_bytes` as compact UTF-8 JSON; draft-07 or
    2020-12 and right by its meta-schema; every reference stays inside; a check always ends, after work the
    limits of `capabilities.schemas.graph` bound; every pattern runs in linear time.

    Raises:
        SchemaRefused: with fault and pointer.
    """
    document = open_document(schema, max_bytes=max_bytes, max_depth=max_depth)
    judge_graph(document)
    compile_native(document.root)
    return document
