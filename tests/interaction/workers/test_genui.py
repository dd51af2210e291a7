"""A handler in Python says how its answer looks: taken off, judged, kept with the result, and seen on the page (rules I1)."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.support.databases import database
from tests.support.in_loop import until
from tests.support.mcp_gateway import FakePage, join_page, site
from tests.support.python_apps import Hosted, hosting

__all__ = ["database"]

pytestmark = pytest.mark.anyio

MODULE = """
from capabilities.contract import Confirm, Effect, agent_tools, python_tool

ANSWER = {
    "type": "object", "additionalProperties": False, "required": ["city"],
    "properties": {"city": {"type": "string"}},
}


async def look(arguments, context):
    return {"city": "Beijing", **arguments.get("more", {})}


async def free(arguments, context):
    return arguments["answer"]


TOOLS = agent_tools(
    app="com.example.sky", name="Sky", version="1.0.0", description="Looks up.",
    tools=[
        python_tool("sky.look", look, title="T", description="D.", input={"type": "object"}, output=ANSWER,
                    effect=Effect.READ, confirm=Confirm.NEVER),
        python_tool("sky.free", free, title="T", description="D.", input={"type": "object"}, output={"type": "object"},
                    effect=Effect.READ, confirm=Confirm.NEVER),
    ],
)
"""
CARD = {"type": "weather-card", "props": {"city": "Beijing", "temperatureC": "22", "link": "javascript:alert(1)"}}
SHOWN = {"type": "weather-card", "props": {"city": "Beijing", "temperatureC": 22}}


@pytest.fixture
async def hosted(tmp_path: Path) -> AsyncGenerator[Hosted]:
    sites = {"todo": site("todo", "todo.*", "sky.*"), "shop": site("shop", "shop.*")}
    async with hosting(tmp_path, MODULE, app="com.example.sky", module="sky", sites=sites) as made:
        yield made


async def ui_of(hosted: Hosted, ref: str) -> Any:
    result = await hosted.gateway.services.spine.store.run(lambda tx: tx.calls.result_of(ref))
    assert result is not None
    return None if result.ui is None else json.loads(result.ui)


def drawn(page: FakePage) -> list[dict[str, Any]]:
    return [frame for frame in page.of_type("panel") if frame["op"] == "show"]


async def a_page(hosted: Hosted, name: str = "todo", user: str = "ada") -> FakePage:
    return await join_page(hosted.gateway.services, site=name, user=user, patterns=("todo.*", "sky.*", "shop.*"))


async def test_it_is_no_part_of_the_result_and_is_seen_on_the_page(hosted: Hosted) -> None:
    page, foreign = await a_page(hosted), await a_page(hosted, user="eve")
    answer = await hosted.call("sky_look", more={"ui": CARD})
    assert (answer["status"], answer["result"]) == ("succeeded", {"city": "Beijing"})
    assert await ui_of(hosted, answer["ref"]) == SHOWN
    await until(lambda: drawn(page) != [])
    assert drawn(page) == [
        {
            "type": "panel",
            "op": "show",
            "item": answer["ref"],
            "kind": "genui",
            "agent": "Coder",
            "app": "Sky",
            "content": SHOWN,
        }
    ]
    assert drawn(foreign) == []
    assert await hosted.gateway.records("genui.dropped") == []


@pytest.mark.parametrize(
    "ui", [None, "x", [], {"type": "x"}, {"type": "", "props": {}}, {"type": "x", "props": []}], ids=str
)
async def test_an_illegal_one_is_dropped_with_a_note_and_the_result_stands(hosted: Hosted, ui: Any) -> None:
    page = await a_page(hosted)
    answer = await hosted.call("sky_look", more={"ui": ui})
    assert (answer["status"], answer["result"]) == ("succeeded", {"city": "Beijing"})
    assert await ui_of(hosted, answer["ref"]) is None
    notes = await hosted.gateway.records("genui.dropped")
    assert [(note["ref"], note["capability"], note["stream"]) for note in notes] == [
        (answer["ref"], "sky.look", "agent_tool")
    ]
    assert drawn(page) == []


async def test_the_output_schema_judges_the_rest_and_only_the_rest(hosted: Hosted) -> None:
    page = await a_page(hosted)
    answer = await hosted.call("sky_look", more={"ui": CARD, "other": 1})
    assert (answer["status"], answer["code"]) == ("failed", "output_schema_violation")
    assert drawn(page) == []


@pytest.mark.parametrize(
    "answer", [{"deep": {"ui": CARD}}, {"list": [{"ui": CARD}], "UI": 1}], ids=["deep", "listed"]
)
async def test_only_a_key_at_the_top_is_reserved(hosted: Hosted, answer: Any) -> None:
    told = await hosted.call("sky_free", answer=answer)
    assert told["result"] == answer
    assert await ui_of(hosted, told["ref"]) is None


async def test_a_site_that_does_not_expose_the_tool_shows_nothing_of_it(hosted: Hosted) -> None:
    shop = await a_page(hosted, "shop")
    answer = await hosted.call("sky_look", more={"ui": CARD})
    todo = await a_page(hosted)
    await hosted.gateway.services.panel.arrived(todo.joined.page)
    await hosted.gateway.services.panel.arrived(shop.joined.page)
    assert [frame["item"] for frame in drawn(todo)] == [answer["ref"]]
    assert drawn(shop) == []


async def test_a_page_that_comes_shows_it_until_the_person_closed_it(hosted: Hosted) -> None:
    answer = await hosted.call("sky_look", more={"ui": CARD})
    panel = hosted.gateway.services.panel
    page, foreign = await a_page(hosted), await a_page(hosted, user="eve")
    await panel.arrived(foreign.joined.page)
    assert drawn(foreign) == []
    await panel.arrived(page.joined.page)
    assert [frame["item"] for frame in drawn(page)] == [answer["ref"]]
    await panel.dismissed(page.joined.page, answer["ref"])
    await panel.arrived(page.joined.page)
    assert len(drawn(page)) == 1
    assert await ui_of(hosted, answer["ref"]) is None
    again = await hosted.gateway.call(hosted.client, "gateway_call_status", {"ref": answer["ref"]})
    assert again["structuredContent"]["result"] == {"city": "Beijing"}
