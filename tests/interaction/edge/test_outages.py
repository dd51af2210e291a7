"""The store goes and comes back: every door says so and keeps nothing by halves; no restart is needed."""

import json
import resource
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from structlog.testing import capture_logs

from gateway.runtime.ports import Store
from tests.contract.stores import Opener, PostgresqlOpener, SqliteOpener
from tests.support.gateway_process import Place, client_of, invocation
from tests.support.postgres import clean_database, gone
from tests.support.whole_gateway import DOORS, Whole, serving

pytestmark = pytest.mark.anyio

DURING: Final = [f"during-{number}" for number in range(5)]
KINDS: Final = ("sqlite", "postgresql", "postgresql that is gone")


@dataclass(eq=False, kw_only=True)
class Outage:
    """A store that can be made to fail."""

    store: Store
    opener: Opener
    is_gone: bool

    @contextmanager
    def lasts(self) -> Generator[None]:
        """Nothing can be committed until the block ends."""
        if self.is_gone:
            assert isinstance(self.opener, PostgresqlOpener)
            with gone(self.opener.url):
                yield
            return
        heal = self.opener.fail_commits(self.store)
        yield
        heal()


@asynccontextmanager
async def gateway_on(kind: str, folder: Path) -> AsyncGenerator[tuple[Whole, Outage]]:
    if kind == "sqlite":
        opener: Opener = SqliteOpener(folder / "ostiary.sqlite3")
        store = opener()
        async with serving(folder, store=store) as whole:
            yield whole, Outage(store=store, opener=opener, is_gone=False)
        await store.close()
        return
    with clean_database() as url:
        opener = PostgresqlOpener(url)
        store = opener()
        async with serving(folder, store=store) as whole:
            yield whole, Outage(store=store, opener=opener, is_gone=kind.endswith("gone"))
        await store.close()


async def echo(whole: Whole, text: str, **more: str) -> dict[str, Any]:
    """Call `runtime.echo` on the surface door; the whole answer."""
    now = whole.gateway.services.clock.now()
    knock = whole.knock("surface", **{"ostiary-nonce": f"nonce-{text:-<20}", "ostiary-timestamp": str(now)})
    envelope = {"protocol": "pling.surface/0.1", "id": "r", "method": "invoke", "capability": "runtime.echo"}
    knock["content"] = json.dumps({**envelope, "call_id": f"call-{text}", "input": {"text": text}, **more}).encode()
    answer = await whole.client.request(**knock)
    return {"status": answer.status_code, "headers": answer.headers, **answer.json()}


async def tool(whole: Whole, text: str) -> dict[str, Any]:
    """Call `runtime.echo` as an MCP tool; the result object."""
    knock = whole.knock("mcp", **{"mcp-method": "tools/call", "mcp-name": "runtime_echo"})
    message = json.loads(knock["content"])
    message |= {"method": "tools/call"}
    message["params"] |= {"name": "runtime_echo", "arguments": {"text": text}}
    knock["content"] = json.dumps(message).encode()
    answer = (await whole.client.request(**knock)).text
    line = (
        answer if answer.startswith("{") else [line[6:] for line in answer.splitlines() if line[:6] == "data: "][-1]
    )
    return json.loads(line)["result"]


async def rows(whole: Whole) -> int:
    """How many calls the ledger holds."""
    return (await whole.gateway.services.spine.store.run(lambda tx: tx.calls.usage()))[0]


@pytest.mark.parametrize("kind", KINDS)
async def test_every_door_says_so_and_works_again_by_itself(tmp_path: Path, kind: str) -> None:
    async with gateway_on(kind, tmp_path) as (whole, outage):
        assert (await echo(whole, "before"))["result"]["result"] == {"text": "before"}
        with capture_logs() as lines, outage.lasts():
            for door in DOORS:
                await whole.post(door)  # what is cached or only read may still be answered
            minted = await whole.post("host_tokens")
            assert (minted.status_code, minted.headers["retry-after"]) == (503, "1")
            assert minted.json()["error"]["code"] == "store_unavailable"

            invoked = await echo(whole, "during")
            assert (invoked["status"], invoked["headers"]["retry-after"]) == (503, "1")
            assert (invoked["ok"], invoked["error"]["code"]) == (False, "store_unavailable")

            called = await tool(whole, "during")
            assert called["isError"] is True
            assert (called["structuredContent"]["code"], called["structuredContent"]["retryable"]) == (
                "store_unavailable",
                True,
            )

            stranger = await whole.post("mcp", authorization="Bearer ost_agent_" + "x" * 43)
            assert stranger.status_code in (401, 503)
            assert stranger.status_code == 401 or stranger.headers["retry-after"] == "1"

            ready = await whole.client.get(f"{whole.origin}/readyz")
            assert (ready.status_code, ready.json()["checks"]["store"]) == (503, "cannot commit")
            assert (await whole.client.get(f"{whole.origin}/livez")).status_code == 200
            assert lines_of(lines, "store_unavailable") == 1
            assert "during" not in str(lines)

        with capture_logs() as lines:
            assert await whole.gateway.services.spine.store.probe()
            assert lines_of(lines, "store_recovered") == 1
        assert (await echo(whole, "during"))["result"]["result"] == {"text": "during"}
        assert (await tool(whole, "after"))["structuredContent"]["result"] == {"text": "after"}
        assert (await whole.post("host_tokens")).status_code == 200
        assert await rows(whole) == 3
        assert (await whole.gateway.services.admin.audit_verify()).is_intact


def lines_of(lines: Any, event: str) -> int:
    return sum(line["event"] == event for line in lines)


@pytest.mark.parametrize("kind", KINDS)
async def test_readiness_notices_by_itself(tmp_path: Path, kind: str) -> None:
    async with gateway_on(kind, tmp_path) as (whole, outage):
        with outage.lasts():
            assert not await whole.gateway.services.spine.store.probe()
            assert (await whole.client.get(f"{whole.origin}/readyz")).status_code == 503
        assert await whole.gateway.services.spine.store.probe()
        assert not whole.gateway.services.spine.store.is_down


@pytest.mark.timeout(300)
async def test_a_full_disk_is_told_once_and_survived(tmp_path: Path) -> None:
    place = Place(tmp_path)
    token = await place.token()
    async with place.serving() as running, client_of(running) as client:

        async def send(text: str, method: str = "invoke") -> httpx.Response:
            return await client.post("/surface/v1", **invocation(token, text, method))

        assert (await send("before")).status_code == 200
        limits = resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE)
        # From here on no file of the process may grow; to it, that is a full disk.
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (0, limits[1]))
        refused = [await send(text) for text in DURING]
        assert {(answer.status_code, answer.headers["retry-after"]) for answer in refused} == {(503, "1")}
        assert {answer.json()["error"]["code"] for answer in refused} == {"store_unavailable"}
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/livez")).status_code == 200
        await running.heard("store_unavailable")

        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, limits)
        await running.heard("store_recovered")  # without a request that asks for it
        for text in DURING:
            assert (await send(text)).json()["result"]["result"] == {"text": text}
        assert (await send("before")).json()["result"]["replayed"] is True
        assert (running.said("store_unavailable"), running.said("store_recovered")) == (1, 1)
    assert sorted(await place.calls()) == sorted(f"call-{text}" for text in ("before", *DURING))
