"""The door of the admin API: who asks, what for, may they, is it well-formed; then the operation, then the answer.

A request of nobody known is noted as at every door. One of somebody known that is refused leaves exactly one record,
`admin.refused` or the use case's own; one that changes something leaves the record of that change.
"""

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from capabilities.json_values import pointer_to
from gateway.domain.admin_tokens import AdminToken
from gateway.domain.audit import AuditEvent
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.admin.base import Refusal
from gateway.protocol.admin.requests import Body, NoQuery, Nothing, Query
from gateway.protocol.strict_json import BadJson, dumps, parse
from gateway.runtime import audit
from gateway.runtime.admin import Once
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.transports.admin_http import conditions
from gateway.transports.admin_http.operations import Asked, Desk, NoOperation, Operation, Table, Told
from gateway.transports.doors import (
    PRIVATE,
    bearer_of,
    note,
    peer_of,
    read_body,
    refusal_of,
    refusal_of_json,
)
from gateway.transports.errors import STATUSES, headers_of

DOOR: Final = "admin"
PREFIX: Final = "/admin/v1"
DOCUMENT: Final = f"{PREFIX}/openapi.json"
BODY_BYTES: Final = 64 * 1024
BODY_DEPTH: Final = 4
TEXT_BYTES: Final = 1024 * 1024
"""Largest configuration file, as everywhere."""

_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class AdminDoor:
    """Answers every request below `/admin/v1`."""

    def __init__(self, desk: Desk, table: Table, document: bytes) -> None:
        self._desk = desk
        self._table = table
        self._document = document

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        response = await self._answer(Request(scope, receive, send))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        services = self._desk.services
        try:
            if request.scope["path"] == DOCUMENT and request.method in ("GET", "HEAD"):
                return _sent(request, self._document, 200)
            token = await services.admin.tokens.authenticate(bearer_of(request.headers))
        except (GatewayError, StoreBusy, StoreUnavailable) as failure:
            error = refusal_of(failure)
            await note(services, DOOR, request, error)
            return refused(error)
        return await _Exchange(self._desk, self._table, request, token).run()


@dataclass(slots=True)
class _Exchange:
    """One request of somebody known."""

    desk: Desk
    table: Table
    request: Request
    token: AdminToken
    what: str = ""

    async def run(self) -> Response:
        try:
            return await self._handle()
        except ClientDisconnect:
            return Response(status_code=400)
        except (GatewayError, StoreBusy, StoreUnavailable) as failure:
            error = refusal_of(failure)
            await self._note(error)
            return refused(error)

    @property
    def by(self) -> str:
        """Who asks, as the audit trail names them."""
        return f"admin:{self.token.name}@{peer_of(self.request)}"

    async def _handle(self) -> Response:
        request = self.request
        method = request.method if request.method in _METHODS else "?"
        self.what = f"{method} (no such path)"
        try:
            row, names = self.table.find(request.method, request.scope["path"].removeprefix(PREFIX))
        except NoOperation as error:
            self.what = f"{method} {error.path}" if error.path else self.what
            raise
        self.what = row.what
        if not row.scopes & self.token.scopes:
            raise GatewayError(
                ErrorCode.SCOPE_MISSING,
                f"this token may not; it would need {' or '.join(f'`{s}`' for s in sorted(row.scopes))}",
                scopes=sorted(row.scopes),
            )
        asked = await self._asked(row, names)
        await self._meet_demand(row, asked)
        told = await row.run(asked)
        headers = {"Location": f"{PREFIX}{told.location}"} if told.location else {}
        if told.is_repeated:
            headers["Idempotency-Replayed"] = "true"
        return _sent(request, _body_of(row.answer, told), row.status, headers)

    async def _asked(self, row: Operation[Any, Any], names: Mapping[str, str]) -> Asked[Any, Any]:
        query = _judged(row.query, _query_of(self.request))
        body, text = await self._body(row)
        return Asked(
            desk=self.desk, by=self.by, names=names, query=query, body=body, text=text, once=self._once(row, body)
        )

    async def _body(self, row: Operation[Any, Any]) -> tuple[Body, str]:
        if row.method == "GET":
            return Nothing(), ""
        if row.is_text:
            data = await self._read(TEXT_BYTES)
            try:
                return Nothing(), data.decode()
            except UnicodeDecodeError:
                raise GatewayError(ErrorCode.BAD_REQUEST, "the body is not UTF-8") from None
        data = await self._read(BODY_BYTES)
        if row.body is None and not data:
            return Nothing(), ""
        try:
            value = parse(data, max_depth=BODY_DEPTH)
        except BadJson as bad:
            raise refusal_of_json(bad) from None
        return _judged(row.body or Nothing, value), ""

    async def _read(self, limit: int) -> bytes:
        limits = self.desk.services.live.world.configuration.limits
        return await read_body(self.request.receive, max_bytes=limit, within_ms=limits.body_read_ms)

    def _once(self, row: Operation[Any, Any], body: Body) -> Once | None:
        keys = self.request.headers.getlist("idempotency-key")
        if not keys:
            return None
        if not row.repeatable:
            raise GatewayError(ErrorCode.BAD_REQUEST, "`Idempotency-Key` goes with requests that add something")
        if len(keys) != 1 or _KEY.fullmatch(keys[0]) is None:
            raise GatewayError(ErrorCode.BAD_REQUEST, "`Idempotency-Key` is 1 to 255 visible characters, once")
        asked = canonical([row.name, body.model_dump(mode="json")])
        return Once(holder=self.token.id, key=_digest(keys[0].encode()), request=_digest(asked))

    async def _meet_demand(self, row: Operation[Any, Any], asked: Asked[Any, Any]) -> None:
        """Hold `If-Match` against what is there now."""
        if row.matched_by is None:
            return
        demand = conditions.demand_of(self.request.headers)
        if demand is None:
            if row.is_match_required:
                raise GatewayError(
                    ErrorCode.PRECONDITION_REQUIRED, "send `If-Match` with the `ETag` of what you decided by"
                )
            return
        read = self.table.by_name[row.matched_by]
        now = await read.run(Asked(desk=self.desk, by=self.by, names=asked.names, query=NoQuery(), body=Nothing()))
        conditions.judge(demand, conditions.tag_of(_body_of(read.answer, now)))

    async def _note(self, error: GatewayError) -> None:
        if error.is_audited:
            return
        services = self.desk.services
        record = audit.of_admin(
            AuditEvent.ADMIN_REFUSED, services.clock.now(), by=self.by, what=self.what, code=error.code.wire
        )
        with suppress(StoreBusy, StoreUnavailable):  # a refusal is a refusal though it cannot be noted
            await services.spine.store.run(lambda tx: tx.audit.append(record))


def refused(error: GatewayError) -> Response:
    """A refusal in this API's shape, which is the other doors' and what its code brings."""
    told = {"code": error.code.wire, "message": error.message, "retryable": error.code.retryable, **error.facts}
    headers = headers_of(error)
    if isinstance(error, NoOperation) and error.allowed:
        headers["Allow"] = ", ".join(error.allowed)
    if error.code is ErrorCode.SCOPE_MISSING:
        scopes = " ".join(error.facts["scopes"])
        headers["WWW-Authenticate"] = f'Bearer realm="ostiary", error="insufficient_scope", scope="{scopes}"'
    body = Refusal.model_validate({"error": told}).model_dump(mode="json", exclude_none=True)
    return _answered(dumps(body), STATUSES[error.code], headers)


def _sent(request: Request, body: bytes, status: int, headers: Mapping[str, str] | None = None) -> Response:
    tag = conditions.tag_of(body)
    told = {**(headers or {}), "ETag": tag}
    if request.method in ("GET", "HEAD") and conditions.is_known(request.headers, tag):
        return Response(status_code=304, headers={**PRIVATE, **told})
    return _answered(body, status, told)


def _answered(body: bytes, status: int, headers: Mapping[str, str]) -> Response:
    return Response(body, status_code=status, media_type="application/json", headers={**PRIVATE, **headers})


def _body_of(answer: type[BaseModel], told: Told) -> bytes:
    """The fields the answer's model names, and no other."""
    return dumps(answer.model_validate(told.value).model_dump(mode="json"))


def _query_of(request: Request) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in found:
            raise GatewayError(ErrorCode.BAD_REQUEST, f"`{name[:80]}` comes twice in the query")
        found[name] = value
    return found


def _judged(shape: type[Any], value: Any) -> Any:
    try:
        return shape.model_validate(value)
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False, include_context=False)[0]
        pointer = pointer_to(first["loc"]) or "/"
        if issubclass(shape, Query):
            raise GatewayError(ErrorCode.BAD_REQUEST, f"query `{pointer[1:]}`: {first['msg'].lower()}") from None
        raise GatewayError(
            ErrorCode.BAD_REQUEST, f"at `{pointer}`: {first['msg'].lower()}", pointer=pointer
        ) from None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
