"""What tabs do: they reload, are duplicated, and are several."""

from typing import Any

import pytest

from tests.e2e.house import Visit, Visitor, until

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

SLOW = """{
  id: 'lab.slow', title: 'Slow', description: 'Ends when the test says so.', effect: 'read', confirm: 'never',
  inputSchema: { type: 'object' },
  handler: () => new Promise((resolve) => { window.finish = () => resolve({ done: true }); }),
}"""


async def reloaded(person: Visitor) -> None:
    """Load the page again; it is connected and its actions are known."""
    connections = len(person.sockets)
    await person.page.reload()
    await until(lambda: len(person.sockets) > connections and person.accepted())


async def test_a_reload_while_it_runs_leaves_the_outcome_unknown_and_runs_nothing_again(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    await person.offers(SLOW)
    call = visit.begins(agent.calls("gateway_invoke", capability="lab.slow", call_id="slow-0001"))
    await until(lambda: person.page.evaluate("typeof window.finish === 'function'"))
    await reloaded(person)
    answer = await call
    assert (answer["is_error"], answer["code"], answer["retryable"]) == (True, "outcome_unknown", False)
    await person.offers(SLOW)
    # The same page session, another document: it may not get what was meant for its predecessor.
    first, second = (socket.received for socket in person.sockets[-2:])
    assert welcome(first)["page"] == welcome(second)["page"]
    assert welcome(second)["epoch"] == welcome(first)["epoch"] + 1
    again = await agent.calls("gateway_invoke", capability="lab.slow", call_id="slow-0001")
    assert (again["code"], again["ref"]) == ("outcome_unknown", answer["ref"])
    assert not [frame for frame in second if frame["type"] == "invoke"]
    assert await person.page.evaluate("typeof window.finish") == "undefined"


def live_pages(visit: Visit) -> list[str]:
    """The page sessions of this user that are connected."""
    pages = visit.house.running.services.live.world.pages_of(visit.user)
    return [page.id for page in pages if page.is_connected and page.capabilities]


def welcome(frames: list[dict[str, Any]]) -> dict[str, Any]:
    """The one of a connection."""
    return next(frame for frame in frames if frame["type"] == "welcome")


async def test_a_reload_while_it_is_asked_withdraws_the_question(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    call = visit.begins(agent.calls("todo_add", text="asked before"))
    await person.may_decide()
    await reloaded(person)
    answer = await call
    assert (answer["is_error"], answer["status"]) == (True, "denied")
    assert answer["code"] == "page_not_connected"
    assert await person.sees("alertdialog") is None
    # Nothing was refused by the person: the same request is asked anew, on the new document.
    again = visit.begins(agent.calls("todo_add", text="asked before"))
    await person.presses("Approve")
    assert (await again)["status"] == "succeeded"
    assert (await person.rows()).count("asked before") == 1


async def test_a_duplicated_tab_is_a_page_of_its_own_and_the_person_says_where_agents_work(visit: Visit) -> None:
    first, agent = await visit.opens(), await visit.agent()
    secret = first.received("welcome")[-1]["resume"]
    copies: list[str] = []
    first.page.context.on("console", lambda said: copies.append(said.text))
    await first.page.context.add_init_script("console.log(JSON.stringify({ ...sessionStorage }))")
    async with first.page.context.expect_page() as opened:
        await first.page.evaluate("window.open(location.href)")
    second = await Visitor.of(await opened.value)
    await until(lambda: len(live_pages(visit)) == 2)
    # It began with a copy of the secret, and did not take the first tab's place with it.
    assert any(secret in copy for copy in copies)
    assert len(first.sockets) == 1
    await reloaded(second)  # the beginning of its first connection may have been before anyone watched the wire
    pages = [person.received("welcome")[-1]["page"] for person in (first, second)]
    assert sorted(pages) == sorted(live_pages(visit))

    answer = await agent.calls("todo_overview")
    assert (answer["is_error"], answer["code"]) == (True, "AMBIGUOUS_PAGE")
    assert {page["page"] for page in answer["pages"]} == set(pages)
    assert not first.received("invoke")
    assert not second.received("invoke")
    named = await agent.calls("gateway_invoke", capability="todo.overview", page=pages[0])
    assert named["status"] == "succeeded"
    assert (len(first.received("invoke")), len(second.received("invoke"))) == (1, 0)

    await second.presses("Ostiary")
    await second.presses("Agents work in this tab")
    await until(lambda: any(frame["pinned"] for frame in second.received("activity")))
    assert (await agent.calls("todo_overview"))["status"] == "succeeded"
    assert (len(first.received("invoke")), len(second.received("invoke"))) == (1, 1)


async def test_a_page_may_connect_an_in_page_client_where_its_site_allows_it(visit: Visit) -> None:
    person = await visit.opens("/inner")
    await person.page.evaluate(
        """() => window.Ostiary.queue.push((host) => {
          const port = host.openSurface();
          const waiting = new Map();
          port.onmessage = ({ data }) => waiting.get(data.id)(data);
          window.request = (envelope) => new Promise((resolve) => {
            waiting.set(envelope.id, resolve);
            port.postMessage({ protocol: 'pling.surface/0.1', ...envelope });
          });
        })"""
    )
    described = await person.page.evaluate("request({ id: 'd1', method: 'describe', input: { limit: 1 } })")
    assert described["ok"] is True
    assert {entry["id"] for entry in described["result"]["capabilities"]} == {"todo.overview", "todo.add"}
    assert described["result"]["context"]["recordIds"] == ["t1", "t2", "t3"]

    call = visit.begins(
        person.page.evaluate(
            "request({ id: 'i1', method: 'invoke', capability: 'todo.add', input: { text: 'within' } })"
        )
    )
    assert "Page helper" in await person.dialog_text()
    assert "within" not in await person.rows()
    await person.presses("Approve")
    answer = await call
    assert (answer["ok"], answer["result"]["status"]) == (True, "succeeded")
    assert "within" in await person.rows()

    outside = await person.page.evaluate(
        "request({ id: 'i2', method: 'invoke', capability: 'todo.clear_completed', input: {} })"
    )
    assert (outside["ok"], outside["error"]["code"]) == (False, "CAPABILITY_NOT_EXPOSED")


async def test_where_the_site_allows_none_there_is_no_in_page_client(visit: Visit) -> None:
    person = await visit.opens()
    message = await person.page.evaluate(
        """() => new Promise((resolve) => window.Ostiary.queue.push((host) => {
          try { host.openSurface(); resolve('opened'); } catch (error) { resolve(error.message); }
        }))"""
    )
    assert message == "the gateway allows no in-page client here now"
