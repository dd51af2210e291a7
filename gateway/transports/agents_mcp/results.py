"""What `tools/call` answers: one object, told twice — as text for models, as structure for programs (design §11)."""

from dataclasses import dataclass
from typing import Any, Final

import orjson
from mcp_types import SERVER_INFO_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from gateway.domain.errors import GatewayError
from gateway.runtime.answers import answer_of, pending_of
from gateway.runtime.calls import is_finished
from gateway.runtime.ports import StoreBusy, StoreUnavailable
from gateway.runtime.requests import Outcome
from gateway.transports.doors.refusals import refusal_of

_WITH_STRUCTURE: Final = ("2025-06-18", "2025-11-25", *MODERN_PROTOCOL_VERSIONS)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The object, and whether a model is to read it as a failure."""

    content: dict[str, Any]
    is_error: bool = False

    def result(self, version: str, server_info: dict[str, Any]) -> dict[str, Any]:
        """The `CallToolResult` of a protocol version."""
        result: dict[str, Any] = {
            "content": [{"type": "text", "text": orjson.dumps(self.content).decode()}],
            "isError": self.is_error,
        }
        if version in _WITH_STRUCTURE:
            result["structuredContent"] = self.content
        if version in MODERN_PROTOCOL_VERSIONS:
            result["resultType"] = "complete"
            result["_meta"] = {SERVER_INFO_META_KEY: server_info}
        return result


def answer_to(outcome: Outcome) -> ToolAnswer:
    """Where a call stands: its result, its failure, or that it waits."""
    if not is_finished(outcome.call):
        return ToolAnswer(pending_of(outcome))
    answer = answer_of(outcome)
    error = answer.pop("error", None)
    return ToolAnswer(answer) if error is None else ToolAnswer({**answer, **error}, is_error=True)


def refusal(error: GatewayError) -> ToolAnswer:
    """A refusal before there was a call."""
    told = {"code": error.code.wire, "message": error.message, "retryable": error.code.retryable}
    return ToolAnswer({**error.facts, **told}, is_error=True)


def store_trouble(error: StoreBusy | StoreUnavailable) -> ToolAnswer:
    """The store took nothing; nothing was begun."""
    return refusal(refusal_of(error))
