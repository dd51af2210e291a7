"""Every door, in this process and behind the real edge: whatever bytes come, no answer is a failure of ours.

A failure is a status of 500, JSON-RPC's -32603 or an exception; after each test the audit chains are walked.
"""

# Examples are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.transports.admin_http import TABLE
from tests.fuzz.rig import (
    CONVERSATION,
    HOST,
    Answered,
    InProcess,
    examples,
    header_values,
    in_process,
    mutated,
    odd,
    one_strange,
    texts,
)
from tests.support.mcp_gateway import ACCEPT, MODERN
from tests.support.whole_gateway import MEANT

METHODS = [
    *["initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list", "prompts/list"],
    *["tasks/get", "tasks/cancel", "tasks/update", "logging/setLevel", "completion/complete"],
    *["notifications/initialized", "notifications/cancelled", "notifications/progress"],
]
VERSIONS = [MODERN, "2025-11-25", "2025-06-18", "2024-11-05", "1999-01-01", ""]


@pytest.fixture(scope="module")
def behind_a_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    data = tmp_path_factory.mktemp("gateway")
    with in_process(data, trusted_proxies=("10.0.0.0/8", "fd00::/8"), origins=("https://client.test",)) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def gateway(behind_a_proxy: InProcess) -> InProcess:
    return behind_a_proxy


def judge(answer: Answered) -> None:
    """Nothing of it is a failure of the gateway."""
    assert 200 <= answer.status < 600
    if answer.status >= 500:
        # A door may say that a page is not there or the gateway is busy.
        assert answer.status == 503, (answer.status, answer.body)
    assert b"-32603" not in answer.body, answer.body
    assert b"Traceback" not in answer.body
    for name, value in answer.headers.items():
        assert not re.search(r"[\r\n\x00]", name + value)


# ---- headers ----------------------------------------------------------------------------------------------------

named = {
    b"authorization": st.one_of(header_values, header_values.map(lambda value: b"Bearer " + value)),
    b"host": header_values | st.just(HOST.encode()),
    b"origin": header_values | st.sampled_from([b"null", b"https://client.test", b"http://todo.test"]),
    b"x-forwarded-for": header_values
    | st.sampled_from([b"1.2.3.4, ::1", b"[fe80::1%eth0]:4", b",,", b"::ffff:1.2.3.4"]),
    b"x-forwarded-host": header_values | st.just(HOST.encode()),
    b"x-forwarded-proto": header_values | st.sampled_from([b"https", b"ws"]),
    b"forwarded": header_values,
    b"content-type": header_values | st.sampled_from([b"application/json", b"application/json; charset=x"]),
    b"content-encoding": header_values | st.just(b"gzip"),
    b"accept": header_values | st.just(ACCEPT.encode()),
    b"traceparent": header_values,
    b"tracestate": header_values,
    b"prefer": header_values | st.sampled_from([b"wait=-1", b"wait=99999999999999999999", b"wait=0"]),
    b"ostiary-nonce": header_values,
    b"ostiary-timestamp": header_values | st.just(b"9" * 400),
    b"mcp-protocol-version": header_values | st.sampled_from([v.encode() for v in VERSIONS]),
    b"mcp-method": header_values | st.just(b"tools/list"),
    b"mcp-name": header_values,
    b"mcp-session-id": header_values,
    b"last-event-id": header_values,
    b"if-match": header_values | st.sampled_from([b"*", b'W/"a"', b'"a", "b']),
    b"if-none-match": header_values,
    b"idempotency-key": header_values,
    b"access-control-request-method": header_values,
    b"access-control-request-headers": header_values | st.just(b"mcp-param-a\xff,mcp-param-b"),
}
some_headers = st.lists(
    st.sampled_from(sorted(named)).flatmap(lambda name: st.tuples(st.just(name), named[name])), max_size=6
)
paths = st.sampled_from(
    [
        *[
            "/mcp",
            "/surface/v1",
            "/lineup/v1/conversations/conv_1/messages",
            "/lineup/v1/x",
            "/v1/host-tokens",
            "/admin/v1/agent-sessions",
            "/admin/v1/audit/admin",
            "/readyz",
        ],
        *[
            "/.well-known/oauth-protected-resource",
            "/",
            "//",
            "/admin/v1/",
            "/surface/v1\n",
            "/surface/../mcp",
            "/\ufffd",
        ],
    ]
)
peers = st.sampled_from(["127.0.0.1", "10.0.0.9", "fd00::1", "::ffff:10.0.0.1", "unix", ""])


@examples(200)
@given(
    st.sampled_from(["POST", "GET", "DELETE", "OPTIONS", "PUT", "HEAD", "X"]),
    paths,
    some_headers,
    peers,
    st.booleans(),
)
def test_no_header_makes_a_door_fail(
    gateway: InProcess, method: str, path: str, headers: list[tuple[bytes, bytes]], peer: str, is_known: bool
) -> None:
    known = {b"host": HOST.encode(), b"content-type": b"application/json", b"accept": ACCEPT.encode()}
    given_names = {name for name, _ in headers}
    credential = gateway.admin if path.startswith("/admin") else gateway.key if "tokens" in path else gateway.token
    if is_known:
        known[b"authorization"] = f"Bearer {credential}".encode()
    whole = [*headers, *((name, value) for name, value in known.items() if name not in given_names)]
    judge(gateway.ask(method, path, whole, b"{}" if method in ("POST", "PUT") else b"", peer=peer))


# ---- /mcp -------------------------------------------------------------------------------------------------------


CALL = {"name": "runtime_echo", "arguments": {"text": "hello"}}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", CALL),
    ("tools/call", {**CALL, "task": {"ttl": 1_000}}),
    ("tools/call", {**CALL, "inputResponses": {"a": {}}, "requestState": "x"}),
    ("tools/call", {"name": "gateway_describe", "arguments": {"capability": "runtime.echo"}}),
    ("tools/call", {"name": "gateway_call", "arguments": {"capability": "runtime.echo", "arguments": {"text": "a"}}}),
    ("tools/list", {}),
    ("tools/list", {"cursor": "x"}),
    (
        "initialize",
        {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    ),
    ("tasks/get", {"taskId": "x"}),
    ("tasks/cancel", {"taskId": "x"}),
    ("notifications/cancelled", {"requestId": 1, "reason": "x"}),
    ("notifications/progress", {"progressToken": 1, "progress": 1}),
    *((method, {}) for method in METHODS),
]


def message_of(method: str, params: dict[str, Any], *, number: Any = 1) -> dict[str, Any]:
    meta = {**MEANT, "progressToken": 1, "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
    whole = {"jsonrpc": "2.0", "method": method, "params": {**params, "_meta": meta}}
    return whole if method.startswith("notifications/") else {**whole, "id": number}


messages = st.sampled_from(REQUESTS).flatmap(lambda request: one_strange(message_of(*request)))
bodies = st.one_of(
    messages.map(lambda value: json.dumps(value).encode()),
    messages.map(lambda value: json.dumps(value).encode()),
    messages.flatmap(lambda value: mutated(json.dumps(value).encode())),
    st.lists(messages, max_size=2).map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=30),
)


def named_in(body: bytes) -> tuple[bytes | None, bytes | None]:
    """The method and the name a client that wrote `body` would put into its headers."""
    try:
        value = json.loads(body)
        method, params = value["method"], value["params"]
        name = params.get("name") or params.get("taskId")
        return method.encode("latin-1"), name.encode("latin-1") if name else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None, None


@examples(300)
@given(
    bodies,
    st.just(MODERN) | st.sampled_from(VERSIONS),
    st.sampled_from(METHODS),
    st.none() | st.none() | header_values,
)
def test_no_body_makes_mcp_fail(
    gateway: InProcess, body: bytes, version: str, method: str, session: bytes | None
) -> None:
    found, name = named_in(body)
    headers = [
        (b"host", HOST.encode()),
        (b"authorization", f"Bearer {gateway.token}".encode()),
        (b"accept", ACCEPT.encode()),
        (b"content-type", b"application/json"),
        (b"mcp-method", found or method.encode()),
        *([(b"mcp-protocol-version", version.encode())] if version else []),
        *([(b"mcp-name", name)] if name else []),
        *([(b"mcp-session-id", session)] if session is not None else []),
    ]
    judge(gateway.ask("POST", "/mcp", headers, body))


# ---- the surface and ticket doors -------------------------------------------------------------------------------

ENVELOPES: list[dict[str, Any]] = [
    {"protocol": "pling.surface/0.1", "id": "req_1", "input": {}, **more}
    for more in (
        {"method": "describe"},
        {"method": "describe", "input": {"limit": 2, "offset": 0}},
        {"method": "invoke", "capability": "runtime.echo", "input": {"text": "hello"}},
        {
            "method": "invoke",
            "capability": "runtime.echo",
            "input": {"text": "a"},
            "call_id": "call-0001",
            "issued_at": 1,
        },
        {"method": "invoke", "capability": "todo.add", "input": {"title": "a"}, "page": "page_x"},
        {"method": "status", "input": {"ref": "call_x"}},
        {"method": "cancel", "input": {"ref": "call_x"}},
    )
]
_transmissions = 0

envelopes = st.sampled_from(ENVELOPES).flatmap(one_strange) | odd
tickets = one_strange({"user": "ada", "origin": "http://todo.test", "capabilities": ["todo.add"]}) | odd


@examples(150)
@given(
    st.tuples(st.just("/surface/v1"), envelopes) | st.tuples(st.just("/v1/host-tokens"), tickets),
    st.sampled_from([False, False, True]),
    st.data(),
)
def test_no_body_makes_a_door_of_programs_fail(
    gateway: InProcess, knock: tuple[str, Any], is_damaged: bool, data: st.DataObject
) -> None:
    global _transmissions  # noqa: PLW0603 - a nonce is good once
    _transmissions += 1
    path, value = knock
    body = json.dumps(value).encode()
    body = data.draw(mutated(body)) if is_damaged else body
    credential = gateway.token if path == "/surface/v1" else gateway.key
    headers = [
        (b"host", HOST.encode()),
        (b"authorization", f"Bearer {credential}".encode()),
        (b"content-type", b"application/json"),
        (b"prefer", b"wait=0"),
        (b"ostiary-nonce", f"nonce-{_transmissions:012d}".encode()),
        (b"ostiary-timestamp", str(gateway.gateway.services.clock.now()).encode()),
    ]
    judge(gateway.ask("POST", path, headers, body))


# ---- the door of lineup -----------------------------------------------------------------------------------------

PAYLOADS: dict[str, dict[str, Any]] = {
    "tool.call": {
        "call_id": "call-0001",
        "method": "runtime.echo",
        "inventory_revision": "catalog-1",
        "arguments": {"text": "hello"},
    },
    "app.call": {
        "call_id": "call-0002",
        "capability": "runtime.echo",
        "reason": "why",
        "expires_at": "2099-01-01T00:00:00Z",
        "arguments": {"text": "hello"},
    },
    "ui.open": {
        "instance_id": "face-1",
        "app": {"id": "com.example.a", "version": "1.0.0", "surface": "face"},
        "state": {},
    },
    "ui.patch": {"instance_id": "face-1", "state": {"a": 1}},
    "ui.close": {"instance_id": "face-1"},
    "app.install": {"call_id": "call-0003"},
}


def lineup_message(kind: str, payload: Any) -> dict[str, Any]:
    return {
        "v": 1,
        "id": "m1",
        "type": f"lineup.v1.{kind}",
        "conversation_id": CONVERSATION,
        "sender": {"kind": "agent", "id": "coder"},
        "target": {"kind": "client", "id": "ostiary"},
        "payload": payload,
    }


kinds = st.sampled_from(sorted(PAYLOADS))
lineup_messages = st.one_of(
    kinds.flatmap(lambda kind: one_strange(lineup_message(kind, PAYLOADS[kind]))),
    kinds.flatmap(lambda kind: one_strange(PAYLOADS[kind]).map(lambda payload: lineup_message(kind, payload))),
    odd,
)


@examples(200)
@given(lineup_messages, st.sampled_from([False, False, True]), st.data())
def test_no_body_makes_the_door_of_lineup_fail(
    gateway: InProcess, value: Any, is_damaged: bool, data: st.DataObject
) -> None:
    body = json.dumps(value).encode()
    body = data.draw(mutated(body)) if is_damaged else body
    headers = [
        (b"host", HOST.encode()),
        (b"authorization", f"Bearer {gateway.token}".encode()),
        (b"content-type", b"application/json"),
    ]
    judge(gateway.ask("POST", f"/lineup/v1/conversations/{CONVERSATION}/messages", headers, body))


@examples(60)
@given(texts | header_values.map(lambda value: value.decode("latin-1")), header_values)
def test_no_conversation_or_place_makes_the_stream_fail(gateway: InProcess, name: str, place: bytes) -> None:
    """Every one of these is refused: a stream that opens has no end."""
    headers = [
        (b"host", HOST.encode()),
        (b"authorization", f"Bearer {gateway.token}".encode()),
        (b"last-event-id", place + b"x"),
    ]
    for conversation in (CONVERSATION, name.encode("utf-8", "replace").decode()):
        answer = gateway.ask("GET", f"/lineup/v1/conversations/{conversation}/stream", headers, b"")
        judge(answer)
        assert answer.status != 200


# ---- the admin API ----------------------------------------------------------------------------------------------

ASKED = frozenset({b"idempotency-key", b"if-match", b"if-none-match", b"traceparent", b"content-type"})
GOOD_BODY = {"agent": "coder", "user": "ada", "sites": ["todo"], "scope": ["runtime.*"]}

cursors = st.one_of(
    header_values,
    st.one_of(
        odd, st.lists(odd, max_size=3), st.tuples(st.sampled_from(["calls", "approvals", "page-sessions"]), odd)
    ).map(lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")),
)
queries = st.lists(
    st.tuples(
        st.sampled_from([b"cursor", b"limit", b"state", b"x"]), cursors | st.sampled_from([b"0", b"9" * 400, b"%ff"])
    ),
    max_size=3,
).map(lambda pairs: b"&".join(name + b"=" + value for name, value in pairs))


@examples(200)
@given(
    st.sampled_from(sorted(TABLE.operations, key=lambda row: row.name)),
    queries,
    some_headers,
    odd
    | one_strange(GOOD_BODY)
    | one_strange({"name": "n", "scopes": ["admin.read"]})
    | one_strange({"site": "todo"}),
    texts,
)
def test_no_cursor_key_or_body_makes_the_admin_api_fail(
    gateway: InProcess, row: Any, query: bytes, headers: list[tuple[bytes, bytes]], value: Any, name: str
) -> None:
    own = {b"host": HOST.encode(), b"authorization": f"Bearer {gateway.admin}".encode()}
    whole = [*own.items(), *((header, told) for header, told in headers if header in ASKED)]
    path = f"/admin/v1{row.path}"
    for placeholder in row.placeholders:
        path = path.replace(f"{{{placeholder}}}", name.encode("utf-8", "replace").decode() or "x")
    body = b"" if row.method == "GET" else json.dumps(value).encode()
    judge(gateway.ask(row.method, path, whole, body, query=query))
