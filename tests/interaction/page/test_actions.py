"""What the person does on the badge."""

from typing import Any

import pytest

from gateway.domain.errors import GatewayError
from tests.interaction.page.rig import ADD, LIST, Page, Rig

pytestmark = pytest.mark.anyio


async def act(page: Page, action: str, **fields: str) -> dict[str, Any]:
    await page.send({"type": "action", "id": action, "action": action, **fields})
    return await page.receive("action_reply", id=action)


async def test_pinning_decides_which_page_agents_work_on(rig: Rig) -> None:
    first, second = await rig.page(LIST), await rig.page(LIST)
    session, _ = await rig.grant()
    with pytest.raises(GatewayError) as ambiguous:
        await rig.submit(session, "todo.list", {})
    assert ambiguous.value.code.wire == "AMBIGUOUS_PAGE"
    assert (await act(first, "pin"))["ok"]
    await rig.submit(session, "todo.list", {})
    assert await first.receive("invoke")
    assert (await act(first, "unpin"))["ok"]
    assert await rig.records("page.pinned")
    assert await rig.records("page.unpinned")
    assert not second.has("invoke")


async def test_lifting_a_deny_lets_the_same_request_ask_again(rig: Rig) -> None:
    page = await rig.page(ADD)
    session, _ = await rig.grant()
    await rig.submit(session, "todo.add", {"title": "a"})
    await page.decide(await page.receive("approve_request"), "deny")
    await page.receive("approve_update")
    with pytest.raises(GatewayError):
        await rig.submit(session, "todo.add", {"title": "a"})
    assert (await act(page, "lift_deny", agent="alice", capability="todo.add"))["ok"]
    await rig.submit(session, "todo.add", {"title": "a"})
    assert await page.receive("approve_request")
    assert await rig.records("denial.lifted", agent="alice", capability="todo.add")


async def test_disconnecting_an_agent_ends_its_sessions(rig: Rig) -> None:
    page = await rig.page(LIST)
    session, token = await rig.grant()
    assert (await act(page, "disconnect_agent", agent="alice"))["ok"]
    with pytest.raises(GatewayError):
        await rig.services.identity.agent(token)
    assert await rig.records("session.revoked", session=session.id, by="user:ann")


async def test_another_users_agents_are_not_this_persons_to_end(rig: Rig) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant(user="bea")
    assert (await act(page, "disconnect_agent", agent="alice"))["ok"]
    assert await rig.services.identity.agent(token)


@pytest.mark.parametrize("action", ["lift_deny", "disconnect_agent"])
async def test_an_action_that_lacks_what_it_needs_is_told_so(rig: Rig, action: str) -> None:
    page = await rig.page(LIST)
    reply = await act(page, action)
    assert (reply["ok"], reply["code"]) == (False, "bad_request")
