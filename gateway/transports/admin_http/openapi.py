"""The OpenAPI 3.1 description of the admin API, written from its table and its models."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import orjson
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from gateway.domain.errors import ErrorCode
from gateway.protocol.admin.base import Refusal
from gateway.transports.admin_http.operations import Link, Operation, Table
from gateway.transports.errors import STATUSES

Json = dict[str, Any]

_REFERENCE: Final = "#/components/schemas/{model}"

_EVERYWHERE: Final = (
    ErrorCode.BAD_REQUEST,
    ErrorCode.UNAUTHENTICATED,
    ErrorCode.WRONG_DOOR,
    ErrorCode.ORIGIN_REFUSED,
    ErrorCode.SCOPE_MISSING,
    ErrorCode.HOST_REFUSED,
    ErrorCode.BODY_TOO_LARGE,
    ErrorCode.ENCODING_UNSUPPORTED,
    ErrorCode.RATE_LIMITED,
    ErrorCode.BUSY,
    ErrorCode.STORE_UNAVAILABLE,
)
_WITH_BODY: Final = (ErrorCode.BAD_JSON, ErrorCode.UNSAFE_INTEGER, ErrorCode.TOO_DEEP, ErrorCode.TOO_SLOW)

_DESCRIPTION: Final = """\
Administration of one Ostiary gateway, for programs.

- Credential: `Authorization: Bearer ost_admin_…`, made by `ostiary admin-token add`. A token holds scopes; `admin.read`
  reads everything but the audit trail, every other scope reads and changes its own kind.
- What `ostiary.yaml` declares is read here and changed there: edit it, then reload.
- Instants are milliseconds since 1970. Lists go from the newest down; `cursor` takes the `next` of the page before.
- Every answer has an `ETag`; a read takes `If-None-Match`, a change takes `If-Match`.
- Every change and every refusal leaves one record in the audit trail. Arguments, results and secrets are in no answer,
  but for a token or key in the answer that makes it.
"""


def document_of(table: Table) -> bytes:
    """The description, as JSON text with sorted keys."""
    answers = {row.answer for row in table.operations} | {Refusal}
    bodies = {row.body for row in table.operations if row.body is not None}
    assert len({model.__name__ for model in answers | bodies}) == len(answers | bodies), (
        "a model is found by its name"
    )
    _, schemas = models_json_schema(
        [
            *((model, "serialization") for model in sorted(answers, key=_name)),
            *((model, "validation") for model in sorted(bodies, key=_name)),
        ],
        ref_template=_REFERENCE,
    )
    paths: dict[str, Json] = {}
    for row in table.operations:
        paths.setdefault(f"/admin/v1{row.path}", {})[row.method.lower()] = _operation(row)
    document: Json = {
        "openapi": "3.1.0",
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "info": {"title": "Ostiary admin API", "version": "1", "description": _DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "responses": _responses(table),
            "securitySchemes": {"adminToken": {"type": "http", "scheme": "bearer", "bearerFormat": "ost_admin_…"}},
        },
        "security": [{"adminToken": []}],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def _name(model: type[BaseModel]) -> tuple[str, str]:
    return model.__module__, model.__name__


def _operation(row: Operation[Any, Any]) -> Json:
    told: Json = {
        "operationId": row.name,
        "summary": row.told,
        "description": f"Takes a token with {' or '.join(f'`{scope}`' for scope in sorted(row.scopes))}.",
        "responses": {**_success(row), **_refusals(row)},
    }
    if parameters := [*_named(row), *_asked(row), *_headers(row)]:
        told["parameters"] = parameters
    if row.body is not None:
        told["requestBody"] = {"required": True, "content": {"application/json": {"schema": _of(row.body)}}}
    elif row.is_text:
        told["requestBody"] = {"required": True, "content": {"application/yaml": {"schema": {"type": "string"}}}}
    return told


def _of(model: type[BaseModel]) -> Json:
    return {"$ref": _REFERENCE.format(model=model.__name__)}


def _success(row: Operation[Any, Any]) -> Json:
    headers: Json = {"ETag": {"required": True, "schema": {"type": "string"}}}
    if row.status == 201:
        headers["Location"] = {"required": True, "schema": {"type": "string"}}
        headers["Idempotency-Replayed"] = {
            "description": "`true` where the same request made it before.",
            "schema": {"const": "true"},
        }
    told: Json = {
        "description": "Made." if row.status == 201 else "Done.",
        "headers": headers,
        "content": {"application/json": {"schema": _of(row.answer)}},
    }
    if row.links:
        told["links"] = {name.replace(" ", "_"): _link(link) for name, link in row.links.items()}
    responses: Json = {str(row.status): told}
    if row.method == "GET":
        responses["304"] = {"description": "`If-None-Match` names this version."}
    return responses


def _link(link: Link) -> Json:
    return {
        "operationId": link.operation,
        "parameters": {name: f"$response.body#/{place}" for name, place in link.names.items()},
    }


def _codes(row: Operation[Any, Any]) -> set[ErrorCode]:
    codes = {*_EVERYWHERE, *row.refusals}
    if row.method != "GET":
        codes.update(_WITH_BODY)
    if row.matched_by is not None:
        codes.add(ErrorCode.PRECONDITION_FAILED)
    if row.is_match_required:
        codes.add(ErrorCode.PRECONDITION_REQUIRED)
    return codes


def _refusals(row: Operation[Any, Any]) -> Json:
    statuses = sorted({STATUSES[code] for code in _codes(row)})
    return {str(status): {"$ref": f"#/components/responses/Refused{status}"} for status in statuses}


def _responses(table: Table) -> Json:
    """One response for each status of a refusal, with the codes it may bring."""
    words: dict[int, set[str]] = {}
    for row in table.operations:
        for code in _codes(row):
            words.setdefault(STATUSES[code], set()).add(code.wire)
    content = {"application/json": {"schema": _of(Refusal)}}
    return {
        f"Refused{status}": {
            "description": f"Refused: {', '.join(f'`{word}`' for word in sorted(told))}.",
            "content": content,
        }
        for status, told in words.items()
    }


def _named(row: Operation[Any, Any]) -> Iterable[Json]:
    for name in row.placeholders:
        schema = {"type": "string", "minLength": 1, "maxLength": 256}
        yield {"name": name, "in": "path", "required": True, "schema": schema}


def _asked(row: Operation[Any, Any]) -> Iterable[Json]:
    shape = row.query.model_json_schema(ref_template=_REFERENCE)
    required: Sequence[str] = shape.get("required", ())
    for name, schema in shape.get("properties", {}).items():
        plain = _without_null(schema, shape.get("$defs", {}))
        description = plain.pop("description", None)
        told = {"name": name, "in": "query", "required": name in required, "schema": plain}
        yield {**told, "description": description} if description else told


def _without_null(schema: Json, defined: Mapping[str, Json]) -> Json:
    """The schema of a parameter: left out is how it is null."""
    kept = {key: value for key, value in schema.items() if key not in ("anyOf", "title")}
    if kept.get("default", ...) is None:
        del kept["default"]
    for choice in schema.get("anyOf", ()):
        if choice != {"type": "null"}:
            kept |= choice
    if "$ref" in kept:
        kept = {**defined[kept.pop("$ref").rpartition("/")[2]], **kept}
        kept.pop("title", None)
    return kept


def _headers(row: Operation[Any, Any]) -> Iterable[Json]:
    if row.method == "GET":
        yield _header("If-None-Match", "The `ETag` of the version at hand; answered 304 where it is still the one.")
    if row.matched_by is not None:
        text = f"The `ETag` `{row.matched_by}` gave; answered 412 where it has changed since."
        yield _header("If-Match", text, required=row.is_match_required)
    if row.repeatable:
        yield _header(
            "Idempotency-Key",
            "A name for this request: sent again within a day, it makes nothing again.",
            pattern=r"^[\x21-\x7e]{1,255}$",
        )


def _header(name: str, description: str, *, required: bool = False, pattern: str | None = None) -> Json:
    schema: Json = {"type": "string", **({"pattern": pattern} if pattern else {})}
    return {"name": name, "in": "header", "required": required, "description": description, "schema": schema}
