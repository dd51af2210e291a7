"""`agent_tools(...)`: the one declaration of a mini app, and what runs the handlers it names.

What is right about a declaration is judged once, where its manifest is judged (`capabilities.manifest`), whoever
wrote it; here it is only held.
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from capabilities.contract.descriptor import (
    EXECUTION_MS,
    CallModel,
    HandlerKind,
    HostFeature,
    Idempotency,
    JsonObject,
    Readiness,
    Visibility,
)
from capabilities.contract.handler import AppContext, HandlerContext, Hook
from capabilities.contract.runtimes import RuntimeBinding, wire_of
from capabilities.contract.shapes import DeclarationError, DeclaredShape, OutputRefused, Shape, plain_object
from policy.vocabulary import Confirm, Effect, Risk

ToolHandler = Callable[[Any, HandlerContext], Awaitable[Any]]
"""Takes the validated arguments, gives back the output: what the tool declares as `input` and `output`."""

In = TypeVar("In", bound=BaseModel | dict[str, Any])
Word = TypeVar("Word", bound=StrEnum)
Out = TypeVar("Out", bound=BaseModel | dict[str, Any])


class Leave(StrEnum):
    """What becomes of a running operation."""

    KEEP = "keep"
    INTERRUPT = "interrupt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """What the runtime does to the app's operations when the person goes. A hidden tab or a locked screen is no going.

    Attributes:
        left_workspace: the person went back, to another view or to another mini app.
        closed: the mini app was closed, or its page went away for good.
    """

    left_workspace: Leave = Leave.KEEP
    closed: Leave = Leave.KEEP


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """A face of the app: files of the package, shown in a sandboxed frame.

    Attributes:
        id: `[a-z][a-z0-9-]*`; the first surface is the one activation brings to the foreground.
        html: path in the package, like `surface/index.html`; so are `css` and `js`.
        events: types the surface may send, `[A-Za-z][A-Za-z0-9._:-]{0,63}`, never `close`.
    """

    id: str
    title: str
    html: str
    css: str | None = None
    js: str | None = None
    events: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool; made by `python_tool` or `runtime_tool`."""

    method: str
    title: str
    description: str
    input: DeclaredShape
    output: DeclaredShape
    effect: Effect
    risk: Risk
    confirm: Confirm
    readiness: Readiness
    call_model: CallModel
    timeout_ms: int
    permissions: tuple[str, ...]
    idempotency: Idempotency
    visibility: Visibility
    requires: tuple[HostFeature, ...]
    not_started: dict[str, Any] | None
    runs: ToolHandler | RuntimeBinding

    def declaration(self) -> dict[str, Any]:
        """The tool as a manifest holds it. Of a handler in Python it says that there is one.

        Raises:
            DeclarationError: a model cannot be written as JSON Schema.
        """
        return {
            "method": self.method,
            "title": self.title,
            "description": self.description,
            "input_schema": self._schema("input"),
            "output_schema": self._schema("output"),
            "effect": self.effect.value,
            "risk": self.risk.value,
            "confirm": self.confirm.value,
            "readiness": self.readiness.value,
            "call_model": self.call_model.value,
            "timeout_ms": self.timeout_ms,
            "permissions": list(self.permissions),
            "idempotency": self.idempotency.value,
            "visibility": self.visibility.value,
            "requires": [feature.value for feature in self.requires],
            "not_started": self.not_started,
            "handler": {"kind": HandlerKind.PYTHON.value} if callable(self.runs) else wire_of(self.runs),
        }

    def _schema(self, side: str) -> dict[str, Any]:
        is_output = side == "output"
        try:
            return (self.output if is_output else self.input).schema(output=is_output)
        except DeclarationError as error:
            raise DeclarationError(f"tool `{self.method}`, {side}: {error}") from None


def python_tool(  # noqa: PLR0913 - a declaration has as many fields as a promise has parts
    method: str,
    handler: Callable[[In, HandlerContext], Awaitable[Out]],
    *,
    title: str,
    description: str,
    input: type[In] | JsonObject,  # noqa: A002 - the word of the declaration
    output: type[Out] | JsonObject,
    effect: Effect | str = Effect.WRITE,
    risk: Risk | str = Risk.DISPLAY_ONLY,
    confirm: Confirm | str = Confirm.POLICY,
    readiness: Readiness | str = Readiness.ACTIVATION_NOT_REQUIRED,
    call_model: CallModel | str = CallModel.COMMAND,
    timeout_ms: int = EXECUTION_MS,
    permissions: Sequence[str] = (),
    idempotency: Idempotency | str = Idempotency.CALL_ID,
    visibility: Visibility | str = Visibility.AGENTS,
    requires: Sequence[HostFeature | str] = (),
    not_started: BaseModel | JsonObject | None = None,
) -> Tool:
    """A tool whose handler is an async function in this app.

    Args:
        method: the capability id, like `notes.add`.
        handler: takes `input` and a context, gives back `output`.
        title: a few words for people.
        description: what it does and when to use it, for agents.
        input: a pydantic model, or a JSON Schema for an object; then the handler takes a dict.
        output: the same for what comes back.
        effect: what a call does to business state.
        risk: who must agree before it runs.
        confirm: whether the person is asked; it can raise what policy demands, never lower it.
        readiness: what must hold before the handler runs.
        call_model: what a call is to its caller; `query` needs the effect `read`.
        timeout_ms: how long a call may take, 1,000 to 600,000.
        permissions: hosts and secrets it uses: `http:api.example.com`, `secret:api_token`.
        idempotency: what the same arguments under another call id are.
        visibility: who is told of it: agents, or only the app's own frames.
        requires: what the host must offer for it to be there: `workspace`, or a host capability's id.
        not_started: the answer when the app could not be started; without it the call fails.
    """
    return Tool(
        method=method,
        title=title,
        description=description,
        input=_shape(input),
        output=_shape(output),
        effect=_word(Effect, method, "effect", effect),
        risk=_word(Risk, method, "risk", risk),
        confirm=_word(Confirm, method, "confirm", confirm),
        readiness=_word(Readiness, method, "readiness", readiness),
        call_model=_word(CallModel, method, "call_model", call_model),
        timeout_ms=timeout_ms,
        permissions=tuple(permissions),
        idempotency=_word(Idempotency, method, "idempotency", idempotency),
        visibility=_word(Visibility, method, "visibility", visibility),
        requires=tuple(_word(HostFeature, method, "requires", feature) for feature in requires),
        not_started=None if not_started is None else plain_object(not_started),
        runs=handler,
    )


def runtime_tool(  # noqa: PLR0913 - a declaration has as many fields as a promise has parts
    method: str,
    runtime: RuntimeBinding,
    *,
    title: str,
    description: str,
    input: Shape,  # noqa: A002 - the word of the declaration
    output: Shape,
    call_model: CallModel | str,
    effect: Effect | str = Effect.WRITE,
    risk: Risk | str = Risk.DISPLAY_ONLY,
    confirm: Confirm | str = Confirm.POLICY,
    readiness: Readiness | str = Readiness.ACTIVATION_NOT_REQUIRED,
    timeout_ms: int = EXECUTION_MS,
    idempotency: Idempotency | str = Idempotency.CALL_ID,
    visibility: Visibility | str = Visibility.AGENTS,
    requires: Sequence[HostFeature | str] = (),
    not_started: BaseModel | JsonObject | None = None,
) -> Tool:
    """A tool the gateway carries by itself, as `runtime` says; the other arguments are those of `python_tool`."""
    return Tool(
        method=method,
        title=title,
        description=description,
        input=_shape(input),
        output=_shape(output),
        effect=_word(Effect, method, "effect", effect),
        risk=_word(Risk, method, "risk", risk),
        confirm=_word(Confirm, method, "confirm", confirm),
        readiness=_word(Readiness, method, "readiness", readiness),
        call_model=_word(CallModel, method, "call_model", call_model),
        timeout_ms=timeout_ms,
        permissions=(),
        idempotency=_word(Idempotency, method, "idempotency", idempotency),
        visibility=_word(Visibility, method, "visibility", visibility),
        requires=tuple(_word(HostFeature, method, "requires", feature) for feature in requires),
        not_started=None if not_started is None else plain_object(not_started),
        runs=runtime,
    )


def _word(words: type[Word], method: str, field: str, word: Word | str) -> Word:
    """One of a closed set, whichever way it is written."""
    try:
        return words(word)
    except ValueError:
        allowed = ", ".join(f"`{one.value}`" for one in words)
        raise DeclarationError(f"tool `{method}`, {field}: `{word}` is none of {allowed}") from None


def _shape(shape: Any) -> DeclaredShape:
    return DeclaredShape(shape)


class UnknownTool(LookupError):
    """The app declares no such method with a handler in Python."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTools:
    """A mini app as it is declared. Made by `agent_tools`, in a module-level name the build looks for: `TOOLS`."""

    app: str
    name: str
    version: str
    description: str
    contract_version: str
    tools: tuple[Tool, ...]
    surfaces: tuple[Surface, ...]
    leaving: Leaving
    on_activate: Hook | None
    on_deactivate: Hook | None

    def declaration(self) -> dict[str, Any]:
        """The part of a manifest that is declared: data only, whatever the app's code looks like.

        Raises:
            DeclarationError: a model cannot be written as JSON Schema.
        """
        return {
            "app": {
                "id": self.app,
                "name": self.name,
                "version": self.version,
                "description": self.description,
            },
            "contract_version": self.contract_version,
            "tools": [tool.declaration() for tool in self.tools],
            "surfaces": [
                {
                    "id": surface.id,
                    "title": surface.title,
                    "html": surface.html,
                    "css": surface.css,
                    "js": surface.js,
                    "events": list(surface.events),
                }
                for surface in self.surfaces
            ],
            "activation": {
                "on_activate": self.on_activate is not None,
                "on_deactivate": self.on_deactivate is not None,
            },
            "leaving": {
                "left_workspace": self.leaving.left_workspace.value,
                "closed": self.leaving.closed.value,
            },
        }

    @property
    def runs_python(self) -> bool:
        """Whether there is anything to run: a handler or a hook."""
        hooks = (self.on_activate, self.on_deactivate)
        return any(hook is not None for hook in hooks) or any(callable(tool.runs) for tool in self.tools)

    async def run(self, method: str, arguments: Mapping[str, Any], context: HandlerContext) -> dict[str, Any]:
        """Validate `arguments`, call the handler of `method`, and give back its output as a plain JSON object.

        Raises:
            UnknownTool: there is no such method with a handler in Python.
            HandlerFailed: a failure meant for the caller; arguments that do not fit are one.
            OutputRefused: the handler gave back something else than it declared.
        """
        for tool in self.tools:
            if tool.method == method and callable(tool.runs):
                answering = tool.runs(tool.input.read(arguments), context)
                if not inspect.isawaitable(answering):
                    raise OutputRefused(f"the handler of `{method}` is not async")
                return tool.output.write(await answering)
        raise UnknownTool(f"`{method}` has no handler in `{self.app}`")

    async def activate(self, context: AppContext) -> None:
        """Run the hook for the start of an activation, if there is one."""
        if self.on_activate is not None:
            await self.on_activate(context)

    async def deactivate(self, context: AppContext) -> None:
        """Run the hook for the end of an activation, if there is one."""
        if self.on_deactivate is not None:
            await self.on_deactivate(context)


_STAYS: Final = Leaving()


def agent_tools(
    *,
    app: str,
    name: str,
    version: str,
    description: str,
    tools: Sequence[Tool],
    contract_version: str = "1",
    surfaces: Sequence[Surface] = (),
    leaving: Leaving = _STAYS,
    on_activate: Hook | None = None,
    on_deactivate: Hook | None = None,
) -> AgentTools:
    """Declare a mini app.

    Args:
        app: its id, a reverse domain name: `com.example.notes`.
        name: a few words for people.
        version: SemVer 2.0.0; a package with another digest needs another version.
        description: what the app is for.
        tools: what agents may call.
        contract_version: of the tools' promises; part of every fingerprint.
        surfaces: what the app shows.
        leaving: what happens to running operations when the person goes.
        on_activate: runs before the app counts as ready; what it raises fails the activation.
        on_deactivate: runs when an activation ended.
    """
    return AgentTools(
        app=app,
        name=name,
        version=version,
        description=description,
        contract_version=contract_version,
        tools=tuple(tools),
        surfaces=tuple(surfaces),
        leaving=leaving,
        on_activate=on_activate,
        on_deactivate=on_deactivate,
    )
