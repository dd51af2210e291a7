"""Manifests and packages of mini apps: a whole one of each kind, to be changed in one place by a test."""

import hashlib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from capabilities.manifest import make_manifest
from capabilities.package import Package, package_of

NOTES: Final = b"""\
from capabilities.contract import Effect, CallModel, agent_tools, python_tool

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def echo(arguments, context):
    return {"text": arguments["text"]}


TOOLS = agent_tools(
    app="com.example.notes",
    name="Notes",
    version="1.0.0",
    description="Keeps notes.",
    tools=[
        python_tool(
            "notes.echo",
            echo,
            title="Echo",
            description="Returns the text it was given.",
            input=TEXT,
            output=TEXT,
            effect=Effect.READ,
            call_model=CallModel.QUERY,
        )
    ],
)
"""
"""The module of the app below."""

TEXT: Final[dict[str, Any]] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
STATUS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"status": {"enum": ["completed", "interrupted", "not_started", "nothing"]}},
    "required": ["status"],
    "additionalProperties": False,
}
MINUTES: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"minutes": {"type": "integer", "minimum": 1, "maximum": 180}},
    "required": ["minutes"],
    "additionalProperties": False,
}


def a_tool(method: str = "notes.echo", **changes: Any) -> dict[str, Any]:
    """A tool with a handler in Python, as a manifest holds it."""
    tool: dict[str, Any] = {
        "method": method,
        "title": "Echo",
        "description": "Returns the text it was given.",
        "input_schema": deepcopy(TEXT),
        "output_schema": deepcopy(TEXT),
        "effect": "read",
        "risk": "display_only",
        "confirm": "policy",
        "readiness": "activation_not_required",
        "call_model": "query",
        "timeout_ms": 30_000,
        "permissions": [],
        "idempotency": "call_id",
        "not_started": None,
        "handler": {"kind": "python"},
    }
    return tool | changes


def a_start(**changes: Any) -> dict[str, Any]:
    """A tool the runtime carries, which begins an operation in the foreground."""
    return a_tool(
        "focus.start",
        input_schema=deepcopy(MINUTES),
        output_schema=deepcopy(STATUS),
        effect="write",
        readiness="foreground_required",
        call_model="operation",
        not_started={"status": "not_started"},
        handler={
            "kind": "runtime",
            "runtime": "deadline_operation",
            "duration": {"argument": "minutes", "unit_ms": 60_000},
            "answers": {"completed": {"status": "completed"}, "interrupted": {"status": "interrupted"}},
        },
    ) | deepcopy(changes)


def a_stop(**changes: Any) -> dict[str, Any]:
    """A tool the runtime carries, which interrupts what runs."""
    return a_tool(
        "focus.stop",
        input_schema={"type": "object", "additionalProperties": False},
        output_schema=deepcopy(STATUS),
        effect="write",
        call_model="command",
        handler={
            "kind": "runtime",
            "runtime": "interrupt_operation",
            "answers": {
                "cancelled_start": {"status": "not_started"},
                "interrupted": {"status": "interrupted"},
                "nothing": {"status": "nothing"},
            },
        },
    ) | deepcopy(changes)


def a_python_app(held: Mapping[str, bytes] | None = None, **changes: Any) -> dict[str, Any]:
    """The manifest of an app with one tool in Python."""
    return {
        "manifest": 1,
        "app": {"id": "com.example.notes", "name": "Notes", "version": "1.0.0", "description": "Keeps notes."},
        "contract_version": "1",
        "tools": [a_tool()],
        "surfaces": [],
        "python": {"module": "notes"},
        "activation": {"on_activate": False, "on_deactivate": False},
        "leaving": {"left_workspace": "keep", "closed": "keep"},
        "files": entries_of(held or {"notes.py": NOTES}),
    } | changes


SURFACE_FILES: Final[Mapping[str, bytes]] = {
    "surface/index.html": b"<main id=clock></main>",
    "surface/look.css": b"main { font-size: 4rem }",
    "surface/show.js": b"LineUpSurface.onState(() => {})",
}


def a_surface_app(**changes: Any) -> dict[str, Any]:
    """The manifest of an app with a surface and two tools the runtime carries."""
    return a_python_app(
        SURFACE_FILES,
        app={"id": "com.example.focus", "name": "Focus", "version": "1.0.0", "description": "One thing at a time."},
        tools=[a_start(), a_stop()],
        surfaces=[
            {
                "id": "clock",
                "title": "Clock",
                "html": "surface/index.html",
                "css": "surface/look.css",
                "js": "surface/show.js",
                "events": ["tick"],
            }
        ],
        python=None,
        leaving={"left_workspace": "interrupt", "closed": "interrupt"},
    ) | deepcopy(changes)


def entries_of(files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    """What a manifest says of `files`."""
    return [
        {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for path, data in sorted(files.items())
    ]


def a_package(value: Mapping[str, Any] | None = None, files: Mapping[str, bytes] | None = None) -> Package:
    """The package of a manifest with its files; of `a_python_app` if nothing else is said."""
    held = {"notes.py": NOTES} if files is None else files
    manifest = make_manifest(dict(a_python_app(held) if value is None else value))
    return package_of({"manifest.json": manifest.text, **held})


def a_surface_package(**changes: Any) -> Package:
    """The package of `a_surface_app`."""
    return a_package(a_surface_app(**changes), SURFACE_FILES)
