"""What the admin API tells: lists a page at a time, versions, and no word of arguments, results and secrets."""

import json
from pathlib import Path
from typing import Any

import pytest

from capabilities.package import write_package
from gateway.domain.audit import Stream
from gateway.settings import Limits, Server
from gateway.transports.admin_http import TABLE
from gateway.transports.admin_http.declared import SERVER_SHOWN
from tests.interaction.admin.client import KEY, SESSION, Program
from tests.interaction.page.rig import ADD, LIST, PATTERNS, Rig
from tests.interaction.surface.client import invoke, post
from tests.support.databases import database
from tests.support.mini_apps import a_surface_package

__all__ = ["database"]

pytestmark = pytest.mark.anyio

MARKER = "SECRET-MARKER"


async def test_status_tells_the_gateway_at_a_glance(rig: Rig, admin: Program) -> None:
    await rig.page(LIST)
    await rig.grant()
    assert await admin.get("/status") == {
        "configuration": "policy-000000000000",
        "pages": 1,
        "sessions": 1,
        "ledger_rows": 0,
        "ledger_cap": Limits().ledger_rows,
        "open_calls": 0,
        "open_cap": Limits().ledger_open,
    }


async def test_what_the_file_declares_is_told_as_it_is(rig: Rig, admin: Program) -> None:
    sites = (await admin.get("/sites"))["items"]
    assert [site["site"] for site in sites] == ["todo", "other"]
    assert await admin.get("/sites/todo") == sites[0]
    assert sites[0]["expose"][0] == {"id": "todo.*", "effect": None, "risk": None, "confirm": None}
    agents = (await admin.get("/agents"))["items"]
    assert await admin.get("/agents/bob") == agents[1] == {"agent": "bob", "label": "Bob"}
    assert (await admin.get("/rules"))["items"] == []
    settings = await admin.get("/settings")
    assert settings["limits"]["calls_per_minute"] == 10_000
    assert settings["server"]["listen_port"] == rig.port
    assert set(settings["server"]) == set(SERVER_SHOWN)


def test_nothing_is_told_of_the_server_that_could_hold_a_secret() -> None:
    """A new setting stays private until somebody names it in `SERVER_SHOWN`."""
    assert set(SERVER_SHOWN) <= {*Server.__dataclass_fields__}
    assert not [name for name in SERVER_SHOWN if "database" in name or "secret" in name or "key" in name]


async def test_names_that_match_nothing_declared_now_are_pointed_out(rig: Rig, admin: Program) -> None:
    await rig.page(LIST)
    body = {**SESSION, "scope": ["todo.list", "todo.lost", "todo.*", "context.read"]}
    made = (await admin.ask("POST", "/agent-sessions", body)).json()
    assert made["undeclared"] == ["todo.lost"]
    key = (await admin.ask("POST", "/site-keys", {"site": "other", "capabilities": ["todo.list"]})).json()
    assert key["undeclared"] == ["todo.list"], "the other site has no page that declares it"
    assert (await admin.get("/sites/todo"))["undeclared"] == [p for p in PATTERNS if p != "todo.*"]


async def test_why_and_what_a_session_sees(rig: Rig, admin: Program) -> None:
    page = await rig.page(LIST)
    session, _ = await rig.grant()
    seen = await admin.get(f"/agent-sessions/{session.id}/inventory")
    assert seen["standing"] == "live"
    (item,) = seen["items"]
    assert (item["capability"], item["site"], item["verdict"]) == ("todo.list", "todo", "permit")
    assert item["pages"] == [page.welcome["page"]]
    why = await admin.get(f"/agent-sessions/{session.id}/explain", capability="todo.list")
    assert [place["verdict"] for place in why["places"]] == ["permit"]
    assert len(why["places"][0]["stages"]) == 9
    strange = await admin.ask("GET", f"/agent-sessions/{session.id}/explain", params={"capability": "Todo"})
    assert (strange.status_code, strange.json()["error"]["code"]) == (400, "bad_request")


async def test_pages_and_their_sessions(rig: Rig, admin: Program) -> None:
    first, second = await rig.page(LIST), await rig.page(user="bea")
    names = {page.welcome["page"] for page in (first, second)}
    assert {page["page"] for page in await admin.every("/pages", limit=1)} == names
    stored = await admin.every("/page-sessions", limit=1)
    assert {page["page"] for page in stored} == names
    assert all(page["live"] for page in stored)
    await first.socket.close()
    one = await admin.get(f"/page-sessions/{first.welcome['page']}")
    assert (one["user"], one["site"], one["epoch"]) == ("ann", "todo", 1)


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [("/agent-sessions", SESSION, "session"), ("/site-keys", KEY, "key")],
)
async def test_a_list_is_read_once_though_others_add_to_it(
    rig: Rig, admin: Program, path: str, body: Any, name: str
) -> None:
    made: list[str] = []
    for _ in range(5):
        made.append((await admin.ask("POST", path, body)).json()[name])
        rig.clock.advance(1)
    first = await admin.get(path, limit=2)
    assert [item[name] for item in first["items"]] == [made[4], made[3]]
    await admin.ask("POST", path, body)
    second = await admin.get(path, limit=2, cursor=first["next"])
    third = await admin.get(path, limit=2, cursor=second["next"])
    assert [item[name] for item in [*second["items"], *third["items"]]] == [made[2], made[1], made[0]]
    assert third["next"] is None


async def test_calls_are_listed_by_what_they_are(rig: Rig, admin: Program) -> None:
    await rig.page(LIST, ADD)
    _, alice = await rig.grant()
    _, bob = await rig.grant("bob")
    refs: list[str] = []
    for token, call in ((alice, "todo.list"), (bob, "todo.list"), (alice, "todo.add")):
        arguments = {"title": "x"} if call == "todo.add" else {}
        answer = await post(rig, token, invoke(call, **arguments), headers={"Prefer": "wait=0"})
        refs.append(answer.json()["result"]["ref"])
    assert {call["ref"] for call in await admin.every("/calls", limit=1)} == set(refs)
    assert [call["ref"] for call in await admin.every("/calls", agent="bob")] == [refs[1]]
    assert [call["ref"] for call in await admin.every("/calls", state="awaiting_approval")] == [refs[2]]
    assert await admin.every("/calls", site="nowhere") == []
    (approval,) = await admin.every("/approvals")
    assert (approval["ref"], approval["state"]) == (refs[2], "open")
    assert await admin.get(f"/approvals/{approval['approval']}") == approval
    assert [receipt["status"] for receipt in (await admin.get(f"/calls/{refs[2]}"))["receipts"]] == ["accepted"]


async def test_denials_are_told_by_user(rig: Rig, admin: Program) -> None:
    page = await rig.page(ADD)
    _, token = await rig.grant()
    await post(rig, token, invoke("todo.add", title=MARKER), headers={"Prefer": "wait=0"})
    await page.decide(await page.receive("approve_request"), "deny")
    await page.receive("approve_update")
    (denial,) = (await admin.get("/denials", user="ann"))["items"]
    assert (denial["agent"], denial["capability"]) == ("alice", "todo.add")
    assert (await admin.get("/denials", user="bea"))["items"] == []


async def test_the_trail_is_read_stream_by_stream_and_followed(rig: Rig, admin: Program) -> None:
    await admin.ask("POST", "/site-keys", KEY)
    path = "/audit/streams/admin"
    whole = [(record.seq, record.event) for record in await rig.services.admin.audit_tail(stream=Stream.ADMIN)]
    page = await admin.get(path, limit=1)
    assert [(r["seq"], r["event"]) for r in page["items"]] == whole[:1]
    page = await admin.get(path, cursor=page["next"])
    assert [(r["seq"], r["event"]) for r in page["items"]] == whole[1:]
    assert (await admin.get(path, cursor=page["next"]))["items"] == []
    await admin.ask("POST", "/site-keys", KEY)
    assert [r["event"] for r in (await admin.get(path, cursor=page["next"]))["items"]] == ["key.added"]
    found = await admin.get("/audit/verification")
    assert (found["intact"], found["broken"]) == (True, [])


STRANGE = ("x", "bm9uZQ", "W10", "W251bGxd", "WyJjYWxscyIsMV0", "WyJzaXRlLWtleXMiLHRydWUsInMiXQ", "é", "A" * 513, "")


@pytest.mark.parametrize("path", ["/site-keys", "/calls", "/approvals", "/page-sessions", "/audit/streams/admin"])
async def test_a_text_that_is_no_cursor_of_the_list_is_refused(admin: Program, path: str) -> None:
    for cursor in STRANGE:
        answer = await admin.ask("GET", path, params={"cursor": cursor})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request"), cursor


async def test_a_query_that_does_not_fit_is_refused(admin: Program) -> None:
    for query in ("limit=0", "limit=201", "limit=x", "limit=1&limit=2", "colour=red", "user=%00", "state=lost"):
        answer = await admin.ask("GET", f"/calls?{query}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request"), query
        assert [record.facts["code"] for record in await admin.news()] == ["bad_request"]


async def test_what_is_known_is_not_sent_again(admin: Program) -> None:
    for path in ("/sites", "/sites/todo", "/site-keys"):
        first = await admin.ask("GET", path)
        again = await admin.ask("GET", path, headers={"If-None-Match": f'"x", W/{first.headers["etag"]}'})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        assert again.headers["cache-control"] == "no-store"
        assert (await admin.ask("GET", path, headers={"If-None-Match": '"x"'})).status_code == 200
    tag = (await admin.ask("GET", "/site-keys")).headers["etag"]
    await admin.ask("POST", "/site-keys", KEY)
    assert (await admin.ask("GET", "/site-keys", headers={"If-None-Match": tag})).status_code == 200


async def test_head_is_get_without_a_body(admin: Program) -> None:
    answer = await admin.ask("HEAD", "/status")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["etag"] == (await admin.ask("GET", "/status")).headers["etag"]


MISSING = (
    ("GET", "/nothing", 404, "not_found"),
    ("GET", "/sites/a%0Ab", 404, "not_found"),
    ("GET", "/sites/nowhere", 404, "not_found"),
    ("GET", "/agents/nobody", 404, "not_found"),
    ("GET", "/agent-sessions/sess_x", 404, "not_found"),
    ("GET", "/agent-sessions/sess_x/inventory", 404, "not_found"),
    ("GET", "/agent-sessions/sess_x/explain?capability=todo.add", 404, "not_found"),
    ("GET", "/site-keys/x", 404, "not_found"),
    ("GET", "/admin-tokens/x", 404, "not_found"),
    ("GET", "/page-sessions/x", 404, "not_found"),
    ("GET", "/approvals/x", 404, "not_found"),
    ("GET", "/calls/x", 404, "unknown_call"),
    ("GET", "/audit/streams/gossip", 404, "not_found"),
    ("POST", "/agent-sessions/sess_x/revoke", 404, "not_found"),
    ("POST", "/site-keys/x/revoke", 404, "not_found"),
    ("POST", "/admin-tokens/x/revoke", 404, "not_found"),
    ("POST", "/calls/x/cancel", 404, "unknown_call"),
    ("DELETE", "/agent-sessions", 405, "method_not_allowed"),
    ("POST", "/status", 405, "method_not_allowed"),
    ("TRACE", "/status", 405, "method_not_allowed"),
)


async def test_what_is_not_there_is_said_and_noted(admin: Program) -> None:
    for method, path, status, code in MISSING:
        answer = await admin.ask(method, path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), (method, path)
        assert ("allow" in answer.headers) is (status == 405)
        assert [record.facts["code"] for record in await admin.news()] == [code]


async def test_no_answer_holds_arguments_results_evidence_or_a_secret(rig: Rig, admin: Program) -> None:
    page = await rig.page(ADD, LIST)
    session, token = await rig.grant()
    ref = (await post(rig, token, invoke("todo.add", title=MARKER), headers={"Prefer": "wait=0"})).json()["result"][
        "ref"
    ]
    request = await page.receive("approve_request")
    assert MARKER in request["payload"]
    nonce = json.loads(request["payload"])["nonce"]
    await page.decide(request, "approve")
    await page.answer(await page.receive("invoke"), {"secret": MARKER}, evidence={"after": MARKER})
    await page.receive("ack")
    key = await rig.key()
    rig.files.sources[Path("/package")] = write_package(a_surface_package())
    app = await rig.services.mini_apps.install(Path("/package"), by="test")
    bodies = [json.dumps(record.facts) for record in await rig.services.admin.audit_after({}, limit=10_000)]
    names = {
        "session": session.id,
        "ref": ref,
        "approval": (await admin.every("/approvals"))[0]["approval"],
        "page": page.welcome["page"],
        "site": "todo",
        "agent": "alice",
        "app": app.app.id,
        "key": (await admin.every("/site-keys"))[0]["key"],
        "admin_token": (await admin.every("/admin-tokens"))[0]["admin_token"],
    }
    for row in TABLE.operations:
        if row.method != "GET":
            continue
        for stream in Stream if "{stream}" in row.path else (None,):
            path = row.path.format(**names, stream=stream)
            params = {"capability": "todo.add"} if row.name == "explain" else {}
            answer = await admin.ask("GET", path, params={"user": "ann"} if row.name == "listDenials" else params)
            assert answer.status_code == 200, (path, answer.text)
            bodies.append(answer.text)
    told = "".join(bodies)
    ticket = page.welcome["resume"]
    assert not [
        word for word in (MARKER, token, key, key.rpartition("_")[2], admin.token, nonce, ticket) if word in told
    ]
