"""C02: references that break, or leave the document. Nothing is ever fetched, and good siblings register.

Differs from the case: the listener takes a free port, and `schema_invalid` is `schema_refused` here.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from capabilities.portable import portable_schema
from tests.interaction.page.rig import HOST, Rig, running
from tests.interaction.surface.client import envelope, invoke, post

pytestmark = pytest.mark.anyio

TEXT = (Path(__file__).parent / "input.json").read_text()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


@pytest.fixture
async def knocks() -> AsyncIterator[tuple[int, list[str]]]:
    """A port, and who connected to it."""
    heard: list[str] = []

    async def hear(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append("connected")
        writer.close()

    server = await asyncio.start_server(hear, HOST, 0)
    yield server.sockets[0].getsockname()[1], heard
    server.close()
    await server.wait_closed()


async def test_broken_references_are_refused_by_name_and_good_ones_work(
    rig: Rig, knocks: tuple[int, list[str]]
) -> None:
    port, heard = knocks
    case: dict[str, Any] = json.loads(TEXT.replace("18099", str(port)))
    declared = {
        c["name"]: {"id": c["name"], "description": c["name"], "effect": "read", "input_schema": c["inputSchema"]}
        for c in case["capabilities"]
    }
    page = await rig.page()
    acknowledged = await page.declare(*declared.values(), seq=2)
    assert set(acknowledged["accepted"]) == {"ok.draft07", "ok.into_props"}
    refused = {r["id"]: (r["code"], r["pointer"]) for r in acknowledged["rejected"]}
    assert refused == {
        "bad.remote": ("schema_refused", "/input_schema/properties/x/$ref"),
        "bad.file": ("schema_refused", "/input_schema/properties/x/$ref"),
        "bad.dangling": ("schema_refused", "/input_schema/properties/x/$ref"),
    }
    assert {r["capability"] for r in await rig.records("capability.refused")} == set(refused)

    _, token = await rig.grant(scope=["ok.*", "bad.*"])
    described = (await post(rig, token, envelope("describe"))).json()["result"]["capabilities"]
    assert {c["id"]: c["input_schema"] for c in described} == {
        name: declared[name]["input_schema"] for name in acknowledged["accepted"]
    }
    for capability in described:
        published = portable_schema(capability["input_schema"])
        assert "$ref" not in json.dumps(published)
        jsonschema_rs.validator_for(published)

    wrong = await post(rig, token, invoke("ok.draft07", item=1))
    assert wrong.json()["result"]["error"]["code"] == "arguments_invalid"
    call = asyncio.create_task(post(rig, token, invoke("ok.draft07", item="x")))
    await page.answer(await page.receive("invoke"), {"done": True})
    assert (await call).json()["result"]["result"] == {"done": True}
    assert (await post(rig, token, invoke("bad.remote", x=1))).json()["error"]["code"] == "CAPABILITY_NOT_EXPOSED"
    assert heard == []
