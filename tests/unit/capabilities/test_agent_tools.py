"""One declaration: what it says of a tool, and what runs it (seed 002 §4.1)."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal, NamedTuple

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator
from typing_extensions import TypedDict

from capabilities.check import judge_schema
from capabilities.contract import (
    AgentTools,
    AppContext,
    ArgumentsRefused,
    CallModel,
    DeadlineOperation,
    DeclarationError,
    Effect,
    HandlerContext,
    HandlerFailed,
    Idempotency,
    InterruptOperation,
    Leave,
    Leaving,
    OutputRefused,
    Readiness,
    Surface,
    Tool,
    UnknownTool,
    agent_tools,
    python_tool,
    runtime_tool,
)
from capabilities.manifest import make_manifest
from capabilities.testing import FakeContext
from tests.support.mini_apps import MINUTES, STATUS, SURFACE_FILES, TEXT, entries_of

pytestmark = pytest.mark.anyio


class Note(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=10)]
    due: datetime | None = None

    @field_validator("text")
    @classmethod
    def _is_polite(cls, text: str) -> str:
        if text == "rude":
            raise ValueError("say it another way")
        return text


class Stored(BaseModel):
    at: datetime
    note: Note


async def store(note: Note, context: HandlerContext) -> Stored:
    await context.progress(1, 1)
    return Stored(at=context.now(), note=note)


def declared(*tools: Tool, **changes: Any) -> AgentTools:
    words: dict[str, Any] = {
        "app": "com.example.notes",
        "name": "Notes",
        "version": "1.0.0",
        "description": "Keeps notes.",
    }
    return agent_tools(tools=tools, **(words | changes))


def a_tool(handler: Any, *, takes: Any = Note, gives: Any = Stored, **changes: Any) -> Tool:
    words: dict[str, Any] = {"title": "Store", "description": "Stores a note."}
    return python_tool("notes.store", handler, input=takes, output=gives, **(words | changes))


TOOLS: Final = declared(a_tool(store))


# ---- running ----------------------------------------------------------------------------------------------------


async def test_a_handler_gets_its_model_and_the_answer_is_plain_json() -> None:
    context = FakeContext()
    answer = await TOOLS.run("notes.store", {"text": "milk", "due": "2030-01-02T03:04:05Z"}, context)
    assert answer == {"at": "2030-01-01T00:00:00Z", "note": {"text": "milk", "due": "2030-01-02T03:04:05Z"}}
    assert context.progressed == [(1, 1, None)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "`/text` field required"),
        ({"text": "a" * 11}, "`/text` string should have at most 10 characters"),
        ({"text": "a", "x": 1}, "`/x` extra inputs are not permitted"),
        ({"text": "rude"}, "`/text` say it another way"),
    ],
)
async def test_arguments_that_do_not_fit_are_a_failure_for_the_caller(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        await TOOLS.run("notes.store", arguments, FakeContext())
    assert isinstance(refused.value, HandlerFailed)
    assert str(refused.value) == message


async def test_the_value_of_a_refused_argument_is_not_repeated() -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        await TOOLS.run("notes.store", {"text": "a", "due": "my secret day"}, FakeContext())
    assert "secret" not in str(refused.value)


async def test_a_json_schema_is_held_too() -> None:
    async def echo(arguments: dict[str, Any], _: HandlerContext) -> dict[str, Any]:
        return {"text": arguments["text"]}

    tools = declared(a_tool(echo, takes=TEXT, gives=TEXT))
    assert await tools.run("notes.store", {"text": "milk"}, FakeContext()) == {"text": "milk"}
    with pytest.raises(ArgumentsRefused, match="text"):
        await tools.run("notes.store", {"text": 1}, FakeContext())


async def test_what_a_handler_does_to_its_arguments_stays_its_own() -> None:
    async def spoil(arguments: dict[str, Any], _: HandlerContext) -> dict[str, Any]:
        arguments["text"] = "spoilt"
        return arguments

    given = {"text": "milk"}
    await declared(a_tool(spoil, takes=TEXT, gives=TEXT)).run("notes.store", given, FakeContext())
    assert given == {"text": "milk"}


async def test_a_dict_is_as_good_as_the_model_and_may_carry_what_the_page_shows() -> None:
    async def handler(note: Note, _: HandlerContext) -> Any:
        return {"at": "2030-01-01T00:00:00Z", "note": note, "ui": {"type": "weather-card", "props": {}}}

    answer = await declared(a_tool(handler)).run("notes.store", {"text": "a"}, FakeContext())
    assert answer == {
        "at": "2030-01-01T00:00:00Z",
        "note": {"text": "a", "due": None},
        "ui": {"type": "weather-card", "props": {}},
    }


def _nest(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("gives", "output"),
    [
        (Stored, None),
        (Stored, {"at": "now", "note": {"text": "a"}}),
        (Stored, {"at": "2030-01-01T00:00:00Z"}),
        (TEXT, None),
        (TEXT, "text"),
        (TEXT, {"text": "a", "n": 2**53}),
        (TEXT, {"text": "a", "n": float("nan")}),
        (TEXT, _nest(65)),
    ],
)
async def test_an_output_that_is_not_the_declared_one_is_the_handlers_mistake(gives: Any, output: Any) -> None:
    async def handler(_: Note, __: HandlerContext) -> Any:
        return output

    with pytest.raises(OutputRefused):
        await declared(a_tool(handler, gives=gives)).run("notes.store", {"text": "a"}, FakeContext())


async def test_an_instance_with_something_no_json_has_is_the_handlers_mistake() -> None:
    class Loose(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        it: Any

    async def handler(_: Note, __: HandlerContext) -> Loose:
        return Loose(it=object())

    with pytest.raises(OutputRefused):
        await declared(a_tool(handler, gives=Loose)).run("notes.store", {"text": "a"}, FakeContext())


async def test_a_subclass_gives_away_nothing_that_was_not_promised() -> None:
    class More(Stored):
        password: str

    async def handler(note: Note, context: HandlerContext) -> Stored:
        return More(at=context.now(), note=note, password="hunter2")

    answer = await declared(a_tool(handler)).run("notes.store", {"text": "a"}, FakeContext())
    assert answer == {"at": "2030-01-01T00:00:00Z", "note": {"text": "a", "due": None}}


async def test_an_instance_nobody_validated_is_the_handlers_mistake() -> None:
    async def handler(_: Note, __: HandlerContext) -> Stored:
        return Stored.model_construct(at=1, note="milk")

    with pytest.raises(OutputRefused):
        await declared(a_tool(handler)).run("notes.store", {"text": "a"}, FakeContext())


async def test_a_handler_that_is_not_async_is_told() -> None:
    def handler(note: Note, context: HandlerContext) -> Any:
        return {"at": context.now(), "note": note}

    with pytest.raises(OutputRefused, match=r"the handler of `notes\.store` is not async"):
        await declared(a_tool(handler)).run("notes.store", {"text": "a"}, FakeContext())


async def test_names_on_the_wire_are_those_of_the_schema() -> None:
    class Wire(BaseModel):
        when_due: Annotated[str, Field(alias="whenDue")]

    async def handler(given: Wire, _: HandlerContext) -> Wire:
        return given

    tools = declared(a_tool(handler, takes=Wire, gives=Wire))
    assert await tools.run("notes.store", {"whenDue": "now"}, FakeContext()) == {"whenDue": "now"}
    told = tools.declaration()["tools"][0]
    assert list(told["input_schema"]["properties"]) == list(told["output_schema"]["properties"]) == ["whenDue"]


@pytest.mark.parametrize("method", ["notes.other", "__init__", "focus.start"])
async def test_only_a_method_with_a_handler_runs(method: str) -> None:
    tools = declared(a_tool(store), *focus_tools())
    with pytest.raises(UnknownTool, match=method):
        await tools.run(method, {"minutes": 1}, FakeContext())


async def test_hooks_run_where_there_are_some() -> None:
    seen: list[str] = []

    async def begin(context: AppContext) -> None:
        await context.session.put({"open": True}, revision=0)
        seen.append("begin")

    async def end(_: AppContext) -> None:
        seen.append("end")

    tools = declared(a_tool(store), on_activate=begin, on_deactivate=end)
    context = FakeContext()
    await tools.activate(context)
    await tools.deactivate(context)
    await TOOLS.activate(context)
    await TOOLS.deactivate(context)
    assert seen == ["begin", "end"]
    assert context.session.data == {"open": True}
    assert tools.declaration()["activation"] == {"on_activate": True, "on_deactivate": True}


# ---- declaring --------------------------------------------------------------------------------------------------


def focus_tools() -> list[Tool]:
    words: dict[str, Any] = {"title": "Focus", "description": "Focuses."}
    return [
        runtime_tool(
            "focus.start",
            DeadlineOperation(
                argument="minutes",
                unit_ms=60_000,
                completed={"status": "completed"},
                interrupted={"status": "interrupted"},
            ),
            input=MINUTES,
            output=STATUS,
            call_model=CallModel.OPERATION,
            readiness=Readiness.FOREGROUND_REQUIRED,
            idempotency=Idempotency.ARGUMENTS,
            not_started={"status": "not_started"},
            **words,
        ),
        runtime_tool(
            "focus.stop",
            InterruptOperation(
                cancelled_start={"status": "not_started"},
                interrupted={"status": "interrupted"},
                nothing={"status": "nothing"},
            ),
            input={"type": "object"},
            output=STATUS,
            call_model=CallModel.COMMAND,
            **words,
        ),
    ]


def test_an_app_without_python_of_its_own_is_a_good_manifest() -> None:
    tools = declared(
        *focus_tools(),
        surfaces=[
            Surface(id="clock", title="Clock", html="surface/index.html", js="surface/show.js", events=["tick"])
        ],
        leaving=Leaving(left_workspace=Leave.INTERRUPT),
    )
    assert not tools.runs_python
    files = {path: data for path, data in SURFACE_FILES.items() if not path.endswith(".css")}
    manifest = make_manifest({"manifest": 1, **tools.declaration(), "python": None, "files": entries_of(files)})
    start, _ = manifest.descriptors()
    assert start.runtime == focus_tools()[0].runs
    assert (start.not_started, start.idempotency) == ({"status": "not_started"}, Idempotency.ARGUMENTS)
    assert manifest.leaving.left_workspace is Leave.INTERRUPT


def test_answers_may_be_models() -> None:
    class Status(BaseModel):
        status: Literal["late", "not_started"]

    tool = a_tool(store, gives=Status, readiness=Readiness.APP_READY, not_started=Status(status="not_started"))
    assert tool.declaration()["not_started"] == {"status": "not_started"}


class Color(enum.Enum):
    """Hidden words of an enum."""

    RED = "red"


class ColorText(enum.StrEnum):
    """Hidden words of a text enum."""

    BLUE = "blue"


@dataclass
class Point:
    """Hidden words of a dataclass."""

    x: int


class Pair(NamedTuple):
    """Hidden words of a tuple."""

    left: int
    right: Color


class Bag(TypedDict):
    """Hidden words of a dict."""

    item: Color


class _Cat(BaseModel):
    """Hidden words of a cat."""

    kind: Literal["cat"]


class _Dog(BaseModel):
    kind: Literal["dog"]
    friends: list["_Dog"] = []


class _Everything(BaseModel):
    """Hidden words of a model."""

    model_config = ConfigDict(extra="forbid", title="Everything there is")

    color: Color = Color.RED
    tint: ColorText | None = None
    tinted: Annotated[ColorText, Field(description="What tint.", title="Tint")]
    point: Point
    pair: Pair
    bag: Bag
    pet: Annotated[_Cat | _Dog, Field(discriminator="kind", description="Which animal.")]
    made: Annotated[list[int], Field(default_factory=list)]
    by_name: dict[str, _Dog]


@pytest.mark.parametrize("output", [False, True])
def test_a_schema_holds_what_was_written_for_callers_and_no_name_of_code(output: bool) -> None:
    words = a_tool(store, takes=_Everything, gives=_Everything).declaration()
    schema = words["output_schema" if output else "input_schema"]
    judge_schema(schema, max_bytes=65_536)
    text = repr(schema)
    for name in (
        "Hidden",
        "_Cat",
        "_Dog",
        "Color",
        "Point",
        "Pair",
        "Bag",
        "_Everything",
        "__main__",
        "discriminator",
    ):
        assert name not in text
    assert schema["title"] == "Everything there is"
    assert schema["properties"]["pet"]["description"] == "Which animal."
    assert schema["properties"]["tinted"]["title"] == "Tint"
    assert set(schema["$defs"]) == {f"d{n}" for n in range(1, len(schema["$defs"]) + 1)}


def test_a_model_within_itself_is_an_object_to_callers() -> None:
    schema = a_tool(store, takes=_Dog).declaration()["input_schema"]
    judge_schema(schema, max_bytes=65_536)
    assert schema["type"] == "object"


def test_what_json_schema_has_no_word_for_is_refused_with_its_tool() -> None:
    class Odd(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        it: object.__class__

    with pytest.raises(DeclarationError, match=r"^tool `notes\.store`, input: "):
        declared(a_tool(store, takes=Odd)).declaration()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("effect", Effect.READ),
        ("effect", "destructive"),
        ("call_model", "interactive"),
        ("visibility", "app"),
        ("requires", ["workspace", "clipboard.write"]),
        ("timeout_ms", 1_000),
        ("permissions", ["secret:token"]),
        ("title", "Other"),
    ],
)
def test_what_is_declared_is_what_is_written(field: str, value: Any) -> None:
    told: Any = a_tool(store, **{field: value}).declaration()[field]
    assert told == value


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("effect", "erase", "`read`, `write`, `destructive`"),
        ("call_model", "question", "`query`, `command`, `interactive`, `operation`"),
        ("visibility", "nobody", "`agents`, `app`"),
        (
            "requires",
            ["camera"],
            "`workspace`, `app.open_url`, `clipboard.write`, `artifact.save`, `notification.show`",
        ),
    ],
)
def test_a_word_that_is_none_is_refused_with_those_there_are(field: str, value: Any, allowed: str) -> None:
    word = "".join(value)
    with pytest.raises(DeclarationError) as refused:
        a_tool(store, **{field: value})
    assert str(refused.value) == f"tool `notes.store`, {field}: `{word}` is none of {allowed}"


def test_mappings_of_any_kind_are_written_as_objects() -> None:
    class Frozen(Mapping[str, Any]):
        def __init__(self, inner: dict[str, Any]) -> None:
            self._inner = inner

        def __getitem__(self, key: str) -> Any:
            return self._inner[key]

        def __iter__(self) -> Any:
            return iter(self._inner)

        def __len__(self) -> int:
            return len(self._inner)

    assert a_tool(store, takes=Frozen(TEXT)).declaration()["input_schema"] == TEXT
