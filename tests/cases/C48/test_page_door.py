"""C48 at the page door: deep, circular and explosive schemas are refused by name, and their neighbours register.

The faults are told as `schema_refused` on the wire; which one it was is in the judge's reason
(tests/unit/capabilities/test_check.py). A declaration of a page is at most 16 KiB, which all four keep.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.interaction.page.rig import ADD, LIST, Rig, running
from tests.interaction.surface.client import envelope, invoke, post

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
REFUSED = ("deep", "cycle", "bomb")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


def declared(name: str) -> dict[str, Any]:
    schema = (HERE / f"K-{name}.json").read_text()
    frame = {"id": f"todo.{name}", "description": name, "effect": "read", "confirm": "never", "input_schema": "@"}
    # Written as text: the writers refuse what is this deep, as the case says of others.
    return orjson.Fragment(orjson.dumps(frame).replace(b'"@"', schema.encode()))  # type: ignore[return-value]


def tree(depth: int, leaf: Any = 0) -> dict[str, Any]:
    node: dict[str, Any] = {"v": leaf}
    for level in range(1, depth):
        node = {"v": level, "kids": [node]}
    return {"root": node}


async def test_they_are_refused_by_name_and_their_neighbours_register(rig: Rig) -> None:
    page = await rig.page()
    whole = [ADD, *(declared(name) for name in (*REFUSED, "tree")), LIST]
    frame = orjson.dumps({"type": "caps", "seq": 1, "part": 1, "parts": 1, "capabilities": whole})
    await page.socket.send(frame.decode())
    acknowledged = await page.receive("caps_ack", seq=1)
    assert set(acknowledged["accepted"]) == {"todo.add", "todo.tree", "todo.list"}
    assert [(r["id"], r["code"]) for r in acknowledged["rejected"]] == [
        (f"todo.{name}", "schema_refused") for name in REFUSED
    ]
    records = await rig.records("capability.refused", code="schema_refused")
    assert [record["capability"] for record in records] == [f"todo.{name}" for name in REFUSED]
    # The gateway goes on, and so does the socket.
    session, _ = await rig.grant()
    await rig.submit(session, "todo.list", {})
    assert (await page.receive("invoke"))["capability"] == "todo.list"


async def test_an_honest_tree_is_checked_to_its_last_level(rig: Rig) -> None:
    page = await rig.page()
    frame = {"type": "caps", "seq": 1, "part": 1, "parts": 1, "capabilities": [declared("tree")]}
    await page.socket.send(orjson.dumps(frame).decode())
    await page.receive("caps_ack", seq=1)
    _, token = await rig.grant()
    (described,) = (await post(rig, token, envelope("describe"))).json()["result"]["capabilities"]
    assert described["input_schema"] == orjson.loads((HERE / "K-tree.json").read_bytes())

    good = await post(rig, token, invoke("todo.tree", **tree(30)), headers={"Prefer": "wait=0"})
    assert good.json()["result"]["status"] == "dispatched"
    bad = await post(rig, token, invoke("todo.tree", **tree(30, leaf="nought")))
    refused = bad.json()["result"]["error"]
    assert (refused["code"], refused["data"]["pointer"]) == ("arguments_invalid", "/root" + "/kids/0" * 29 + "/v")
    assert "nought" not in bad.text
    assert len(await rig.records("call.refused", code="arguments_invalid")) == 1


async def test_5000_levels_of_arguments_are_400_and_nobody_falls(rig: Rig) -> None:
    await rig.page(LIST)
    _, token = await rig.grant()
    body = orjson.dumps(invoke("todo.list", deep="@")).replace(b'"@"', b"[" * 5_000 + b"]" * 5_000)
    head = {"Authorization": f"Bearer {token}", "Ostiary-Nonce": "n" * 16, "Ostiary-Timestamp": str(rig.clock.now())}
    answer = await rig.http.post("/surface/v1", content=body, headers=head)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "too_deep")
    assert len(await rig.records("access.refused", door="surface", code="too_deep")) == 1
    assert (await post(rig, token, envelope("describe"))).status_code == 200
