"""C43: what went in as arguments or credentials stands nowhere afterwards, by whatever way the call ended.

Read for this product: call_ids have 8 characters; `crm.sync` is a capability of a page; arguments wait in
`call_input` until the call ends (design §14) and a result is kept for its time, so the tables are searched after the
end. Nothing a call carries is masked by the name of its key, because nothing of it is told: trail, log, metrics and
spans have a keyed digest or less. A page may show values to its person; the stored copy of a question about a
declared secret is empty.

MARKER-9, a secret inside free text, is covered where the capability declares any secret. The documented limit
(SECURITY.md): where none is declared, a page that says again in an error, changed or in parts of a word, what it was
called with, tells it to the agent that had sent it.
"""

import asyncio
import json
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.adapters.process_lock import hold_lock
from gateway.bootstrap import DATABASE
from gateway.cli import app
from gateway.transports.admin_http import TABLE
from gateway.transports.control import serve_control
from tests.interaction.admin.client import program
from tests.interaction.page.rig import Page
from tests.support.mcp_gateway import last_message
from tests.support.observed import Observed, observed

pytestmark = pytest.mark.anyio

CASE: dict[str, Any] = json.loads((Path(__file__).parent / "input.json").read_text())
ARGUMENTS: dict[str, Any] = CASE["arguments"]
DECLARED, PLAIN, STRICT = "crm.sync", "crm.store", "crm.check"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def declaration(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "description": "Syncs.", "input_schema": {"type": "object", "properties": properties}}


CAPABILITIES = [
    declaration(DECLARED, CASE["schema_hint"]),
    declaration(PLAIN, {}),
    declaration(STRICT, {"declared": {"type": "integer", "writeOnly": True}}),
]


@dataclass
class Search:
    """A gateway, one page and one agent; `told` is everything the agent was answered."""

    rig: Observed
    page: Page
    token: str
    capability: str
    told: list[str] = field(default_factory=list[str])

    async def call(self, way: str, capability: str = "") -> dict[str, Any]:
        given = {"call_id": f"{CASE['call_id']}-{way:0<4}"}
        arguments = {**ARGUMENTS, "way": way}
        how: dict[str, Any] = {"Mcp-Param-Key": "MARKER-4", "Cookie": "sid=MARKER-9", "x-api-key": "MARKER-4"}
        answer = await self.rig.mcp(
            self.token,
            "tools/call",
            {
                "name": "gateway_invoke",
                "arguments": {"capability": capability or self.capability, "arguments": arguments, **given},
            },
            **how,
        )
        self.told.append(f"{answer.headers}{answer.text}")
        return last_message(answer)["result"]

    async def ask(self, way: str) -> tuple[asyncio.Task[dict[str, Any]], dict[str, Any]]:
        """Call, until the person is asked; the dialog has the values."""
        calling = asyncio.create_task(self.call(way))
        request = await self.page.receive("approve_request")
        assert "MARKER-8" in request["payload"]
        return calling, request

    async def handed(self, way: str) -> tuple[asyncio.Task[dict[str, Any]], dict[str, Any]]:
        """Call, until the page runs it."""
        calling, request = await self.ask(way)
        await self.page.decide(request, "approve")
        return calling, await self.page.receive("invoke")


def failure(message: str) -> dict[str, Any]:
    return {"ok": False, "error": {"code": "handler_error", "message": message}}


def thrown(invoke: dict[str, Any]) -> str:
    """`JSON.stringify(args)`."""
    return json.dumps(json.loads(invoke["input"]), separators=(",", ":"), ensure_ascii=False)


async def succeeded(s: Search) -> str:
    calling, invoke = await s.handed("succeeded")
    await s.page.answer(invoke, {"done": True})
    return (await calling)["structuredContent"]["status"]


async def refused(s: Search) -> str:
    answer = await s.call("refused", STRICT)
    assert "declared" in answer["structuredContent"]["message"]
    return answer["structuredContent"]["code"]


async def raised(s: Search) -> str:
    calling, invoke = await s.handed("raised")
    frame = {"type": "result", "ref": invoke["ref"], "epoch": invoke["epoch"], **failure(thrown(invoke))}
    await s.page.send(frame)
    return (await calling)["structuredContent"]["code"]


async def raised_inside(s: Search) -> str:
    """The values inside the values."""
    calling, invoke = await s.handed("inside")
    said = "401 for MARKER-3, MARKER-5 at api.example.test?access_token=MARKER-6 with MARKER-7 and MARKER-9"
    await s.page.send({"type": "result", "ref": invoke["ref"], "epoch": invoke["epoch"], **failure(said)})
    return (await calling)["structuredContent"]["code"]


async def unwilling(s: Search) -> str:
    """The page finds, before it asks, that it cannot."""
    calling, request = await s.ask("unwilling")
    ref = json.loads(request["payload"])["ref"]
    said = f"not with {ARGUMENTS['apiKey']}"
    await s.page.send({"type": "refused", "ref": ref, "why": "not_available", "message": said})
    return (await calling)["structuredContent"]["code"]


async def denied(s: Search) -> str:
    calling, request = await s.ask("denied")
    await s.page.decide(request, "deny")
    return (await calling)["structuredContent"]["code"]


async def expired(s: Search) -> str:
    calling, _ = await s.ask("expired")
    s.rig.clock.advance(10_001)
    await s.rig.sweep()
    return (await calling)["structuredContent"]["code"]


async def cancelled(s: Search) -> str:
    calling, request = await s.ask("cancelled")
    ref = json.loads(request["payload"])["ref"]
    answer = await s.rig.mcp(s.token, "tools/call", {"name": "gateway_call_cancel", "arguments": {"ref": ref}})
    s.told.append(answer.text)
    return (await calling)["structuredContent"]["code"]


async def unknown(s: Search) -> str:
    calling, invoke = await s.handed("unknown")
    s.rig.clock.advance(31_000)
    await s.rig.sweep()
    code = (await calling)["structuredContent"]["code"]
    # Its arguments are erased by now: nothing the page says can be compared with them.
    await s.page.send(
        {"type": "result", "ref": invoke["ref"], "epoch": invoke["epoch"], **failure(thrown(invoke)[:90])}
    )
    await s.page.receive("ack", ref=invoke["ref"])
    assert (await s.call("unknown"))["structuredContent"]["code"] == "handler_error"
    return code


WAYS: dict[str, tuple[Callable[[Search], Awaitable[str]], str]] = {
    "succeeded": (succeeded, "succeeded"),
    "refused": (refused, "arguments_invalid"),
    "raised": (raised, "handler_error"),
    "inside": (raised_inside, "handler_error"),
    "unwilling": (unwilling, "not_available"),
    "denied": (denied, "denied"),
    "expired": (expired, "approval_expired"),
    "cancelled": (cancelled, "cancelled"),
    "unknown": (unknown, "deadline_exceeded"),
}


@asynccontextmanager
async def searching(data: Path, capability: str) -> AsyncGenerator[Search]:
    with hold_lock(data):
        async with observed(data, approval_ms=10_000) as rig:
            assert rig.gateway is not None
            async with serve_control(rig.services.admin, rig.gateway.reloader, data):
                _, token = await rig.grant()
                yield Search(rig, await rig.page(*CAPABILITIES), token, capability)


async def administrators_see(s: Search) -> list[str]:
    """Every answer of the admin API that is read, and of the command line."""
    admin, seen = await program(s.rig), list[str]()
    names = {
        "ref": [item["ref"] for item in await admin.every("/calls", limit=50)],
        "approval": [item["approval"] for item in await admin.every("/approvals", limit=50)],
        "session": [item["session"] for item in await admin.every("/agent-sessions", limit=50)],
        "page": [s.page.welcome["page"]],
        "stream": ["agent_tool", "identity", "admin"],
    }
    assert all(names.values())
    for row in TABLE.operations:
        if row.method != "GET":
            continue
        paths = [row.path]
        for key, values in names.items():
            paths = [path.replace(f"{{{key}}}", value) for path in paths for value in values]
        for path in dict.fromkeys(paths):
            seen.append((await admin.ask("GET", path)).text)
    for line in (
        ["calls", "list", "--json"],
        *(["calls", "show", ref] for ref in names["ref"]),
        ["audit", "tail", "--json"],
        ["audit", "verify"],
        ["session", "list"],
    ):
        said = await asyncio.to_thread(CliRunner().invoke, app, [*line, "--data", str(data_of(s))])
        assert said.exit_code == 0, (line, said.output)
        seen.append(said.output)
    return seen


def data_of(s: Search) -> Path:
    """The folder of the gateway."""
    assert s.rig.data is not None
    return s.rig.data


def rows_of(data: Path) -> list[str]:
    """Every row of every table."""
    with closing(sqlite3.connect(data / DATABASE)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [f"{table}: {row}" for table in tables for row in database.execute(f'SELECT * FROM "{table}"')]  # noqa: S608


@pytest.mark.parametrize("capability", [DECLARED, PLAIN])
async def test_the_markers_are_nowhere(tmp_path: Path, capfd: pytest.CaptureFixture[str], capability: str) -> None:
    data = tmp_path / "data"
    found: dict[str, list[str]] = {}
    async with searching(data, capability) as s:
        for way, (go, code) in WAYS.items():
            assert await go(s) == code, way
        wrong = await s.rig.http.post("/mcp?access_token=MARKER-6", headers={"Authorization": "Bearer MARKER-3"})
        assert wrong.status_code == 401
        found["answers"] = [*s.told, wrong.text]
        s.rig.clock.advance(1_000)
        found["administration"] = await administrators_see(s)
        found["metrics"] = [await s.rig.scrape()]
        found["spans"] = [span.to_json() for span in s.rig.spans()]
        found["trail"] = [
            json.dumps(r)
            for e in ("call.admitted", "call.refused", "call.ended", "call.lost")
            for r in await s.rig.records(e)
        ]
        ended = await s.rig.records("call.ended")
        assert all(record["agent"] == "alice" and record["arguments"] for record in ended)
    found["rows"] = rows_of(data)
    out, err = capfd.readouterr()
    found["output"] = [out, err]
    assert '"event":"call"' in err
    for where, texts in found.items():
        assert texts, where
        assert [text for text in texts if "MARKER" in text] == [], where
    if capability == DECLARED:
        for file in data.iterdir():
            assert b"MARKER" not in file.read_bytes(), file.name


async def test_a_question_about_a_declared_secret_is_shown_and_not_stored(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with searching(data, DECLARED) as s:
        calling, request = await s.ask("stored")
        name = json.loads(request["payload"])["approval"]
        kept = await s.rig.store.run(lambda tx: tx.approvals.find(name))
        assert kept is not None
        assert kept.payload == ""
        assert all(b"MARKER" not in file.read_bytes() for file in data.iterdir() if file.is_file())
        await s.page.decide(request, "deny")
        await calling


async def test_nobody_else_reads_the_files(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with searching(data, DECLARED) as s:
        await succeeded(s)
        modes = {file.name: file.stat().st_mode & 0o777 for file in data.iterdir()}
        assert {name for name, mode in modes.items() if mode != 0o600} == set()
        assert {DATABASE, "gateway.lock", "control.sock"} <= set(modes)
        assert data.stat().st_mode & 0o777 == 0o700
