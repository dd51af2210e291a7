"""Documents that agents show, and what a test does with them."""

import asyncio
import json
from dataclasses import replace
from typing import Any, Final

from capabilities.contract import Descriptor
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.configuration import Documents, InvokeTarget
from gateway.domain.documents import ShownDocument
from gateway.domain.errors import GatewayError
from gateway.runtime.document_actions import Wanted
from gateway.runtime.workspaces import Told
from policy.model import Floor
from policy.vocabulary import Confirm, Effect
from tests.unit.runtime.rig import ADD, Document, Rig, site

COUNT: Final = Descriptor(
    id="todo.count",
    description="Counts them.",
    input_schema={"type": "object", "properties": {"least": {"type": "number"}}, "additionalProperties": False},
    effect=Effect.READ,
    confirm=Confirm.NEVER,
)

INVOKE: Final = {
    "todo.save": InvokeTarget(target="todo.add", result_fields=("id", "done")),
    "todo.count": InvokeTarget(target="todo.count", result_fields=("count",)),
    "ask": InvokeTarget(target="ui.callback", result_fields=("accepted",)),
}


def with_documents(*, expose: tuple[str, ...] = ("ui.*", "todo.*"), **changes: Any) -> dict[str, Any]:
    """Changes of the rig's configuration: the site exposes documents, and the invoke table opens three names."""
    floors = tuple(Floor(pattern=pattern) for pattern in expose)
    given: dict[str, Any] = {"documents": Documents(invoke=INVOKE), **changes}
    return {"sites": {"todo": site(expose=floors), "shop": site("shop", expose=floors)}, **given}


def structured(title: str = "Report", text: str = "Hello") -> dict[str, Any]:
    """A small document that only shows."""
    return {
        "version": "1.0",
        "title": title,
        "root": {"id": "root", "type": "Stack", "props": {}, "children": [word("a", text)]},
    }


def word(name: str, text: str = "Hello") -> dict[str, Any]:
    """A node of one text."""
    return {"id": name, "type": "Text", "props": {"text": text}}


def intelligent() -> dict[str, Any]:
    """A document with a field and three actions that leave the page."""
    return {
        "version": "1.1",
        "title": "Plan",
        "state": {"title": {"type": "string", "default": "milk"}, "n": {"type": "number", "default": 2}},
        "actions": {
            "save": {"type": "invoke", "capability": "todo.save", "args": {"title": {"ref": "title"}}},
            "count": {"type": "invoke", "capability": "todo.count", "args": {"least": {"ref": "n"}}},
            "tell": {"type": "invoke", "capability": "ask", "args": {"text": {"ref": "title"}}},
            "lost": {"type": "invoke", "capability": "nobody.opened", "args": {}},
            "clear": {"type": "reset"},
        },
        "root": {
            "id": "root",
            "type": "Stack",
            "props": {},
            "children": [
                {"id": "in", "type": "Input", "props": {"field": "title", "label": "Title", "kind": "text"}},
                {"id": "go", "type": "Button", "props": {"label": "Save", "action": "save"}},
            ],
        },
    }


def sized(size: int) -> dict[str, Any]:
    """A legal document whose canonical text has exactly `size` bytes."""
    texts: list[dict[str, Any]] = []
    root: dict[str, Any] = {"id": "root", "type": "Stack", "props": {}, "children": texts}
    made: dict[str, Any] = {**structured(), "root": root}
    while (missing := size - len(json.dumps(made, separators=(",", ":")))) > 0:
        node: dict[str, Any] = {"id": f"n{len(texts):03}", "type": "Markdown", "props": {"text": ""}}
        texts.append(node)
        left = size - len(json.dumps(made, separators=(",", ":")))
        assert left >= 0 or missing < 200, "no room for one more node"
        node["props"]["text"] = "x" * max(0, min(16_000, left if left < 16_300 else left - 300))
    assert len(json.dumps(made, separators=(",", ":"))) == size
    return made


async def a_page(rig: Rig, **changes: Any) -> Document:
    """A page of ann's that declares what the invoke table names."""
    return await rig.page(ADD, COUNT, **changes)


def told(page: Document, op: str) -> list[dict[str, Any]]:
    """The frames of documents of one kind so far."""
    return [frame for frame in page.connection.of("document") if frame["op"] == op]


async def refusal(rig: Rig, session: AgentSession, what: str, arguments: dict[str, Any]) -> GatewayError:
    """Why a call was refused; nothing of it is kept."""
    try:
        await rig.submit(session, f"ui.{what}", arguments)
    except GatewayError as error:
        return error
    raise AssertionError("it was taken")


async def row(rig: Rig, ref: dict[str, Any]) -> ShownDocument:
    """A document as it is kept."""
    found = await rig.store.run(lambda tx: tx.documents.find(ref["generation"]))
    assert found is not None
    return found


class Press:
    """What a person asks for in a document, and what they hear of it."""

    def __init__(self, rig: Rig, page: Document, session: AgentSession, ref: dict[str, Any]) -> None:
        self._rig = rig
        self.page = page
        self.session = session
        self.receipts: list[Told] = []
        self._heard = asyncio.Event()
        self.wanted = Wanted(request="request-1", action="save", values={}, **ref)

    def named(self, **changes: Any) -> "Press":
        """The same with other fields."""
        self.wanted = replace(self.wanted, **changes)
        return self

    async def act(self) -> Any:
        """Press, and wait for the end."""
        async with asyncio.timeout(5):
            return await self._rig.services.document_actions.act(self.page.live, self.wanted, self._hear)

    async def begin(self) -> "asyncio.Task[Any]":
        """Press, and let it go as far as it goes by itself."""
        self._heard.clear()
        task, heard = asyncio.ensure_future(self.act()), asyncio.ensure_future(self._heard.wait())
        async with asyncio.timeout(5):
            await asyncio.wait((task, heard), return_when=asyncio.FIRST_COMPLETED)
        heard.cancel()
        await self._rig.settle()
        return task

    def _hear(self, receipt: Told) -> None:
        self.receipts.append(receipt)
        self._heard.set()

    async def refusal(self) -> GatewayError:
        """Press, and hear why not."""
        try:
            await self.act()
        except GatewayError as error:
            # Its record is written beside the answer.
            await self._rig.settle()
            return error
        raise AssertionError("it was taken")
