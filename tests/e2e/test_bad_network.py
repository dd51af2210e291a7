"""The network breaks, or the gateway goes away, while the page works: it did so once, and its answer arrives."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.domain.calls import CallState
from tests.e2e.house import House, Visit, Visitor, housed, until
from tests.support.toxic_proxy import Deed, ToxicProxy, Way

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

WRITE = """{
  id: 'lab.write', title: 'Write', description: 'Adds a line.', effect: 'write', confirm: 'policy',
  inputSchema: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
  handler: ({ line }) => new Promise((resolve) => {
    window.lines = [...(window.lines ?? []), line];
    window.finish = () => resolve({ written: line });
  }),
}"""


@pytest.fixture(scope="module")
async def proxy(anyio_backend: str) -> AsyncIterator[ToxicProxy]:
    async with ToxicProxy() as between:
        yield between


@pytest.fixture(scope="module")
async def house(
    anyio_backend: str, proxy: ToxicProxy, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[House]:
    async with housed(tmp_path_factory.mktemp("house"), between=proxy) as opened:
        yield opened


async def written(person: Visitor) -> list[str]:
    """What the page did."""
    return await person.page.evaluate("window.lines ?? []")


async def works(person: Visitor) -> None:
    """Approve, and wait until the handler is at work."""
    await person.presses("Approve")
    await until(lambda: person.page.evaluate("typeof window.finish === 'function'"))


async def test_an_answer_that_broke_off_arrives_over_the_next_connection(visit: Visit, proxy: ToxicProxy) -> None:
    person, agent = await visit.opens(), await visit.agent()
    await person.offers(WRITE)
    call = visit.begins(agent.calls("gateway_invoke", capability="lab.write", arguments={"line": "one"}))
    await works(person)
    connections, broken = len(person.sockets), proxy.cuts
    proxy.at(Way.UP, "result", Deed.CUT_BEFORE)
    await person.page.evaluate("window.finish()")
    answer = await call
    assert (answer["status"], answer["result"]) == ("succeeded", {"written": "one"})
    assert (proxy.cuts, len(person.sockets)) == (broken + 1, connections + 1)
    assert await written(person) == ["one"]
    assert len(await visit.house.records("call.dispatched", ref=answer["ref"])) == 1
    assert len(await visit.house.records("call.ended", ref=answer["ref"])) == 1
    assert (await visit.house.running.services.admin.audit_verify()).is_intact


async def test_what_ended_while_the_gateway_was_away_is_told_late(visit: Visit) -> None:
    house = visit.house
    person, agent = await visit.opens(), await visit.agent()
    await person.offers(WRITE)
    named = {"capability": "lab.write", "arguments": {"line": "two"}, "call_id": "write-0002"}
    call = visit.begins(agent.calls("gateway_invoke", **named))
    await works(person)
    ref = person.received("invoke")[-1]["ref"]
    await house.stop_gateway()
    await person.page.evaluate("window.finish()")
    await asyncio.gather(call, return_exceptions=True)
    # Before anybody hears of it the new gateway knows that it does not know.
    await house.start_gateway()
    lost = await house.records("call.lost", ref=ref)
    assert len(lost) == 1

    async def has_ended() -> bool:
        found = await house.running.services.spine.store.run(lambda tx: tx.calls.find(ref))
        return found is not None and found.state is CallState.SUCCEEDED

    await until(has_ended)
    back = await visit.connects(agent.token, agent.session)
    answer = await back.calls("gateway_invoke", **named)
    assert (answer["status"], answer["result"], answer["late"]) == ("succeeded", {"written": "two"}, True)
    assert (answer["ref"], answer["replayed"]) == (ref, True)
    assert await written(person) == ["two"]
    assert len(person.received("invoke")) == 1
    assert len(await house.records("call.ended", ref=ref)) == 1
    assert (await house.running.services.admin.audit_verify()).is_intact
