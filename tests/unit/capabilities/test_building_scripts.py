"""An app that is declared in JavaScript: descriptors come out of its script, and nothing that runs does."""

from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from capabilities.building import BuildRefused, build
from capabilities.contract import CallModel, DeadlineOperation, runtime_tool
from capabilities.project import ProjectRefused, read_project

SCRIPT: Final = """
const { defineAgentTools, deadlineOperation } = OstiaryApp;
const hiddenList = [];
const privateHelper = (text) => hiddenList.push(text);
defineAgentTools({
  app: { id: 'com.example.board', name: 'Board', version: '1.0.0', description: 'Keeps cards.' },
  tools: [
    {
      method: 'board.add', title: 'Add a card', description: 'Adds one card.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
      outputSchema: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'], additionalProperties: false },
      handler: ({ text }) => ({ count: privateHelper(text) }),
    },
  ],
  surfaces: [{ id: 'board', title: 'Board', html: 'surface/board.html', js: 'surface/board.js' }],
});
document.querySelector('main').textContent = 'ready';
"""


def put(folder: Path, script: str = SCRIPT, toml: str = 'script = "surface/board.js"\n') -> Path:
    (folder / "surface").mkdir(exist_ok=True)
    (folder / "ostiary-app.toml").write_text(toml)
    (folder / "surface" / "board.html").write_text("<main></main>")
    (folder / "surface" / "board.js").write_text(script)
    return folder


def refusal(folder: Path, **options: Any) -> str:
    with pytest.raises((ProjectRefused, BuildRefused)) as refused:
        build(read_project(folder), **options)
    return str(refused.value)


def test_what_is_declared_becomes_the_manifest(tmp_path: Path) -> None:
    package = build(read_project(put(tmp_path)))
    manifest = package.manifest
    assert manifest.app.id == "com.example.board"
    assert [(tool.method, tool.handler.kind, tool.readiness) for tool in manifest.tools] == [
        ("board.add", "miniapp_sdk", "app_ready")
    ]
    assert manifest.python is None
    assert list(package.files) == ["surface/board.html", "surface/board.js"]


def test_nothing_that_runs_is_in_the_manifest(tmp_path: Path) -> None:
    text = build(read_project(put(tmp_path))).manifest.text.decode()
    for private in ("privateHelper", "hiddenList", "=>", "function", "querySelector"):
        assert private not in text


def test_both_languages_declare_the_same(tmp_path: Path) -> None:
    """The runtime's kinds are all a declaration in Python and one in JavaScript have in common, and more than enough."""
    script = """
    OstiaryApp.defineAgentTools({
      app: { id: 'com.example.focus', name: 'Focus', version: '1.0.0', description: 'Keeps the time.' },
      tools: [{
        method: 'focus.start', title: 'Start', description: 'Starts.', callModel: 'operation',
        inputSchema: MINUTES, outputSchema: { type: 'object' },
        runtime: OstiaryApp.deadlineOperation({ argument: 'minutes', unitMs: 60000, completed: { a: 1 }, interrupted: {} }),
      }],
      surfaces: [],
    });
    """
    minutes: dict[str, Any] = {
        "type": "object",
        "properties": {"minutes": {"type": "integer", "minimum": 1, "maximum": 9}},
        "required": ["minutes"],
    }
    folder = put(tmp_path, script.replace("MINUTES", orjson.dumps(minutes).decode()))
    tool = build(read_project(folder)).manifest.model_dump(mode="json")["tools"][0]
    python = runtime_tool(
        "focus.start",
        DeadlineOperation(argument="minutes", unit_ms=60_000, completed={"a": 1}, interrupted={}),
        title="Start",
        description="Starts.",
        input=minutes,
        output={"type": "object"},
        call_model=CallModel.OPERATION,
    ).declaration()
    assert tool == python


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("1", "declares nothing; call `defineAgentTools`"),
        (
            "document.title = 'x'",
            "failed before it declared its tools: ReferenceError: document is not defined; declare",
        ),
        ("throw 7", "failed before it declared its tools: Error: 7"),
        ("const = 1", "failed before it declared its tools: SyntaxError"),
        ("require('fs')", "ReferenceError: require is not defined"),
        ("process.exit(3)", "ReferenceError: process is not defined"),
        (
            SCRIPT.replace("{ type: 'string' }", "{ type: () => 1 }"),
            "/tools/0/input_schema/properties/text/type is function",
        ),
        (SCRIPT.replace("title: 'Add a card', ", ""), "/tools/0/title is undefined"),
        (SCRIPT.replace("board.add", "gateway.add"), "gateway"),
        (SCRIPT.replace("'surface/board.html'", "'surface/other.html'"), "surface/other.html"),
        (
            SCRIPT.replace("surfaces: [", "surfaces: [{ id: 'first', title: 'First', html: 'surface/board.html' },"),
            "/surfaces: a handler in a frame is in the script of the first surface, and there is none",
        ),
        (
            SCRIPT.replace("js: 'surface/board.js'", "js: 'surface/board.html'"),
            "/surfaces/0/js: `surface/board.js` declares the handlers, so it is the script of the first surface",
        ),
    ],
)
def test_what_cannot_be_built_says_why(tmp_path: Path, script: str, reason: str) -> None:
    assert reason in refusal(put(tmp_path, script))


def test_a_large_declaration_is_read_whole(tmp_path: Path) -> None:
    assert "/app/description" in refusal(put(tmp_path, SCRIPT.replace("'Keeps cards.'", "'x'.repeat(900_000)")))
    assert "declares more than" in refusal(put(tmp_path, SCRIPT.replace("'Keeps cards.'", "'x'.repeat(5_000_000)")))


def test_a_script_that_does_not_end_is_ended(tmp_path: Path) -> None:
    assert "took more than 1 s" in refusal(put(tmp_path, "for (;;);"), seconds=1)


def test_what_a_script_prints_is_no_declaration(tmp_path: Path) -> None:
    assert build(read_project(put(tmp_path, "console.log('{}');" + SCRIPT))).manifest.app.name == "Board"


@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ('script = "surface/board.js"\npython = "board"\n', "declared once"),
        ("script = 7\n", "`script` names the script"),
        ('script = "../board.js"\n', "`script` names the script"),
        ('script = "surface/none.js"\n', "there is no `surface/none.js`"),
    ],
)
def test_a_project_says_once_where_it_is_declared(tmp_path: Path, toml: str, reason: str) -> None:
    assert reason in refusal(put(tmp_path, toml=toml))


def test_without_node_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install Node 20 or newer" in refusal(put(tmp_path))
