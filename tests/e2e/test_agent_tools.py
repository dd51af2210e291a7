"""Handlers in a frame: declared once, called by the gateway, and everything they may ask for in return."""

from pathlib import Path
from typing import Any, Final

import orjson
import pytest
from typer.testing import CliRunner

from capabilities.building import build
from capabilities.package import write_package
from capabilities.project import read_project
from gateway.cli import app
from tests.e2e.frames import Surfaces
from tests.e2e.house import Visit, until

pytestmark = [pytest.mark.anyio, pytest.mark.e2e]

SCRIPT: Final = """
const { defineAgentTools, ToolFailed } = OstiaryApp;
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false };
const any = { type: 'object' };
const common = { title: 'T', description: 'D', inputSchema: text, outputSchema: any };
defineAgentTools({
  app: { id: 'com.example.board', name: 'Board', version: '1.0.0', description: 'Keeps cards.' },
  tools: [
    {
      ...common, method: 'board.add', title: 'Add a card', description: 'Adds one card and says how many there are.', confirm: 'never',
      handler: async ({ text }, { progress }) => {
        progress(1, 2, 'half');
        const { data } = OstiaryApp.session.get();
        const cards = [...(data.cards ?? []), text];
        const kept = await OstiaryApp.session.set({ cards });
        if (!kept.ok) throw new ToolFailed('not_achieved', 'somebody else was faster');
        document.querySelector('main').textContent = cards.join(', ');
        return { count: cards.length };
      },
    },
    { ...common, method: 'board.fail', handler: () => { throw new ToolFailed('not_available', 'closed for today'); } },
    { ...common, method: 'board.wait', handler: (_, { signal }) => new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason))) },
    { ...common, method: 'board.big', handler: () => ({ n: 2 ** 60 }) },
    { ...common, method: 'board.ask', handler: () => OstiaryApp.request('todo.add', { text: 'from the board' }, (receipt) => { window.receipt = receipt; }) },
  ],
  surfaces: [{ id: 'board', title: 'Board', html: 'surface/board.html', js: 'surface/board.js' }],
});
OstiaryApp.onState(() => {});
"""


def project(folder: Path) -> Path:
    """An author's folder."""
    (folder / "surface").mkdir(parents=True)
    (folder / "ostiary-app.toml").write_text('script = "surface/board.js"\n')
    (folder / "surface" / "board.html").write_text("<main>Nothing yet</main>")
    (folder / "surface" / "board.js").write_text(SCRIPT)
    return folder


@pytest.fixture
async def board(visit: Visit) -> Surfaces:
    """The bundle in a frame, with the gateway's words in the test's hands."""
    tab = await Surfaces.opened(visit)
    await tab.opens(html="<main>Nothing yet</main>", js=SCRIPT, handlers=True, revision=3, data={"cards": ["milk"]})
    return tab


def call(method: str, ref: str = "call_1", text: str = "bread") -> dict[str, Any]:
    return {
        "type": "app",
        "op": "tool",
        "instance": "i.1",
        "ref": ref,
        "method": method,
        "arguments": orjson.dumps({"text": text}).decode(),
        "deadline": 30_000,
    }


async def kept(board: Surfaces, *, ok: bool = True) -> dict[str, Any]:
    """Answer what the app wants kept."""
    asked = await board.hears("data")
    answer = {"ok": ok, "revision": 4, "data": asked["data"] if ok else {"cards": ["milk", "eggs"]}}
    await board.says({"type": "app", "op": "data", "instance": "i.1", "id": asked["id"], **answer})
    return asked


async def test_a_handler_is_called_and_its_answer_comes_back(board: Surfaces) -> None:
    await board.says(call("board.add"))
    asked = await kept(board)
    assert (asked["revision"], asked["data"]) == (3, {"cards": ["milk", "bread"]})
    result = await board.hears("result")
    assert (result["ref"], result["ok"], result["output"]) == ("call_1", True, {"count": 2})
    assert [frame["what"] for frame in await board.heard() if frame.get("ref") == "call_1"] == [
        "started",
        "progress",
        "result",
    ]
    assert await board.tells("document.querySelector('main').textContent") == "milk, bread"
    # The same call again is answered from what is known.
    await board.says(call("board.add"))
    assert await board.hears("result", 2) == result
    assert len(await board.news("data")) == 1


async def test_what_somebody_else_kept_meanwhile_wins(board: Surfaces) -> None:
    await board.says(call("board.add"))
    await kept(board, ok=False)
    result = await board.hears("result")
    assert result["error"] == {"code": "not_achieved", "message": "somebody else was faster"}
    assert await board.tells("OstiaryApp.session.get()") == {"revision": 4, "data": {"cards": ["milk", "eggs"]}}


@pytest.mark.parametrize(
    ("method", "code", "message"),
    [
        ("board.fail", "not_available", "closed for today"),
        ("board.none", "not_available", "`board.none` has no handler in this frame"),
        ("board.big", "handler_error", "an integer beyond 2^53"),
    ],
)
async def test_a_failure_is_told_in_its_words(board: Surfaces, method: str, code: str, message: str) -> None:
    await board.says(call(method))
    error = (await board.hears("result"))["error"]
    assert error["code"] == code
    assert message in error["message"]


async def test_a_handler_is_asked_to_stop(board: Surfaces) -> None:
    await board.says(call("board.wait"))
    await board.hears("started")
    await board.says({"type": "app", "op": "cancel", "instance": "i.1", "ref": "call_1"})
    assert (await board.hears("result"))["error"] == {"code": "cancelled", "message": "cancelled"}


async def test_a_deadline_asks_it_to_stop_too(board: Surfaces) -> None:
    await board.says({**call("board.wait"), "deadline": 100})
    assert (await board.hears("result"))["error"]["code"] == "cancelled"


async def test_what_a_lost_frame_was_doing_is_not_answered(board: Surfaces) -> None:
    await board.says(call("board.wait"))
    await board.hears("started")
    await board.tells("location.reload()")
    assert (await board.hears("failed"))["code"] == "navigated"
    assert await board.news("result") == []


async def test_a_frame_asks_for_an_action_and_hears_how_far_it_is(board: Surfaces) -> None:
    await board.says(call("board.ask"))

    async def asked() -> bool:
        return bool(await board.heard("action"))

    await until(asked)
    [action] = await board.heard("action")
    assert (action["instance"], action["action"], action["input"]) == ("i.1", "todo.add", {"text": "from the board"})
    await board.says({"type": "receipt", "id": action["id"], "status": "accepted", "seq": 1})

    async def told() -> bool:
        return await board.tells("window.receipt?.status") == "accepted"

    await until(told)
    await board.says({"type": "action_reply", "id": action["id"], "ok": True, "output": {"id": "t1"}})
    assert (await board.hears("result"))["output"] == {"id": "t1"}


async def test_a_refused_action_is_an_error_with_its_code(board: Surfaces) -> None:
    await board.says(call("board.ask"))

    async def asked() -> bool:
        return bool(await board.heard("action"))

    await until(asked)
    [action] = await board.heard("action")
    await board.says(
        {"type": "action_reply", "id": action["id"], "ok": False, "code": "denied", "message": "the person said no"}
    )
    assert (await board.hears("result"))["error"] == {"code": "handler_error", "message": "the person said no"}


async def test_a_bundle_with_handlers_has_its_own_bridge_and_not_the_other(board: Surfaces) -> None:
    assert await board.tells("[typeof OstiaryApp, typeof LineUpSurface, Object.isFrozen(OstiaryApp)]") == [
        "object",
        "undefined",
        True,
    ]


async def test_a_bundle_that_serves_nothing_is_never_ready(visit: Visit) -> None:
    tab = await Surfaces.opened(visit)
    await tab.says(tab.opening(html="<p>x</p>", js="1", handlers=True))
    failed = await tab.hears("failed")
    assert (failed["code"], failed["message"]) == ("not_loaded", "the surface was not ready in time")
    assert await tab.news("opened") == []


async def test_an_agent_calls_a_tool_that_lives_in_a_frame(visit: Visit, tmp_path: Path) -> None:
    """The whole way: declared in JavaScript, built, installed, called over MCP, run in the person's page, kept."""
    apps = visit.house.running.services.mini_apps
    package = tmp_path / "board.ostiary-app"
    package.write_bytes(write_package(build(read_project(project(tmp_path / "board")))))
    await apps.install(package, by="test")
    await apps.enable("com.example.board", by="test")
    try:
        person, agent = await visit.opens(), await visit.agent()
        for count, text in enumerate(("milk", "bread"), start=1):
            answer = await agent.calls("board_add", text=text)
            assert (answer["status"], answer["result"]) == ("succeeded", {"count": count})
        faces = [frame for frame in person.page.frames if frame.url == "about:srcdoc"]
        assert [await face.locator("main").text_content() for face in faces] == ["milk, bread"]
        failed = visit.begins(agent.calls("board_fail", text="x"))
        await person.presses("Approve")
        assert (await failed)["code"] == "not_available"
        # A document that is loaded again knows what was kept.
        await person.page.reload()
        await until(lambda: len(person.sockets) == 2 and "opened" in [f.get("what") for f in person.sockets[1].sent])
        assert (await agent.calls("board_add", text="eggs"))["result"] == {"count": 3}
    finally:
        await apps.disable("com.example.board", by="test")


async def test_the_app_a_new_project_begins_with_keeps_and_shows_its_list(visit: Visit, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    made = CliRunner().invoke(app, ["app", "new", "notes", "--frame", "--into", str(folder)])
    assert made.exit_code == 0, made.output
    parts = {part: (folder / "surface" / f"notes.{part}").read_text() for part in ("html", "css", "js")}
    tab = await Surfaces.opened(visit)
    await tab.opens(**parts, handlers=True, revision=3, data={"entries": ["milk"]})
    shown = "[...document.querySelectorAll('#entries li')].map((item) => item.textContent)"

    async def shows(*lines: str) -> bool:
        return await tab.tells(shown) == list(lines)

    await until(lambda: shows("milk"))
    await tab.says(call("notes.add"))
    await kept(tab)
    assert (await tab.hears("result"))["output"] == {"entries": ["milk", "bread"]}
    assert await shows("milk", "bread")
    await tab.says(call("notes.list", ref="call_2"))
    assert (await tab.hears("result", 2))["output"] == {"entries": ["milk", "bread"]}
    full = [str(number) for number in range(100)]
    await tab.says(
        {
            "type": "app",
            "op": "data",
            "instance": "i.1",
            "id": "",
            "ok": True,
            "revision": 9,
            "data": {"entries": full},
        }
    )
    await tab.says(call("notes.add", ref="call_3"))
    assert (await tab.hears("result", 3))["error"] == {"code": "not_achieved", "message": "the list is full"}
