"""The Tasks extension (SEP-2663): a call that waits, told as a task. Its id is the call's ref."""

from datetime import UTC, datetime
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    RequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from gateway.domain.calls import Call, CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.answers import phase_of
from gateway.runtime.calls import is_finished
from gateway.runtime.requests import Outcome
from gateway.runtime.services import Services
from gateway.transports.agents_mcp.exchange import current_exchange
from gateway.transports.agents_mcp.extensions import Extensions
from gateway.transports.agents_mcp.json_objects import members_of
from gateway.transports.agents_mcp.results import answer_to

TASKS: Final = "io.modelcontextprotocol/tasks"
POLL_MS: Final = 1_000
TTL_MS: Final = 86_400_000
"""How long a result is kept at most (design §14)."""

Context = ServerRequestContext[Any, Any]


class TaskParams(RequestParams):
    """`tasks/get` and `tasks/cancel`."""

    task_id: str


class TaskUpdateParams(TaskParams):
    """`tasks/update`; what it brings is for tasks that ask, and calls never do."""

    input_responses: dict[str, Any]


def declares_tasks(capabilities: Any) -> bool:
    """Whether a request's client capabilities hold the extension."""
    return TASKS in members_of(members_of(capabilities).get("extensions"))


def task_fields(outcome: Outcome, now: int) -> dict[str, Any]:
    """The flat task of a call; its message is the newest receipt where there is one."""
    call = outcome.call
    changed = call.ended_at or call.dispatched_at or call.approved_at or call.admitted_at
    fields: dict[str, Any] = {
        "taskId": call.ref,
        "status": status_of(call),
        "createdAt": _instant(call.admitted_at),
        "lastUpdatedAt": _instant(min(changed, now)),
        "ttlMs": TTL_MS,
        "pollIntervalMs": POLL_MS,
    }
    if not is_finished(call):
        fields["statusMessage"] = outcome.receipt.status if outcome.receipt else phase_of(call)
    return fields


def status_of(call: Call) -> str:
    """A task fails only by a protocol error; a call that fails is a completed task with an error as its result."""
    if not is_finished(call):
        return "working"
    return "cancelled" if call.state is CallState.CANCELLED else "completed"


def _instant(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Tasks:
    """The handlers of `tasks/*`."""

    def __init__(self, services: Services, server_info: dict[str, Any], extensions: Extensions | None) -> None:
        self._services = services
        self._server_info = server_info
        self._extensions = extensions

    async def get(self, context: Context, params: TaskParams) -> dict[str, Any]:
        """A pure read, with the result once there is one."""
        if (foreign := await self._foreign(context, params)) is not None:
            return foreign
        outcome = await self._services.calls.with_receipt(await self._owned(params.task_id))
        fields = {"resultType": "complete", **task_fields(outcome, self._services.clock.now())}
        if fields["status"] == "completed":
            fields["result"] = answer_to(outcome).result(context.protocol_version, self._server_info)
            if outcome.call.state.is_terminal:
                current_exchange.get().answers_with(outcome.call)
        return fields

    async def update(self, context: Context, params: TaskUpdateParams) -> dict[str, Any]:
        """An acknowledgement."""
        if (foreign := await self._foreign(context, params)) is not None:
            return foreign
        await self._owned(params.task_id)
        return {"resultType": "complete"}

    async def cancel(self, context: Context, params: TaskParams) -> dict[str, Any]:
        """An acknowledgement; what becomes of the call is read with `tasks/get`."""
        if (foreign := await self._foreign(context, params)) is not None:
            return foreign
        try:
            await self._services.calls.cancel(current_exchange.get().session, params.task_id)
        except GatewayError as error:
            raise await self._unknown(error) from None
        return {"resultType": "complete"}

    async def _foreign(self, context: Context, params: TaskParams) -> dict[str, Any] | None:
        _check(context, params.task_id)
        return None if self._extensions is None else await self._extensions.task(context, params.task_id)

    async def _owned(self, name: str) -> Outcome:
        exchange = current_exchange.get()
        try:
            outcome, waiter = await self._services.calls.status(exchange.session, name)
        except GatewayError as error:
            raise await self._unknown(error) from None
        exchange.joined(waiter)
        return outcome

    async def _unknown(self, error: GatewayError) -> MCPError:
        exchange = current_exchange.get()
        await self._services.refusals.note("mcp", exchange.peer, ErrorCode.UNKNOWN_CALL, session=exchange.session.id)
        return MCPError(INVALID_PARAMS, f"unknown task: {error.message}")


def _check(context: Context, task: str) -> None:
    meta = members_of(members_of(context.params).get("_meta"))
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    if not is_modern or not declares_tasks(meta.get(CLIENT_CAPABILITIES_META_KEY)):
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "this method needs the Tasks extension",
            {"requiredCapabilities": {"extensions": {TASKS: {}}}},
        )
    header = context.request.headers.get(MCP_NAME_HEADER) if context.request is not None else None
    if decode_header_value(header) != task:
        raise MCPError(HEADER_MISMATCH, f"{MCP_NAME_HEADER} header does not match the task")
