"""`ostiary serve` as a process of its own, and a look at what it left."""

import asyncio
import itertools
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from gateway.adapters.clock import SystemClock
from gateway.adapters.configuration_file import load_file
from gateway.adapters.process_lock import hold_lock
from gateway.adapters.sql import open_sqlite
from gateway.bootstrap import DATABASE, open_offline
from gateway.runtime.admin import Admin
from gateway.runtime.ports import Tx
from tests.support.mcp_gateway import free_port

ROOT: Final = Path(__file__).parents[2]
PATIENCE: Final = 120.0

FILE: Final = """\
version: 1
server: {{listen: "127.0.0.1:{port}", builtins: [runtime.echo]}}
limits: {{calls_per_minute: 1000000, calls_burst: 100000, requests_per_minute: 1000000, requests_burst: 100000}}
agents: {{coder: {{}}}}
"""

OSTIARY: Final = (sys.executable, "-m", "gateway.cli")
_numbers: Final = itertools.count(1)


@dataclass(eq=False)
class Running:
    """A process that serves; `lines` is what it said on standard error, as far as it was read."""

    process: Process
    port: int
    lines: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def terminate(self) -> None:
        """Ask it to end."""
        self.process.send_signal(signal.SIGTERM)

    async def ended(self) -> int:
        """Its exit status, once it has one."""
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    def said(self, event: str) -> int:
        """How many lines of this event there were so far."""
        return sum(line.get("event") == event for line in self.lines)

    async def heard(self, event: str) -> None:
        """Wait for a line of this event."""
        async with asyncio.timeout(PATIENCE):
            while not self.said(event):  # noqa: ASYNC110 - lines come one by one
                await asyncio.sleep(0.01)

    async def read(self) -> None:
        """Keep what it says."""
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            with suppress(ValueError):
                self.lines.append(json.loads(line))


class Place:
    """A folder with a configuration and data."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "ostiary.yaml"
        self.data = folder / "data"
        self.port = free_port()
        self.file.write_text(FILE.format(port=self.port))

    @asynccontextmanager
    async def at_rest(self) -> AsyncGenerator[Admin]:
        """Administration while it does not run."""
        with hold_lock(self.data):
            async with open_offline(load_file(self.file), self.data) as admin:
                yield admin

    async def token(self) -> str:
        """A token that may echo."""
        async with self.at_rest() as admin:
            grant = await admin.add_session("coder", user="ada", sites=[], scope=["runtime.*"], by="test")
        return grant.token

    async def calls(self) -> dict[str, tuple[str, bool]]:
        """What the ledger holds, by call_id: the state, and whether there is a result. The trail is whole."""
        async with self.at_rest() as admin:
            assert (await admin.audit_verify()).is_intact

        def read(tx: Tx) -> dict[str, tuple[str, bool]]:
            return {
                c.call_id: (c.state.value, tx.calls.result_of(c.ref) is not None)
                for c in tx.calls.recent(limit=100_000)
            }

        store = open_sqlite(self.data / DATABASE, ledger_cap=1_000_000, open_cap=10_000)
        try:
            return await store.run(read)
        finally:
            await store.close()

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[Running]:
        """Run it until the block ends, however it ends."""
        process = await asyncio.create_subprocess_exec(
            *OSTIARY, "serve", *self.places(), cwd=ROOT, stdout=PIPE, stderr=PIPE
        )
        running = Running(process, self.port)
        reading = asyncio.create_task(running.read())
        try:
            assert process.stdout is not None
            async with asyncio.timeout(PATIENCE):
                assert b"ostiary serves" in await process.stdout.readline(), running.lines
            yield running
        finally:
            if process.returncode is None:
                running.terminate()
            await running.ended()
            await reading

    def places(self) -> list[str]:
        return ["--config", str(self.file), "--data", str(self.data)]


def invocation(token: str, text: str, method: str = "invoke") -> dict[str, Any]:
    """A transmission to the surface door that echoes `text`, or asks for the call that did; for `httpx.post`."""
    call = f"call-{text}"
    envelope: dict[str, Any] = {"protocol": "pling.surface/0.1", "id": "r", "method": method}
    if method == "invoke":
        envelope |= {"capability": "runtime.echo", "call_id": call, "input": {"text": text}}
    else:
        envelope |= {"input": {"call_id": call}}
    headers = {
        "Authorization": f"Bearer {token}",
        "Ostiary-Nonce": f"nonce-{next(_numbers):016d}",
        "Ostiary-Timestamp": str(SystemClock().now()),
    }
    return {"json": envelope, "headers": headers}


@asynccontextmanager
async def client_of(running: Running) -> AsyncGenerator[httpx.AsyncClient]:
    """An HTTP client of it."""
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{running.port}", timeout=PATIENCE) as client:
        yield client
