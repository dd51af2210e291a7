"""What a scrape of a running gateway shows after calls, questions and refusals of every kind."""

import asyncio
from pathlib import Path

import httpx
import pytest

from gateway.runtime.telemetry.names import METRICS
from tests.interaction.page.rig import ADD, LIST
from tests.support.observed import Observed, observed

pytestmark = pytest.mark.anyio


async def tell_a_story(rig: Observed) -> None:
    """A read, a write that is approved, one that is denied, refusals, and a page that falls silent."""
    _, token = await rig.grant()
    page = await rig.page(ADD, LIST)
    reading = asyncio.create_task(rig.invoke(token, "todo.list", {}))
    await page.answer(await page.receive("invoke"), {"items": []})
    assert (await reading)["isError"] is False
    for decision in ("approve", "deny"):
        asking = asyncio.create_task(rig.invoke(token, "todo.add", {"title": decision}))
        request = await page.receive("approve_request")
        rig.clock.advance(5_000)
        await page.decide(request, decision)
        if decision == "approve":
            await page.answer(await page.receive("invoke"), {})
        await asking
    await rig.invoke(token, "todo.add", {"no": 1})
    await rig.mcp("ost_agent_wrong", "tools/list")
    await rig.invoke(token, "mail.send", {})
    for n in (1, 2):
        rig.clock.advance(20_000)
        await page.receive("ping", n=n)
    rig.clock.advance(20_000)
    await page.closed()


async def test_everything_in_the_table_is_told_and_counts_what_happened(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        await tell_a_story(rig)
        told = {sample.name for sample in await rig.samples()}
        for metric in METRICS:
            assert told & {metric.name, f"{metric.name}_count"}, metric.name
        assert await rig.value("ostiary_calls_total", state="succeeded") == 2
        assert await rig.value("ostiary_calls_total", state="denied", risk="display_only") == 1
        assert await rig.value("ostiary_calls_total", state="dispatched", entry="agent_tool") == 2
        assert await rig.value("ostiary_approval_decisions_total", decision="approved") == 1
        assert await rig.value("ostiary_approval_decisions_total", decision="denied") == 1
        assert await rig.value("ostiary_approval_latency_seconds_sum") == 10
        assert await rig.value("ostiary_approval_subsecond_ratio") == 0
        assert await rig.value("ostiary_call_stage_duration_seconds_count", stage="admit") == 3
        assert await rig.value("ostiary_call_stage_duration_seconds_count", stage="settle") == 2
        assert await rig.value("ostiary_idempotency_outcomes_total", outcome="new") == 3
        assert await rig.value("ostiary_refusals_total", door="mcp", code="unauthenticated") == 1
        assert await rig.value("ostiary_calls_refused_total", code="unknown_capability") == 1
        assert await rig.value("ostiary_policy_decisions_total", verdict="ask", tier="user_confirmation") == 3
        assert await rig.value("ostiary_policy_decisions_total", verdict="forbid", tier="none") == 1
        assert await rig.value("ostiary_pages_dropped_total", reason="silent") == 1
        assert await rig.value("ostiary_page_frames_total", direction="in", type="decision") == 2
        assert await rig.value("ostiary_page_frames_total", direction="out", type="invoke") == 2
        calls = {"mcp_method_name": "tools/call"}
        assert await rig.value("mcp_server_operation_duration_seconds_count", **calls) == 5
        assert await rig.value("mcp_server_operation_duration_seconds_count", error_type="tool_error", **calls) == 3
        assert await rig.value("http_server_request_duration_seconds_count", http_response_status_code="401") == 1
        assert await rig.value("ostiary_ledger_used") == 3
        assert await rig.value("ostiary_ledger_open") == 0
        assert await rig.value("ostiary_store_up") == 1


async def test_a_lost_call_counts_as_unknown_until_it_is_reconciled(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        session, _ = await rig.grant()
        page = await rig.page(LIST)
        submitted = await rig.submit(session, "todo.list", {})
        await page.receive("invoke")
        rig.clock.advance(31_000)
        lost = await rig.outcome(submitted)
        assert await rig.value("ostiary_unknown_open") == 1
        await rig.services.admin.reconcile(lost.call.ref, succeeded=True, by="test")
        assert await rig.value("ostiary_unknown_open") == 0
        assert await rig.value("ostiary_calls_total", state="unknown") == 1


async def test_nothing_a_stranger_sends_makes_a_series_of_its_own(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        _, token = await rig.grant()
        await rig.mcp(token, "strange/method-7731")
        await rig.http.get("/strange-path-7731")
        await rig.http.request("STRANGE7731", "/mcp")
        await rig.invoke(token, "strange.capability7731", {})
        assert "7731" not in await rig.scrape()
        assert "7731" in str(await rig.records("call.refused"))


async def test_no_label_names_a_person_or_a_session(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        await tell_a_story(rig)
        text = await rig.scrape()
        names = {label for sample in await rig.samples() for label in sample.labels}
        assert names.isdisjoint({"user", "session", "agent", "ref", "call_id", "page", "peer"})
        assert "alice" not in text
        assert "ann" not in text.replace("channel", "").replace("cannot", "")


@pytest.mark.parametrize(("host", "status"), [("localhost:9464", 200), ("127.0.0.1:9464", 200), ("evil.test", 421)])
async def test_on_loopback_it_answers_to_loopback_names_alone(tmp_path: Path, host: str, status: int) -> None:
    async with observed(tmp_path) as rig:
        assert rig.gateway is not None
        assert rig.gateway.metrics is not None
        transport = httpx.ASGITransport(app=rig.gateway.metrics)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            assert (await http.get("/metrics", headers={"host": host})).status_code == status
            assert (await http.get("/mcp")).status_code == 404


async def test_the_public_listener_has_no_metrics(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        assert (await rig.http.get("/metrics")).status_code == 404
