"""The app `handoff`: a note is left, listed, and taken once."""

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from capabilities.contract import AgentTools, HandlerFailed, SessionConflict, SessionSnapshot, TooMuch
from capabilities.shipped import shipped

pytestmark = pytest.mark.anyio

NOTE: dict[str, Any] = {
    "author": "Ada",
    "subject": "Login",
    "summary": "Half done.",
    "next_steps": ["write the test"],
}


@dataclass
class Session:
    """Session data in memory; `meanwhile` changes happen between a read and the write after it."""

    revision: int = 0
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    meanwhile: int = 0
    is_full: bool = False

    async def get(self) -> SessionSnapshot:
        return SessionSnapshot(revision=self.revision, data=self.data)

    async def put(self, data: Mapping[str, Any], *, revision: int) -> int:
        if self.is_full:
            raise TooMuch("session data is larger than 262144 bytes")
        if self.meanwhile:
            self.meanwhile -= 1
            raise SessionConflict(self.revision)
        assert revision == self.revision
        self.revision, self.data = revision + 1, data
        return self.revision


@dataclass
class Context:
    """As much of a handler's context as this app touches."""

    session: Session = field(default_factory=Session)

    def now(self) -> datetime:
        return datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def tools() -> AgentTools:
    spec = importlib.util.spec_from_file_location("shipped_handoff", shipped()["handoff"] / "handoff.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    declared: AgentTools = module.TOOLS
    return declared


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def run(tools: AgentTools, context: Context, method: str, **arguments: Any) -> dict[str, Any]:
    return await tools.run(f"handoff.{method}", arguments, context)  # pyright: ignore[reportArgumentType]


async def test_a_note_is_left_and_taken(tools: AgentTools) -> None:
    context = Context()
    assert await run(tools, context, "leave", **NOTE) == {"number": 1, "open": 1}
    listed = await run(tools, context, "list")
    assert [(n["number"], n["author"], n["subject"]) for n in listed["notes"]] == [(1, "Ada", "Login")]
    taken = await run(tools, context, "take", by="Bob")
    assert (taken["summary"], taken["next_steps"]) == ("Half done.", ["write the test"])
    assert (taken["taken_by"], taken["taken_at"]) == ("Bob", "2026-01-02T03:04:05+00:00")
    assert await run(tools, context, "list") == {"notes": []}
    assert [n["taken_by"] for n in (await run(tools, context, "list", state="taken"))["notes"]] == ["Bob"]


async def test_a_note_is_taken_once(tools: AgentTools) -> None:
    context = Context()
    await run(tools, context, "leave", **NOTE)
    await run(tools, context, "take", by="Bob", number=1)
    with pytest.raises(HandlerFailed, match="note 1 was taken by Bob"):
        await run(tools, context, "take", by="Eve", number=1)
    with pytest.raises(HandlerFailed, match="no note waits"):
        await run(tools, context, "take", by="Eve")
    with pytest.raises(HandlerFailed, match="there is no note 7"):
        await run(tools, context, "take", by="Eve", number=7)


async def test_the_note_that_waits_longest_comes_first(tools: AgentTools) -> None:
    context = Context()
    for subject in ("one", "two"):
        await run(tools, context, "leave", **{**NOTE, "subject": subject})
    assert (await run(tools, context, "take", by="Bob"))["subject"] == "one"


async def test_fifty_notes_may_wait_and_no_more(tools: AgentTools) -> None:
    context = Context()
    for _ in range(50):
        await run(tools, context, "leave", **NOTE)
    with pytest.raises(HandlerFailed, match="50 notes wait already"):
        await run(tools, context, "leave", **NOTE)
    await run(tools, context, "take", by="Bob")
    assert (await run(tools, context, "leave", **NOTE))["number"] == 51


async def test_the_oldest_taken_notes_go(tools: AgentTools) -> None:
    context = Context()
    for _ in range(52):
        await run(tools, context, "leave", **NOTE)
        await run(tools, context, "take", by="Bob")
    taken = (await run(tools, context, "list", state="taken"))["notes"]
    assert [note["number"] for note in taken] == list(range(3, 53))


async def test_a_change_meanwhile_is_met_by_another_try(tools: AgentTools) -> None:
    context = Context(Session(meanwhile=3))
    assert (await run(tools, context, "leave", **NOTE))["number"] == 1
    with pytest.raises(HandlerFailed, match="too many calls"):
        await run(tools, Context(Session(meanwhile=99)), "leave", **NOTE)


async def test_notes_that_are_too_much_are_refused_in_words(tools: AgentTools) -> None:
    with pytest.raises(HandlerFailed, match="are full"):
        await run(tools, Context(Session(is_full=True)), "leave", **NOTE)


async def test_a_note_without_an_author_is_refused(tools: AgentTools) -> None:
    with pytest.raises(HandlerFailed, match="author"):
        await run(tools, Context(), "leave", subject="Login", summary="Half done.")
