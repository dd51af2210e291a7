"""The stream of a conversation: it goes on from any place, over breaks and restarts, for its own session and no other."""

import asyncio
from typing import Any

import httpx
import pytest

from gateway.domain.configuration import Configuration
from gateway.testing import FakeClock
from gateway.transports.lineup.streams import BATCH, STREAMS
from tests.interaction.lineup.apps import offered
from tests.interaction.lineup.client import PATIENCE, Agent, Stream, an_agent, happens, records
from tests.interaction.page.rig import ADD, LIST, Page, Rig, configuration, running
from tests.support.databases import open_own

pytestmark = pytest.mark.anyio

NEVER = 2**62
"""Later than anybody spoke."""


async def listed(agent: Agent, page: Page, call_id: str) -> None:
    """One call from its message to its end: two messages."""
    assert (await agent.tool("todo.list", {}, call_id=call_id)).status_code == 202
    await page.answer(await page.receive("invoke"), {"of": call_id})
    await page.receive("ack")


def told(events: list[Any]) -> list[tuple[int, str, str]]:
    """Place, kind and call of messages of the log."""
    return [(event.place, event.kind, event.payload["call_id"]) for event in events if event.kind.startswith("tool.")]


async def rest(stream: Stream, count: int) -> list[Any]:
    """The next `count` messages of the log."""
    found: list[Any] = []
    while len(found) < count:
        event = await stream.next()
        if event.kind.startswith(("tool.", "app.result")):
            found.append(event)
    return found


async def test_it_begins_now_and_goes_on_where_a_client_left(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    await agent.inventory()
    await listed(agent, page, "before-01")
    async with agent.stream() as stream:
        assert (await stream.receive("client.inventory")).place == 2
        await listed(agent, page, "during-01")
        first, second = await rest(stream, 2)
        assert told([first, second]) == [(3, "tool.receipt", "during-01"), (4, "tool.result", "during-01")]
    await listed(agent, page, "between-1")
    async with agent.stream(after=first.place) as stream:
        assert (await stream.receive("client.inventory")).place == 3
        again, *more = await rest(stream, 3)
        assert again.message == second.message
        assert told(more) == [(5, "tool.receipt", "between-1"), (6, "tool.result", "between-1")]


async def test_a_place_before_the_first_tells_all_that_is_kept(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    await agent.inventory()
    count = BATCH
    for number in range(count):
        await listed(agent, page, f"many-{number:04d}")
    async with agent.stream(after=0) as stream:
        found = await rest(stream, 2 * count)
    assert [event.place for event in found] == list(range(1, 2 * count + 1))


async def test_nothing_is_lost_or_told_twice_over_a_restart(database: Any) -> None:
    store, _ = open_own()
    clock = FakeClock()
    async with running(store, clock) as rig:
        page, agent = await rig.page(LIST, ADD), await an_agent(rig)
        async with agent.stream() as stream:
            await stream.receive("client.inventory")
            await listed(agent, page, "first-001")
            seen = await rest(stream, 1)
        await agent.tool("todo.add", {"title": "milk"}, call_id="waits-001")
        await agent.tool("todo.list", {}, call_id="lost-0001")
        await page.receive("invoke")
    async with running(store, clock) as rig:
        again = Agent(http=rig.http, session=agent.session, token=agent.token)
        async with again.stream(after=seen[-1].place) as stream:
            found = await rest(stream, 4)
            assert told(found) == [
                (2, "tool.result", "first-001"),
                (3, "tool.receipt", "waits-001"),
                (4, "tool.receipt", "lost-0001"),
                (5, "tool.result", "lost-0001"),
            ]
            assert found[0].payload["result"] == {"of": "first-001"}
            assert found[3].payload["error"]["code"] == "outcome_unknown"
            assert await rig.store.run(lambda tx: tx.calls.usage()) == (3, 1)
    await store.close()


async def test_what_was_told_is_kept_for_a_while_and_its_text_as_long_as_the_result(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        await stream.receive("client.inventory")
        await listed(agent, page, "erased-01")
        await rest(stream, 2)
    await records(rig, "call.ended")
    rig.clock.advance(3_600_000)
    await rig.store.run(lambda tx: tx.calls.erase_results(rig.clock.now(), 10))
    async with agent.stream(after=0) as stream:
        _, end = await rest(stream, 2)
    assert end.payload["status"] == "completed"
    assert "result" not in end.payload
    assert end.payload["error"]["code"] == "result_erased"
    rig.clock.advance(86_400_000 - 3_600_000)
    await rig.services.retention.apply(by="test")
    await listed(agent, page, "after-001")
    async with agent.stream(after=0) as stream:
        assert told(await rest(stream, 2)) == [(3, "tool.receipt", "after-001"), (4, "tool.result", "after-001")]


async def test_a_result_that_was_sent_counts_as_taken(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        await stream.receive("client.inventory")
        await listed(agent, page, "taken-001")
        await rest(stream, 2)
    await records(rig, "call.ended")
    row = await rig.store.run(lambda tx: tx.calls.recent(limit=1)[0])
    assert row.taken
    await listed(agent, page, "taken-002")
    await records(rig, "call.ended")
    row = await rig.store.run(lambda tx: tx.calls.recent(limit=1)[0])
    assert not row.taken


@pytest.mark.parametrize("place", ["x", "-1", "1.5", "9" * 16, "1, 1"])
async def test_what_is_no_id_of_an_event_is_refused(rig: Rig, agent: Agent, place: str) -> None:
    answer = await rig.http.get(agent.path("stream"), headers=agent.headers(**{"Last-Event-ID": place}))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    assert await rig.records("access.refused", door="lineup", code="bad_request", session=agent.session.id)


async def test_a_place_that_was_never_told_is_refused_rather_than_passed_over(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    await agent.inventory()
    await listed(agent, page, "only-0001")
    async with agent.stream(after=2) as stream:
        assert (await stream.receive("client.inventory")).place == 2
    answer = await rig.http.get(agent.path("stream"), headers=agent.headers(**{"Last-Event-ID": "3"}))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")


async def test_an_empty_id_is_none(rig: Rig, agent: Agent) -> None:
    async with agent.stream(named="") as stream:
        assert (await stream.receive("client.inventory")).place == 0


# -- whose stream it is -----------------------------------------------------------------------------------------------


async def test_two_conversations_hear_nothing_of_each_other(rig: Rig) -> None:
    page = await rig.page(LIST)
    here, there = await an_agent(rig, conversation="conv_1"), await an_agent(rig, "bob", conversation="conv_2")
    async with here.stream() as first, there.stream() as second:
        for stream in (first, second):
            await stream.receive("app.list")
        await listed(here, page, "here-0001")
        await listed(there, page, "there-001")
        assert told([await first.next(), await first.next()]) == [
            (1, "tool.receipt", "here-0001"),
            (2, "tool.result", "here-0001"),
        ]
        assert told([await second.next(), await second.next()]) == [
            (1, "tool.receipt", "there-001"),
            (2, "tool.result", "there-001"),
        ]


async def test_a_conversation_of_the_same_name_is_another_one_to_another_agent_or_user(rig: Rig) -> None:
    page = await rig.page(LIST)
    mine = await an_agent(rig, conversation="shared")
    others = [
        await an_agent(rig, "bob", conversation="shared"),
        await an_agent(rig, user="ben", conversation="shared"),
    ]
    await mine.inventory()
    await listed(mine, page, "mine-0001")
    for other in others:
        async with other.stream(after=0) as stream:
            assert [(await stream.next()).kind for _ in range(2)] == ["client.inventory", "app.list"]
            answer = await other.tool("todo.list", {}, call_id="mine-0001")
            assert answer.json()["payload"]["status"] in ("unsupported", "accepted")


async def test_a_renewed_grant_goes_on_with_the_conversation_as_far_as_it_reaches(rig: Rig) -> None:
    page = await rig.page(LIST)
    before = await an_agent(rig, conversation="long")
    await before.inventory()
    await listed(before, page, "first-001")
    await rig.services.admin.revoke_session(before.session.id, by="test")
    after, narrow = (
        await an_agent(rig, conversation="long"),
        await an_agent(rig, conversation="long", scope=["mail.*"]),
    )
    async with after.stream(after=1) as stream:
        assert told(await rest(stream, 1)) == [(2, "tool.result", "first-001")]
    async with narrow.stream(after=0) as stream:
        assert [(await stream.next()).kind for _ in range(2)] == ["client.inventory", "app.list"]
        await happens(rig, narrow, "face-1", "draw", {"x": 1})
        event = await stream.next()
        assert (event.kind, event.place) == ("ui.event", 3)
        assert event.payload == {"instance_id": "face-1", "event": "draw", "data": {"x": 1}}


@pytest.mark.parametrize("what", ["stream", "messages"])
async def test_any_other_conversation_is_unknown_whether_it_is_there_or_not(
    rig: Rig, agent: Agent, what: str
) -> None:
    other = await an_agent(rig, "bob", "ben", conversation="theirs")
    told: list[tuple[int, str]] = []
    for name in ("theirs", "nobody-has-this", other.session.conversation):
        method = "GET" if what == "stream" else "POST"
        answer = await rig.http.request(method, agent.path(what, name), headers=agent.headers())
        told.append((answer.status_code, answer.text.replace(name, "x")))
    assert len(set(told)) == 1
    assert told[0][0] == 404
    assert '"unknown_conversation"' in told[0][1]
    found = await rig.records("access.refused", door="lineup", code="unknown_conversation")
    assert [record["session"] for record in found] == [agent.session.id] * 3


# -- how it ends ------------------------------------------------------------------------------------------------------


async def test_revocation_ends_every_stream_of_the_session_and_no_other(rig: Rig, agent: Agent) -> None:
    other = await an_agent(rig)
    async with agent.stream() as one, agent.stream() as two, other.stream() as third:
        for stream in (one, two, third):
            await stream.receive("app.list")
        await rig.services.admin.revoke_session(agent.session.id, by="test")
        assert await one.ended() == []
        assert await two.ended() == []
        await rig.page(LIST)
        assert (await third.receive("client.inventory")).payload["capabilities"]
    answer = await rig.http.get(agent.path("stream"), headers=agent.headers())
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "session_revoked")
    assert await rig.records("access.refused", door="lineup", code="session_revoked")


async def test_what_ends_with_the_session_is_not_told_to_it_any_more(rig: Rig, agent: Agent) -> None:
    page = await rig.page(ADD)
    async with agent.stream() as stream:
        await agent.tool("todo.add", {"title": "a"}, call_id="gone-0001")
        await page.receive("approve_request")
        await stream.receive("tool.receipt")
        await rig.services.admin.revoke_session(agent.session.id, by="test")
        assert await stream.ended() == []


async def test_a_stream_ends_when_its_session_expires(rig: Rig) -> None:
    agent = await an_agent(rig, days=1)
    async with agent.stream() as stream:
        await stream.receive("app.list")
        sweeper = rig.sweeper()
        rig.clock.advance(86_400_000)
        await sweeper.sweep()
        assert await stream.ended() == []


async def test_a_stream_ends_when_its_agent_is_configured_no_more(rig: Rig, agent: Agent) -> None:
    async with agent.stream() as stream:
        await stream.receive("app.list")
        now = rig.services.live.world.configuration
        changed: Configuration = configuration(rig.port)
        assert changed.agents.keys() == now.agents.keys()
        object.__setattr__(changed, "agents", {"bob": now.agents["bob"]})
        await rig.services.reconfiguration.apply(changed)
        assert await stream.ended() == []


async def test_streams_end_when_the_gateway_stops(whole: Any) -> None:
    agent, gateway = whole
    async with agent.stream() as stream:
        await stream.receive("app.list")
        gateway.stop_streams()
        assert await stream.ended() == []
    answer = await agent.http.get(agent.path("stream"), headers=agent.headers())
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")


async def test_a_session_has_so_many_streams_and_a_place_is_free_again(rig: Rig, agent: Agent) -> None:
    other = await an_agent(rig)
    async with httpx.AsyncClient(base_url=rig.http.base_url, timeout=5) as http:
        agent = Agent(http=http, session=agent.session, token=agent.token)
        opened = [agent.stream() for _ in range(STREAMS)]
        streams = [await each.__aenter__() for each in opened]
        for stream in streams:
            await stream.receive("app.list")
        answer = await http.get(agent.path("stream"), headers=agent.headers())
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
        assert answer.headers["retry-after"]
        assert await rig.records("access.refused", door="lineup", code="busy", session=agent.session.id)
        async with other.stream() as elsewhere:
            await elsewhere.receive("app.list")
        await opened.pop().__aexit__(None, None, None)
        async with asyncio.timeout(PATIENCE):
            while not await _opens(agent):  # noqa: ASYNC110 - the socket tells nobody
                await asyncio.sleep(0.005)
        for each in opened:
            await each.__aexit__(None, None, None)


async def _has_left(rig: Rig) -> None:
    """Return once the gateway noticed that nobody reads a stream any more."""
    async with asyncio.timeout(PATIENCE):
        while rig.services.sessions.connected(NEVER):  # noqa: ASYNC110 - the socket tells nobody
            await asyncio.sleep(0.005)


async def _opens(agent: Agent) -> bool:
    async with agent.stream() as stream:
        return stream.response.status_code == 200


async def test_a_quiet_stream_shows_that_it_lives() -> None:
    async with running(ping_seconds=0.01) as rig:
        agent = await an_agent(rig)
        async with agent.stream() as stream:
            await stream.receive("app.list")
            await stream.pinged()
            await stream.pinged()
            assert stream.response.headers["content-type"].startswith("text/event-stream")
            assert stream.response.headers["cache-control"] == "no-cache, no-transform"
            assert stream.response.headers["x-accel-buffering"] == "no"


async def test_a_client_that_leaves_gives_its_place_back(rig: Rig, agent: Agent) -> None:
    for _ in range(STREAMS + 2):
        async with agent.stream() as stream:
            await stream.receive("app.list")
        await _has_left(rig)
    assert not await rig.records("access.refused")


async def test_a_store_that_fails_ends_the_stream_and_passes_nothing_over(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        await stream.receive("app.list")
        await agent.tool("todo.list", {}, call_id="lives-001")
        await stream.receive("tool.receipt")
        running_call = await page.receive("invoke")
        heal = rig.fail_commits()
        offered(rig, "todo.more")  # the new inventory cannot be noted as served
        assert await stream.ended() == []
        heal()
    await page.answer(running_call, {})
    async with agent.stream(after=1) as again:
        assert told(await rest(again, 1)) == [(2, "tool.result", "lives-001")]


@pytest.mark.parametrize("method", ["HEAD", "POST", "DELETE", "PUT"])
async def test_a_stream_is_only_gotten(rig: Rig, agent: Agent, method: str) -> None:
    answer = await rig.http.request(method, agent.path("stream"), headers=agent.headers())
    assert answer.status_code == 405
