"""C15 Different names never become one. Ids that break the grammar are refused by name (`id_invalid`) at the page."""

import json
import re
from pathlib import Path

import httpx

from capabilities.check import judge_descriptor
from capabilities.contract import Descriptor
from capabilities.portable import tool_name
from policy.vocabulary import Confirm, Effect
from tests.support.in_loop import in_loop
from tests.support.mcp_gateway import join_page, running_gateway, site

INPUT = json.loads((Path(__file__).parent / "input.json").read_text())
CLOSE = (
    "notes.read",
    "notes.read_it",
    "notes.readIt",
    "notesX.read",
    "enterprise.database_management_synchronise_all_customer_records_between_regions_daily",
    "enterprise.database_management_synchronise_all_customer_records_between_regions_hourly",
    "a.b.c",
    "a.b_c",
)


def _declare(name: str) -> Descriptor:
    return Descriptor(id=name, input_schema={"type": "object"}, effect=Effect.READ, confirm=Confirm.NEVER)


def test_names_are_distinct_short_and_the_same_in_any_order() -> None:
    names = {tool_name(name) for name in CLOSE}
    assert len(names) == len(CLOSE)
    assert names == {tool_name(name) for name in reversed(CLOSE)}
    for name in names:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", name)


@in_loop
async def test_each_name_reaches_exactly_its_capability(tmp_path: Path) -> None:
    sites = {"notes": site("notes", *CLOSE)}
    async with (
        running_gateway(tmp_path, sites=sites, scope=CLOSE) as gateway,
        httpx.AsyncClient(timeout=20) as client,
    ):
        page = await join_page(gateway.services, *map(_declare, CLOSE), site="notes")
        page.act = lambda capability, _: {"ran": capability}
        tools = (await gateway.modern(client, "tools/list")).json()["result"]["tools"]
        shown = {
            t["_meta"]["dev.ostiary/capability"]: t["name"] for t in tools if "dev.ostiary/site" in t.get("_meta", {})
        }
        assert set(shown) == set(CLOSE)
        for capability, name in shown.items():
            assert name == tool_name(capability)
            assert (await gateway.call(client, name))["structuredContent"]["result"] == {"ran": capability}


@in_loop
async def test_allowing_one_allows_no_other(tmp_path: Path) -> None:
    sites = {"notes": site("notes", *CLOSE)}
    async with (
        running_gateway(tmp_path, sites=sites, scope=("notes.read",)) as gateway,
        httpx.AsyncClient(timeout=20) as client,
    ):
        await join_page(gateway.services, *map(_declare, CLOSE), site="notes")
        tools = (await gateway.modern(client, "tools/list")).json()["result"]["tools"]
        assert [t["name"] for t in tools if "dev.ostiary/site" in t.get("_meta", {})] == ["notes_read"]
        other = await gateway.modern(client, "tools/call", {"name": "notes_read_it", "arguments": {}})
        assert (other.status_code, other.json()["error"]["code"]) == (400, -32602)


def test_names_that_break_the_grammar_are_refused_by_name() -> None:
    broken = [name for name in (*INPUT["surface_A"], *INPUT["surface_B"]) if name != "notes.read"]
    for name in broken:
        refusal = judge_descriptor(_declare(name), page=True)
        assert refusal is not None
        assert refusal.code == "id_invalid"
