"""A mini app in Python under load: it notes every call it does in a file of the rig, dies at some, and hangs at others."""

from collections import Counter
from pathlib import Path
from typing import Final

from gateway.bootstrap import Gateway
from tests.support.python_apps import packed

APP: Final = "com.example.press"
RUN: Final = "press.run"

_MODULE: Final = """
import asyncio, os

from capabilities.contract import Confirm, Effect, agent_tools, python_tool

NOTES = {notes!r}
TITLED = {{"type": "object", "properties": {{"title": {{"type": "string"}}}}, "required": ["title"]}}
DONE = {{"type": "object", "properties": {{"done": {{"type": "string"}}}}, "required": ["done"]}}


async def run(arguments, context):
    notes = os.open(NOTES, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(notes, context.ref.encode() + b" ")
    os.close(notes)
    title = arguments["title"]
    if title.startswith("die"):
        os._exit(1)
    if title.startswith("hang"):
        await asyncio.Event().wait()
    await context.progress(1, 2, "half")
    await context.emit("press.done", {{"title": title}})
    return {{"done": title}}


TOOLS = agent_tools(
    app="com.example.press", name="Press", version="1.0.0", description="Presses.",
    tools=[python_tool(
        "press.run", run, title="Press", description="Presses.", input=TITLED, output=DONE,
        effect=Effect.READ, confirm=Confirm.NEVER, timeout_ms=1_000,
    )],
)
"""


def notes_of(data: Path) -> Path:
    """Where the app of the gateway over `data` notes what it does."""
    return data.parent / "pressed"


async def install(gateway: Gateway, data: Path) -> None:
    """Install the app and enable it, once in a lineage."""
    package = await packed(data.parent, _MODULE.format(notes=str(notes_of(data))), "press")
    await gateway.services.mini_apps.install(package, by="rig")
    await gateway.services.mini_apps.enable(APP, by="rig")


def pressed(data: Path) -> Counter[str]:
    """How often the app did the work of each ref, through all lives."""
    notes = notes_of(data)
    return Counter(notes.read_text().split()) if notes.exists() else Counter()
