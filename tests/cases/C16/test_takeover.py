"""C16: no other page takes the surface over.

Differs from the case: no Origin header is 403 (rules J); what the case calls a token is the ticket in the first
frame, so H9 is refused after the upgrade with 4403 and before any data.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from gateway.domain.calls import CallState
from tests.interaction.page.rig import LIST, ORIGIN, Page, Rig, hello, running

pytestmark = pytest.mark.anyio

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
HANDSHAKES = {handshake["id"]: handshake for handshake in CASE["handshakes"]}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


async def keeps_serving(rig: Rig, page: Page) -> None:
    session, _ = await rig.grant()
    submitted = await rig.submit(session, "todo.list", {})
    await page.answer(await page.receive("invoke"), {})
    assert (await rig.outcome(submitted)).call.state is CallState.SUCCEEDED


@pytest.mark.parametrize("name", ["H2", "H3", "H4", "H5", "H6", "H7", "H8"])
async def test_a_foreign_origin_is_403_at_the_handshake(rig: Rig, name: str) -> None:
    assert CASE["allowed_origins"] == [ORIGIN]
    page = await rig.page(LIST)  # H1
    origin = HANDSHAKES[name].get("Origin")
    with pytest.raises(InvalidStatus) as refused:
        await rig.socket(origin)
    assert refused.value.response.status_code == 403
    (record,) = await rig.records("access.refused", door="page")
    assert (record["code"], record.get("origin")) == ("origin_refused", origin)
    await keeps_serving(rig, page)


@pytest.mark.parametrize("stolen", [True, False], ids=["with a resume secret", "without"])
async def test_a_ticket_of_another_site_is_refused_before_any_data(rig: Rig, stolen: bool) -> None:
    page = await rig.page(LIST)  # H1
    intruder = Page(await rig.socket(ORIGIN), "B" * 16, "ann")
    more: dict[str, Any] = {"resume": page.welcome["resume"]} if stolen else {}
    await intruder.send(hello(intruder.document, await rig.ticket(site="other"), **more))  # H9
    assert await intruder.closed() == 4403
    assert len(await rig.records("page.refused", origin=ORIGIN, code="origin_refused")) == 1
    await keeps_serving(rig, page)
