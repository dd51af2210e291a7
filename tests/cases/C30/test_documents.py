"""C30: properties that would become markup or handlers, and objects where text belongs, never reach a page.

Read for this product's documents: they are closed, so a property nobody declared is refused with its pointer and
nothing of the document is drawn; the case would draw the rest. An object where a text belongs is read as an expression
and refused as one. GenUI, which drops what it does not know, has the case's other half with its own tests.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.interaction.page.rig import PATTERNS, Rig, running
from tests.interaction.surface.client import invoke, post

pytestmark = pytest.mark.anyio

NODE: dict[str, Any] = json.loads((Path(__file__).parent / "input.json").read_text())["nodes"][0]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running(patterns=(*PATTERNS, "ui.*")) as running_rig:
        yield running_rig


def document(props: dict[str, Any], children: Any = None) -> dict[str, Any]:
    """A document whose root has the properties of the case."""
    root: dict[str, Any] = {
        "id": "card",
        "type": NODE["type"],
        "props": props,
        "children": [] if children is None else children,
    }
    return {"version": "1.1", "title": "C30", "root": root}


async def refusal(rig: Rig, wanted: dict[str, Any]) -> tuple[str, str, str]:
    """Code and pointer of the first fault, and all that was answered."""
    _, token = await rig.grant(scope=["ui.*"])
    answer = await post(rig, token, invoke("ui.intelligent_ui", document=wanted))
    error = answer.json()["result"]["error"]
    return error["code"], error["data"]["pointer"], answer.text


@pytest.mark.parametrize("name", [name for name in NODE["props"] if name != "title"])
async def test_each_property_that_could_become_live_is_refused_by_its_place(rig: Rig, name: str) -> None:
    page = await rig.page(workspace=True)
    code, pointer, text = await refusal(rig, document({"title": "T", name: NODE["props"][name]}))
    assert (code, pointer) == ("document.unknown_key", f"/root/props/{name}")
    assert "alert" not in text
    assert await rig.records("call.refused", code=code)
    assert not page.has("document")


async def test_an_object_that_poses_as_an_element_is_no_text(rig: Rig) -> None:
    await rig.page(workspace=True)
    code, pointer, text = await refusal(rig, document({"title": NODE["props"]["title"]}))
    assert (code, pointer) == ("document.wrong_type", "/root/props/title")
    assert "alert" not in text


async def test_what_is_nested_is_judged_by_the_same_rules(rig: Rig) -> None:
    await rig.page(workspace=True)
    nested = {"id": "text", "type": "Text", "props": {"text": "a", "is": "x-evil"}}
    code, pointer, _ = await refusal(rig, document({"title": "T"}, [nested]))
    assert (code, pointer) == ("document.unknown_key", "/root/children/0/props/is")
    listed = {"id": "text", "type": "Text", "props": {"text": NODE["props"]["children"][0]["props"]["text"]}}
    code, pointer, _ = await refusal(rig, document({"title": "T"}, [listed]))
    assert (code, pointer) == ("document.wrong_type", "/root/children/0/props/text")
