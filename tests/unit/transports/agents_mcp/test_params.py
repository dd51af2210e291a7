"""The cheap judgement of params is the SDK's own, for whatever comes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import methods
from pydantic import ValidationError

from gateway.transports.agents_mcp.params import are_valid

VERSION = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "probe", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
META = st.fixed_dictionaries(
    {},
    optional={
        **{key: st.one_of(st.just(value), ODD) for key, value in ENVELOPE.items()},
        "io.modelcontextprotocol/logLevel": st.one_of(st.just("info"), ODD),
        "progressToken": ODD,
        "traceparent": ODD,
        "dev.ostiary/callId": ODD,
    },
)
PARAMS = st.fixed_dictionaries(
    {"_meta": st.one_of(st.just(ENVELOPE), META)},
    optional={
        "name": st.one_of(st.just("runtime_echo"), ODD),
        "arguments": ODD,
        "cursor": ODD,
        "inputResponses": ODD,
        "requestState": ODD,
        "task": ODD,
        "further": ODD,
    },
)


@given(st.sampled_from(["tools/list", "tools/call"]), PARAMS)
def test_it_says_what_the_model_says(method: str, params: dict[str, Any]) -> None:
    # Twice, because the second answer may come from memory.
    assert [are_valid(method, VERSION, params) for _ in range(2)] == [_model(method, params)] * 2


@pytest.mark.parametrize(
    ("method", "params"),
    [("tools/list", {"_meta": ENVELOPE}), ("tools/call", {"_meta": ENVELOPE, "name": "x", "arguments": {}})],
)
def test_what_clients_send_is_valid(method: str, params: dict[str, Any]) -> None:
    assert are_valid(method, VERSION, params)
    assert not are_valid(method, VERSION, {**params, "_meta": {}})


def test_an_envelope_too_long_to_be_remembered_is_judged_all_the_same() -> None:
    long = {**ENVELOPE, "io.modelcontextprotocol/clientInfo": {"name": "x" * 5_000, "version": "1"}}
    assert are_valid("tools/list", VERSION, {"_meta": long})
    assert not are_valid("tools/list", VERSION, {"_meta": {**long, "io.modelcontextprotocol/logLevel": "loud"}})


def _model(method: str, params: dict[str, Any]) -> bool:
    try:
        methods.validate_client_request(method, VERSION, params)
    except ValidationError:
        return False
    return True
