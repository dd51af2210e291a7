"""The words and types of `lineup.v1`: every state and code has its row, and the published schema takes what we send."""

from typing import Any, get_args

import jsonschema_rs
import pytest
from pydantic import ValidationError

from gateway.domain.calls import OPEN, CallState
from gateway.domain.errors import ErrorCode
from gateway.protocol import lineup
from gateway.protocol.lineup.agent import PAYLOADS, AgentMessage, AgentPayload, AppCall, instant_of
from gateway.protocol.lineup.client import ClientMessage, ReceiptStatus
from gateway.protocol.lineup.words import ENDS, REASONS, REFUSALS, Status

BY_HTTP = {"request", "identity", "admin"}
"""Areas of codes that mean there was no call to speak of."""


def test_every_code_has_its_row() -> None:
    assert set(REFUSALS) == set(ErrorCode)


def test_every_final_state_has_its_word_and_no_other_state_has_one() -> None:
    assert set(ENDS) == set(CallState) - OPEN
    assert ENDS == {
        CallState.SUCCEEDED: "completed",
        CallState.DENIED: "rejected",
        CallState.CANCELLED: "cancelled",
        CallState.EXPIRED: "expired",
        CallState.FAILED: "failed",
        CallState.UNKNOWN: "failed",
    }


def test_what_is_not_visible_or_revoked_or_unknown_is_unsupported_and_nothing_else_is() -> None:
    unsupported = {code for code, status in REFUSALS.items() if status is Status.UNSUPPORTED}
    assert unsupported == {ErrorCode.UNKNOWN_CAPABILITY, ErrorCode.REVOKED, ErrorCode.UNSUPPORTED}
    assert REASONS == {ErrorCode.REVOKED: "revoked"}


def test_only_what_is_no_answer_of_a_call_is_told_by_http() -> None:
    told = {code for code, status in REFUSALS.items() if status is None}
    areas = {code for code in ErrorCode if code.value.partition(".")[0] in BY_HTTP}
    assert told == areas - {ErrorCode.ARGUMENTS_INVALID}


def test_the_receipts_are_the_seven_and_no_more() -> None:
    assert get_args(ReceiptStatus) == (
        "accepted",
        "starting",
        "activation_ready",
        "activation_failed",
        "activation_cancelled",
        "started",
        "progress",
    )


def types_of(union: Any) -> set[str]:
    """The types of the messages of one direction."""
    return {get_args(kind.model_fields["type"].annotation)[0] for kind in get_args(union)}


def test_both_directions_have_the_types_of_the_protocol_and_share_none() -> None:
    agents, clients = types_of(AgentMessage), types_of(ClientMessage)
    assert agents == {f"lineup.v1.{kind}" for kind in ("ui.open", "ui.patch", "ui.close", "app.call", "tool.call")}
    assert clients == {
        f"lineup.v1.{kind}"
        for kind in ("ui.event", "client.inventory", "app.list", "app.result", "tool.receipt", "tool.result")
    }
    assert set(PAYLOADS) == agents
    assert set(PAYLOADS.values()) == set(get_args(AgentPayload))


def a_message(kind: str, payload: Any, **changes: Any) -> dict[str, Any]:
    sender = {"kind": "agent", "id": "alice"}
    return {"v": 1, "id": "m1", "type": kind, "conversation_id": "c", "sender": sender, "payload": payload, **changes}


GOOD: dict[str, Any] = {
    "tool.call": {"call_id": "call-0001", "method": "a.b", "inventory_revision": "catalog-1", "arguments": {}},
    "app.call": {
        "call_id": "call-0001",
        "capability": "a.b",
        "reason": "why",
        "expires_at": "2026-08-02T12:10:00Z",
        "arguments": {},
    },
    "ui.open": {
        "instance_id": "a",
        "app": {"id": "com.example.app", "version": "1.0.0", "surface": "face"},
        "state": {},
    },
    "ui.patch": {"instance_id": "a", "state": {}},
    "ui.close": {"instance_id": "a"},
    "client.inventory": {
        "revision": "catalog-1",
        "standard_components": [{"id": "choice", "version": "1"}],
        "applications": [{"id": "com.example.app", "version": "1.0.0", "surfaces": [{"id": "a", "events": ["b"]}]}],
        "capabilities": [{"name": "a.b", "version": "1", "risk": "display_only"}],
        "tools": [],
    },
    "app.list": {"capabilities": [{"name": "a.b", "version": "1", "risk": "restricted", "input_schema": {}}]},
    "tool.receipt": {"call_id": "call-0001", "app_scope": None, "status": "progress", "seq": 1, "at": 5},
    "tool.result": {"call_id": "call-0001", "app_scope": None, "status": "completed", "result": 1},
    "app.result": {
        "call_id": "call-0001",
        "status": "failed",
        "error": {"code": "x", "message": "y", "retryable": False},
    },
    "ui.event": {"instance_id": "a", "event": "draw", "data": {}},
}


@pytest.mark.parametrize("kind", GOOD)
def test_the_published_schema_takes_a_message_of_each_type_and_none_with_a_field_more(kind: str) -> None:
    judge = jsonschema_rs.validator_for(lineup.schema())
    good = a_message(f"lineup.v1.{kind}", GOOD[kind])
    assert judge.is_valid(good), [str(error) for error in judge.iter_errors(good)]
    assert not judge.is_valid({**good, "more": 1})
    assert not judge.is_valid(a_message(f"lineup.v1.{kind}", {**GOOD[kind], "more": 1}))
    assert not judge.is_valid({**good, "type": "lineup.v1.ui.reload"})


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00.999999Z", 999),
        ("2026-08-02T14:10:00+02:00", 1_785_672_600_000),
        ("0001-01-01T00:00:00+14:00", -62_135_647_200_000),
    ],
)
def test_a_time_is_read_to_the_millisecond(text: str, instant: int) -> None:
    assert instant_of(text) == instant


@pytest.mark.parametrize(
    "text", ["", "2026-08-02", "2026-08-02T12:10:00", "2026-08-02t12:10:00z", "٢٠٢٦-08-02T12:10:00Z"]
)
def test_what_is_no_time_with_a_zone_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        AppCall.model_validate({**GOOD["app.call"], "expires_at": text})
