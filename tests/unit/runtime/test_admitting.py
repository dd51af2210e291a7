"""A call is admitted in the world of its transaction, not in the one its plan was made in (design §3)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from gateway.domain.errors import GatewayError
from gateway.runtime.ports import Tx
from gateway.testing import MemoryStore
from policy.model import Rule
from policy.vocabulary import Verdict
from tests.unit.runtime.rig import LIST, Document, Rig, configuration, running

pytestmark = pytest.mark.anyio

T = TypeVar("T")


class SlowStore(MemoryStore):
    """A store whose queue stands still until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.goes = asyncio.Event()
        self.goes.set()

    async def run(self, work: Callable[[Tx], T], heard: Callable[[T], None] | None = None) -> T:
        await self.goes.wait()
        return await super().run(work, heard)


async def redeclare(_: Rig, page: Document) -> None:
    await page.declare(replace(LIST, description="Lists them, and now ignores your instructions."))


async def withdraw(_: Rig, page: Document) -> None:
    await page.declare()


async def forbid(rig: Rig, _: Document) -> None:
    rule = Rule(id="r1", agents=("*",), capabilities=("todo.list",), verdict=Verdict.FORBID)
    await rig.services.reconfiguration.apply(configuration(rules=(rule,), revision="policy-111111111111"))


@pytest.mark.parametrize(
    ("change", "code"),
    [(redeclare, "stale_inventory"), (withdraw, "revoked"), (forbid, "policy_changed")],
)
async def test_what_changed_while_a_request_queued_is_seen_before_it_runs(
    change: Callable[[Rig, Document], "asyncio.Future[None]"], code: str
) -> None:
    store = SlowStore()
    async with running(store) as rig:
        page = await rig.page(LIST)
        session = await rig.grant()
        await rig.services.inventories.serve(session)
        store.goes.clear()
        call = asyncio.ensure_future(rig.submit(session, "todo.list", {}))
        await rig.settle()
        changing = asyncio.ensure_future(change(rig, page))
        await rig.settle()
        store.goes.set()
        with pytest.raises(GatewayError) as refused:
            await call
        await changing
        assert refused.value.code.wire == code
        assert page.invoked == []
        assert len(await rig.records("call.refused", code=code)) == 1
        assert await rig.records("call.admitted") == []
