"""What installed mini apps offer, as sessions see it: enabled, granted, exposed where it shows on a page."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest

from capabilities.contract import Descriptor, HandlerKind, HostFeature, Visibility
from gateway.domain.app_catalog import AppTool, Catalog, OfferedApp
from gateway.domain.calls import CallState
from gateway.domain.errors import ErrorCode, GatewayError
from policy.model import Floor, Outcome, Stage
from policy.vocabulary import Confirm, Effect
from tests.unit.runtime.rig import ADD, Rig, configuration, running, site

pytestmark = pytest.mark.anyio

NOTE = Descriptor(
    id="handoff.read",
    title="Read",
    input_schema={"type": "object"},
    effect=Effect.READ,
    confirm=Confirm.NEVER,
    handler=HandlerKind.PYTHON,
)
DRAW = replace(NOTE, id="orders.draw", handler=HandlerKind.MINIAPP_SDK)


def an_app(*descriptors: Descriptor, **changes: Any) -> OfferedApp:
    permissions: tuple[str, ...] = changes.pop("permissions", ())
    name = f"example.{descriptors[0].id.partition('.')[0]}"
    tools = {
        d.id: AppTool(
            app=name,
            descriptor=d,
            permissions=permissions,
            is_on_page=d.handler is HandlerKind.MINIAPP_SDK or bool(d.requires),
        )
        for d in descriptors
    }
    given = OfferedApp(id=name, name=name, version="1.0.0", digest="d" * 64, is_enabled=True, tools=tools)
    return replace(given, **changes)


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with running() as rig:
        yield rig


async def listed(rig: Rig, **how: Any) -> list[str]:
    session = await rig.grant(scope=["handoff.*", "orders.*"], **how)
    return list(rig.services.inventories.snapshot(session).entries)


async def test_only_what_an_enabled_app_declares_is_listed(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(NOTE)]))
    assert await listed(rig) == ["handoff.read"]
    rig.services.live.install(Catalog.of([an_app(NOTE, is_enabled=False)]))
    assert await listed(rig) == []


async def test_what_requires_a_permission_is_listed_once_it_is_granted(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(NOTE, permissions=("net",))]))
    assert await listed(rig) == []
    rig.services.live.install(Catalog.of([an_app(NOTE, permissions=("net",), granted=frozenset({"net"}))]))
    assert await listed(rig) == ["handoff.read"]


async def test_what_shows_on_a_page_needs_one_on_a_site_that_exposes_it(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(DRAW)]))
    assert await listed(rig) == []
    await rig.page()
    assert await listed(rig) == ["todo/orders.draw"]
    rig.services.live.configure(configuration(sites={"todo": site(expose=(Floor(pattern="todo.*"),))}), {})
    assert await listed(rig) == []


COPY = Descriptor(id="clipboard.write", input_schema={"type": "object"})
"""A host capability, as a page that supports it offers it."""

PASTE = replace(NOTE, id="orders.paste", requires=(HostFeature.WORKSPACE, HostFeature.CLIPBOARD))
OWN = replace(NOTE, id="orders.own", visibility=Visibility.APP)


async def test_what_requires_something_of_the_host_is_there_where_a_page_offers_it(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(PASTE)]))
    session = await rig.grant()
    page = await rig.page(ADD)
    assert "todo/orders.paste" not in rig.services.inventories.snapshot(session).entries
    with pytest.raises(GatewayError) as refused:
        await rig.submit(session, "orders.paste", {})
    assert refused.value.code is ErrorCode.UNKNOWN_CAPABILITY
    assert await rig.records("call.refused", capability="orders.paste", code="unknown_capability")
    await page.declare(ADD, COPY)
    assert "todo/orders.paste" in rig.services.inventories.snapshot(session).entries
    outcome, _ = await rig.submit(session, "orders.paste", {})
    assert outcome.call.page == page.id
    await page.declare(ADD)
    assert "todo/orders.paste" not in rig.services.inventories.snapshot(session).entries


async def test_an_explanation_names_what_the_host_lacks(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(PASTE)]))
    session = await rig.grant()
    await rig.page(ADD)
    explained = await rig.services.admin.explain(session.id, "orders.paste")
    stages = {s.stage: (s.outcome, s.reason) for s in explained.places[-1].explanation.stages}
    lacks = "the host does not offer what it requires: `clipboard.write`"
    assert stages[Stage.SUPPORTED] == (Outcome.FAIL, lacks)


async def test_what_an_app_keeps_for_its_frames_is_there_for_no_agent(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(NOTE, name="example.handoff"), an_app(OWN)]))
    session = await rig.grant(scope=["handoff.*", "orders.*"])
    assert list(rig.services.inventories.snapshot(session).entries) == ["handoff.read"]
    with pytest.raises(GatewayError) as refused:
        await rig.submit(session, "orders.own", {})
    assert refused.value.code is ErrorCode.UNKNOWN_CAPABILITY
    assert await rig.records("call.refused", capability="orders.own", code="unknown_capability")
    explained = await rig.services.admin.explain(session.id, "orders.own")
    stages = {s.stage: (s.outcome, s.reason) for s in explained.places[0].explanation.stages}
    assert stages[Stage.VISIBLE] == (Outcome.FAIL, "app `example.orders` keeps it for its own frames")


async def test_what_shows_on_a_page_is_held_to_the_floors_of_its_site(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(DRAW)]))
    floors = (Floor(pattern="orders.draw", effect=Effect.WRITE),)
    rig.services.live.configure(configuration(sites={"todo": site(expose=floors)}), {})
    await rig.page()
    session = await rig.grant()
    outcome, _ = await rig.submit(session, "orders.draw", {})
    assert outcome.call.state is CallState.AWAITING_APPROVAL


async def test_an_explanation_names_the_app_and_what_it_lacks(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(NOTE, is_enabled=False, permissions=("net",))]))
    session = await rig.grant(scope=["handoff.*"])
    explained = await rig.services.admin.explain(session.id, "handoff.read")
    stages = {s.stage: (s.outcome, s.reason) for s in explained.places[0].explanation.stages}
    assert stages[Stage.ENABLED] == (Outcome.FAIL, "app `example.handoff` is not enabled")
    assert stages[Stage.PERMISSIONS] == (Outcome.FAIL, "not granted to app `example.handoff`: `net`")
    assert stages[Stage.EXPOSED][0] is Outcome.NOT_APPLICABLE


async def test_an_id_an_app_reserves_is_withdrawn_from_every_page_and_stays_away(rig: Rig) -> None:
    mine = replace(NOTE, id="handoff.mine", handler=HandlerKind.PAGE)
    page = await rig.page(ADD, mine)
    rig.services.live.install(Catalog.of([an_app(NOTE)]))
    assert set(page.live.capabilities) == {"todo.add"}
    await page.declare(ADD, mine)
    assert set(page.live.capabilities) == {"todo.add"}


async def test_a_disabled_app_is_gone_for_who_saw_it_and_unknown_to_others(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(NOTE)]))
    saw = await rig.grant(scope=["handoff.*"])
    await rig.services.inventories.serve(saw)
    rig.services.live.install(Catalog.of([an_app(NOTE, is_enabled=False)]))
    never = await rig.grant(scope=["handoff.*"])
    codes: list[ErrorCode] = []
    for session in (saw, never):
        with pytest.raises(GatewayError) as refused:
            await rig.submit(session, "handoff.read", {})
        codes.append(refused.value.code)
    assert codes == [ErrorCode.REVOKED, ErrorCode.UNKNOWN_CAPABILITY]


async def test_what_a_disabled_app_showed_is_gone_whether_or_not_a_page_is_open(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(DRAW)]))
    page = await rig.page(workspace=True)
    saw = await rig.grant()
    await rig.services.inventories.serve(saw)
    page.drop()
    await rig.after(20_000)
    with pytest.raises(GatewayError) as refused:
        await rig.submit(saw, "orders.draw", {})
    assert refused.value.code is ErrorCode.PAGE_NOT_CONNECTED
    rig.services.live.install(Catalog.of([an_app(DRAW, is_enabled=False)]))
    with pytest.raises(GatewayError) as refused:
        await rig.submit(saw, "orders.draw", {})
    assert refused.value.code is ErrorCode.REVOKED


async def test_what_a_page_declares_leaves_calls_of_mini_apps_alone(rig: Rig) -> None:
    rig.services.live.install(Catalog.of([an_app(replace(NOTE, effect=Effect.WRITE))]))
    page = await rig.page(ADD)
    session = await rig.grant(scope=["handoff.*"])
    outcome, _ = await rig.submit(session, "handoff.read", {})
    assert outcome.call.state is CallState.AWAITING_APPROVAL
    await page.declare()
    assert (await rig.call(outcome.call.ref)).state is CallState.AWAITING_APPROVAL
