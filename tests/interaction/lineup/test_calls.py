"""Calls over `lineup.v1`: accepted at once, told on the stream, each receipt and each end once, in order."""

import json
from typing import Any

import pytest

from gateway.bootstrap import Gateway
from gateway.runtime.requests import CallRequest
from tests.interaction.lineup.client import Agent, an_agent, records
from tests.interaction.page.rig import ADD, LIST, Rig
from tests.interaction.surface.client import envelope, invoke, post

pytestmark = pytest.mark.anyio

CALLS = ("tool", "app")


async def call(agent: Agent, kind: str, capability: str, arguments: dict[str, Any], call_id: str) -> Any:
    ask = agent.tool if kind == "tool" else agent.app
    return await ask(capability, arguments, call_id=call_id)


def result_of(answer: Any) -> dict[str, Any]:
    """The payload of an answer that tells an end."""
    assert answer.status_code == 200, answer.text
    assert answer.json()["type"].endswith(".result")
    return answer.json()["payload"]


async def test_a_call_is_accepted_and_ended_once(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        await stream.receive("client.inventory")
        answer = await agent.tool("todo.list", {}, call_id="list-0001")
        assert answer.status_code == 202
        accepted = {
            "call_id": "list-0001",
            "app_scope": None,
            "status": "accepted",
            "seq": 1,
            "at": rig.clock.now(),
        }
        assert answer.json()["payload"] == accepted
        assert (await stream.receive("tool.receipt")).payload == accepted
        await page.answer(await page.receive("invoke"), {"entries": []}, evidence={"count": 0})
        assert (await stream.next()).message == {
            "v": 1,
            "id": "msg-2",
            "type": "lineup.v1.tool.result",
            "conversation_id": agent.session.conversation,
            "sender": {"kind": "client", "id": "ostiary"},
            "target": {"kind": "agent", "id": "alice"},
            "payload": {
                "call_id": "list-0001",
                "app_scope": None,
                "status": "completed",
                "result": {"entries": []},
                "evidence": {"count": 0},
            },
        }
    (row,) = await rig.store.run(lambda tx: tx.calls.recent(limit=10))
    assert (row.entry, row.session, row.inventory_revision) == ("agent_tool", agent.session.id, 1)
    assert [r["call_id"] for r in await records(rig, "call.admitted")] == ["list-0001"]


async def test_work_that_takes_a_while_is_told_to_have_started(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        await agent.tool("todo.list", {}, call_id="slow-0001")
        running = await page.receive("invoke")
        await page.send({"type": "started", "ref": running["ref"]})
        assert [(await stream.receive("tool.receipt")).payload["status"] for _ in range(2)] == ["accepted", "started"]
        await page.answer(running, {})
        assert (await stream.receive("tool.result")).payload["status"] == "completed"


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize(("decision", "status"), [("approve", "completed"), ("deny", "rejected")])
async def test_a_person_decides_and_the_end_comes_on_the_stream(
    rig: Rig, agent: Agent, kind: str, decision: str, status: str
) -> None:
    page = await rig.page(ADD)
    async with agent.stream() as stream:
        await stream.receive("client.inventory")
        answer = await call(agent, kind, "todo.add", {"title": "milk"}, "add-00001")
        assert (answer.status_code, answer.json()["payload"]["status"]) == (202, "accepted")
        await page.decide(await page.receive("approve_request"), decision)
        if decision == "approve":
            await page.answer(await page.receive("invoke"), {"count": 1})
        end = await stream.receive(f"{kind}.result")
    assert (end.payload["call_id"], end.payload["status"]) == ("add-00001", status)
    if decision == "deny":
        assert end.payload["error"] == {"code": "denied", "message": "the person refused it", "retryable": False}
    again = await call(agent, kind, "todo.add", {"title": "milk"}, "add-00001")
    assert result_of(again)["status"] == status


async def test_the_reason_is_shown_as_the_agents_own_words_and_is_not_part_of_the_request(
    rig: Rig, agent: Agent
) -> None:
    page = await rig.page(ADD)
    await agent.app("todo.add", {"title": "milk"}, call_id="why-00001", reason="\u202eapprove me")
    payload = json.loads((await page.receive("approve_request"))["payload"])
    assert payload["summary"]["reason"] == "\u202eapprove me"
    again = await agent.app("todo.add", {"title": "milk"}, call_id="why-00001", reason="another")
    assert again.status_code == 202
    await agent.tool("todo.add", {"title": "bread"}, call_id="why-00002")
    shown = json.loads((await page.receive("approve_request"))["payload"])
    assert "reason" not in shown["summary"]


async def test_a_computed_built_in_is_answered_at_once_and_told_once(whole: tuple[Agent, Gateway]) -> None:
    agent, gateway = whole
    async with agent.stream() as stream:
        answer = await agent.tool("runtime.echo", {"text": "hello"}, call_id="echo-0001")
        assert result_of(answer)["result"] == {"text": "hello"}
        assert (await stream.receive("tool.receipt")).payload["status"] == "accepted"
        end = await stream.receive("tool.result")
        assert (end.place, end.payload) == (2, result_of(answer))
        assert await gateway.services.spine.store.run(lambda tx: len(tx.calls.recent(limit=10))) == 1


@pytest.mark.parametrize("kind", CALLS)
async def test_a_repeated_call_id_gets_the_newest_receipt_or_the_result_and_adds_nothing(
    rig: Rig, agent: Agent, kind: str
) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        first = await call(agent, kind, "todo.list", {}, "again-001")
        running = await page.receive("invoke")
        again = await call(agent, kind, "todo.list", {}, "again-001")
        assert (again.status_code, again.json()["payload"]) == (202, first.json()["payload"])
        assert again.json()["id"] != first.json()["id"]
        await page.send({"type": "started", "ref": running["ref"]})
        await stream.receive("tool.receipt", status="started")
        newest = await call(agent, kind, "todo.list", {}, "again-001")
        assert (newest.json()["payload"]["status"], newest.json()["payload"]["seq"]) == ("started", 2)
        await page.answer(running, {"entries": []})
        end = await stream.receive(f"{kind}.result")
        answers = [await call(agent, kind, "todo.list", {}, "again-001") for _ in range(2)]
        assert [result_of(answer) for answer in answers] == [end.payload, end.payload]
        places = [event.place for event in stream.passed if event.kind == "tool.receipt"]
        assert (places, end.place) == ([1], 3)
    assert not page.has("invoke")
    assert len(await records(rig, "call.admitted")) == 1
    assert len(await records(rig, "call.replayed")) == 4
    assert await rig.store.run(lambda tx: len(tx.calls.receipts_of(running["ref"]))) == 2


async def test_another_request_under_the_same_call_id_is_a_conflict(rig: Rig, agent: Agent) -> None:
    await rig.page(LIST, ADD)
    await agent.tool("todo.list", {}, call_id="same-0001")
    answer = await agent.tool("todo.list", {"page": 2}, call_id="same-0001")
    told = result_of(answer)
    assert (told["status"], told["error"]["code"]) == ("failed", "call_id_conflict")
    assert "data" not in told["error"]
    assert await records(rig, "call.refused", code="call_id_conflict", call_id="same-0001")


async def test_lost_work_is_failed_with_outcome_unknown_and_never_ended_twice(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        await agent.app("todo.list", {}, call_id="lost-0001")
        running = await page.receive("invoke")
        rig.clock.advance(31_000)
        await rig.sweep()
        end = await stream.receive("app.result")
        assert end.payload["status"] == "failed"
        assert end.payload["error"]["code"] == "outcome_unknown"
        assert end.payload["error"]["retryable"] is False
        # The page answers after all.
        await page.answer(running, {"entries": []})
        await page.receive("ack")
        late = result_of(await agent.app("todo.list", {}, call_id="lost-0001"))
        assert late == {"call_id": "lost-0001", "status": "completed", "result": {"entries": []}, "late": True}
        await agent.app("todo.list", {}, call_id="next-0001")
        assert (await stream.next()).payload["call_id"] == "next-0001"


async def test_no_receipt_follows_an_end(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        await agent.tool("todo.list", {}, call_id="late-0001")
        running = await page.receive("invoke")
        await page.send({"type": "started", "ref": running["ref"]})
        rig.clock.advance(31_000)
        await rig.sweep()
        assert (await stream.receive("tool.result")).payload["error"]["code"] == "outcome_unknown"
        # The start was noted before, and is stored a moment later, or not at all.
        await records(rig, "call.lost")
        receipts = await rig.store.run(lambda tx: tx.calls.receipts_of(running["ref"]))
        assert [receipt.status for receipt in receipts] == ["accepted"]


async def test_a_call_whose_time_is_over_is_expired_and_leaves_no_row(rig: Rig, agent: Agent) -> None:
    await rig.page(LIST)
    told = result_of(await agent.app("todo.list", {}, expires_at="2001-01-01T00:00:00Z"))
    assert (told["status"], told["error"]["code"]) == ("expired", "call_too_old")
    assert await records(rig, "call.refused", code="call_too_old")
    assert await rig.store.run(lambda tx: tx.calls.usage()) == (0, 0)


async def test_a_call_nobody_decides_in_time_is_expired(rig: Rig, agent: Agent) -> None:
    page = await rig.page(ADD)
    async with agent.stream() as stream:
        await agent.app("todo.add", {"title": "a"}, call_id="silent-01")
        await page.receive("approve_request")
        rig.clock.advance(120_000)
        await rig.sweep()
        end = await stream.receive("app.result")
    assert (end.payload["status"], end.payload["error"]["code"]) == ("expired", "approval_expired")


async def test_a_call_ends_at_its_own_time(rig: Rig, agent: Agent) -> None:
    page = await rig.page(ADD)
    seconds = rig.clock.now() // 1_000
    assert seconds == 1_700_000_000
    async with agent.stream() as stream:
        await agent.app("todo.add", {"title": "a"}, call_id="short-001", expires_at="2023-11-14T22:13:50.5+00:00")
        await page.receive("approve_request")
        rig.clock.advance(30_499)
        await rig.sweep()
        pending = await agent.app(
            "todo.add", {"title": "a"}, call_id="short-001", expires_at="2023-11-14T22:13:50.5+00:00"
        )
        assert pending.status_code == 202
        rig.clock.advance(1)
        await rig.sweep()
        assert (await stream.receive("app.result")).payload["status"] == "expired"


@pytest.mark.parametrize(
    ("code", "status"),
    [("handler_error", "failed"), ("not_available", "failed"), ("cancelled", "cancelled")],
)
async def test_a_failing_action_is_told_with_its_code(rig: Rig, agent: Agent, code: str, status: str) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        await agent.tool("todo.list", {})
        running = await page.receive("invoke")
        failure = {"ok": False, "error": {"code": code, "message": "no"}}
        await page.send({"type": "result", "ref": running["ref"], "epoch": running["epoch"], **failure})
        end = await stream.receive("tool.result")
    assert (end.payload["status"], end.payload["error"]["code"]) == (status, code)


async def test_wrong_arguments_are_refused_without_their_values_and_the_call_id_stays_free(
    rig: Rig, agent: Agent
) -> None:
    page = await rig.page(ADD)
    told = result_of(await agent.tool("todo.add", {"title": 7_654_321}, call_id="wrong-001"))
    assert (told["status"], told["error"]["code"]) == ("failed", "arguments_invalid")
    assert told["error"]["data"] == {"pointer": "/title"}
    assert "7654321" not in str(told)
    assert (await agent.tool("todo.add", {"title": "milk"}, call_id="wrong-001")).status_code == 202
    await page.receive("approve_request")
    assert await records(rig, "call.refused", code="arguments_invalid", call_id="wrong-001")


async def test_a_call_of_two_pages_names_one_as_its_target(rig: Rig, agent: Agent) -> None:
    pages = [await rig.page(LIST), await rig.page(LIST)]
    told = result_of(await agent.tool("todo.list", {}, call_id="which-001"))
    assert (told["status"], told["error"]["code"]) == ("failed", "AMBIGUOUS_PAGE")
    assert {page["page"] for page in told["error"]["data"]["pages"]} == {p.welcome["page"] for p in pages}
    target = {"kind": "client", "id": pages[1].welcome["page"]}
    assert (await agent.tool("todo.list", {}, call_id="which-001", target=target)).status_code == 202
    await pages[1].receive("invoke")


async def test_the_gateway_as_target_is_no_page(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    answer = await agent.tool("todo.list", {}, target={"kind": "client", "id": "ostiary"})
    assert answer.status_code == 202
    await page.receive("invoke")


async def test_a_call_made_at_another_door_is_found_and_then_told_here(rig: Rig, agent: Agent) -> None:
    page = await rig.page(ADD)
    asked = invoke("todo.add", title="milk") | {"call_id": "shared-01"}
    begun = await post(rig, agent.token, asked, headers={"Prefer": "wait=0"})
    assert begun.json()["result"]["pending"] is True
    async with agent.stream() as stream:
        assert (await agent.tool("todo.add", {"title": "milk"}, call_id="shared-01")).status_code == 202
        await page.decide(await page.receive("approve_request"), "deny")
        end = await stream.receive("tool.result")
        assert (end.place, end.payload["status"]) == (1, "rejected")
    status = await post(rig, agent.token, envelope("status", input={"call_id": "shared-01"}))
    assert status.json()["result"]["status"] == "denied"


async def test_who_follows_a_call_keeps_it_when_the_caller_of_another_door_hangs_up(rig: Rig, agent: Agent) -> None:
    page = await rig.page(ADD)
    request = CallRequest(
        caller=agent.session,
        capability="todo.add",
        arguments={"title": "milk"},
        call_id="waiter-01",
        arrival=rig.services.inventories.arrive(),
    )
    _, waiter = await rig.services.calls.submit(request)
    asked = await page.receive("approve_request")
    assert (await agent.tool("todo.add", {"title": "milk"}, call_id="waiter-01")).status_code == 202
    rig.services.calls.attendance.hang_up(waiter)
    assert not await records(rig, "call.orphaned")
    await page.decide(asked, "approve")
    await page.receive("invoke")


async def test_a_call_of_a_door_where_nobody_waits_is_never_orphaned(rig: Rig, agent: Agent) -> None:
    page = await rig.page(ADD)
    await agent.tool("todo.add", {"title": "milk"})
    asked = await page.receive("approve_request")
    rig.clock.advance(31_000)
    await rig.sweep()
    await page.decide(asked, "approve")
    await page.receive("invoke")
    assert not await records(rig, "call.orphaned")


async def test_too_many_calls_are_told_by_http_with_a_time_to_come_back(limited: tuple[Rig, Agent]) -> None:
    rig, agent = limited
    await rig.page(LIST)
    answers = [await agent.tool("todo.list", {}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 429]
    assert answers[1].json()["error"]["code"] == "rate_limited"
    assert int(answers[1].headers["retry-after"]) >= 1
    assert await records(rig, "call.refused", code="rate_limited")


async def test_sessions_of_one_agent_and_user_share_calls_only_within_their_scope(rig: Rig, agent: Agent) -> None:
    await rig.page(LIST)
    await agent.tool("todo.list", {}, call_id="mine-0001")
    narrow = await an_agent(rig, scope=["mail.*"])
    told = result_of(await narrow.tool("todo.list", {}, call_id="mine-0001", revision=1))
    assert (told["status"], told["error"]["code"]) == ("unsupported", "unknown_capability")
