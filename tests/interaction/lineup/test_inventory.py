"""`client.inventory` and `app.list`: on connect and after every change of this session's own, and nothing else in them."""

import json
from typing import Any

import jsonschema_rs
import pytest

from gateway.protocol import lineup
from tests.interaction.lineup.apps import CANVAS, FOCUS, offered, with_apps
from tests.interaction.lineup.client import Agent, an_agent, records
from tests.interaction.page.rig import ADD, LIST, ORIGIN, Rig

pytestmark = pytest.mark.anyio

CHANGED = {**LIST, "description": "Lists all of them."}


def fits(message: dict[str, Any]) -> bool:
    """Whether the published schema takes it."""
    return jsonschema_rs.validator_for(lineup.schema()).is_valid(message)


async def test_a_stream_begins_with_the_inventory_and_its_projection(rig: Rig, agent: Agent) -> None:
    await rig.page(LIST, ADD)
    async with agent.stream() as stream:
        whole, projected = await stream.next(), await stream.next()
    assert whole.payload == {
        "revision": "catalog-1",
        "standard_components": [],
        "applications": [],
        "capabilities": [
            {"name": "todo.add", "version": "1", "risk": "user_confirmation"},
            {"name": "todo.list", "version": "1", "risk": "display_only"},
        ],
        "tools": [],
    }
    assert (projected.kind, projected.payload) == (
        "app.list",
        {
            "capabilities": [
                {**entry, "input_schema": declared["input_schema"]}
                for entry, declared in zip(whole.payload["capabilities"], (ADD, LIST), strict=True)
            ]
        },
    )
    assert fits(whole.message)
    assert fits(projected.message)


async def test_a_change_of_its_own_is_told_and_a_change_of_another_is_not(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    other = await an_agent(rig, "bob", "ben")
    async with agent.stream() as stream, other.stream() as elsewhere:
        assert (await stream.receive("client.inventory")).payload["revision"] == "catalog-1"
        assert (await elsewhere.receive("client.inventory")).payload["capabilities"] == []
        await page.declare(LIST, ADD, seq=2)
        changed = await stream.receive("client.inventory")
        assert changed.payload["revision"] == "catalog-2"
        assert [c["name"] for c in changed.payload["capabilities"]] == ["todo.add", "todo.list"]
        assert (await stream.next()).kind == "app.list"
        bens = await rig.page(LIST, user="ben")
        assert [c["name"] for c in (await elsewhere.receive("client.inventory")).payload["capabilities"]] == [
            "todo.list"
        ]
        await bens.close()
        assert not [event for event in elsewhere.passed if event.kind == "client.inventory"]
        # Anything after it would come first.
        await agent.tool("todo.list", {}, revision=2)
        assert (await stream.next()).kind == "tool.receipt"
        # The next change would be told a while after the last.
        rig.clock.advance(2_000)


async def test_an_inventory_takes_no_place_of_the_log(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    async with agent.stream() as stream:
        await stream.receive("app.list")
        await agent.tool("todo.list", {})
        assert (await stream.receive("tool.receipt")).place == 1
        await page.declare(LIST, ADD, seq=2)
        assert (await stream.receive("client.inventory")).place == 1


# -- which revision a call was decided by (rules B2) --------------------------------------------------------------


async def test_an_older_revision_passes_while_the_capability_is_what_it_was(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    await agent.inventory()
    await page.declare(LIST, ADD, seq=2)
    assert (await agent.inventory())["revision"] == "catalog-2"
    answer = await agent.tool("todo.list", {}, call_id="older-001", revision=1)
    assert answer.status_code == 202
    await page.receive("invoke")
    row = await rig.store.run(lambda tx: tx.calls.recent(limit=1)[0])
    assert row.inventory_revision == 1


@pytest.mark.parametrize(
    ("capability", "revision"),
    [
        pytest.param("todo.list", 1, id="it has changed since"),
        pytest.param("todo.add", 1, id="it was not there yet"),
        pytest.param("todo.list", 3, id="not given yet"),
        pytest.param("todo.list", 999_999_999_999_999, id="never given"),
        pytest.param("todo.list", 0, id="before the first"),
    ],
)
async def test_a_revision_that_does_not_show_it_as_it_is_is_stale(
    rig: Rig, agent: Agent, capability: str, revision: int
) -> None:
    page = await rig.page(LIST)
    await agent.inventory()
    await page.declare(CHANGED, ADD, seq=2)
    await agent.inventory()
    answer = await agent.tool(capability, {"title": "a"}, call_id="stale-001", revision=revision)
    told = answer.json()["payload"]
    assert (answer.status_code, told["status"], told["error"]["code"]) == (200, "failed", "stale_inventory")
    assert told["error"]["retryable"] is True
    assert not page.has("invoke")
    (record,) = await records(rig, "call.refused", code="stale_inventory", call_id="stale-001")
    assert record["capability"] == capability
    assert (await agent.tool(capability, {"title": "a"}, call_id="stale-001", revision=2)).status_code == 202


async def test_what_changed_behind_the_agents_back_is_told_with_the_refusal(rig: Rig, agent: Agent) -> None:
    page = await rig.page(LIST)
    await agent.inventory()
    await page.declare(CHANGED, seq=2)
    told = (await agent.tool("todo.list", {}, revision=1)).json()["payload"]
    assert told["error"]["data"]["changed"]["description"] == CHANGED["description"]
    # It was told by the refusal, and the revision grew with it: an inventory shows it from there on.
    assert (await agent.tool("todo.list", {}, revision=1)).json()["payload"]["error"]["code"] == "stale_inventory"
    revision = int((await agent.inventory())["revision"].removeprefix("catalog-"))
    assert (await agent.tool("todo.list", {}, revision=revision)).status_code == 202


async def test_a_call_without_a_revision_is_no_call(rig: Rig, agent: Agent) -> None:
    await rig.page(LIST)
    payload: dict[str, Any] = {"call_id": "none-0001", "method": "todo.list", "arguments": {}}
    answer = await agent.post(agent.message("tool.call", payload))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
    assert answer.json()["error"]["data"] == {"pointer": "/payload/inventory_revision"}


# -- what is gone, and what was never there (rules B3) --------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tool", "app"])
async def test_revoked_is_told_only_to_whom_it_was_shown(rig: Rig, agent: Agent, kind: str) -> None:
    page = await rig.page(LIST, ADD)
    await agent.inventory()
    await page.declare(ADD, seq=2)
    later = await an_agent(rig)
    await later.inventory()
    answers: list[dict[str, Any]] = []
    for who, capability in ((agent, "todo.list"), (later, "todo.list"), (later, "todo.nothing")):
        answer = await (who.tool if kind == "tool" else who.app)(capability, {}, call_id="gone-0001")
        assert answer.status_code == 200
        answers.append(answer.json()["payload"])
    gone, unseen, unknown = answers
    assert (gone["status"], gone["reason"], gone["error"]["code"]) == ("unsupported", "revoked", "revoked")
    assert unseen["status"] == "unsupported"
    assert "reason" not in unseen
    assert json.dumps(unseen).replace("todo.list", "x") == json.dumps(unknown).replace("todo.nothing", "x")
    assert [r["code"] for r in await records(rig, "call.refused")] == [
        "revoked",
        "unknown_capability",
        "unknown_capability",
    ]
    assert not page.has("invoke")


# -- apps -----------------------------------------------------------------------------------------------------------


async def test_installed_apps_and_their_tools_are_in_it(rig: Rig) -> None:
    agent = await an_agent(rig, scope=["todo.*", "focus.*", "ui.*"])
    await rig.page(LIST)
    with_apps(rig, FOCUS)
    async with agent.stream() as stream:
        inventory = await stream.receive("client.inventory")
        assert fits(inventory.message)
        assert inventory.payload["applications"] == [
            {"id": "com.example.focus", "version": "1.2.0", "surfaces": [{"id": "face", "events": ["tick"]}]}
        ]
        (tool,) = inventory.payload["tools"]
        assert tool == {
            "app_scope": "com.example.focus",
            "method": "focus.state",
            "contract_version": "2",
            "title": "State",
            "description": "Says what is going on.",
            "input_schema": {"type": "object"},
            "output_schema": {"type": "object"},
            "call_model": "query",
            "idempotency": "call_id",
            "requires": [],
            "timeout_ms": 30_000,
            "readiness": "activation_not_required",
            "permissions": ["http:api.example.test"],
            "effect": "read",
            "risk": "display_only",
            "confirm": "never",
        }
        assert [c["name"] for c in inventory.payload["capabilities"]] == ["todo.list"]
        with_apps(rig)
        gone = await stream.receive("client.inventory")
        assert (gone.payload["applications"], gone.payload["tools"]) == ([], [])


async def test_an_app_that_only_shows_something_is_told_to_who_may_open_surfaces(rig: Rig) -> None:
    may, may_not = await an_agent(rig, scope=["ui.*"]), await an_agent(rig, scope=["todo.*"])
    offered(rig, "ui.surface_open")
    async with may.stream() as stream, may_not.stream() as elsewhere:
        first = await stream.receive("client.inventory")
        assert first.payload["applications"] == []
        with_apps(rig, CANVAS)
        second = await stream.receive("client.inventory")
        assert [app["id"] for app in second.payload["applications"]] == ["com.example.canvas"]
        assert second.payload["revision"] != first.payload["revision"]
        assert (await elsewhere.receive("client.inventory")).payload["applications"] == []


async def test_standard_components_are_those_that_can_be_called(rig: Rig) -> None:
    agent = await an_agent(rig, scope=["ui.*"])
    assert (await agent.inventory())["standard_components"] == []
    offered(rig, "ui.choice", "ui.input", "ui.text")
    assert (await agent.inventory())["standard_components"] == [
        {"id": "choice", "version": "1"},
        {"id": "input", "version": "1"},
    ]


# -- what must never be in it (rules E2) ----------------------------------------------------------------------------

SECRETS = {
    "the bundle": "bundle-text-7f3a",
    "its digest": "d" * 64,
    "where it came from": "/srv/packages/focus.zip",
    "the person": "ann-of-the-third-floor",
    "the address of the page": "/secret-path",
    "the title of the page": "Quarterly figures",
    "the origin": ORIGIN,
    "the session's token": "ost_agent_",
}


async def test_nothing_of_bundles_sources_people_pages_or_sign_ins_is_in_it(rig: Rig) -> None:
    person = SECRETS["the person"]
    await rig.page(LIST, user=person, url=f"{ORIGIN}{SECRETS['the address of the page']}", title="Quarterly figures")
    agent = await an_agent(rig, user=person, scope=["todo.*", "focus.*", "ui.*"])
    with_apps(rig, FOCUS)
    async with agent.stream() as stream:
        told = [await stream.next(), await stream.next()]
    for event in told:
        text = json.dumps(event.payload)
        assert [what for what, secret in SECRETS.items() if secret in text] == []
        assert agent.session.id not in text
    assert "focus.state" in json.dumps(told[0].payload)
