"""Declarations: whole snapshots in parts, each declaration judged by itself."""

import asyncio
from typing import Any

import orjson
import pytest

from capabilities.registry import HOST
from gateway.domain.calls import CallState
from tests.interaction.page.rig import ADD, CLEAR, LIST, Page, Rig, running

pytestmark = pytest.mark.anyio


def part(number: int, parts: int, *declarations: Any, seq: int = 1) -> dict[str, Any]:
    return {"type": "caps", "seq": seq, "part": number, "parts": parts, "capabilities": list(declarations)}


def offered(rig: Rig, page: Page) -> set[str]:
    return set(rig.services.live.world.pages[page.welcome["page"]].capabilities)


async def test_parts_become_one_snapshot_with_the_last_one(rig: Rig) -> None:
    page = await rig.page()
    await page.send(part(1, 2, ADD))
    await page.send(part(2, 2, LIST))
    ack = await page.receive("caps_ack")
    capabilities = rig.services.live.world.pages[page.welcome["page"]].capabilities
    assert ack["accepted"] == {name: capability.fingerprint for name, capability in capabilities.items()}
    assert set(ack["accepted"]) == {"todo.add", "todo.list"}
    assert ack["rejected"] == []


async def test_what_the_host_itself_can_do_is_declared_by_the_gateway(rig: Rig) -> None:
    page = await rig.page()
    await page.send({**part(1, 2, ADD), "host": ["app.open_url", "device.pick_file"]})
    await page.send(part(2, 2, LIST))
    ack = await page.receive("caps_ack")
    assert set(ack["accepted"]) == {"todo.add", "todo.list", "app.open_url", "device.pick_file"}
    assert ack["accepted"]["app.open_url"] == HOST["app.open_url"].fingerprint
    assert rig.services.live.world.pages[page.welcome["page"]].capabilities["app.open_url"] is HOST["app.open_url"]
    # A snapshot is whole: what it does not name is not there any more.
    await page.declare(LIST, seq=2)
    assert offered(rig, page) == {"todo.list"}


@pytest.mark.parametrize("name", ["app.eval", "todo.add", "gateway.describe"])
async def test_a_page_names_only_what_the_gateway_declares_for_hosts(rig: Rig, name: str) -> None:
    page = await rig.page()
    await page.send({**part(1, 1, LIST), "host": [name]})
    ack = await page.receive("caps_ack")
    assert set(ack["accepted"]) == {"todo.list"}
    assert ack["rejected"] == [{"id": name, "code": "unsupported", "pointer": ""}]
    assert await rig.records("capability.refused", peer=page.welcome["page"], capability=name, code="unsupported")


@pytest.mark.parametrize("name", list(HOST))
async def test_no_page_words_what_the_host_can_do(rig: Rig, name: str) -> None:
    page = await rig.page()
    await page.send({**part(1, 1, {**LIST, "id": name, "risk": "display_only"}), "host": [name]})
    ack = await page.receive("caps_ack")
    assert ack["rejected"] == [{"id": name, "code": "id_reserved", "pointer": "/id"}]
    assert rig.services.live.world.pages[page.welcome["page"]].capabilities[name] is HOST[name]


async def test_a_snapshot_replaces_the_former_one(rig: Rig) -> None:
    page = await rig.page(ADD, LIST)
    await page.declare(LIST, seq=2)
    assert offered(rig, page) == {"todo.list"}
    await page.declare(seq=3)
    assert offered(rig, page) == set()


@pytest.mark.parametrize(
    "frames",
    [
        [part(2, 2, LIST)],
        [part(1, 3, ADD), part(3, 3, LIST)],
        [part(1, 2, ADD), part(2, 3, LIST)],
        [part(1, 2, ADD), part(2, 2, LIST, seq=2)],
        [part(2, 1, LIST)],
    ],
    ids=["no first", "gap", "other count", "other snapshot", "beyond"],
)
async def test_parts_out_of_order_are_refused_and_the_old_snapshot_stays(
    rig: Rig, frames: list[dict[str, Any]]
) -> None:
    page = await rig.page(CLEAR)
    for frame in frames:
        await page.send(frame)
    assert (await page.receive("error"))["code"] == "bad_request"
    assert offered(rig, page) == {"todo.clear"}
    assert await rig.records("frame.refused", peer=page.welcome["page"], code="bad_request")
    # The refused snapshot cannot be finished; a new one can.
    await page.send(part(2, 2, LIST))
    assert (await page.receive("error"))["code"] == "bad_request"
    await page.declare(LIST, seq=9)
    assert offered(rig, page) == {"todo.list"}


@pytest.mark.parametrize(
    ("declaration", "code", "pointer"),
    [
        ({**LIST, "id": "todo"}, "id_invalid", "/id"),
        ({**LIST, "id": "Todo.list"}, "id_invalid", "/id"),
        ({**LIST, "id": "gateway.list"}, "id_reserved", "/id"),
        ({**LIST, "id": "context.read"}, "id_reserved", "/id"),
        ({**LIST, "effect": "none"}, "bad_request", "/effect"),
        ({**LIST, "selector": "#a"}, "bad_request", "/selector"),
        ({**LIST, "title": "x" * 121}, "bad_request", "/title"),
        ({**LIST, "timeout_ms": 600_001}, "bad_request", "/timeout_ms"),
        ({**LIST, "input_schema": {"$ref": "https://a.test/s"}}, "schema_refused", "/input_schema"),
        ("todo.list", "bad_request", ""),
    ],
)
async def test_a_bad_declaration_is_rejected_by_name_and_its_siblings_stay(
    rig: Rig, declaration: Any, code: str, pointer: str
) -> None:
    page = await rig.page()
    ack = await page.declare(ADD, declaration, CLEAR)
    assert set(ack["accepted"]) == {"todo.add", "todo.clear"}
    name: str = "" if declaration == "todo.list" else declaration["id"]
    assert ack["rejected"] == [{"id": name, "code": code, "pointer": pointer}]
    assert offered(rig, page) == {"todo.add", "todo.clear"}
    assert await rig.records("capability.refused", capability=name, code=code, pointer=pointer)


async def test_the_second_of_two_equal_ids_is_rejected(rig: Rig) -> None:
    page = await rig.page()
    ack = await page.declare(ADD, {**ADD, "effect": "read"})
    assert ack["rejected"] == [{"id": "todo.add", "code": "bad_request", "pointer": "/id"}]
    assert rig.services.live.world.pages[page.welcome["page"]].capabilities["todo.add"].effect == "write"


async def test_the_number_of_capabilities_is_bounded_at_its_edge() -> None:
    async with running(capabilities_per_page=2) as rig:
        page = await rig.page(ADD, LIST)
        await page.send(part(1, 2, ADD, LIST, seq=2))
        await page.send(part(2, 2, CLEAR, seq=2))
        assert (await page.receive("error"))["code"] == "body_too_large"
        assert offered(rig, page) == {"todo.add", "todo.list"}


async def test_the_size_of_all_capabilities_is_bounded_at_its_edge() -> None:
    size = len(orjson.dumps(ADD)) + len(orjson.dumps(LIST))
    async with running(capabilities_bytes=size) as rig:
        page = await rig.page(ADD, LIST)
        await page.send(part(1, 1, ADD, {**LIST, "description": "Lists them.x"}, seq=2))
        assert (await page.receive("error"))["code"] == "body_too_large"
        assert offered(rig, page) == {"todo.add", "todo.list"}


async def test_one_declaration_is_bounded_at_its_edge() -> None:
    async with running(declaration_bytes=len(orjson.dumps(LIST))) as rig:
        page = await rig.page()
        ack = await page.declare(LIST, {**LIST, "id": "todo.lists"})
        assert set(ack["accepted"]) == {"todo.list"}
        assert ack["rejected"] == [{"id": "todo.lists", "code": "bad_request", "pointer": ""}]


async def test_the_fingerprint_is_on_the_wire_before_any_invoke_that_names_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await rig.page()
    declare, may_commit = rig.services.pages.declare, asyncio.Event()

    async def slowly(*arguments: Any) -> None:
        await declare(*arguments)
        await may_commit.wait()

    monkeypatch.setattr(rig.services.pages, "declare", slowly)
    await page.send(part(1, 1, LIST))
    ack = await page.receive("caps_ack")
    # Whatever a slow commit holds up, calls already go to the page; it knows what they name.
    session, _ = await rig.grant()
    await rig.submit(session, "todo.list", {})
    assert (await page.receive("invoke"))["fingerprint"] == ack["accepted"]["todo.list"]
    may_commit.set()


async def test_a_changed_description_withdraws_what_was_asked_about_the_old_one(rig: Rig) -> None:
    page = await rig.page(ADD)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.add", {"title": "a"})
    request = await page.receive("approve_request")
    await page.declare({**ADD, "description": "Adds one and tells everybody."}, seq=2)
    assert (await page.receive("approve_update"))["state"] == "withdrawn"
    call = (await rig.outcome(submitted)).call
    assert call.code is not None
    assert (call.state, call.code.wire) == (CallState.DENIED, "stale_inventory")
    await page.decide(request, "approve")
    assert (await page.receive("approve_update"))["state"] == "withdrawn"
    assert not page.has("invoke")
