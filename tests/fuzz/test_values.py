"""Readers of values that have been through the JSON reader: frames, envelopes, trace context, records of the trail."""

# Examples are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capabilities.contract import Descriptor
from gateway.domain.audit import GENESIS, ChainedRecord, Stream, chain
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.trace_context import TRACESTATE_MAX, TraceParent, read_traceparent, read_tracestate
from gateway.protocol import page_frames
from gateway.protocol.audit_export import cloud_event_of
from gateway.protocol.page_frames import BadFrame, PageFrame, Rejection, read_declaration, read_frame
from gateway.protocol.surface import request_id
from gateway.runtime.admin.trail import Trail
from gateway.runtime.ports import Tx
from gateway.testing import MemoryStore
from gateway.transports.control.views import of_exported
from tests.fuzz.rig import examples, odd

KINDS = [
    *["hello", "ticket", "caps", "refused", "started", "progress", "result", "described", "decision", "surface"],
    *["action", "pong", "error", "bye"],
]
FIELDS = sorted(
    {name for kind in PageFrame.__args__ for name in kind.model_fields} - {"type"}  # pyright: ignore[reportAttributeAccessIssue]
)

frames = st.builds(
    lambda kind, rest: {**rest, "type": kind},
    st.sampled_from(KINDS) | odd,
    st.dictionaries(
        st.sampled_from(FIELDS), odd | st.sampled_from([1, True, "visible", "approve", [], "a" * 16]), max_size=9
    ),
)


@examples(150)
@given(frames | odd)
def test_a_frame_is_read_or_refused_as_a_bad_frame(value: Any) -> None:
    try:
        frame = read_frame(value)
    except BadFrame as bad:
        assert len(bad.pointer) <= 256  # noqa: PT017 - the refusal is one of two good ends
        return
    assert isinstance(frame, page_frames.Frame)


@examples(100)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "id": st.just("todo.add") | odd,
            "description": st.just("Adds") | odd,
            "input_schema": st.just({"type": "object"}) | odd,
            "output_schema": odd,
            "effect": st.just("read") | odd,
            "timeout_ms": odd,
            "more": odd,
        },
    )
    | odd
)
def test_a_declaration_is_read_or_rejected_by_name(value: Any) -> None:
    assert isinstance(read_declaration(value), Descriptor | Rejection)


@examples(100)
@given(odd)
def test_an_envelope_has_an_id_that_is_safe_to_repeat_or_none(value: Any) -> None:
    for envelope in (value, {"id": value}):
        found = request_id(envelope)
        assert found is None or (found.isascii() and len(found) <= 64)


hexes = st.text("0123456789abcdefABCDEF", max_size=34)
traceparents = (
    st.builds("-".join, st.lists(hexes | st.just("00") | st.just("ab" * 16) | st.just("cd" * 8), max_size=6)) | odd
)


@examples(200)
@given(traceparents)
def test_a_traceparent_is_ignored_or_reads_back_as_itself(value: Any) -> None:
    found = read_traceparent(value)
    assert found is None or isinstance(found, TraceParent)
    if found is not None:
        assert read_traceparent(found.text) == found


members = st.text("abz09_-*/@=, \t~\x7f\r\n", max_size=30)


@examples(200)
@given(st.lists(members | st.just("a=b") | st.just("t@v=1"), max_size=40).map(",".join) | odd)
def test_a_tracestate_is_ignored_or_fit_for_a_header(value: Any) -> None:
    found = read_tracestate(value)
    if found is not None:
        assert 0 < len(found) <= TRACESTATE_MAX
        assert found.isascii()
        assert found.isprintable()
        assert read_tracestate(found) == found


bodies = st.one_of(
    st.binary(max_size=40),
    st.fixed_dictionaries(
        {},
        optional={
            "stream": st.just("admin") | odd,
            "seq": st.just(1) | odd,
            "event": st.sampled_from(["gateway.stopped", "no.such"]) | odd,
            "at": st.sampled_from([0, 2**52, -1, True]) | odd,
            "facts": st.just({}) | odd,
        },
    ).map(lambda body: json.dumps(body).encode()),
    odd.map(lambda body: json.dumps(body).encode()),
)


def plant(tx: Tx, record: ChainedRecord) -> None:
    """Write a record as somebody would who has the database and not the gateway."""
    vars(tx.audit)["_tables"].audit[record.stream, record.seq] = record


def verify_and_read(body: bytes) -> bool:
    """Whether the trail of one record is intact; its chain value is right, for whoever writes to it can compute it."""

    async def both() -> bool:
        store = MemoryStore()
        record = ChainedRecord(stream=Stream.ADMIN, seq=1, body=body, hash=chain(GENESIS, body))
        await store.run(lambda tx: plant(tx, record))
        trail = Trail(store)
        verified = await trail.verify()
        try:
            (read,) = await trail.tail()
        except GatewayError as error:
            assert error.code is ErrorCode.STORE_UNAVAILABLE  # noqa: PT017 - one of two good ends
            return verified.is_intact
        assert cloud_event_of(of_exported(read), "test")
        return verified.is_intact

    return asyncio.run(both())


@examples(150)
@given(bodies)
def test_a_record_somebody_wrote_is_told_as_broken_or_can_be_read(body: bytes) -> None:
    verify_and_read(body)


@pytest.mark.parametrize(
    "open_", ["[", '{"facts":', '{"stream":"admin","seq":1,"event":"gateway.stopped","at":1,"facts":']
)
def test_a_record_of_brackets_is_broken(open_: str) -> None:
    for close in ("]" if open_ == "[" else "}", ""):
        assert not verify_and_read(f"{open_ * 50_000}1{close * 50_000}".encode())


@pytest.mark.parametrize(
    "strange",
    [{}, {"facts": []}, {"at": "now"}, {"at": 10**15}, {"at": -1}, {"seq": 2}, {"stream": "identity"}, {"event": 1}],
)
def test_a_record_without_its_members_is_broken(strange: dict[str, Any]) -> None:
    good = {"stream": "admin", "seq": 1, "event": "gateway.stopped", "at": 1, "facts": {}}
    assert verify_and_read(json.dumps({**good, **strange}).encode()) == (not strange)
