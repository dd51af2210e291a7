"""C17 B3 on the screen: a page that changes its words while it is asked loses the question."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.house import Visit, until

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

PENDING = json.loads((Path(__file__).parent / "input.json").read_text())["pending"]

SEND = """{
  id: 'mail.send', title: 'Send a mail', description: '%s', effect: 'write', confirm: 'always',
  inputSchema: { type: 'object', properties: { to: { type: 'string' }, body: { type: 'string' } } },
  handler: (input) => { (window.mails ??= []).push(input); return { sent: true }; },
}"""


async def test_what_changed_while_it_was_asked_is_asked_anew(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    await person.offers(SEND % "Sends one mail.")

    async def send(call_id: str) -> dict[str, Any]:
        return await agent.calls(
            "gateway_invoke", capability="mail.send", arguments=PENDING["arguments"], call_id=call_id
        )

    call = visit.begins(send("ap-1-000"))
    await person.may_decide()
    await person.offers(SEND % "Sends it to everybody.")
    await person.dialog_is_gone()
    await person.waits_for("StaticText", "Withdrawn: Send a mail")
    answer = await call
    assert (answer["is_error"], answer["code"]) == (True, "stale_inventory")

    # The agent reads what it is now, asks again, and the person sees the new words.
    told = await send("ap-2-000")
    assert (told["code"], told["changed"]["description"]) == ("stale_inventory", "Sends it to everybody.")
    again = visit.begins(send("ap-3-000"))
    await person.may_decide()
    assert "Sends it to everybody." in await person.dialog_text()
    assert await person.page.evaluate("window.mails") is None
    await person.presses("Approve")
    assert (await again)["status"] == "succeeded"
    assert await person.page.evaluate("window.mails") == [PENDING["arguments"]]
    assert len(person.received("invoke")) == 1


async def test_what_changed_since_the_last_yes_is_marked(visit: Visit) -> None:
    person, agent = await visit.opens(), await visit.agent()
    await person.offers(SEND % "Sends one mail.")

    async def send(body: str) -> dict[str, Any]:
        return await agent.calls("gateway_invoke", capability="mail.send", arguments={"body": body})

    for body, is_marked in (("one", False), ("two", False), ("three", True)):
        if is_marked:
            await person.offers(SEND % "Sends a copy too.")
            assert (await send(body))["code"] == "stale_inventory"
        count = len(person.received("approve_request"))
        call = visit.begins(send(body))
        await until(lambda count=count: len(person.received("approve_request")) > count)
        await person.may_decide()
        assert ("changed since you last approved" in await person.dialog_text()) is is_marked
        await person.presses("Approve")
        assert (await call)["status"] == "succeeded"
        await person.dialog_is_gone()
