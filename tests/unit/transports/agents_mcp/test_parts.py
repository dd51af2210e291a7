"""The small parts of the agents' door: codes, the SDK's private names, answers, ids, leaving."""

import asyncio
from importlib.metadata import version
from typing import Any

import mcp_types
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.errors import ErrorCode, GatewayError
from gateway.transports.agents_mcp import sdk_private, static_tools
from gateway.transports.agents_mcp.bodies import judge
from gateway.transports.agents_mcp.exchange import left_already
from gateway.transports.agents_mcp.refusals import TOLD, Refused
from gateway.transports.agents_mcp.results import refusal
from gateway.transports.agents_mcp.server import INSTRUCTIONS


def test_every_code_has_a_row() -> None:
    assert set(TOLD) == set(ErrorCode)


def test_new_codes_are_never_in_the_range_of_the_protocol() -> None:
    known = {mcp_types.PARSE_ERROR, mcp_types.INVALID_REQUEST, mcp_types.INVALID_PARAMS, mcp_types.INTERNAL_ERROR}
    assert {rpc for _, rpc in TOLD.values() if rpc is not None} <= known


def test_the_private_names_belong_to_the_version_they_were_read_in() -> None:
    assert version("mcp").startswith(sdk_private.SDK), (
        "read sdk_private.py against the new SDK, then move its version"
    )


def test_instructions_are_short() -> None:
    assert len(INSTRUCTIONS.encode()) < 2_048


def test_static_tools_say_what_they_need() -> None:
    for tool in static_tools.STATIC_TOOLS:
        assert len(tool["description"].encode()) < 2_048
        assert tool["inputSchema"]["type"] == "object"
    with pytest.raises(GatewayError, match="arguments"):
        static_tools.check_arguments("gateway_invoke", {"capability": "a.b", "call_id": "short"})
    with pytest.raises(GatewayError, match="by `ref` or by `call_id`"):
        static_tools.call_named({})


def test_a_refusal_carries_its_facts_beside_the_code() -> None:
    answer = refusal(GatewayError(ErrorCode.AMBIGUOUS_PAGE, "two pages", pages=[{"page": "p1"}]))
    assert answer.is_error
    assert answer.content == {
        "pages": [{"page": "p1"}],
        "code": "AMBIGUOUS_PAGE",
        "message": "two pages",
        "retryable": True,
    }
    old = answer.result("2025-03-26", {})
    assert "structuredContent" not in old
    assert "resultType" not in answer.result("2025-11-25", {})
    assert answer.result("2026-07-28", {"name": "x"})["resultType"] == "complete"


@given(st.one_of(st.text(max_size=20), st.integers(-(2**53), 2**63)))
def test_ids_survive_the_judge(request: Any) -> None:
    try:
        body = orjson.dumps({"jsonrpc": "2.0", "id": request, "method": "x"})
    except TypeError:  # half of a surrogate pair has no JSON
        return
    assert judge(body)["id"] == request


@given(
    st.one_of(st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False), st.just([]), st.just({}))
)
def test_other_ids_do_not(request: Any) -> None:
    with pytest.raises(Refused) as refused:
        judge(orjson.dumps({"jsonrpc": "2.0", "id": request, "method": "x"}))
    assert TOLD[refused.value.code][0] == 400


def test_a_client_that_left_is_noticed_without_waiting() -> None:
    async def run() -> None:
        waiting = asyncio.Event()

        async def open_connection() -> dict[str, Any]:
            await waiting.wait()
            return {"type": "http.disconnect"}

        async def closed_connection() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        assert left_already(open_connection) is False
        assert left_already(closed_connection) is True

    asyncio.run(run())
