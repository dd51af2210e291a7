"""A manifest is closed, and every fault in it is told with its place (seed 002 §4.1)."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, Final, cast

import pytest

from capabilities.check import APP_SCHEMA_BYTES, RESERVED_SEGMENTS
from capabilities.contract import CallModel, DeadlineOperation, HandlerKind, InterruptOperation
from capabilities.json_values import pointer_to
from capabilities.manifest import MANIFEST_BYTES, ManifestRefused, make_manifest, read_manifest
from capabilities.manifest_rules import CODE_BYTES, SURFACE_BYTES
from tests.support.mini_apps import a_python_app, a_start, a_stop, a_surface_app, a_tool

SHA: Final = "0" * 64


def faults(value: Any) -> list[str]:
    try:
        make_manifest(value)
    except ManifestRefused as refused:
        return [fault.pointer for fault in refused.faults]
    return []


def changed(value: Any, *path: str | int, to: Any) -> dict[str, Any]:
    copy: Any = deepcopy(value)
    at = copy
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return copy


@pytest.mark.parametrize("value", [a_python_app(), a_surface_app()])
def test_a_manifest_reads_back_as_what_was_written(value: dict[str, Any]) -> None:
    manifest = make_manifest(value)
    assert json.loads(manifest.text) == value
    assert read_manifest(manifest.text) == manifest
    assert len(manifest.digest) == 64


def test_what_may_be_left_out_keeps_everything_running_and_is_not_written() -> None:
    value = a_surface_app()
    del value["activation"], value["leaving"]
    manifest = make_manifest(value)
    assert (manifest.leaving.left_workspace, manifest.activation.on_activate) == ("keep", False)
    assert json.loads(manifest.text) == value


def test_its_tools_are_descriptors_bound_to_the_whole_package() -> None:
    manifest = make_manifest(a_surface_app())
    start, stop = manifest.descriptors()
    assert (start.id, start.app_scope, start.bundle_hash) == ("focus.start", "com.example.focus", manifest.digest)
    assert (start.handler, start.call_model) == (HandlerKind.RUNTIME, CallModel.OPERATION)
    assert start.not_started == {"status": "not_started"}
    assert isinstance(start.runtime, DeadlineOperation)
    assert (start.runtime.argument, start.runtime.unit_ms) == ("minutes", 60_000)
    assert isinstance(stop.runtime, InterruptOperation)
    other = make_manifest(changed(a_surface_app(), "files", 0, "sha256", to=SHA))
    assert {d.fingerprint for d in other.descriptors()}.isdisjoint({start.fingerprint, stop.fingerprint})


@pytest.mark.parametrize(
    "change",
    [
        {"not_started": {"status": "nothing"}},
        {"timeout_ms": 20_000},
        {"idempotency": "arguments"},
        {"description": "Another."},
    ],
)
def test_whatever_is_promised_is_in_the_fingerprint(change: dict[str, Any]) -> None:
    before = make_manifest(a_surface_app(tools=[a_start()])).descriptors()[0]
    after = make_manifest(a_surface_app(tools=[a_start(**change)])).descriptors()[0]
    assert before.fingerprint != after.fingerprint


# ---- nothing but what is named ----------------------------------------------------------------------------------


def objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all objects in `value` whose keys are fixed: answers hold what the output schema allows."""
    if isinstance(value, dict):
        if path[-1:] not in [("not_started",), ("completed",), ("interrupted",), ("cancelled_start",), ("nothing",)]:
            yield path
        for key, inner in cast("dict[str, Any]", value).items():
            yield from objects(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[Any]", value)):
            yield from objects(inner, (*path, index))


WHOLE: Final = a_surface_app(python={"module": "notes"}, tools=[a_start(), a_stop(), a_tool()])
WHOLE["files"] = sorted([*WHOLE["files"], *a_python_app()["files"]], key=lambda file: file["path"])


def test_the_whole_one_is_accepted() -> None:
    assert faults(WHOLE) == []


@pytest.mark.parametrize("path", [path for path in objects(WHOLE) if path[-1:] != ("properties",)])
def test_no_object_of_it_takes_another_key(path: tuple[str | int, ...]) -> None:
    assert pointer_to((*path, "handler_source")) in faults(changed(WHOLE, *path, "handler_source", to="def f(): ..."))


@pytest.mark.parametrize(
    "path",
    [
        *[(key,) for key in WHOLE if key not in ("activation", "leaving")],
        *[("app", key) for key in WHOLE["app"]],
        *[("tools", 0, key) for key in WHOLE["tools"][0]],
        *[("surfaces", 0, key) for key in WHOLE["surfaces"][0]],
        *[("files", 0, key) for key in WHOLE["files"][0]],
        ("tools", 0, "handler", "duration"),
        ("tools", 0, "handler", "answers", "completed"),
        ("tools", 1, "handler", "answers", "nothing"),
        ("leaving", "closed"),
        ("activation", "on_activate"),
    ],
)
def test_none_of_its_parts_may_be_missing(path: tuple[str | int, ...]) -> None:
    value = deepcopy(WHOLE)
    at: Any = value
    for step in path[:-1]:
        at = at[step]
    del at[path[-1]]
    assert pointer_to(path) in faults(value)


@pytest.mark.parametrize(
    ("path", "bad"),
    [
        (("manifest",), 2),
        (("manifest",), True),
        (("app", "id"), "notes"),
        (("app", "id"), "Com.example.notes"),
        (("app", "id"), "com.example." + "a" * 120),
        (("app", "id"), "com.example.notes\n"),
        (("app", "version"), "1.0"),
        (("app", "version"), "v1.0.0"),
        (("app", "version"), "1.0.0-01"),
        (("app", "version"), "01.0.0"),
        (("app", "name"), ""),
        (("contract_version",), "-1"),
        (("tools",), None),
        (("tools",), [a_tool(f"notes.t{number}") for number in range(65)]),
        (("tools", 0, "title"), ""),
        (("tools", 0, "description"), ""),
        (("tools", 0, "description"), "d" * 4_097),
        (("tools", 0, "effect"), "execute"),
        (("tools", 0, "effect"), None),
        (("tools", 0, "risk"), "none"),
        (("tools", 0, "confirm"), "sometimes"),
        (("tools", 0, "readiness"), "ready"),
        (("tools", 0, "call_model"), "stream"),
        (("tools", 0, "idempotency"), "never"),
        (("tools", 0, "timeout_ms"), 999),
        (("tools", 0, "timeout_ms"), 600_001),
        (("tools", 0, "timeout_ms"), 30_000.5),
        (("tools", 0, "timeout_ms"), "30000"),
        (("tools", 0, "handler"), {"kind": "shell"}),
        (("tools", 0, "handler"), {"kind": "runtime", "runtime": "shell"}),
        (("tools", 0, "handler"), None),
        (("tools", 0, "visibility"), "everybody"),
        (("tools", 0, "requires"), "workspace"),
        (("tools", 0, "method"), "notes"),
        (("tools", 0, "method"), "Notes.echo"),
        (("python", "module"), "notes/__init__"),
        (("python", "module"), "../notes"),
        (("python", "module"), "other"),
        (("activation", "on_activate"), 1),
        (("leaving", "closed"), "close"),
        (("files", 0, "sha256"), SHA.upper() + "0"),
        (("files", 0, "bytes"), -1),
    ],
)
def test_a_wrong_value_is_told_with_its_place(path: tuple[str | int, ...], bad: Any) -> None:
    assert pointer_to(path) in faults(changed(a_python_app(), *path, to=bad))


@pytest.mark.parametrize(
    "version", ["0.0.0", "1.2.3-alpha.1", "1.0.0-0a", "1.0.0+build.01", "10.20.30-rc.1+sha.5114f85"]
)
def test_versions_are_those_of_semver(version: str) -> None:
    assert faults(changed(a_python_app(), "app", "version", to=version)) == []


@pytest.mark.parametrize("app", ["a.b", "com.example.team-notes", "io.2fast.x", "com." + "a" * 124])
def test_ids_of_apps_are_reverse_domain_names(app: str) -> None:
    assert faults(changed(a_python_app(), "app", "id", to=app)) == []


@pytest.mark.parametrize("first", sorted(RESERVED_SEGMENTS))
def test_an_app_takes_no_id_of_the_gateway(first: str) -> None:
    assert faults(a_python_app(tools=[a_tool(f"{first}.echo")])) == ["/tools/0/method"]


def test_all_faults_are_told_at_once() -> None:
    value = a_python_app(tools=[a_tool("ui.echo", permissions=["x"]), a_tool("ui.echo", effect="write")])
    assert faults(value) == [
        "/tools/0/method",
        "/tools/1/method",
        "/tools/1/method",
        "/tools/1/effect",
        "/tools/0/permissions/0",
    ]


# ---- schemas ----------------------------------------------------------------------------------------------------


def padded(size: int) -> dict[str, Any]:
    empty = {"type": "object", "description": ""}
    return empty | {"description": "x" * (size - len(json.dumps(empty, separators=(",", ":"))))}


def test_a_schema_is_as_large_as_an_app_may_have_it() -> None:
    assert faults(a_python_app(tools=[a_tool(input_schema=padded(APP_SCHEMA_BYTES))])) == []
    assert faults(a_python_app(tools=[a_tool(input_schema=padded(APP_SCHEMA_BYTES + 1))])) == [
        "/tools/0/input_schema"
    ]


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"type": "string"}, ""),
        ({"type": "object", "properties": {"a": {"$ref": "http://x.test/y"}}}, "/properties/a/$ref"),
        ({"type": "object", "properties": {"a": {"x-run": "rm"}}}, "/properties/a/x-run"),
        ({"type": "object", "$defs": {"d": {"handler": "f"}}}, "/$defs/d/handler"),
        ({"type": "object", "properties": 1}, "/properties"),
    ],
)
@pytest.mark.parametrize("side", ["input_schema", "output_schema"])
def test_schemas_are_judged_as_everywhere_and_hold_no_foreign_word(
    side: str, schema: dict[str, Any], pointer: str
) -> None:
    value = changed(a_python_app(), "tools", 0, side, to=schema)
    assert f"/tools/0/{side}{pointer}" in faults(value)


def test_an_output_leaves_the_key_for_the_page_free() -> None:
    output = {"type": "object", "properties": {"ui": {"type": "object"}}}
    assert faults(a_python_app(tools=[a_tool(output_schema=output)])) == ["/tools/0/output_schema/properties/ui"]


# ---- words that contradict each other ---------------------------------------------------------------------------

FRAME: Final = {"kind": "miniapp_sdk"}


def with_surface(tool: dict[str, Any]) -> dict[str, Any]:
    return a_surface_app(tools=[tool])


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        (a_python_app(tools=[a_tool(effect="write")]), "/tools/0/effect"),
        (with_surface(a_start(effect="read")), "/tools/0/effect"),
        (with_surface(a_stop(effect="read")), "/tools/0/effect"),
        (with_surface(a_start(call_model="command")), "/tools/0/call_model"),
        (with_surface(a_stop(call_model="operation")), "/tools/0/call_model"),
        (
            with_surface(a_tool(handler=FRAME, readiness="app_ready", call_model="operation")),
            "/tools/0/call_model",
        ),
        (with_surface(a_stop(readiness="app_ready")), "/tools/0/readiness"),
        (with_surface(a_tool(handler=FRAME)), "/tools/0/readiness"),
        (with_surface(a_start(readiness="activation_not_required")), "/tools/0/not_started"),
        (with_surface(a_start(permissions=["secret:token"])), "/tools/0/permissions"),
        (a_python_app(tools=[], python=None), "/tools"),
        (a_python_app(python=None), "/python"),
        (a_surface_app(activation={"on_activate": True, "on_deactivate": False}), "/python"),
        (WHOLE | {"tools": [a_start()]}, "/python"),
        (a_python_app(tools=[a_tool(readiness="foreground_required")]), "/tools/0/readiness"),
        (a_surface_app(surfaces=[], tools=[a_start(readiness="app_ready")]), "/tools/0/readiness"),
        (
            a_python_app(tools=[a_tool(), a_tool("notes.draw", handler=FRAME, readiness="app_ready")]),
            "/surfaces",
        ),
    ],
)
def test_a_contradiction_is_told(value: dict[str, Any], pointer: str) -> None:
    assert faults(value) == [pointer]


@pytest.mark.parametrize(
    "tool",
    [
        a_tool(handler=FRAME, readiness="app_ready"),
        a_tool(handler=FRAME, readiness="foreground_required", call_model="interactive", effect="write"),
        a_start(readiness="activation_not_required", not_started=None),
    ],
)
def test_what_does_not_contradict_itself_is_taken(tool: dict[str, Any]) -> None:
    assert faults(with_surface(tool)) == []


def test_an_app_may_have_a_surface_and_no_tool() -> None:
    manifest = make_manifest(a_surface_app(tools=[]))
    assert (manifest.segments, manifest.descriptors()) == (frozenset(), ())


def test_a_handler_in_python_may_carry_an_operation_and_get_ready_without_a_surface() -> None:
    tool = a_tool(effect="write", call_model="operation", readiness="app_ready", not_started={"text": "no"})
    assert faults(a_python_app(tools=[tool])) == []


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"not_started": {"status": "late"}}, "/tools/0/not_started/status"),
        ({"not_started": {}}, "/tools/0/not_started"),
        (
            {"handler": a_start()["handler"] | {"answers": {"completed": {"status": 1}, "interrupted": {}}}},
            "/tools/0/handler/answers/completed/status",
        ),
    ],
)
def test_a_declared_answer_fits_the_output_schema(change: dict[str, Any], pointer: str) -> None:
    assert pointer in faults(with_surface(a_start(**change)))


@pytest.mark.parametrize("answer", ["cancelled_start", "interrupted", "nothing"])
def test_every_answer_of_an_interruption_fits_too(answer: str) -> None:
    value = changed(with_surface(a_stop()), "tools", 0, "handler", "answers", answer, to={"status": "gone"})
    assert faults(value) == [f"/tools/0/handler/answers/{answer}/status"]


def minutes(**declared: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"minutes": declared}, "required": ["minutes"]}


DAYS_31: Final = 31 * 24 * 60


@pytest.mark.parametrize(
    ("schema", "is_taken"),
    [
        (minutes(type="integer", minimum=1, maximum=DAYS_31), True),
        (minutes(type="integer", minimum=1, maximum=DAYS_31 + 1), False),
        (minutes(type="number", exclusiveMinimum=0, exclusiveMaximum=60), True),
        (minutes(type="integer", minimum=0, maximum=60), False),
        (minutes(type="integer", minimum=1), False),
        (minutes(type="integer", maximum=60), False),
        (minutes(type="string", minimum=1, maximum=60), False),
        (minutes(type="integer", minimum=1, maximum=60) | {"required": ["text"]}, False),
        ({"type": "object", "required": ["minutes"]}, False),
    ],
)
def test_the_duration_is_a_required_number_with_bounds(schema: dict[str, Any], is_taken: bool) -> None:
    found = faults(with_surface(a_start(input_schema=schema)))
    assert found == ([] if is_taken else ["/tools/0/handler/duration/argument"])


@pytest.mark.parametrize(
    "permission",
    ["http:api.example.com", "http:localhost:8080", "http:api.example.com:65535", "secret:api_token"],
)
def test_hosts_and_secrets_may_be_declared(permission: str) -> None:
    assert faults(a_python_app(tools=[a_tool(permissions=[permission])])) == []


@pytest.mark.parametrize(
    "permission",
    [
        "http:", "http:*", "http:*.example.com", "http:Api.example.com", "http:api.example.com/", "http:a..b", "http:-a",
        "http:api.example.com:0", "http:api.example.com:65536", "http://api.example.com", "http:user@api.example.com",
        "http:" + "a." * 127 + "a", "secret:", "secret:Token", "secret:../token", "file:/etc/passwd", "",
        "http:api.example.com\n",
    ],
)  # fmt: skip
def test_nothing_else_is_a_permission(permission: str) -> None:
    assert faults(a_python_app(tools=[a_tool(permissions=[permission])])) == ["/tools/0/permissions/0"]


def test_a_permission_is_declared_once() -> None:
    tool = a_tool(permissions=["secret:a", "secret:a"])
    assert faults(a_python_app(tools=[tool])) == ["/tools/0/permissions/1"]


# ---- surfaces and files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "bad", "pointer"),
    [
        (("surfaces", 0, "id"), "Clock", "/surfaces/0/id"),
        (("surfaces", 0, "html"), "surface/none.html", "/surfaces/0/html"),
        (("surfaces", 0, "events"), ["close"], "/surfaces/0/events/0"),
        (("surfaces", 0, "events"), ["1st"], "/surfaces/0/events/0"),
        (("surfaces", 0, "events"), ["a" * 65], "/surfaces/0/events/0"),
        (("surfaces", 0, "events"), ["a", "a"], "/surfaces/0/events/1"),
    ],
)
def test_a_surface_is_judged(path: tuple[str | int, ...], bad: Any, pointer: str) -> None:
    assert faults(changed(a_surface_app(), *path, to=bad)) == [pointer]


def test_a_surface_takes_160_kib() -> None:
    value = a_surface_app()
    others = sum(file["bytes"] for file in value["files"][1:])
    assert faults(changed(value, "files", 0, "bytes", to=SURFACE_BYTES - others)) == []
    assert faults(changed(value, "files", 0, "bytes", to=SURFACE_BYTES - others + 1)) == ["/surfaces/0"]


def files(*paths: str, size: int = 0) -> list[dict[str, Any]]:
    return [{"path": path, "bytes": size, "sha256": SHA} for path in sorted(["notes.py", *paths])]


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "../notes.py", "a/../../b", "./a", "a//b", "a/", ".hidden", "a/.git", "a\\b", "c:/a", "a\x00b",
        "é.py", "a b", "-a", "con.", "a./b", "a\n", "/".join("a" * 17), "a" * 201,
    ],
)  # fmt: skip
def test_a_path_leads_nowhere_else(path: str) -> None:
    assert [f for f in faults(a_python_app(files=files(path))) if f.endswith("/path")] != []


@pytest.mark.parametrize("path", ["a/b/c.py", "_a.py", "a-b_c.1.json", "/".join("a" * 16), "a" * 200])
def test_a_plain_path_is_taken(path: str) -> None:
    assert faults(a_python_app(files=files(path))) == []


@pytest.mark.parametrize(
    ("listed", "pointer"),
    [
        (files()[::-1] + files("a")[:1], "/files"),
        (files("a", "A"), "/files/1/path"),
        (files("a", "a/b"), "/files/0/path"),
        (files("notes.py"), "/files/1/path"),
    ],
)
def test_a_path_means_one_file_on_every_system(listed: list[dict[str, Any]], pointer: str) -> None:
    assert faults(a_python_app(files=listed)) == [pointer]


def test_all_files_together_have_a_limit() -> None:
    assert faults(a_python_app(files=files(size=CODE_BYTES))) == []
    assert faults(a_python_app(files=files(size=CODE_BYTES + 1))) == ["/files"]


# ---- the text ---------------------------------------------------------------------------------------------------


def respelled(respell: Callable[[str], str]) -> bytes:
    return respell(make_manifest(a_python_app()).text.decode()).encode()


@pytest.mark.parametrize(
    "text",
    [
        respelled(lambda text: text + "\n"),
        respelled(lambda text: text.replace('"manifest":1', '"manifest": 1')),
        respelled(lambda text: text.replace('"manifest":1', '"manifest":1,"manifest":1')),
        respelled(lambda text: text.replace('"manifest":1', '"manifest":1.0')),
        respelled(lambda text: text.replace('"python":', '"python":{"module":"other"},"python":')),
        b"",
        b"[]",
        b"\xff",
        b"[" * 2_000,
        b'{"a":1e999}',
        b'{"a":99999999999999999999}',
        b'{"a":"\\ud800"}',
        b" " * (MANIFEST_BYTES + 1),
    ],
)
def test_a_text_that_could_be_read_in_two_ways_is_refused(text: bytes) -> None:
    with pytest.raises(ManifestRefused):
        read_manifest(text)


NO_JSON: Final[list[object]] = [float("nan"), 2**53, object(), "\ud800", {1: 2}, b"", {"a"}]


@pytest.mark.parametrize("value", NO_JSON)
def test_only_json_is_a_manifest(value: Any) -> None:
    with pytest.raises(ManifestRefused):
        make_manifest(a_python_app() | {"surfaces": value})


def test_a_message_names_what_is_wrong_and_what_would_be_right() -> None:
    with pytest.raises(ManifestRefused, match=r"^/tools/0/method: ids that begin with `ui\.` are the gateway's;"):
        make_manifest(a_python_app(tools=[a_tool("ui.echo")]))
    with pytest.raises(ManifestRefused, match=r"/tools/0/handler/x: a manifest has no such field"):
        make_manifest(a_python_app(tools=[a_tool(handler={"kind": "python", "x": 1})]))
