"""The page channel's frames: the shared examples, the declarations, the published schema."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import pytest

from capabilities.contract import CallModel, Descriptor, HandlerKind, Readiness
from gateway.domain.intents import HostIntent
from gateway.protocol import app_frames, export, page_frames, panel_frames
from gateway.protocol.page_frames import BadFrame, Rejection, read_declaration, read_frame
from policy.vocabulary import Confirm, Effect, Risk

EXAMPLES = json.loads((Path(__file__).parents[2] / "conformance" / "page_frames.json").read_text())
OPENING = app_frames.Opening(
    app="dev.ostiary.svg-canvas",
    version="1.0.0",
    title="Canvas",
    surface="canvas",
    sandbox="/sandbox/frame/0123456789abcdef.html",
    bundle="/sandbox/apps/0123/canvas.json",
    integrity="sha256-AAAA",
    events=("draw",),
    state={"shapes": []},
)
LEAST = {"id": "todo.add", "description": "Adds one.", "input_schema": {"type": "object"}}


@pytest.mark.parametrize("frame", EXAMPLES["page"]["good"], ids=lambda frame: frame["type"])
def test_a_good_frame_is_taken_and_keeps_what_it_says(frame: dict[str, Any]) -> None:
    read = read_frame(frame)
    assert read.model_dump(exclude_unset=True) == frame


@pytest.mark.parametrize("example", EXAMPLES["page"]["bad"], ids=lambda example: example["pointer"] or "whole")
def test_a_bad_frame_is_refused_where_it_is_wrong_and_never_quoted(example: dict[str, Any]) -> None:
    with pytest.raises(BadFrame) as refused:
        read_frame(example["frame"])
    assert refused.value.pointer == example["pointer"]
    assert "ABCDEF" not in str(refused.value)


@pytest.mark.parametrize("field", ["type", "ref", "epoch", "ok", "output"])
def test_no_field_of_a_result_can_be_left_out(field: str) -> None:
    frame: dict[str, Any] = {"type": "result", "ref": "call_a", "epoch": 1, "ok": True, "output": {}}
    del frame[field]
    with pytest.raises(BadFrame):
        read_frame(frame)


def test_every_type_of_the_specification_has_an_example() -> None:
    text = (Path(__file__).parents[3] / "docs" / "spec" / "page-channel.md").read_text()
    up, down = text.split("## Page to gateway")[1].split("## Gateway to page")
    for part, side in ((up, "page"), (down.split("## Declaration")[0], "gateway")):
        types = {row.split("`")[1] for row in part.splitlines() if row.startswith("| `")}
        shown = {frame["type"] for frame in EXAMPLES[side]["good"]}
        assert types - shown <= {"activity"}


def test_a_declaration_gets_the_defaults_of_the_specification() -> None:
    assert read_declaration(LEAST) == Descriptor(
        id="todo.add",
        description="Adds one.",
        input_schema={"type": "object"},
        effect=Effect.WRITE,
        risk=Risk.DISPLAY_ONLY,
        confirm=Confirm.POLICY,
        readiness=Readiness.ACTIVATION_NOT_REQUIRED,
        call_model=CallModel.COMMAND,
        handler=HandlerKind.PAGE,
        contract_version="1",
        timeout_ms=30_000,
    )


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"effect": "harmless"}, "/effect"),
        ({"risk": "none"}, "/risk"),
        ({"confirm": True}, "/confirm"),
        ({"readiness": "ready"}, "/readiness"),
        ({"call_model": "stream"}, "/call_model"),
        ({"timeout_ms": "1000"}, "/timeout_ms"),
        ({"input_schema": True}, "/input_schema"),
        ({"handler": "runtime"}, "/handler"),
        ({"bundle_hash": "x"}, "/bundle_hash"),
        ({"id": 7}, "/id"),
    ],
)
def test_a_wrong_declaration_is_rejected_by_pointer(change: dict[str, Any], pointer: str) -> None:
    rejected = read_declaration({**LEAST, **change})
    name = "" if "id" in change else "todo.add"
    assert rejected == Rejection(id=name, code="bad_request", pointer=pointer)


def test_what_is_no_object_is_rejected_without_a_name() -> None:
    assert read_declaration("todo.add") == Rejection(id="", code="bad_request", pointer="")


def test_the_published_schema_is_what_the_types_say() -> None:
    check = [sys.executable, "-m", "gateway.protocol.export", "--check"]
    assert subprocess.run(check, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("target", export.TARGETS)
def test_an_old_published_schema_is_noticed(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "SPEC", tmp_path)
    assert export.main(["--check"]) == 1
    assert export.main([]) == 0
    assert export.main(["--check"]) == 0
    (tmp_path / target).write_text(export.text_of(target).replace("object", "objekt"))
    assert export.main(["--check"]) == 1


@pytest.mark.parametrize("frame", EXAMPLES["page"]["good"], ids=lambda frame: frame["type"])
def test_the_published_schema_takes_what_the_types_take(frame: dict[str, Any]) -> None:
    assert jsonschema_rs.validator_for(export.page_channel()).is_valid(frame)


def test_what_the_gateway_says_has_the_shape_of_the_examples() -> None:
    examples = {frame["type"]: frame for frame in EXAMPLES["gateway"]["good"]}
    said = [
        page_frames.welcome(page="page_a", epoch=1, resume="page_a.s", ping=20_000, reauth=900_000, in_page=False),
        page_frames.caps_ack(
            1, examples["caps_ack"]["accepted"], [Rejection(id="Bad", code="id_invalid", pointer="/id")]
        ),
        page_frames.ack("call_a"),
        page_frames.surface_reply("1", examples["surface_reply"]["envelope"]),
        page_frames.action_reply("1", code="bad_request", message="no"),
        page_frames.action_reply("1", output={"id": "1"}),
        app_frames.receipt("1", status="accepted", seq=1),
        app_frames.receipt("1", status="activation_failed", seq=2, reason="timeout"),
        panel_frames.panel_show(
            "call_a", "genui", {"type": "weather-card", "props": {"city": "Beijing"}}, agent="", app="Sky"
        ),
        panel_frames.panel_close("item_a", "answered"),
        panel_frames.panel_refused("item_a", "replay_detected"),
        app_frames.app_open("i.1", OPENING),
        app_frames.app_state("i.1", {"phase": "focusing"}),
        app_frames.app_tool("i.1", "call_a", "todo.add", "{}", 30_000),
        app_frames.app_cancel("i.1", "call_a"),
        app_frames.app_foreground("i.1", agent="alice", remaining=60_000),
        app_frames.app_data("i.1", "1", ok=False, revision=3, data={"todos": []}),
        app_frames.app_close("i.1", "cancelled"),
        page_frames.ping(1),
        page_frames.error("bad_request", "no"),
        page_frames.bye("shutdown"),
    ]
    for frame in said:
        assert frame in EXAMPLES["gateway"]["good"]
    assert page_frames.action_reply("1") in EXAMPLES["gateway"]["good"]


def event(data: dict[str, Any]) -> dict[str, Any]:
    return {"type": "app_news", "instance": "i.1", "what": "event", "event": "draw", "data": data}


def test_an_event_s_data_is_taken_up_to_the_last_byte() -> None:
    # `{"d":"…"}` is eight bytes around the text, and each of these letters is two.
    text = "é" * ((app_frames.EVENT_BYTES - 1 - 8) // 2) + "a"
    read_frame(event({"d": text}))
    with pytest.raises(BadFrame) as refused:
        read_frame(event({"d": text + "a"}))
    assert refused.value.pointer == "/data"


def test_data_too_deep_to_be_written_is_refused_like_any_other() -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"d": deep}
    with pytest.raises(BadFrame) as refused:
        read_frame(event(deep))
    assert refused.value.pointer == "/data"


@pytest.mark.parametrize("what", get_args(app_frames.Intent.model_fields["what"].annotation))
def test_every_intent_of_a_page_is_one_of_the_domain(what: str) -> None:
    read = read_frame({"type": "intent", "instance": "i.1", "what": what})
    assert isinstance(read, app_frames.Intent)
    assert read.intent == what


def test_pages_can_tell_every_intent_there_is() -> None:
    assert set(get_args(app_frames.Intent.model_fields["what"].annotation)) == set(HostIntent)


def test_an_action_of_the_badge_and_one_of_a_frame_are_never_mistaken() -> None:
    badge = read_frame({"type": "action", "id": "1", "action": "pin"})
    frame = read_frame({"type": "action", "id": "1", "instance": "i.1", "action": "todo.add", "input": {}})
    assert (type(badge), type(frame)) == (page_frames.Action, app_frames.AppAction)
