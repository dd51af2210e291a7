"""C28: links, images and styles with active or misleading addresses.

Read for this product's documents (`rules.md` J): there are no links in the language, so every address is text and
nothing opens, now or after an update; there is no place for an address or a style, and one that is made up is refused.
How the text is drawn is for the tests of the renderer.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.interaction.page.rig import PATTERNS, Rig, running
from tests.interaction.surface.client import invoke, post

pytestmark = pytest.mark.anyio

CASE: dict[str, Any] = json.loads((Path(__file__).parent / "input.json").read_text())
ADDRESSES: list[str] = CASE["link_values"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running(patterns=(*PATTERNS, "ui.*")) as running_rig:
        yield running_rig


def document(*nodes: dict[str, Any]) -> dict[str, Any]:
    """A document of these nodes."""
    return {
        "version": "1.1",
        "title": "C28",
        "root": {"id": "root", "type": "Stack", "props": {}, "children": list(nodes)},
    }


def text(address: str, name: str = "link") -> dict[str, Any]:
    return {"id": name, "type": "Text", "props": {"text": address}}


@pytest.fixture
async def token(rig: Rig) -> str:
    return (await rig.grant(scope=["ui.*"]))[1]


async def answer(rig: Rig, token: str, what: str, **arguments: Any) -> dict[str, Any]:
    """The result or error of a call."""
    return (await post(rig, token, invoke(f"ui.{what}", **arguments))).json()["result"]


async def test_an_address_is_the_text_it_is(rig: Rig, token: str) -> None:
    page = await rig.page(workspace=True)
    nodes = [text(address, f"n{index}") for index, address in enumerate(ADDRESSES)]
    assert "documentRef" in (await answer(rig, token, "structured_ui", document=document(*nodes)))["result"]
    shown = (await page.receive("document", op="open"))["ui"]["document"]["root"]["children"]
    assert [node["props"]["text"] for node in shown] == ADDRESSES


@pytest.mark.parametrize("name", ["href", "url", "src", "target", "style", *CASE["style_values"]])
async def test_there_is_no_place_for_an_address_or_a_style(rig: Rig, token: str, name: str) -> None:
    await rig.page(workspace=True)
    node = text("click")
    node["props"][name] = CASE["style_values"].get(name, ADDRESSES[0])
    error = (await answer(rig, token, "structured_ui", document=document(node)))["error"]
    assert (error["code"], error["data"]["pointer"]) == ("document.unknown_key", f"/root/children/0/props/{name}")
    assert ADDRESSES[0] not in str(error)


async def test_a_later_address_is_judged_like_the_first(rig: Rig, token: str) -> None:
    page = await rig.page(workspace=True)
    first, later = (entry["url"] for entry in CASE["late_update"] if "url" in entry)
    opened = (await answer(rig, token, "stream_open", document=document(text(first))))["result"]
    step = {"generation": opened["documentRef"]["generation"], "epoch": opened["epoch"], "seq": 1, "baseRevision": 1}
    update = {"op": "update", "id": "link", "props": {"text": later, "href": later}}
    error = (await answer(rig, token, "stream_patch", **step, operations=[update]))["error"]
    assert error["code"] == "document.unknown_key"
    assert later not in str(error)
    update["props"] = {"text": later}
    assert (await answer(rig, token, "stream_patch", **step, operations=[update]))["result"]["outcome"] == "accepted"
    assert (await page.receive("document", op="patch"))["operations"] == [update]
