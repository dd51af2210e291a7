"""C42: whoever is turned away, and whatever ends badly, leaves exactly one record of it.

Read for this product: a record has the fields of design §14, so a stranger is told by peer address and code and his
token by nothing; what only the door saw has no argument digest, because nobody read the arguments. An accepted call
has its records of admission and steps beside the one of its end. Floods are counted, not listed (`rules.md` J).
`PUT /admin/policy` is a change the file declares here, so a change that exists takes its place. "View calls v5 of C25"
belongs to imported MCP Apps, which come later. The extra header comes from a peer nobody trusts.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.runtime.admin.trail import TrailRecord
from tests.interaction.admin.client import program
from tests.interaction.page.rig import ADD, HOST, LIST, Page
from tests.interaction.surface.client import fresh_nonce, invoke, post
from tests.support.observed import Observed, observed

pytestmark = pytest.mark.anyio

CASE: dict[str, Any] = json.loads((Path(__file__).parent / "input.json").read_text())
MADE_UP: dict[str, Any] = CASE["extra_header"]

STEPS = frozenset(
    [
        "call.admitted",
        "call.dispatched",
        "call.replayed",
        "call.orphaned",
        "approval.opened",
        "approval.decided",
        "approval.expired",
        "approval.withdrawn",
        "approval.consumed",
        "page.connected",
        "key.added",
        "session.added",
        "admin_token.added",
        "ticket.minted",
        "gateway.started",
    ]
)
"""What is neither a refusal nor an end."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass
class Scene:
    """A gateway, a page of ann, and alice's token; bob's session does not reach `mail`."""

    rig: Observed
    page: Page
    token: str
    bob: str
    _seen: int = field(default=0)

    async def call(self, arguments: Any, capability: str = "todo.add", call_id: str = "call-0042") -> dict[str, Any]:
        return await self.rig.invoke(self.token, capability, arguments, given={"call_id": call_id}, **MADE_UP)

    async def handed(self) -> tuple[asyncio.Task[dict[str, Any]], dict[str, Any]]:
        calling = asyncio.create_task(self.call({}, "todo.list"))
        return calling, await self.page.receive("invoke")

    async def asked(self) -> tuple[asyncio.Task[dict[str, Any]], dict[str, Any]]:
        calling = asyncio.create_task(self.call({"title": "milk"}))
        return calling, await self.page.receive("approve_request")

    async def ends(self) -> list[TrailRecord]:
        """The records of refusals and ends."""
        self.rig.clock.advance(1_000)
        await self.rig.services.spine.drain()
        return [r for r in await self.rig.services.admin.audit_after({}, limit=10_000) if r.event not in STEPS]


Attempt = Callable[[Scene], Awaitable[None]]


def at_the_door(token: str | None, method: str = "tools/list", **headers: Any) -> Attempt:
    async def attempt(s: Scene) -> None:
        answer = await s.rig.mcp(token or s.token, method, **MADE_UP, **headers)
        assert answer.status_code in (400, 401, 403)

    return attempt


async def from_the_future(s: Scene) -> None:
    told: dict[str, Any] = {"mcp-protocol-version": "2099-01-01", **MADE_UP}
    meta = {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    assert (await s.rig.mcp(s.token, "tools/list", meta=meta, **told)).status_code == 400


async def no_token(s: Scene) -> None:
    assert (await s.rig.mcp(None, "tools/list", **MADE_UP)).status_code == 401


async def hidden(s: Scene) -> None:
    answer = await s.rig.mcp(s.bob, "tools/call", {"name": "mail_send", "arguments": {}}, **MADE_UP)
    assert "Unknown tool" in answer.text


async def hidden_by_id(s: Scene) -> None:
    answer = await s.rig.invoke(s.bob, "mail.send", {}, given={"call_id": "call-0042"}, **MADE_UP)
    assert answer["structuredContent"]["code"] == "unknown_capability"


async def misfit(s: Scene) -> None:
    assert (await s.call({"title": 1}))["isError"]


async def malformed(s: Scene) -> None:
    answer = await s.rig.mcp(s.token, "tools/call", {"name": "gateway_invoke", "arguments": []}, **MADE_UP)
    assert "Invalid request parameters" in answer.text


async def denied(s: Scene) -> None:
    calling, request = await s.asked()
    await s.page.decide(request, "deny")
    await calling


async def expired(s: Scene) -> None:
    calling, _ = await s.asked()
    s.rig.clock.advance(10_001)
    await s.rig.sweep()
    await calling


async def too_many(s: Scene) -> None:
    """The 31st within a minute; the thirty before it are reads that end well."""
    for number in range(30):
        reading = asyncio.create_task(s.call({}, "todo.list", f"call-{number:04}"))
        await s.page.answer(await s.page.receive("invoke"), [])
        await reading
    assert (await s.call({}, "todo.list"))["structuredContent"]["code"] == "rate_limited"


async def too_large(s: Scene) -> None:
    headers = {"authorization": f"Bearer {s.token}", "content-type": "application/json", **MADE_UP}
    # The answer comes before the body is through.
    with suppress(httpx.TransportError):
        assert (await s.rig.http.post("/mcp", content=b" " * 10_000_000, headers=headers)).status_code == 413


async def replayed(s: Scene) -> None:
    nonce = fresh_nonce()
    sending = asyncio.create_task(post(s.rig, s.token, invoke("todo.list"), nonce=nonce, headers=MADE_UP))
    asked = await s.page.receive("invoke")
    again = await post(s.rig, s.token, invoke("todo.list"), nonce=nonce, headers=MADE_UP)
    assert again.json()["error"]["code"] == "REPLAY_DETECTED"
    await s.page.answer(asked, [])
    assert (await sending).json()["ok"]


async def page_gone(s: Scene) -> None:
    calling, _ = await s.handed()
    await s.page.close()
    while any(page.is_connected for page in s.rig.services.live.world.pages.values()):  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    s.rig.clock.advance(10_001)
    await s.rig.sweep()
    assert (await calling)["structuredContent"]["code"] == "outcome_unknown"


async def raised(s: Scene) -> None:
    calling, asked = await s.handed()
    error = {"code": "handler_error", "message": "no"}
    await s.page.send({"type": "result", "ref": asked["ref"], "epoch": asked["epoch"], "ok": False, "error": error})
    assert (await calling)["isError"]


async def left(s: Scene) -> None:
    calling, _ = await s.asked()
    calling.cancel()
    while not await s.rig.records("call.orphaned"):  # noqa: ASYNC110 - the server hears of it in its own time
        await asyncio.sleep(0.005)
    s.rig.clock.advance(30_001)
    await s.rig.sweep()


async def bad_change(s: Scene) -> None:
    admin = await program(s.rig)
    assert (await admin.ask("POST", "/agent-sessions", {"agent": 1}, headers=MADE_UP)).status_code == 400


async def declared_in_file(s: Scene) -> None:
    admin = await program(s.rig)
    assert (await admin.ask("PUT", "/rules", {}, headers=MADE_UP)).status_code == 405


async def no_admin(s: Scene) -> None:
    reader = await program(s.rig, "admin.read", name="reader")
    assert (await reader.ask("POST", "/agent-sessions", {}, headers=MADE_UP)).status_code == 403


async def agent_as_admin(s: Scene) -> None:
    headers = {"authorization": f"Bearer {s.token}", **MADE_UP}
    assert (await s.rig.http.post("/admin/v1/agent-sessions", json={}, headers=headers)).status_code == 401


KNOWN = {"agent": "alice", "user": "ann", "call_id": "call-0042"}
AT_MCP = {"door": "mcp", "peer": HOST}
AT_ADMIN = {"door": "admin", "peer": HOST}

ATTEMPTS: dict[str, tuple[Attempt, str, dict[str, Any]]] = {
    "no token": (no_token, "access.refused", {**AT_MCP, "code": "unauthenticated"}),
    "wrong token": (at_the_door("ost_agent_x"), "access.refused", {**AT_MCP, "code": "unauthenticated"}),
    "Origin evil.test": (
        at_the_door(None, origin="https://evil.test"),
        "access.refused",
        {**AT_MCP, "code": "origin_refused", "origin": "https://evil.test"},
    ),
    "version 2099-01-01": (
        from_the_future,
        "access.refused",
        {**AT_MCP, "code": "protocol_unsupported", "agent": "alice"},
    ),
    "malformed": (malformed, "access.refused", {**AT_MCP, "code": "bad_request", "agent": "alice"}),
    "hidden capability mail.send as bob": (
        hidden_by_id,
        "call.refused",
        {"agent": "bob", "capability": "mail.send", "code": "unknown_capability", "peer": HOST},
    ),
    "its tool": (hidden, "call.refused", {"agent": "bob", "capability": "tool:mail_send", "peer": HOST}),
    "arguments fail schema": (
        misfit,
        "call.refused",
        {**KNOWN, "capability": "todo.add", "code": "arguments_invalid", "peer": HOST},
    ),
    "approval denied": (denied, "call.ended", {**KNOWN, "state": "denied", "code": "denied"}),
    "approval expired": (expired, "call.ended", {**KNOWN, "state": "expired", "code": "approval_expired"}),
    "31st call in a minute": (too_many, "call.refused", {**KNOWN, "code": "rate_limited", "peer": HOST}),
    "body of 10 MB": (too_large, "access.refused", {**AT_MCP, "code": "body_too_large"}),
    "replayed nonce": (replayed, "call.refused", {"agent": "alice", "code": "replay_detected", "peer": HOST}),
    "page disconnects mid-call": (page_gone, "call.lost", {**KNOWN, "state": "unknown", "code": "outcome_unknown"}),
    "handler raises": (raised, "call.ended", {**KNOWN, "state": "failed", "code": "handler_error"}),
    "client closes stream": (left, "call.ended", {**KNOWN, "state": "cancelled"}),
    "PUT /admin/policy with bad body": (
        bad_change,
        "admin.refused",
        {"by": f"admin:pipeline@{HOST}", "what": "POST /agent-sessions", "code": "bad_request"},
    ),
    "PUT of what the file declares": (declared_in_file, "admin.refused", {"code": "declared_in_file"}),
    "PUT /admin/policy as non-admin": (
        no_admin,
        "admin.refused",
        {"by": f"admin:reader@{HOST}", "what": "POST /agent-sessions", "code": "scope_missing"},
    ),
    "an agent's token": (agent_as_admin, "access.refused", {**AT_ADMIN, "code": "wrong_door"}),
}

LATER = {"view calls v5 of C25"}
WITH_DIGEST = ("call.refused", "call.ended", "call.lost")


def test_every_attempt_of_the_case_is_made() -> None:
    assert set(CASE["attempts"]) - set(ATTEMPTS) == LATER


@pytest.mark.parametrize("name", ATTEMPTS)
async def test_it_leaves_one_record(tmp_path: Path, name: str) -> None:
    attempt, event, facts = ATTEMPTS[name]
    async with observed(tmp_path, approval_ms=10_000, calls_per_minute=30, calls_burst=30) as rig:
        scene = Scene(
            rig, await rig.page(ADD, LIST), (await rig.grant())[1], (await rig.grant("bob", scope=["todo.*"]))[1]
        )
        began = rig.clock.now()
        await attempt(scene)
        # What ended well before or beside it is not what is looked for.
        found = [r for r in await scene.ends() if r.facts.get("state") != "succeeded"]
        assert [(r.event, r.facts.get("code")) for r in found] == [
            (event, facts.get("code", found[0].facts.get("code")))
        ]
        (record,) = found
        assert facts.items() <= record.facts.items()
        assert began <= record.at <= rig.clock.now()
        if event in WITH_DIGEST:
            assert len(str(record.facts["arguments"])) == 32
        assert "10.0.0.1" not in str(await rig.services.admin.audit_after({}, limit=10_000))


async def test_a_flood_is_counted_and_not_listed(tmp_path: Path) -> None:
    async with observed(tmp_path) as rig:
        for _ in range(30):
            await rig.mcp("ost_agent_x", "tools/list", **MADE_UP)
        rig.clock.advance(60_001)
        await rig.sweep()
        assert len(await rig.records("access.refused", code="unauthenticated")) == 20
        (counted,) = await rig.records("access.refusals_counted")
        assert (counted["peer"], counted["further"]) == (HOST, 10)
