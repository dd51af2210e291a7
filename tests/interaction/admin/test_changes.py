"""What the admin API changes: once, by whom, and nothing that a wrong request asks for."""

from typing import Any

import pytest

from tests.interaction.admin.client import KEY, SESSION, Program, program
from tests.interaction.page.rig import ADD, LIST, Rig
from tests.interaction.surface.client import envelope, invoke, post
from tests.support.databases import database

__all__ = ["database"]

pytestmark = pytest.mark.anyio

ADDS = {"/agent-sessions": (SESSION, "session", "token"), "/site-keys": (KEY, "key", "secret")}


@pytest.mark.parametrize("path", ADDS)
async def test_what_is_made_is_shown_once_read_back_and_ended(admin: Program, path: str) -> None:
    body, name, secret = ADDS[path]
    answer = await admin.ask("POST", path, body)
    assert answer.status_code == 201
    made = answer.json()
    own = f"{path}/{made[name]}"
    assert answer.headers["location"] == f"/admin/v1{own}"
    assert made.pop(secret).startswith("ost_")
    assert await admin.get(own) == made
    assert made in (await admin.get(path))["items"]
    (record,) = await admin.news()
    assert (record.event, record.facts[name], record.stream) == (f"{name}.added", made[name], "admin")

    for standing in ("revoked", "revoked"):
        ended = await admin.ask("POST", f"{own}/revoke")
        assert (ended.status_code, ended.json()["standing"]) == (200, standing)
    (record,) = await admin.news()
    assert (record.event, record.facts[name]) == (f"{name}.revoked", made[name])


async def test_a_session_made_here_acts_and_stops_when_it_is_ended_here(rig: Rig, admin: Program) -> None:
    made = (await admin.ask("POST", "/agent-sessions", SESSION)).json()
    assert (await post(rig, made["token"], envelope("describe"))).status_code == 200
    await admin.ask("POST", f"/agent-sessions/{made['session']}/revoke")
    assert (await post(rig, made["token"], envelope("describe"))).status_code == 401


@pytest.mark.parametrize("path", ADDS)
async def test_the_same_request_sent_again_makes_nothing_again(admin: Program, path: str) -> None:
    body, name, secret = ADDS[path]
    headers = {"Idempotency-Key": "the-first-of-today"}
    first = await admin.ask("POST", path, body, headers=headers)
    again = await admin.ask("POST", path, body, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]
    assert again.json() == {**first.json(), secret: None}
    assert len((await admin.get(path))["items"]) == 1
    assert [record.event for record in await admin.news()] == [f"{name}.added"]


async def test_one_key_names_one_request_of_one_token(rig: Rig, admin: Program) -> None:
    headers = {"Idempotency-Key": "k"}
    first = await admin.ask("POST", "/agent-sessions", SESSION, headers=headers)
    for path, body in (("/agent-sessions", {**SESSION, "days": 2}), ("/site-keys", KEY)):
        other = await admin.ask("POST", path, body, headers=headers)
        assert (other.status_code, other.json()["error"]["code"]) == (409, "key_reused")
    stranger = await program(rig, name="stranger")
    own = await stranger.ask("POST", "/agent-sessions", SESSION, headers=headers)
    assert own.json()["session"] != first.json()["session"]
    assert [record.event for record in await admin.news()] == ["session.added", "admin.refused", "admin.refused"]


async def test_a_key_is_forgotten_after_a_day(rig: Rig, admin: Program) -> None:
    headers = {"Idempotency-Key": "k"}
    first = await admin.ask("POST", "/site-keys", KEY, headers=headers)
    rig.clock.advance(86_400_001)
    await rig.sweep()
    again = await admin.ask("POST", "/site-keys", KEY, headers=headers)
    assert again.json()["key"] != first.json()["key"]


async def test_a_key_that_is_none_is_refused(admin: Program) -> None:
    for key in ("", "k" * 256, "two words"):
        answer = await admin.ask("POST", "/site-keys", KEY, headers={"Idempotency-Key": key})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request"), key
    assert (await admin.get("/site-keys"))["items"] == []


BODIES = (
    b"",
    b"[]",
    b"{",
    b'{"agent":"alice","agent":"bob","user":"ann","scope":["todo.*"]}',
    b'{"agent":"alice","user":"ann","scope":["todo.*"],"days":1e3}',
    b'{"agent":"alice","user":"ann","scope":["todo.*"],"days":"30"}',
    b'{"agent":"alice","user":"ann","scope":["todo.*"],"days":0}',
    b'{"agent":"alice","user":"ann","scope":"todo.*"}',
    b'{"agent":"alice","user":"ann","scope":null}',
    b'{"agent":"alice","user":"ann"}',
    b'{"agent":"alice","user":"ann","scope":["*"]}',
    b'{"agent":"alice","user":"ann","scope":["todo.*"],"admin":true}',
    b'{"agent":"nobody","user":"ann","scope":["todo.*"]}',
    b'{"agent":"alice","user":"ann","scope":["todo.*"],"sites":["nowhere"]}',
    b'{"agent":"alice","user":"a\\u0000b","scope":["todo.*"]}',
    b'{"agent":"alice","user":"\\ud800","scope":["todo.*"]}',
    b'{"agent":"alice","user":"ann","scope":[[[[[[[]]]]]]]}',
    b"\xff",
)


async def test_a_body_that_does_not_say_what_it_should_makes_nothing_and_leaves_one_record(admin: Program) -> None:
    for body in BODIES:
        answer = await admin.ask("POST", "/agent-sessions", content=body)
        assert answer.status_code == 400, body
        assert answer.json()["error"]["code"] in ("bad_json", "bad_request", "too_deep")
        (record,) = await admin.news()
        assert (record.event, record.facts["what"]) == ("admin.refused", "POST /agent-sessions")
        assert record.facts["code"] == answer.json()["error"]["code"]
    assert (await admin.get("/agent-sessions"))["items"] == []


async def test_a_body_is_read_no_further_than_it_may_be_long(admin: Program) -> None:
    answer = await admin.ask("POST", "/agent-sessions", content=b" " * 65_537)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")
    assert [record.event for record in await admin.news()] == ["admin.refused"]


@pytest.mark.parametrize("path", ["/agent-sessions/{session}", "/site-keys/{key}"])
async def test_a_change_can_insist_on_what_it_was_decided_by(admin: Program, path: str) -> None:
    body, name, _ = ADDS[path.partition("/{")[0]]
    made = (await admin.ask("POST", path.partition("/{")[0], body)).json()
    own = path.format(**{name: made[name]})
    tag = (await admin.ask("GET", own)).headers["etag"]
    stale = await admin.ask("POST", f"{own}/revoke", headers={"If-Match": '"another"'})
    assert (stale.status_code, stale.json()["error"]["code"]) == (412, "precondition_failed")
    assert (await admin.get(own))["standing"] == "live"
    weak = await admin.ask("POST", f"{own}/revoke", headers={"If-Match": f"W/{tag}"})
    assert weak.status_code == 412
    odd = await admin.ask("POST", f"{own}/revoke", headers={"If-Match": "tag"})
    assert odd.status_code == 400
    done = await admin.ask("POST", f"{own}/revoke", headers={"If-Match": f'"another", {tag}'})
    assert (done.status_code, done.json()["standing"]) == (200, "revoked")
    events = [record.event for record in await admin.news()]
    assert events == [f"{name}.added", *["admin.refused"] * 3, f"{name}.revoked"]


async def waiting_call(rig: Rig) -> str:
    """A call that waits for its person."""
    _, token = await rig.grant()
    answer = await post(rig, token, invoke("todo.add", title="SECRET-ARGUMENT"), headers={"Prefer": "wait=0"})
    return answer.json()["result"]["ref"]


async def test_a_call_that_waits_is_ended_and_its_question_taken_back(rig: Rig, admin: Program) -> None:
    page = await rig.page(ADD)
    ref = await waiting_call(rig)
    await page.receive("approve_request")
    ended = await admin.ask("POST", f"/calls/{ref}/cancel")
    assert (ended.status_code, ended.json()["state"], ended.json()["code"]) == (200, "cancelled", "cancelled")
    assert (await page.receive("approve_update"))["state"] == "withdrawn"
    (record,) = await admin.news()
    assert (record.event, record.facts["ref"], record.stream) == ("call.cancel_requested", ref, "agent_tool")

    again = await admin.ask("POST", f"/calls/{ref}/cancel")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "state_conflict")
    assert [record.event for record in await admin.news()] == ["admin.refused"]


async def test_of_work_in_progress_it_is_a_request_and_is_made_once(rig: Rig, admin: Program) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    ref = (await post(rig, token, invoke("todo.list"), headers={"Prefer": "wait=0"})).json()["result"]["ref"]
    invoked = await page.receive("invoke")
    for _ in range(2):
        asked = await admin.ask("POST", f"/calls/{ref}/cancel")
        assert (asked.status_code, asked.json()["state"]) == (200, "dispatched")
    assert (await page.receive("cancel"))["ref"] == ref
    assert not page.has("cancel")
    assert [record.event for record in await admin.news()] == ["call.cancel_requested"]
    await page.answer(invoked, [])
    await page.receive("ack")
    assert (await admin.get(f"/calls/{ref}"))["state"] == "succeeded"


async def test_an_unknown_call_is_settled_by_whoever_looked_at_it(rig: Rig, admin: Program) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    ref = (await post(rig, token, invoke("todo.list"), headers={"Prefer": "wait=0"})).json()["result"]["ref"]
    await page.receive("invoke")
    dispatched = (await admin.ask("GET", f"/calls/{ref}")).headers["etag"]
    rig.clock.advance(60_000)
    await rig.sweep()
    unknown = await admin.ask("GET", f"/calls/{ref}")
    assert unknown.json()["state"] == "unknown"
    path, body = f"/calls/{ref}/reconcile", {"outcome": "failed", "reason": "the list is as it was"}
    for headers, status, code in (
        ({}, 428, "precondition_required"),
        ({"If-Match": dispatched}, 412, "precondition_failed"),
    ):
        refused = await admin.ask("POST", path, body, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    settled = await admin.ask("POST", path, body, headers={"If-Match": unknown.headers["etag"]})
    assert (settled.status_code, settled.json()["state"]) == (200, "failed")
    again = await admin.ask("POST", path, body, headers={"If-Match": "*"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "state_conflict")
    records = await admin.news()
    assert sorted(record.event for record in records) == [*["admin.refused"] * 3, "call.reconciled"]
    (record,) = (record for record in records if record.event == "call.reconciled")
    assert (record.facts["ref"], record.facts["reason"]) == (ref, body["reason"])


async def test_an_admin_token_is_ended_here_even_by_itself(rig: Rig, admin: Program) -> None:
    own = next(token for token in (await admin.get("/admin-tokens"))["items"] if token["name"] == admin.name)
    ended = await admin.ask("POST", f"/admin-tokens/{own['admin_token']}/revoke")
    assert (ended.status_code, ended.json()["standing"]) == (200, "revoked")
    assert [record.event for record in await admin.news()] == ["admin_token.revoked"]
    out = await admin.ask("GET", "/status")
    assert (out.status_code, out.json()["error"]["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_what_the_file_declares_is_changed_in_the_file(admin: Program, method: str) -> None:
    for path in ("/sites", "/sites/todo", "/agents", "/agents/alice", "/rules", "/settings"):
        answer = await admin.ask(method, path, {"site": "mine"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (405, "declared_in_file")
        assert answer.headers["allow"] == "GET, HEAD"
        assert answer.json()["error"]["message"] == "declared in `ostiary.yaml`; edit it and reload"
        (record,) = await admin.news()
        assert record.facts["what"] == f"{method} {'/'.join(['', path.split('/')[1], *kind(path)])}"


def kind(path: str) -> list[str]:
    """The placeholder of a path below a list."""
    return [f"{{{path.split('/')[1][:-1]}}}"] if path.count("/") == 2 else []


async def test_a_store_that_cannot_commit_refuses_and_nothing_is_made(rig: Rig, admin: Program) -> None:
    heal = rig.fail_commits()
    answer = await admin.ask("POST", "/site-keys", KEY)
    heal()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unavailable")
    assert (await admin.get("/site-keys"))["items"] == []
    assert await admin.news() == []


async def test_every_change_is_by_somebody_and_from_somewhere(admin: Program) -> None:
    await admin.ask("POST", "/site-keys", KEY)
    await admin.ask("POST", "/site-keys", {})
    facts: list[Any] = [record.facts["by"] for record in await admin.news()]
    assert facts == ["admin:pipeline@127.0.0.1"] * 2
