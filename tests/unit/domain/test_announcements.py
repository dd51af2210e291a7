"""What an entry says, and what it never does."""

import json
from typing import Any

import pytest

from gateway.domain import announcements
from gateway.domain.announcements import EMITTED_BYTES, judged
from gateway.domain.calls import CallState, Receipt
from gateway.domain.errors import ErrorCode
from gateway.domain.operations import Carrier, Operation, OperationState
from tests.contract.samples import NOW, a_call, a_full_call

ENDED = a_call(state=CallState.FAILED, ended_at=NOW + 9, code=ErrorCode.HANDLER_ERROR, message="the stove is out")


def said(entry: Any) -> dict[str, Any]:
    return json.loads(entry.data)


def test_an_end_is_metadata_and_nothing_else() -> None:
    entry = announcements.of_end(ENDED, "ses_1", NOW + 9)
    assert (entry.id, entry.key, entry.type, entry.subject) == (
        "call_1:end",
        "ses_1",
        "dev.ostiary.call.ended",
        "call_1",
    )
    assert said(entry) == {
        "ref": "call_1",
        "call_id": "key-of-call_1",
        "agent": "claude",
        "capability": "todo.add",
        "status": "failed",
        "code": "handler_error",
        "at": NOW + 9,
    }


def test_a_result_goes_along_where_it_is_asked_for() -> None:
    assert said(announcements.of_end(ENDED, "k", NOW, result='{"id":7}'))["result"] == {"id": 7}


def test_no_entry_holds_a_field_of_a_call_beside_those_named() -> None:
    allowed = {"ref", "call_id", "agent", "capability", "app_scope", "status", "code", "reason", "seq", "at"}
    receipt = Receipt(seq=2, status="started", reason="late", at=NOW)
    for entry in (
        announcements.of_end(a_full_call(), "k", NOW),
        announcements.of_receipt(a_full_call(), receipt, "k"),
    ):
        assert set(said(entry)) <= allowed


def test_each_receipt_is_an_event_of_its_own() -> None:
    entry = announcements.of_receipt(ENDED, Receipt(seq=3, status="started", reason=None, at=NOW), "ses_1")
    assert (entry.id, entry.type) == ("call_1:receipt:3", "dev.ostiary.call.receipt")
    assert (said(entry)["status"], said(entry)["seq"]) == ("started", 3)


def test_the_end_of_an_operation_is_named_by_its_call() -> None:
    operation = Operation(
        id="op_secret",
        call="call_1",
        app="com.example.focus",
        user="maria",
        conversation="ses_1",
        carrier=Carrier.RUNTIME,
        state=OperationState.INTERRUPTED,
        started_at=NOW,
        deadline=NOW + 60_000,
        app_session="as_secret",
        ended_at=NOW + 5,
        cause="left_workspace",
    )
    for call in (a_call(app="com.example.focus"), None):
        entry = announcements.of_operation_end(operation, call, NOW + 5)
        assert (entry.id, entry.key) == ("call_1:operation:end", "ses_1")
        assert (said(entry)["status"], said(entry)["cause"]) == ("interrupted", "left_workspace")
        assert said(entry)["app_scope"] == "com.example.focus"
        # Rules B4: these names never leave.
        assert "secret" not in entry.data + entry.id


@pytest.mark.parametrize("kind", ["order.submitted", "X", "a" * 64, "a:b_c-d.9"])
def test_a_good_type_is_taken(kind: str) -> None:
    assert judged(kind, '{"b": 1, "a": 2.0}') == '{"a":2,"b":1}'


@pytest.mark.parametrize("kind", ["", "9a", "a" * 65, "a b", "a\n", "ä"])
def test_another_type_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="is not the type of an event"):
        judged(kind, "{}")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("[]", "not a JSON object"),
        ("{", "not JSON"),
        ('{"n":9007199254740993}', "at `/n`"),
        ("null", "not a JSON object"),
    ],
)
def test_data_that_will_not_do_is_refused_without_being_quoted(data: str, why: str) -> None:
    with pytest.raises(ValueError, match=why) as refused:
        judged("a", data)
    assert "9007199254740993" not in str(refused.value)


def test_the_largest_data_is_taken_and_one_byte_more_is_not() -> None:
    def of_bytes(count: int) -> str:
        return json.dumps({"t": "x" * (count - len('{"t":""}'))})

    assert len(judged("a", of_bytes(EMITTED_BYTES))) == EMITTED_BYTES
    with pytest.raises(OverflowError):
        judged("a", of_bytes(EMITTED_BYTES + 1))


def test_the_deepest_data_is_taken_and_one_level_more_is_not() -> None:
    def of_depth(depth: int) -> str:
        return '{"d":' * depth + "{}" + "}" * depth

    assert judged("a", of_depth(64)) == of_depth(64)
    with pytest.raises(OverflowError):
        judged("a", of_depth(65))
