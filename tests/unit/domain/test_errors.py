"""The codes, and that every door has a row for each of them (design §18)."""

import re

import pytest

from gateway.domain.errors import DOCUMENT_CODES, RETRYABLE, SURFACE_CODES, ErrorCode, GatewayError
from gateway.protocol.surface import SPELLINGS
from gateway.transports.agents_mcp.refusals import TOLD
from gateway.transports.errors import STATUSES
from surface_host.documents.codes import DocumentCode

AREAS = {
    "request",
    "identity",
    "inventory",
    "policy",
    "replay",
    "approval",
    "execution",
    "document",
    "surface",
    "admin",
}


@pytest.mark.parametrize("table", [STATUSES, SPELLINGS, TOLD], ids=["http", "surface", "mcp"])
def test_every_code_has_a_row_in_every_table(table: dict[ErrorCode, object]) -> None:
    assert set(table) == set(ErrorCode)


def test_a_code_is_an_area_and_a_reason() -> None:
    for code in ErrorCode:
        area, _, reason = code.value.partition(".")
        assert area in AREAS, code
        assert re.fullmatch(r"[a-z]+(_[a-z0-9]+)*", reason), code


def test_no_two_codes_share_a_wire_spelling() -> None:
    """A door that reads a spelling back must find the one code it stands for."""
    assert len({code.wire for code in ErrorCode}) == len(ErrorCode)


def test_the_wire_spelling_is_the_reason_but_for_the_one_the_design_shouts_and_what_is_told_whole() -> None:
    others = {code for code in ErrorCode if code.wire != code.value.partition(".")[2]}
    assert others == {ErrorCode.AMBIGUOUS_PAGE, *DOCUMENT_CODES, *SURFACE_CODES}
    assert all(code.wire == code.value for code in (*DOCUMENT_CODES, *SURFACE_CODES))
    assert ErrorCode.AMBIGUOUS_PAGE.wire == "AMBIGUOUS_PAGE"


def test_the_judge_of_documents_has_no_word_that_is_not_a_code_here() -> None:
    own = {ErrorCode.DOCUMENT_FULL, ErrorCode.DOCUMENT_NOT_CURRENT, ErrorCode.DOCUMENT_INCOMPLETE}
    assert {code.value for code in DOCUMENT_CODES} == {code.value for code in (*DocumentCode, *own)}


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.OUTCOME_UNKNOWN,
        ErrorCode.DEADLINE_EXCEEDED,
        ErrorCode.DENIED,
        ErrorCode.REPLAY_DETECTED,
        ErrorCode.CALL_ID_CONFLICT,
    ],
)
def test_nobody_is_invited_to_repeat_what_may_have_run_or_was_refused(code: ErrorCode) -> None:
    assert code not in RETRYABLE
    assert not code.retryable


def test_a_refusal_carries_code_message_and_facts() -> None:
    error = GatewayError(ErrorCode.RATE_LIMITED, "too many calls", retry_after_ms=500)
    assert (error.code, error.message, error.facts) == (
        ErrorCode.RATE_LIMITED,
        "too many calls",
        {"retry_after_ms": 500},
    )
    assert str(error) == "too many calls"
    assert not error.is_audited
    assert repr(error) == "GatewayError('request.rate_limited', 'too many calls')"
