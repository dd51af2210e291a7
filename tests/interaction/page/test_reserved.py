"""Ids of installed mini apps at the page door: what a page declares under them is refused, or withdrawn."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from capabilities.package import write_package
from gateway.domain.calls import CallState
from policy.model import Floor
from tests.interaction.page.rig import ADD, Page, Rig
from tests.support.mini_apps import a_surface_app, a_surface_package

pytestmark = pytest.mark.anyio

NOTES = "com.example.notes"


async def install(rig: Rig, package: Any) -> None:
    rig.files.sources[Path("/package")] = write_package(package)
    await rig.services.mini_apps.install(Path("/package"), by="test")


def notes_app() -> Any:
    """An app with nothing in Python: this gateway has no process to spare for it."""
    app = {"id": NOTES, "name": "Notes", "version": "1.0.0", "description": "Keeps notes."}
    return a_surface_package(app=app, tools=[{**tool, "method": f"notes.{tool['method'][6:]}"} for tool in TOOLS])


TOOLS = a_surface_app()["tools"]
MINE = {**ADD, "id": "notes.add"}


def offered(rig: Rig, page: Page) -> set[str]:
    return set(rig.services.live.world.pages[page.welcome["page"]].capabilities)


async def test_a_page_that_declares_an_id_of_an_installed_app_is_told_so(rig: Rig) -> None:
    await install(rig, notes_app())
    page = await rig.page()
    ack = await page.declare(ADD, MINE)
    assert set(ack["accepted"]) == {"todo.add"}
    assert ack["rejected"] == [{"id": "notes.add", "code": "id_reserved", "pointer": "/id"}]
    assert await rig.records("capability.refused", capability="notes.add", code="id_reserved")


async def test_an_app_takes_its_ids_from_the_pages_that_have_them(rig: Rig) -> None:
    page = await rig.page(ADD, MINE)
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "notes.add", {"title": "a"})
    request = await page.receive("approve_request")
    await install(rig, notes_app())
    assert offered(rig, page) == {"todo.add"}
    assert (await page.receive("approve_update"))["state"] == "withdrawn"
    call = (await rig.outcome(submitted)).call
    assert call.code is not None
    assert (call.state, call.code.wire) == (CallState.DENIED, "revoked")
    await page.decide(request, "approve")
    assert (await page.receive("approve_update"))["state"] == "withdrawn"
    assert not page.has("invoke")
    assert await rig.records(
        "capability.refused", capability="notes.add", code="id_reserved", peer=page.welcome["page"]
    )


async def test_what_an_app_shows_on_a_page_is_exposed_by_its_site_or_not_at_all(rig: Rig) -> None:
    await install(rig, notes_app())
    await rig.services.mini_apps.enable(NOTES, by="test")
    session, _ = await rig.grant()
    inventories, live = rig.services.inventories, rig.services.live
    await rig.page()
    assert set(inventories.snapshot(session).entries) == {"notes.stop"}
    await rig.page(workspace=True)
    assert set(inventories.snapshot(session).entries) == {"todo/notes.start", "notes.stop"}
    there = live.world.configuration
    less = replace(there.sites["todo"], expose=(Floor(pattern="todo.*"),))
    live.configure(replace(there, sites={**there.sites, "todo": less}), {})
    # What only stops something runs without a page.
    assert set(inventories.snapshot(session).entries) == {"notes.stop"}
