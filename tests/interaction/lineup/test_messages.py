"""What an agent posts: the closed envelope, who it says it is, types it may not send, and sizes at their edge."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.lineup import Opening
from gateway.transports.lineup.messages import DEPTH
from tests.interaction.lineup.apps import offered
from tests.interaction.lineup.client import LATER, Agent, an_agent, happens, records
from tests.interaction.page.rig import LIST, Rig

pytestmark = pytest.mark.anyio

CALL: dict[str, Any] = {
    "call_id": "call-0001",
    "method": "todo.list",
    "inventory_revision": "catalog-1",
    "arguments": {},
}
APP: dict[str, Any] = {
    "call_id": "call-0001",
    "capability": "todo.list",
    "reason": "to see",
    "expires_at": LATER,
    "arguments": {},
}
INSTALLED: dict[str, Any] = {"id": "com.example.canvas", "version": "1.0.0", "surface": "canvas"}
BUNDLE: dict[str, Any] = {"id": "com.example.canvas", "name": "Canvas", "version": "1.0.0", "html": "<p>"}
OPEN: dict[str, Any] = {"instance_id": "face-1", "app": INSTALLED, "state": {"x": 1}}


async def refusal(rig: Rig, agent: Agent, message: Any) -> tuple[int, str]:
    """Status and code of a message that is refused, audited and called nothing."""
    before = len(await rig.records("access.refused", door="lineup"))
    answer = await agent.post(message)
    (record,) = (await rig.records("access.refused", door="lineup"))[before:]
    error = answer.json()["error"]
    assert (record["code"], record["agent"], record["session"]) == (error["code"], "alice", agent.session.id)
    assert not await rig.store.run(lambda tx: tx.calls.recent(limit=1))
    return answer.status_code, error["code"]


# -- the envelope -----------------------------------------------------------------------------------------------------

WRONG_ENVELOPES: dict[str, dict[str, Any]] = {
    "another field": {"extra": 1},
    "no id": {"id": None},
    "an id of no such letters": {"id": "a b"},
    "an id too long": {"id": "a" * 65},
    "an empty id": {"id": ""},
    "a version that is a truth": {"v": True},
    "a version that is a text": {"v": "1"},
    "no version": {"v": None},
    "a conversation that is no name": {"conversation_id": "a b"},
    "a sender with more in it": {"sender": {"kind": "agent", "id": "alice", "token": "x"}},
    "a sender of a third kind": {"sender": {"kind": "user", "id": "alice"}},
    "a sender that is a text": {"sender": "alice"},
    "a target that is an agent": {"target": {"kind": "agent", "id": "bob"}},
    "a target that is a text": {"target": "page"},
    "a type that is a number": {"type": 1},
    "an empty type": {"type": ""},
    "a payload that is a list": {"payload": []},
}


@pytest.mark.parametrize("change", WRONG_ENVELOPES.values(), ids=WRONG_ENVELOPES)
async def test_an_envelope_is_closed(rig: Rig, agent: Agent, change: dict[str, Any]) -> None:
    await rig.page(LIST)
    message = {**agent.message("tool.call", CALL), **change}
    assert await refusal(rig, agent, message) == (400, "bad_request")


@pytest.mark.parametrize("name", ["v", "id", "type", "conversation_id", "sender", "payload"])
async def test_an_envelope_is_whole(rig: Rig, agent: Agent, name: str) -> None:
    message = agent.message("tool.call", CALL)
    del message[name]
    assert await refusal(rig, agent, message) == (400, "bad_request")


@pytest.mark.parametrize("message", [[], "x", 1, [{}]], ids=repr)
async def test_a_message_is_an_object(rig: Rig, agent: Agent, message: Any) -> None:
    assert await refusal(rig, agent, message) == (400, "bad_request")


@pytest.mark.parametrize("version", [0, 2, 2**53 - 1])
async def test_another_version_is_answered_with_ours(rig: Rig, agent: Agent, version: int) -> None:
    message = agent.message("tool.call", CALL, v=version)
    assert await refusal(rig, agent, message) == (400, "protocol_unsupported")
    assert (await agent.post(message)).json()["error"]["data"] == {"supported": [1]}


async def test_the_longest_id_passes(rig: Rig, agent: Agent) -> None:
    await rig.page(LIST)
    await agent.inventory()
    assert (await agent.tool("todo.list", {}, id="a" * 64)).status_code == 202


# -- who it says it is ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sender",
    [
        {"kind": "agent", "id": "bob"},
        {"kind": "client", "id": "alice"},
        {"kind": "client", "id": "ostiary"},
        {"kind": "agent", "id": "Alice"},
        {"kind": "agent", "id": "alice "},
    ],
    ids=str,
)
async def test_the_sender_is_the_credentials(rig: Rig, agent: Agent, sender: dict[str, Any]) -> None:
    await an_agent(rig, "bob")
    message = agent.message("tool.call", CALL, sender=sender)
    assert await refusal(rig, agent, message) == (403, "sender_refused")


async def test_the_sender_is_not_the_session(rig: Rig, agent: Agent) -> None:
    message = agent.message("tool.call", CALL, sender={"kind": "agent", "id": agent.session.id})
    assert await refusal(rig, agent, message) == (403, "sender_refused")


async def test_a_message_names_the_conversation_it_is_posted_to(rig: Rig, agent: Agent) -> None:
    other = await an_agent(rig, "bob", "ben", conversation="theirs")
    for name in ("theirs", "nobody-has-this", other.session.id):
        message = agent.message("tool.call", CALL, conversation_id=name)
        assert await refusal(rig, agent, message) == (404, "unknown_conversation")


async def test_an_unknown_conversation_is_told_before_the_message_is_read(rig: Rig, agent: Agent) -> None:
    answer = await rig.http.post(agent.path("messages", "theirs"), content=b"{" * 100, headers=agent.headers())
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "unknown_conversation")


# -- types ------------------------------------------------------------------------------------------------------------

NOT_AN_AGENTS = (
    *("ui.event", "client.inventory", "app.list", "app.result", "tool.receipt", "tool.result"),
    *("ui.reload", "app.install", "ui.", "tool.cancel", "text", "UI.OPEN", "ui.open ", "lineup.v1.ui.open"),
)


@pytest.mark.parametrize("kind", NOT_AN_AGENTS)
async def test_what_is_not_an_agents_to_send_is_unsupported_and_not_executed(
    rig: Rig, agent: Agent, kind: str
) -> None:
    page = await rig.page(LIST)
    await agent.inventory()
    assert await refusal(rig, agent, agent.message(kind, {})) == (400, "unsupported")
    assert await refusal(rig, agent, agent.message(kind, {**OPEN, "evil": 1})) == (400, "unsupported")
    assert not page.has("invoke")


@pytest.mark.parametrize("kind", ["lineup.v2.tool.call", "tool.call", "x" * 128])
async def test_a_type_of_another_protocol_is_unsupported(rig: Rig, agent: Agent, kind: str) -> None:
    message = agent.message("tool.call", CALL, type=kind)
    assert await refusal(rig, agent, message) == (400, "unsupported")


@pytest.mark.parametrize("kind", ["app.install", "app.result", "app.list"])
async def test_an_app_type_that_names_a_call_is_answered_as_one(rig: Rig, agent: Agent, kind: str) -> None:
    await rig.page(LIST)
    answer = await agent.post(agent.message(kind, APP))
    told = answer.json()
    assert (answer.status_code, told["type"]) == (200, "lineup.v1.app.result")
    assert (told["payload"]["call_id"], told["payload"]["status"]) == ("call-0001", "unsupported")
    assert told["payload"]["error"]["code"] == "unsupported"
    assert await rig.records("access.refused", door="lineup", code="unsupported", session=agent.session.id)
    assert not await rig.store.run(lambda tx: tx.calls.recent(limit=1))
    answer = await agent.post(agent.message(kind, {**APP, "call_id": "short"}))
    assert answer.status_code == 400


# -- payloads of calls ------------------------------------------------------------------------------------------------

WRONG_CALLS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a field more": ("tool.call", {**CALL, "app_scope": "com.example.focus"}, "/payload/app_scope"),
    "an instance": ("tool.call", {**CALL, "instance_id": "inst_x"}, "/payload/instance_id"),
    "an operation": ("tool.call", {**CALL, "operation_id": "op_x"}, "/payload/operation_id"),
    "a call_id too short": ("tool.call", {**CALL, "call_id": "a" * 7}, "/payload/call_id"),
    "a call_id too long": ("tool.call", {**CALL, "call_id": "a" * 65}, "/payload/call_id"),
    "a call_id of no such letters": ("app.call", {**APP, "call_id": "call 0001"}, "/payload/call_id"),
    "a method too long": ("tool.call", {**CALL, "method": "a" * 161}, "/payload/method"),
    "an empty method": ("tool.call", {**CALL, "method": ""}, "/payload/method"),
    "a revision that is a number": ("tool.call", {**CALL, "inventory_revision": 1}, "/payload/inventory_revision"),
    "a revision of no such form": ("tool.call", {**CALL, "inventory_revision": "1"}, "/payload/inventory_revision"),
    "arguments that are a text": ("tool.call", {**CALL, "arguments": "{}"}, "/payload/arguments"),
    "a reason too long": ("app.call", {**APP, "reason": "a" * 501}, "/payload/reason"),
    "an empty reason": ("app.call", {**APP, "reason": ""}, "/payload/reason"),
    "no reason": ("app.call", {k: v for k, v in APP.items() if k != "reason"}, "/payload/reason"),
    "no end": ("app.call", {k: v for k, v in APP.items() if k != "expires_at"}, "/payload/expires_at"),
    # Case C10: none of these is a time.
    "an end in milliseconds": ("app.call", {**APP, "expires_at": 1_785_000_000_000}, "/payload/expires_at"),
    "an end as a number with a fraction": ("app.call", {**APP, "expires_at": 1.5}, "/payload/expires_at"),
    "an end at a leap second": ("app.call", {**APP, "expires_at": "9999-12-31T23:59:60Z"}, "/payload/expires_at"),
    "a negative end": ("app.call", {**APP, "expires_at": -1}, "/payload/expires_at"),
    "an end without a zone": ("app.call", {**APP, "expires_at": "2099-01-01T00:00:00"}, "/payload/expires_at"),
    "an end on no day": ("app.call", {**APP, "expires_at": "2099-02-30T00:00:00Z"}, "/payload/expires_at"),
    "a revision of an app call": (
        "app.call",
        {**APP, "inventory_revision": "catalog-1"},
        "/payload/inventory_revision",
    ),
}


@pytest.mark.parametrize(("kind", "payload", "pointer"), WRONG_CALLS.values(), ids=WRONG_CALLS)
async def test_the_payload_of_a_call_is_closed(
    rig: Rig, agent: Agent, kind: str, payload: dict[str, Any], pointer: str
) -> None:
    await rig.page(LIST)
    message = agent.message(kind, payload)
    assert await refusal(rig, agent, message) == (400, "bad_request")
    assert (await agent.post(message)).json()["error"]["data"]["pointer"] == pointer


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("tool.call", {**CALL, "call_id": "a" * 8}),
        ("tool.call", {**CALL, "call_id": "a" * 64}),
        ("app.call", {**APP, "reason": "a" * 500}),
        ("app.call", {**APP, "expires_at": "9999-12-31T23:59:59.999999-23:59"}),
    ],
    ids=["shortest call_id", "longest call_id", "longest reason", "latest end"],
)
async def test_the_edges_pass(rig: Rig, agent: Agent, kind: str, payload: dict[str, Any]) -> None:
    await rig.page(LIST)
    await agent.inventory()
    assert (await agent.post(agent.message(kind, payload))).status_code == 202


# -- text and sizes (rules A1) ----------------------------------------------------------------------------------------


async def raw(agent: Agent, body: bytes) -> tuple[int, str]:
    answer = await agent.http.post(
        agent.path("messages"), content=body, headers=agent.headers(**{"Content-Type": "application/json"})
    )
    return answer.status_code, answer.json()["error"]["code"] if answer.status_code >= 400 else ""


async def test_hostile_text_is_refused_and_calls_nothing(rig: Rig, agent: Agent) -> None:
    """Case C07 at this door."""
    page = await rig.page(LIST)
    await agent.inventory()
    text = json.dumps(agent.message("tool.call", CALL))
    assert await raw(agent, text[:-1].encode() + b',"v":1}') == (400, "bad_json")
    twice = text.replace('"method": "todo.list"', '"method": "todo.list", "method": "todo.add"')
    assert twice != text
    assert await raw(agent, twice.encode()) == (400, "bad_json")
    assert await raw(agent, text.replace('"arguments": {}', '"arguments": {"\\ud800": 1}').encode()) == (
        400,
        "bad_json",
    )
    assert await raw(agent, text.replace('"arguments": {}', '"arguments": {"n": 9007199254740993}').encode()) == (
        400,
        "unsafe_integer",
    )
    end_of_time = json.dumps(agent.message("app.call", {**APP, "expires_at": 1e20}))
    assert await raw(agent, end_of_time.encode()) == (400, "unsafe_integer")
    assert await raw(agent, b"\xff") == (400, "bad_json")
    assert await raw(agent, b"null") == (400, "bad_request")
    assert len(await rig.records("access.refused", door="lineup")) == 7
    assert not page.has("invoke")
    assert (await agent.tool("todo.list", {})).status_code == 202


def nested(levels: int) -> dict[str, Any]:
    """An object whose deepest one lies `levels` below it."""
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


def sized(size: int, key: str = "document") -> dict[str, Any]:
    """Arguments whose one member is a document of exactly `size` bytes of canonical JSON."""
    empty = len(json.dumps({"text": ""}, separators=(",", ":")))
    return {key: {"text": "x" * (size - empty)}}


async def standing(answer: Any) -> tuple[int, str]:
    """Status, and the code if there is an error, however it is told."""
    told = answer.json()
    error = told.get("error") or told["payload"].get("error") or {"code": ""}
    return answer.status_code, error["code"]


@pytest.mark.parametrize(
    ("capability", "arguments", "expected"),
    [
        pytest.param("ui.any", sized(262_144), (202, ""), id="a document of the largest size"),
        pytest.param("ui.any", {**sized(262_144), "b": "x" * 5_000}, (413, "body_too_large"), id="more"),
        pytest.param("ui.any", {"document": nested(64)}, (202, ""), id="a document of the deepest kind"),
        pytest.param("ui.any", nested(68), (202, ""), id="arguments as deep as may be"),
        pytest.param("ui.any", nested(69), (400, "too_deep"), id="one deeper"),
        pytest.param("runtime.any", nested(64), (202, ""), id="plain arguments as deep as may be"),
        pytest.param("runtime.any", nested(65), (400, "too_deep"), id="plain ones one deeper"),
        pytest.param("runtime.any", sized(131_072 - 13), (202, ""), id="plain arguments of the largest size"),
        pytest.param("runtime.any", sized(131_072 - 12), (413, "body_too_large"), id="plain ones a byte larger"),
    ],
)
async def test_sizes_and_depths_at_their_edge(
    rig: Rig, capability: str, arguments: dict[str, Any], expected: tuple[int, str]
) -> None:
    agent = await an_agent(rig, scope=["ui.*", "runtime.*"])
    offered(rig, "ui.any", "runtime.any")
    revision = int((await agent.inventory())["revision"].removeprefix("catalog-"))
    answer = await agent.tool(capability, arguments, revision=revision)
    assert await standing(answer) == expected


async def test_the_largest_body_passes_and_a_larger_one_does_not(rig: Rig, agent: Agent) -> None:
    text = json.dumps(agent.message("text", {})).encode()
    limit = 1_048_576
    assert await raw(agent, text + b" " * (limit - len(text))) == (400, "unsupported")
    assert await raw(agent, text + b" " * (limit - len(text) + 1)) == (413, "body_too_large")


def test_the_deepest_message_has_room_for_the_deepest_arguments() -> None:
    assert DEPTH == 64 + 4 + 2


# -- surfaces (rules G1 to G4) ----------------------------------------------------------------------------------------

WRONG_SURFACES: dict[str, tuple[str, dict[str, Any], str]] = {
    "code and an installed surface": ("ui.open", {**OPEN, "app": {**INSTALLED, "html": "<p>"}}, "/payload/app/html"),
    "neither": ("ui.open", {**OPEN, "app": {"id": "com.example.canvas", "version": "1.0.0"}}, "/payload/app/name"),
    "no app": ("ui.open", {"instance_id": "face-1", "state": {}}, "/payload/app"),
    "an app id without a dot": ("ui.open", {**OPEN, "app": {**INSTALLED, "id": "canvas"}}, "/payload/app/id"),
    "an app id in capitals": ("ui.open", {**OPEN, "app": {**INSTALLED, "id": "Com.example"}}, "/payload/app/id"),
    "a version that is none": ("ui.open", {**OPEN, "app": {**INSTALLED, "version": "1.0"}}, "/payload/app/version"),
    "an integrity that is none": (
        "ui.open",
        {**OPEN, "app": {**BUNDLE, "integrity": "sha256-x"}},
        "/payload/app/integrity",
    ),
    "a state that is a list": ("ui.open", {**OPEN, "state": []}, "/payload/state"),
    "an instance of no such letters": ("ui.open", {**OPEN, "instance_id": "a/b"}, "/payload/instance_id"),
    "an instance too long": ("ui.open", {**OPEN, "instance_id": "a" * 129}, "/payload/instance_id"),
    "a patch with code": ("ui.patch", {"instance_id": "a", "state": {}, "html": "<p>"}, "/payload/html"),
    "a patch without a state": ("ui.patch", {"instance_id": "a"}, "/payload/state"),
    "a close with a state": ("ui.close", {"instance_id": "a", "state": {}}, "/payload/state"),
}


@pytest.mark.parametrize(("kind", "payload", "pointer"), WRONG_SURFACES.values(), ids=WRONG_SURFACES)
async def test_the_payload_of_a_surface_is_closed(
    rig: Rig, agent: Agent, kind: str, payload: dict[str, Any], pointer: str
) -> None:
    message = agent.message(kind, payload)
    assert await refusal(rig, agent, message) == (400, "bad_request")
    assert (await agent.post(message)).json()["error"]["data"]["pointer"] == pointer


SURFACES: dict[str, dict[str, Any]] = {
    "ui.open": OPEN,
    "ui.patch": {"instance_id": "face-1", "state": {}},
    "ui.close": {"instance_id": "face-1", "reason": "completed"},
}


@pytest.mark.parametrize("kind", SURFACES)
async def test_a_surface_no_site_exposes_is_unsupported(rig: Rig, agent: Agent, kind: str) -> None:
    answer = await agent.post(agent.message(kind, SURFACES[kind]))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unsupported")
    [record] = await rig.records("call.refused", agent="alice", session=agent.session.id)
    assert (record["capability"], record["code"]) == (f"ui.surface_{kind[3:]}", "unknown_capability")
    assert not await rig.store.run(lambda tx: tx.calls.recent(limit=1))


@dataclass
class Shown:
    """Surfaces that are only noted."""

    told: list[Any] = field(default_factory=list[Any])

    async def open(self, session: AgentSession, opening: Opening) -> None:
        self.told.append((session.id, opening))

    async def patch(self, session: AgentSession, instance: str, state: Mapping[str, Any]) -> None:
        self.told.append((session.id, instance, state))

    async def close(self, session: AgentSession, instance: str, reason: str | None) -> None:
        if instance != "face-1":
            raise GatewayError(ErrorCode.UNSUPPORTED, f"no surface `{instance}` is open")
        self.told.append((session.id, instance, reason))


async def test_what_can_show_surfaces_is_told_what_was_judged(rig: Rig, agent: Agent) -> None:
    shown = Shown()
    rig.services.lineup.surfaces = shown
    largest = {**BUNDLE, "html": "x" * 163_840}
    for kind, payload in (
        *SURFACES.items(),
        ("ui.open", {**OPEN, "app": largest}),
        ("ui.open", {"instance_id": "a" * 128, "app": {**INSTALLED, "version": "1.0.0-rc.1+5"}}),
    ):
        answer = await agent.post(agent.message(kind, payload))
        assert (answer.status_code, answer.content) == (204, b"")
    name = agent.session.id
    plain = Opening(instance="face-1", app="com.example.canvas", version="1.0.0", state={"x": 1}, surface="canvas")
    assert shown.told == [
        (name, plain),
        (name, "face-1", {}),
        (name, "face-1", "completed"),
        (name, replace(plain, surface=None, bundle=largest)),
        (name, replace(plain, instance="a" * 128, version="1.0.0-rc.1+5", state={})),
    ]
    assert await refusal(rig, agent, agent.message("ui.close", {"instance_id": "face-2"})) == (400, "unsupported")


async def test_what_a_person_did_in_a_surface_comes_on_the_stream(rig: Rig, agent: Agent) -> None:
    other = await an_agent(rig, "bob")
    async with agent.stream() as stream, other.stream() as elsewhere:
        for each in (stream, elsewhere):
            await each.receive("app.list")
        await happens(rig, agent, "face-1", "draw", {"größe": [1, 2]})
        event = await stream.next()
        assert (event.kind, event.message["id"]) == ("ui.event", "msg-1")
        assert event.payload == {"instance_id": "face-1", "event": "draw", "data": {"größe": [1, 2]}}
        await happens(rig, other, "face-2", "close", {})
        assert (await elsewhere.next()).payload["event"] == "close"


# -- the trail --------------------------------------------------------------------------------------------------------


async def test_a_refused_call_is_in_the_trail_of_agents_with_its_digest_and_not_at_the_door(
    rig: Rig, agent: Agent
) -> None:
    await rig.page(LIST)
    await agent.tool("todo.nothing", {"secret": "s3cr3t-value"}, call_id="audit-001")
    (record,) = await records(rig, "call.refused", call_id="audit-001")
    assert (record["capability"], record["code"]) == ("todo.nothing", "unknown_capability")
    assert "s3cr3t-value" not in str(record)
    assert not await rig.records("access.refused")
