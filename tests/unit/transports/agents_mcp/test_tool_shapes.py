"""What a capability looks like as an MCP tool."""

from dataclasses import replace
from typing import Any

import pytest

from capabilities.contract import Descriptor, HandlerKind, Idempotency
from gateway.domain.app_catalog import AppTool, Catalog, OfferedApp
from gateway.transports.agents_mcp.tools import ToolShapes
from policy.vocabulary import Confirm, Effect
from tests.unit.runtime.rig import running

pytestmark = pytest.mark.anyio

KEEP = Descriptor(
    id="notes.keep",
    input_schema={"type": "object"},
    confirm=Confirm.NEVER,
    handler=HandlerKind.PYTHON,
    app_scope="com.example.notes",
)


async def hints_of(descriptor: Descriptor) -> dict[str, bool]:
    app = OfferedApp(
        id="com.example.notes",
        name="Notes",
        version="1.0.0",
        digest="d" * 64,
        is_enabled=True,
        tools={descriptor.id: AppTool(app="com.example.notes", descriptor=descriptor)},
    )
    async with running() as rig:
        rig.services.live.install(Catalog.of([app]))
        session = await rig.grant(scope=["notes.*"])
        entry = rig.services.inventories.snapshot(session).entries["notes.keep"]
        tool: dict[str, Any] = ToolShapes().of(session, entry)
        return tool["annotations"]


@pytest.mark.parametrize(
    ("changes", "hints"),
    [
        ({}, {"readOnlyHint": False, "destructiveHint": False}),
        (
            {"idempotency": Idempotency.ARGUMENTS},
            {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True},
        ),
        ({"effect": Effect.READ, "idempotency": Idempotency.ARGUMENTS}, {"readOnlyHint": True}),
    ],
)
async def test_hints_are_derived_from_what_is_declared(changes: dict[str, Any], hints: dict[str, bool]) -> None:
    assert await hints_of(replace(KEEP, **changes)) == hints
