"""The official MCP server suite passes for both revisions; totals go to build/conformance.json."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from capabilities.registry import BUILTINS
from gateway.testing.fixtures import CAPABILITIES, FixturePack
from gateway.transports.agents_mcp import Patience
from tests.support.bearer_proxy import bearer_proxy
from tests.support.mcp_conformance import record_totals, run_server_suite
from tests.support.mcp_gateway import running_gateway

THROUGH_SPINE: Final = {
    "2025-11-25": {"tools-call-simple-text", "tools-call-error", "tools-call-with-progress"},
    "2026-07-28": {
        "tools-call-simple-text",
        "tools-call-error",
        "tools-call-with-progress",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-capability-negotiation",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
    },
}
"""Scenarios whose every call is a call of the gateway: admitted, recorded, audited."""


@pytest.mark.timeout(400)
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("revision", sorted(THROUGH_SPINE))
def test_official_suite(revision: str, tmp_path: Path) -> None:
    """0 failures, scored or not."""

    async def run() -> None:
        builtins = {**BUILTINS, **CAPABILITIES}
        async with (
            running_gateway(
                tmp_path,
                builtins=builtins,
                extensions=FixturePack(),
                patience=Patience(before_task=0.2),
                scope=("test.*", "runtime.*"),
            ) as gateway,
            bearer_proxy(gateway.url, gateway.token) as url,
        ):
            report = await run_server_suite(url, revision, out=tmp_path / "out")
        record_totals(report, through_spine=THROUGH_SPINE[revision])
        assert report.broken() == {}, report.output[-2000:]

    asyncio.run(run())
