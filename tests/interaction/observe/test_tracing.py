"""A trace from the agent's request to the page and back: who is whose parent, what is linked, what is only passed on."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
import mcp
import pytest
from mcp.client.streamable_http import streamable_http_client
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, TraceFlags, use_span

from tests.interaction.page.rig import ADD, LIST
from tests.interaction.surface.client import invoke, post
from tests.support.observed import Observed, lines_of, observed

pytestmark = pytest.mark.anyio

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GIVEN = f"00-{TRACE}-{SPAN}-01"
OTHER_TRACE, OTHER_SPAN = "a" * 32, "b" * 16
CARRIER = f"00-{OTHER_TRACE}-{OTHER_SPAN}-01"
PAGE_SPAN = "c" * 16
REQUEST, CALL = "tools/call gateway_invoke", "call todo.list"


def place_of(span: ReadableSpan) -> str:
    """Where a span is, as a `traceparent`."""
    return text_of(span.get_span_context())


def trace_of(span: ReadableSpan) -> str:
    return place_of(span)[3:35]


def text_of(place: SpanContext | None) -> str:
    assert place is not None
    return f"00-{place.trace_id:032x}-{place.span_id:016x}-{int(place.trace_flags):02x}"


def linked(links: Sequence[Link]) -> list[str]:
    return [text_of(link.context) for link in links]


async def run(rig: Observed, meta: dict[str, Any], *, says: Any = None, first: Any = None, **headers: str) -> Any:
    """One read over MCP, run by a page that `says` where it ran; the invoke frame it got."""
    _, token = await rig.grant()
    page = await rig.page(LIST)
    asking = asyncio.create_task(rig.invoke(token, "todo.list", {}, meta=meta, **headers))
    frame = await page.receive("invoke")
    if first is not None:
        await page.send({"type": "started", "ref": frame["ref"], "traceparent": first})
    await page.answer(frame, {"items": []}, **({} if says is None else {"traceparent": says}))
    assert (await asking)["isError"] is False
    return frame


async def test_a_trace_goes_through_the_persons_approval_to_the_page_and_back(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        _, token = await rig.grant()
        page = await rig.page(ADD)
        meta = {"traceparent": GIVEN, "tracestate": "vendor=1", "baggage": "user=SECRET-7731"}
        asking = asyncio.create_task(rig.invoke(token, "todo.add", {"title": "SECRET-7731"}, meta=meta))
        await page.decide(await page.receive("approve_request"), "approve")
        frame = await page.receive("invoke")
        own = f"00-{TRACE}-{PAGE_SPAN}-01"
        await page.answer(frame, {}, traceparent=own)
        await asking

        request, call = await rig.span(REQUEST), await rig.span("call todo.add")
        assert request.parent is not None
        assert (text_of(request.parent), request.parent.is_remote) == (GIVEN, True)
        assert request.context is not None
        assert request.context.trace_state.to_header() == "vendor=1"
        assert (request.kind, linked(request.links)) == (SpanKind.SERVER, [])
        assert frame["traceparent"] == place_of(request)
        assert text_of(call.parent) == place_of(request)
        assert linked(call.links) == [own]
        assert [event.name for event in call.events] == ["approved", "dispatched"]
        assert "SECRET" not in str([frame["traceparent"], *(span.to_json() for span in rig.spans())])


async def test_the_place_of_the_http_request_is_linked_and_is_nobodys_parent(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        frame = await run(rig, {}, traceparent=CARRIER, tracestate="vendor=1")
        request, call = await rig.span(REQUEST), await rig.span(CALL)
        assert (request.parent, linked(request.links)) == (None, [CARRIER])
        assert trace_of(request) != OTHER_TRACE
        assert frame["traceparent"] == text_of(call.parent) == place_of(request)


async def test_what_the_message_names_comes_before_what_carried_it(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        frame = await run(rig, {"traceparent": GIVEN}, traceparent=CARRIER)
        request = await rig.span(REQUEST)
        assert (text_of(request.parent), linked(request.links)) == (GIVEN, [CARRIER])
        assert frame["traceparent"] == place_of(request)


async def test_at_the_program_door_the_http_request_is_the_parent(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        _, token = await rig.grant()
        page = await rig.page(LIST)
        asking = asyncio.create_task(post(rig, token, invoke("todo.list"), headers={"traceparent": CARRIER}))
        frame = await page.receive("invoke")
        await page.answer(frame, {})
        await asking
        request, call = await rig.span("POST /surface/v1"), await rig.span(CALL)
        assert (text_of(request.parent), linked(request.links)) == (CARRIER, [])
        assert frame["traceparent"] == text_of(call.parent) == place_of(request)


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_the_sdk_clients_span_is_the_parent_in_both_eras(tmp_path: Path, mode: Any) -> None:
    async with observed(tmp_path) as rig:
        _, token = await rig.grant()
        page = await rig.page(LIST)
        place = SpanContext(int(TRACE, 16), int(SPAN, 16), is_remote=False, trace_flags=TraceFlags(1))
        headers = {"authorization": f"Bearer {token}"}
        address = f"{rig.http.base_url}/mcp"
        async with (
            httpx2.AsyncClient(headers=headers, timeout=20) as http,
            mcp.Client(streamable_http_client(address, http_client=http), mode=mode) as client,
        ):
            with use_span(NonRecordingSpan(place)):
                asking = asyncio.create_task(client.call_tool("todo_list", {}))
            frame = await page.receive("invoke")
            await page.answer(frame, {})
            assert (await asking).is_error is False
        request, call = await rig.span("tools/call todo_list"), await rig.span(CALL)
        assert text_of(request.parent) == GIVEN
        assert frame["traceparent"] == text_of(call.parent) == place_of(request)


@pytest.mark.parametrize(
    ("first", "last", "told"),
    [
        (CARRIER, None, [CARRIER]),
        (CARRIER, GIVEN, [GIVEN]),
        (None, None, []),
        ("SECRET-7731", "00-" + "0" * 32 + f"-{PAGE_SPAN}-01", []),
        (CARRIER, "SECRET-7731", [CARRIER]),
    ],
    ids=["with started", "with both", "nowhere", "nonsense", "sense, then nonsense"],
)
async def test_the_last_place_the_page_names_is_linked(
    tmp_path: Path, first: str | None, last: str | None, told: list[str]
) -> None:
    async with observed(tmp_path) as rig:
        await run(rig, {"traceparent": GIVEN}, first=first, says=last)
        call = await rig.span(CALL)
        assert linked(call.links) == told
        assert trace_of(call) == TRACE, "whatever the page says"
        assert "SECRET" not in str([span.to_json() for span in rig.spans()])


@pytest.mark.parametrize("share", [1.0, None], ids=["on", "off"])
async def test_the_trail_keeps_the_place_of_what_was_run_and_of_what_was_refused(
    tmp_path: Path, share: float | None
) -> None:
    async with observed(tmp_path, share=share) as rig:
        _, token = await rig.grant()
        page = await rig.page(ADD)
        asking = asyncio.create_task(rig.invoke(token, "todo.add", {"title": "a"}, meta={"traceparent": GIVEN}))
        await page.decide(await page.receive("approve_request"), "approve")
        frame = await page.receive("invoke")
        await page.answer(frame, {})
        await asking
        await rig.invoke(token, "mail.send", {}, meta={"traceparent": GIVEN})
        rig.clock.advance(1_000)  # so that what waits to be told to the page goes out, and the trail is at rest
        run = ("call.admitted", "approval.opened", "approval.decided", "approval.consumed", "call.dispatched")
        for event in (*run, "call.ended"):
            assert [facts["traceparent"] for facts in await rig.records(event)] == [frame["traceparent"]], event
        (refusal,) = await rig.records("call.refused")
        assert refusal["traceparent"][3:35] == TRACE
        assert (refusal["traceparent"] == GIVEN) is (share is None)


@pytest.mark.parametrize(
    ("flags", "share", "told"), [("00", 1.0, "01"), ("01", 0.0, "00"), ("02", 1.0, "03"), ("03", 0.0, "02")]
)
async def test_whether_a_trace_is_kept_is_not_the_agents_to_say_and_whether_its_id_is_random_is(
    tmp_path: Path, flags: str, share: float, told: str
) -> None:
    async with observed(tmp_path, share=share) as rig:
        frame = await run(rig, {"traceparent": f"00-{TRACE}-{SPAN}-{flags}"})
        assert frame["traceparent"][3:35] == TRACE
        assert frame["traceparent"][-2:] == told
        assert bool(rig.spans()) is bool(share)


@pytest.mark.parametrize(
    ("share", "given"), [(1.0, GIVEN.upper()), (1.0, [GIVEN]), (None, f"{GIVEN} "), (None, "SECRET" * 1_000)]
)
async def test_what_is_no_traceparent_is_ignored(tmp_path: Path, share: float | None, given: Any) -> None:
    async with observed(tmp_path, share=share) as rig:
        frame = await run(rig, {"traceparent": given})
        if share is None:
            assert "traceparent" not in frame
            return
        request = await rig.span(REQUEST)
        assert (request.parent, linked(request.links)) == (None, [])
        assert frame["traceparent"] == place_of(request)


@pytest.mark.parametrize("flags", ["00", "03"])
async def test_without_tracing_what_the_agent_gave_reaches_the_page_unchanged_and_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], flags: str
) -> None:
    async with observed(tmp_path, share=None) as rig:
        given = f"00-{TRACE}-{SPAN}-{flags}"
        frame = await run(rig, {"traceparent": given}, says=f"00-{TRACE}-{PAGE_SPAN}-01", traceparent=CARRIER)
        assert frame["traceparent"] == given
        assert (await rig.call(frame["ref"])).traceparent == given
        assert rig.spans() == []
    told = [(line["event"], line["trace_id"]) for line in lines_of(capfd.readouterr().err) if line.get("trace_id")]
    assert sorted(told) == [("call", TRACE), ("request", TRACE)]


async def test_without_tracing_there_is_nothing_to_link_and_nothing_is_passed_on(tmp_path: Path) -> None:
    """The HTTP request's place would be a parent then, which it never is."""
    async with observed(tmp_path, share=None) as rig:
        assert "traceparent" not in await run(rig, {}, traceparent=CARRIER)
