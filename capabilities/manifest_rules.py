"""What the parts of a manifest must say because of each other. Each rule is one function that yields faults."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from capabilities.check import APP_SCHEMA_BYTES, RESERVED_SEGMENTS
from capabilities.contract import CallModel, DeadlineOperation, Effect, HandlerKind, InterruptOperation, Readiness
from capabilities.contract.runtimes import DURATION_MAX_MS, answers_of
from capabilities.contract.shapes import UI_KEY
from capabilities.json_values import pointer_to
from capabilities.manifest_shape import Manifest, SurfaceEntry, ToolEntry
from capabilities.paths import files_of_module, is_module, is_path
from capabilities.schemas.judge import judge_schema
from capabilities.schemas.keywords import first_unknown_keyword
from capabilities.schemas.refusal import SchemaRefused
from capabilities.validator import compile_validator
from policy.patterns import is_capability_id

SURFACE_BYTES: Final = 163_840
"""One surface: its html, css and js together, 160 KiB (design §17)."""

CODE_BYTES: Final = 8_388_608
"""All files of a package together: 8 MiB."""

_APP_ID: Final = re.compile(r"[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*){1,9}")
_NUMBER: Final = r"(0|[1-9][0-9]*)"
_PRE_RELEASE: Final = r"(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE_RELEASE}(\.{_PRE_RELEASE})*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
)
_CONTRACT_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]*")
_SURFACE_ID: Final = re.compile(r"[a-z][a-z0-9-]*")
_EVENT: Final = re.compile(r"[A-Za-z][A-Za-z0-9._:-]{0,63}")
_LABEL: Final = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_PERMISSION: Final = re.compile(
    rf"http:(?=[^:]{{1,253}}(:|$)){_LABEL}(\.{_LABEL})*(:[1-9][0-9]{{0,4}})?|secret:[a-z][a-z0-9_]{{0,63}}"
)

_RESERVED_EVENT: Final = "close"
_PORT_MAX: Final = 65_535


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a manifest or a package: a pointer into the manifest, and the reason."""

    pointer: str
    reason: str

    def __str__(self) -> str:
        return f"{self.pointer or '/'}: {self.reason}"


def broken_rules(manifest: Manifest) -> Iterator[Fault]:
    """Every rule a well-shaped manifest breaks; what a schema must say is asked once all of them are sound."""
    faults = list(_schemas(manifest))
    yield from faults
    for rule in _RULES if faults else (*_RULES, *_RULES_OF_SOUND_SCHEMAS):
        yield from rule(manifest)


def _identity(manifest: Manifest) -> Iterator[Fault]:
    if not _APP_ID.fullmatch(manifest.app.id):
        yield Fault("/app/id", f"`{manifest.app.id}` is no reverse domain name like `com.example.notes`")
    if not _SEMVER.fullmatch(manifest.app.version):
        yield Fault("/app/version", f"`{manifest.app.version}` is no version by SemVer 2.0.0 like `1.0.0`")
    if not _CONTRACT_VERSION.fullmatch(manifest.contract_version):
        yield Fault("/contract_version", "letters, digits, `.`, `_` and `-`, beginning with a letter or digit")


def _methods(manifest: Manifest) -> Iterator[Fault]:
    for index, tool in enumerate(manifest.tools):
        pointer = f"/tools/{index}/method"
        if not is_capability_id(tool.method):
            yield Fault(pointer, f"`{tool.method}` is no capability id: `area.action` in ASCII, 2 to 4 segments")
        elif (first := tool.method.partition(".")[0]) in RESERVED_SEGMENTS:
            yield Fault(pointer, f"ids that begin with `{first}.` are the gateway's; choose another first segment")
    yield from _repeated("/tools", "method", [tool.method for tool in manifest.tools])


def _schemas(manifest: Manifest) -> Iterator[Fault]:
    for index, tool in enumerate(manifest.tools):
        for field, schema in (("input_schema", tool.input_schema), ("output_schema", tool.output_schema)):
            fault = _of_schema(f"/tools/{index}/{field}", schema)
            if fault is not None:
                yield fault


def _of_schema(pointer: str, schema: dict[str, Any]) -> Fault | None:
    try:
        document = judge_schema(schema, max_bytes=APP_SCHEMA_BYTES)
    except SchemaRefused as refused:
        return Fault(pointer + refused.pointer, refused.reason)
    # A word the checks pass over could carry anything; a manifest holds descriptors and nothing else.
    unknown = first_unknown_keyword(document.root)
    return None if unknown is None else Fault(pointer + pointer_to(unknown), "no keyword of JSON Schema")


def _words(manifest: Manifest) -> Iterator[Fault]:
    for index, tool in enumerate(manifest.tools):
        for field, reason in _contradictions(tool):
            yield Fault(f"/tools/{index}/{field}", reason)


def _contradictions(tool: ToolEntry) -> Iterator[tuple[str, str]]:
    kind, runtime = tool.handler.kind, tool.runtime
    waits = tool.readiness is not Readiness.ACTIVATION_NOT_REQUIRED
    if tool.call_model is CallModel.QUERY and tool.effect is not Effect.READ:
        yield "effect", f"a `query` only reads; the effect `{tool.effect}` needs another call model"
    if runtime is not None and tool.effect is Effect.READ:
        yield "effect", "beginning or interrupting an operation is no `read`"
    if isinstance(runtime, DeadlineOperation) and tool.call_model is not CallModel.OPERATION:
        yield "call_model", "a `deadline_operation` is called as an `operation`"
    if isinstance(runtime, InterruptOperation) and tool.call_model is not CallModel.COMMAND:
        yield "call_model", "an `interrupt_operation` is called as a `command`"
    if kind == HandlerKind.MINIAPP_SDK and tool.call_model is CallModel.OPERATION:
        yield "call_model", "a handler in a frame cannot carry an `operation`: the frame may go away"
    if isinstance(runtime, InterruptOperation) and waits:
        yield "readiness", "an `interrupt_operation` must not start the app it interrupts: `activation_not_required`"
    if kind == HandlerKind.MINIAPP_SDK and not waits:
        yield "readiness", "a handler in a frame needs the frame: `app_ready` or `foreground_required`"
    if tool.not_started is not None and not waits:
        yield "not_started", "the app is not started for this tool, so this answer is never given"
    if tool.permissions and kind != HandlerKind.PYTHON:
        yield "permissions", "only a handler in Python can use them"


def _outputs(manifest: Manifest) -> Iterator[Fault]:
    for index, tool in enumerate(manifest.tools):
        if UI_KEY in tool.output_schema.get("properties", {}):
            yield Fault(f"/tools/{index}/output_schema/properties/{UI_KEY}", "this key is for the person's page")


def _answers(manifest: Manifest) -> Iterator[Fault]:
    for index, tool in enumerate(manifest.tools):
        declared: dict[str, Any] = {}
        if tool.not_started is not None:
            declared["not_started"] = tool.not_started
        if tool.runtime is not None:
            declared |= {f"handler/answers/{name}": answer for name, answer in answers_of(tool.runtime).items()}
        validator = compile_validator(tool.output_schema)
        for field, answer in declared.items():
            problem = validator.first_error(dict(answer))
            if problem is not None:
                yield Fault(f"/tools/{index}/{field}{problem.pointer}", f"by the output schema, {problem.reason}")


def _durations(manifest: Manifest) -> Iterator[Fault]:
    for index, tool in enumerate(manifest.tools):
        if isinstance(tool.runtime, DeadlineOperation):
            reason = _unbounded(tool.input_schema, tool.runtime)
            if reason is not None:
                yield Fault(f"/tools/{index}/handler/duration/argument", reason)


def _unbounded(schema: dict[str, Any], runtime: DeadlineOperation) -> str | None:
    declared: Any = schema.get("properties", {}).get(runtime.argument)
    if not isinstance(declared, dict) or cast("dict[str, Any]", declared).get("type") not in ("integer", "number"):
        return f"the input schema has no number `{runtime.argument}` among its properties"
    if runtime.argument not in schema.get("required", ()):
        return f"the input schema does not require `{runtime.argument}`"
    bounds = cast("dict[str, Any]", declared)
    if not (bounds.get("minimum", 0) > 0 or bounds.get("exclusiveMinimum", -1) >= 0):
        return f"the input schema lets `{runtime.argument}` be 0 or less; give it a `minimum`"
    most: float | None = bounds.get("maximum", bounds.get("exclusiveMaximum"))
    if most is None or most * runtime.unit_ms > DURATION_MAX_MS:
        return f"the input schema lets `{runtime.argument}` be more than 31 days; give it a `maximum`"
    return None


def _permissions(manifest: Manifest) -> Iterator[Fault]:
    for index, tool in enumerate(manifest.tools):
        for place, permission in enumerate(tool.permissions):
            if not _is_permission(permission):
                yield Fault(
                    f"/tools/{index}/permissions/{place}",
                    f"`{permission}` is neither `http:host`, `http:host:port` nor `secret:name`",
                )
        yield from _repeated(f"/tools/{index}/permissions", "", tool.permissions)


def _is_permission(permission: str) -> bool:
    if not _PERMISSION.fullmatch(permission):
        return False
    port = permission.rpartition(":")[2] if permission.count(":") == 2 else "1"
    return int(port) <= _PORT_MAX


def _surfaces(manifest: Manifest) -> Iterator[Fault]:
    sizes = {file.path: file.bytes for file in manifest.files}
    for index, surface in enumerate(manifest.surfaces):
        pointer = f"/surfaces/{index}"
        if not _SURFACE_ID.fullmatch(surface.id):
            yield Fault(f"{pointer}/id", f"`{surface.id}` is not lower-case letters, digits and `-`")
        for field, path in (("html", surface.html), ("css", surface.css), ("js", surface.js)):
            if path is not None and path not in sizes:
                yield Fault(f"{pointer}/{field}", f"the package has no file `{path}`")
        if sum(sizes.get(path, 0) for path in surface.paths) > SURFACE_BYTES:
            yield Fault(pointer, f"its files are larger than {SURFACE_BYTES} bytes together")
        yield from _events(f"{pointer}/events", surface)
    yield from _repeated("/surfaces", "id", [surface.id for surface in manifest.surfaces])


def _events(pointer: str, surface: SurfaceEntry) -> Iterator[Fault]:
    for place, event in enumerate(surface.events):
        if not _EVENT.fullmatch(event):
            yield Fault(f"{pointer}/{place}", f"`{event}` is no event type: `[A-Za-z][A-Za-z0-9._:-]{{0,63}}`")
        elif event == _RESERVED_EVENT:
            yield Fault(f"{pointer}/{place}", f"`{event}` is the frame's own event")
    yield from _repeated(pointer, "", surface.events)


def _needs(manifest: Manifest) -> Iterator[Fault]:
    kinds = {tool.handler.kind for tool in manifest.tools}
    hooked = manifest.activation.on_activate or manifest.activation.on_deactivate
    if not manifest.tools and not manifest.surfaces:
        yield Fault("/tools", "without a tool or a surface the app offers nothing")
    if manifest.python is None and (HandlerKind.PYTHON in kinds or hooked):
        yield Fault("/python", "a tool or a hook in Python needs a module")
    if manifest.python is not None and HandlerKind.PYTHON not in kinds and not hooked:
        yield Fault("/python", "neither a tool nor a hook is in Python, so nothing would run it")
    if HandlerKind.MINIAPP_SDK in kinds and not any(surface.js for surface in manifest.surfaces[:1]):
        yield Fault("/surfaces", "a handler in a frame is in the script of the first surface, and there is none")
    for index, tool in enumerate(manifest.tools):
        pointer = f"/tools/{index}/readiness"
        if tool.readiness is Readiness.FOREGROUND_REQUIRED and not manifest.surfaces:
            yield Fault(pointer, "without a surface there is nothing to bring to the foreground")
        elif tool.readiness is Readiness.APP_READY and not manifest.surfaces and manifest.python is None:
            yield Fault(pointer, "without a surface or a module there is nothing to get ready")


def _module(manifest: Manifest) -> Iterator[Fault]:
    if manifest.python is None:
        return
    module = manifest.python.module
    if not is_module(module):
        yield Fault("/python/module", f"`{module}` is no name of a module")
        return
    file, first_of_package = files_of_module(module)
    if not {file, first_of_package} & {entry.path for entry in manifest.files}:
        yield Fault("/python/module", f"the package has neither `{file}` nor `{first_of_package}`")


def _files(manifest: Manifest) -> Iterator[Fault]:
    paths = [file.path for file in manifest.files]
    for index, path in enumerate(paths):
        if not is_path(path):
            yield Fault(
                f"/files/{index}/path",
                f"`{path}` is no relative path of names that begin with a letter, a digit or `_`",
            )
    if paths != sorted(paths):
        yield Fault("/files", "not sorted by path")
    # Some file systems take `A` and `a` for one name.
    yield from _repeated("/files", "path", [path.lower() for path in paths])
    folders = {path[:end].lower() for path in paths for end in range(len(path)) if path[end] == "/"}
    for index, path in enumerate(paths):
        if path.lower() in folders:
            yield Fault(f"/files/{index}/path", f"`{path}` is a file and a folder")
    if sum(file.bytes for file in manifest.files) > CODE_BYTES:
        yield Fault("/files", f"larger than {CODE_BYTES} bytes together")


def _repeated(pointer: str, field: str, values: Iterable[str]) -> Iterator[Fault]:
    known: Counter[str] = Counter()
    for index, value in enumerate(values):
        known[value] += 1
        if known[value] > 1:
            place = f"{pointer}/{index}/{field}" if field else f"{pointer}/{index}"
            yield Fault(place, f"`{value}` occurs twice")


_RULES: Final[tuple[Callable[[Manifest], Iterator[Fault]], ...]] = (
    _identity,
    _methods,
    _words,
    _permissions,
    _surfaces,
    _needs,
    _module,
    _files,
)
_RULES_OF_SOUND_SCHEMAS: Final = (_outputs, _durations, _answers)
