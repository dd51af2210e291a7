"""The manifest of a mini app as closed types: descriptors only, nothing that runs.

Here are names, types and lengths; what one part must say because of another is in `capabilities.manifest_rules`.
"""

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Literal, cast

import rfc8785
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from capabilities.contract import (
    CallModel,
    DeadlineOperation,
    Descriptor,
    HandlerKind,
    HostFeature,
    Idempotency,
    InterruptOperation,
    Leave,
    Readiness,
    RuntimeBinding,
    Visibility,
)
from policy.vocabulary import Confirm, Effect, Risk

TAG: Final = "#"
"""Begins the steps in pydantic's locations that are no keys."""

Path = Annotated[str, Field(min_length=1, max_length=200)]
Title = Annotated[str, Field(min_length=1, max_length=120)]
JsonAnswer = dict[str, Any]


class Part(BaseModel):
    """No field but the named ones, no conversion, no change afterwards."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class App(Part):
    """Who the app is."""

    id: Annotated[str, Field(max_length=128)]
    name: Annotated[str, Field(min_length=1, max_length=80)]
    version: Annotated[str, Field(max_length=64)]
    description: Annotated[str, Field(min_length=1, max_length=1_024)]


class PythonHandler(Part):
    """The app's module has it, under the tool's method."""

    kind: Literal["python"]


class FrameHandler(Part):
    """The script of a surface has it, under the tool's method."""

    kind: Literal["miniapp_sdk"]


class Duration(Part):
    """How long an operation lasts: so many of a unit."""

    argument: Annotated[str, Field(min_length=1, max_length=128)]
    unit_ms: Annotated[int, Field(ge=1, le=86_400_000)]


class DeadlineAnswers(Part):
    """The results of a call that began an operation."""

    completed: JsonAnswer
    interrupted: JsonAnswer


class DeadlineHandler(Part):
    """The runtime begins an operation with a deadline."""

    kind: Literal["runtime"]
    runtime: Literal["deadline_operation"]
    duration: Duration
    answers: DeadlineAnswers


class InterruptAnswers(Part):
    """The results of a call that interrupts."""

    cancelled_start: JsonAnswer
    interrupted: JsonAnswer
    nothing: JsonAnswer


class InterruptHandler(Part):
    """The runtime interrupts what runs of the app."""

    kind: Literal["runtime"]
    runtime: Literal["interrupt_operation"]
    answers: InterruptAnswers


def _handler_tag(value: Any) -> str | None:
    if isinstance(value, PythonHandler | FrameHandler):
        word: Any = value.kind
    elif isinstance(value, DeadlineHandler | InterruptHandler):
        word = value.runtime
    elif isinstance(value, Mapping):
        fields = cast("Mapping[str, Any]", value)
        word = fields.get("runtime") if fields.get("kind") == "runtime" else fields.get("kind")
    else:
        word = None
    return f"{TAG}{word}" if isinstance(word, str) else None


Handler = Annotated[
    Annotated[PythonHandler, Tag(f"{TAG}python")]
    | Annotated[FrameHandler, Tag(f"{TAG}miniapp_sdk")]
    | Annotated[DeadlineHandler, Tag(f"{TAG}deadline_operation")]
    | Annotated[InterruptHandler, Tag(f"{TAG}interrupt_operation")],
    Discriminator(
        _handler_tag,
        custom_error_type="handler_kind",
        custom_error_message="its kind is `python`, `miniapp_sdk` or `runtime`, with `runtime` being "
        "`deadline_operation` or `interrupt_operation`",
    ),
]


class ToolEntry(Part):
    """One tool as agents are told of it."""

    method: Annotated[str, Field(max_length=128)]
    title: Title
    description: Annotated[str, Field(min_length=1, max_length=4_096)]
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    effect: Annotated[Effect, Field(strict=False)]
    risk: Annotated[Risk, Field(strict=False)]
    confirm: Annotated[Confirm, Field(strict=False)]
    readiness: Annotated[Readiness, Field(strict=False)]
    call_model: Annotated[CallModel, Field(strict=False)]
    timeout_ms: Annotated[int, Field(ge=1_000, le=600_000)]
    permissions: Annotated[list[str], Field(max_length=32)]
    idempotency: Annotated[Idempotency, Field(strict=False)]
    visibility: Annotated[Visibility, Field(strict=False)] = Visibility.AGENTS
    requires: Annotated[list[Annotated[HostFeature, Field(strict=False)]], Field(max_length=len(HostFeature))] = []
    not_started: JsonAnswer | None
    handler: Handler

    @property
    def runtime(self) -> RuntimeBinding | None:
        """What carries it, where that is the runtime."""
        match self.handler:
            case DeadlineHandler(duration=duration, answers=answers):
                return DeadlineOperation(
                    argument=duration.argument,
                    unit_ms=duration.unit_ms,
                    completed=answers.completed,
                    interrupted=answers.interrupted,
                )
            case InterruptHandler(answers=answers):
                return InterruptOperation(
                    cancelled_start=answers.cancelled_start,
                    interrupted=answers.interrupted,
                    nothing=answers.nothing,
                )
            case _:
                return None


class SurfaceEntry(Part):
    """A face of the app; its parts are paths of files."""

    id: Annotated[str, Field(max_length=64)]
    title: Title
    html: Path
    css: Path | None
    js: Path | None
    events: Annotated[list[str], Field(max_length=64)]

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it is made of."""
        return tuple(path for path in (self.html, self.css, self.js) if path is not None)


class PythonCode(Part):
    """Where the app's Python begins."""

    module: Annotated[str, Field(max_length=128)]


class Activation(Part):
    """Which hooks the app's module has."""

    on_activate: bool
    on_deactivate: bool


class LeavingRules(Part):
    """What becomes of running operations when the person goes."""

    left_workspace: Annotated[Leave, Field(strict=False)]
    closed: Annotated[Leave, Field(strict=False)]


class FileEntry(Part):
    """One file of the package; `sha256` in lower-case hex."""

    path: Path
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Manifest(Part):
    """What a mini app promises and what its package holds. Make one with `capabilities.manifest`, which judges it."""

    manifest: Annotated[int, Field(ge=1, le=1)]
    app: App
    contract_version: Annotated[str, Field(min_length=1, max_length=64)]
    tools: Annotated[list[ToolEntry], Field(max_length=64)]
    surfaces: Annotated[list[SurfaceEntry], Field(max_length=16)]
    python: PythonCode | None
    activation: Activation = Activation(on_activate=False, on_deactivate=False)
    leaving: LeavingRules = LeavingRules(left_workspace=Leave.KEEP, closed=Leave.KEEP)
    files: Annotated[list[FileEntry], Field(max_length=512)]

    @cached_property
    def text(self) -> bytes:
        """Its RFC 8785 text: what a package holds as `manifest.json`, byte for byte."""
        return rfc8785.dumps(self.model_dump(mode="json", exclude_unset=True))

    @cached_property
    def digest(self) -> str:
        """Lower-case hex SHA-256 of the text, which names every file's digest: the digest of the package."""
        return hashlib.sha256(self.text).hexdigest()

    @cached_property
    def segments(self) -> frozenset[str]:
        """First segments of its capability ids; an installed app reserves them."""
        return frozenset(tool.method.partition(".")[0] for tool in self.tools)

    @cached_property
    def permissions(self) -> tuple[str, ...]:
        """All its tools ask for, sorted; what its hooks may use, too."""
        return tuple(sorted({permission for tool in self.tools for permission in tool.permissions}))

    def descriptors(self) -> tuple[Descriptor, ...]:
        """Its tools as the rest of the gateway knows them; their fingerprints cover the whole package."""
        return tuple(
            Descriptor(
                id=tool.method,
                title=tool.title,
                description=tool.description,
                input_schema=tool.input_schema,
                output_schema=tool.output_schema,
                effect=tool.effect,
                risk=tool.risk,
                confirm=tool.confirm,
                readiness=tool.readiness,
                call_model=tool.call_model,
                handler=HandlerKind(tool.handler.kind),
                contract_version=self.contract_version,
                bundle_hash=self.digest,
                timeout_ms=tool.timeout_ms,
                app_scope=self.app.id,
                runtime=tool.runtime,
                not_started=tool.not_started,
                permissions=tuple(tool.permissions),
                idempotency=tool.idempotency,
                visibility=tool.visibility,
                requires=tuple(tool.requires),
            )
            for tool in self.tools
        )
