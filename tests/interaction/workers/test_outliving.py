"""No worker outlives its gateway, however the gateway ends and whatever the worker does at that moment."""

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE

import pytest

from tests.support.gateway_process import ROOT
from tests.support.processes import ended

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("method", ["none", "block", "beget", "seize"])
async def test_a_worker_and_what_it_began_end_with_the_gateway(method: str, end: signal.Signals) -> None:
    host = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.worker_host", method), cwd=ROOT, stdout=PIPE
    )
    assert host.stdout is not None
    async with asyncio.timeout(30):
        told = json.loads(await host.stdout.readline())
    host.send_signal(end)
    await host.wait()
    begun = [int(told["told"])] if method == "beget" else []
    await ended(told["worker"], *begun)
