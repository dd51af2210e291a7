"""What one session may keep waiting at this door: so many requests, and a place is free again however one leaves."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.interaction.page.rig import ADD, Page, Rig, running
from tests.interaction.surface.client import envelope, invoke, post

pytestmark = pytest.mark.anyio

NO_WAIT = {"Prefer": "wait=0"}


@dataclass(frozen=True)
class Asked:
    """A request that waits for its person, and what the person sees."""

    rig: Rig
    page: Page
    token: str
    answer: asyncio.Task[httpx.Response]
    shown: dict[str, Any]

    @property
    def ref(self) -> str:
        """Of its call."""
        return json.loads(self.shown["payload"])["ref"]

    async def is_answered(self) -> None:
        await self.page.decide(self.shown, "deny")
        await self.answer

    async def is_cancelled(self) -> None:
        await post(self.rig, self.token, envelope("cancel", input={"ref": self.ref}))
        await self.answer

    async def hangs_up(self) -> None:
        self.answer.cancel()
        assert (await self.page.receive("approve_update"))["state"] == "agent_left"


@asynccontextmanager
async def asked(rig: Rig, page: Page, token: str, title: str) -> AsyncGenerator[Asked]:
    """Ask, and leave with the block."""
    answer = asyncio.create_task(post(rig, token, invoke("todo.add", title=title)))
    try:
        yield Asked(rig, page, token, answer, await page.receive("approve_request"))
    finally:
        answer.cancel()
        with suppress(asyncio.CancelledError):
            await answer


async def find_no_place(rig: Rig, token: str, value: Any) -> None:
    """`value` is refused."""
    answer = await post(rig, token, value)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
    assert answer.headers["retry-after"]


@pytest.mark.parametrize("leave", [Asked.is_answered, Asked.is_cancelled, Asked.hangs_up])
async def test_the_requests_of_one_session_that_wait_have_an_end(leave: Callable[[Asked], Awaitable[None]]) -> None:
    async with running(waiting_per_session=2) as rig:
        page = await rig.page(ADD)
        session, token = await rig.grant()
        async with asked(rig, page, token, "first") as first, asked(rig, page, token, "second"):
            await find_no_place(rig, token, invoke("todo.add", title="third"))
            (record,) = await rig.records("access.refused", door="surface", code="busy")
            assert (record["agent"], record["session"]) == ("alice", session.id)
            assert len(await rig.records("call.admitted")) == 2
            await leave(first)
            async with asked(rig, page, token, "third"):
                await find_no_place(rig, token, invoke("todo.add", title="fourth"))


async def test_to_wait_for_a_status_takes_a_place_and_to_ask_for_one_takes_none() -> None:
    async with running(waiting_per_session=1) as rig:
        page = await rig.page(ADD)
        _, token = await rig.grant()
        async with asked(rig, page, token, "first") as first:
            status = {"ref": first.ref}
            await find_no_place(rig, token, envelope("status", input={**status, "wait": 25}))
            assert len(await rig.records("access.refused", door="surface", code="busy")) == 1
            told = await post(rig, token, envelope("status", input=status))
            assert told.json()["result"]["pending"] is True
            begun = await post(rig, token, invoke("todo.add", title="second"), headers=NO_WAIT)
            assert begun.json()["result"]["pending"] is True


async def test_each_session_has_places_of_its_own() -> None:
    async with running(waiting_per_session=1) as rig:
        page = await rig.page(ADD)
        tokens = [(await rig.grant())[1] for _ in range(2)]
        async with asked(rig, page, tokens[0], "first"), asked(rig, page, tokens[1], "second"):
            assert not await rig.records("access.refused")
