"""Session data belongs to the live app session of the asker, and a wrong revision is refused with the present one."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.domain.instances import Instance, InstanceEvent, InstanceState, step
from gateway.domain.session_data import SessionData, judged
from gateway.domain.workers import Conversation
from gateway.runtime.ports import Tx
from gateway.runtime.session_data import Conflict, live_session, read, write
from gateway.testing import MemoryStore

pytestmark = pytest.mark.anyio

APP = "com.example.orders"
NOW = 1_700_000_000_000
HERE = Conversation("maria", "conv_1")


def an_instance(**changes: Any) -> Instance:
    instance = Instance(
        id="ins_1",
        app=APP,
        digest="d" * 64,
        user="maria",
        conversation="conv_1",
        app_session="as_1",
        state=InstanceState.RUNNING,
        opened_at=0,
    )
    return replace(instance, **changes)


class Kept:
    """A store with one open app, and what it keeps."""

    def __init__(self, store: MemoryStore) -> None:
        self.store = store

    async def get(self, app: str = APP, conversation: Conversation = HERE) -> tuple[int, Any] | None:
        def work(tx: Tx) -> SessionData | None:
            name = live_session(tx, app, conversation)
            return None if name is None else read(tx, app, name, NOW)

        found = await self.store.run(work)
        return None if found is None else (found.revision, json.loads(found.data))

    async def put(
        self, value: object, *, revision: int, app: str = APP, conversation: Conversation = HERE
    ) -> SessionData | Conflict | None:
        text = judged(value)
        assert isinstance(text, str)

        def work(tx: Tx) -> SessionData | Conflict | None:
            name = live_session(tx, app, conversation)
            return None if name is None else write(tx, app, name, text, revision=revision, now=NOW)

        return await self.store.run(work)


@pytest.fixture
async def kept() -> Kept:
    store = MemoryStore()
    await store.run(lambda tx: tx.instances.add(an_instance()))
    return Kept(store)


async def test_nothing_was_written_at_first(kept: Kept) -> None:
    assert await kept.get() == (0, {})


async def test_writes_follow_each_other_by_revision(kept: Kept) -> None:
    for revision in range(3):
        written = await kept.put({"open": revision}, revision=revision)
        assert isinstance(written, SessionData)
        assert written.revision == revision + 1
    assert await kept.get() == (3, {"open": 2})


@pytest.mark.parametrize("revision", [0, 2, 7, -1, 2**53, 2**80])
async def test_a_wrong_revision_is_refused_with_the_present_one(kept: Kept, revision: int) -> None:
    await kept.put({"open": 1}, revision=0)
    refused = await kept.put({"open": 9}, revision=revision)
    assert isinstance(refused, Conflict)
    assert (refused.present.revision, refused.present.data) == (1, '{"open":1}')
    assert await kept.get() == (1, {"open": 1})


@pytest.mark.parametrize(
    ("app", "conversation"),
    [
        ("com.example.other", HERE),
        (APP, Conversation("maria", "conv_2")),
        (APP, Conversation("eve", "conv_1")),
    ],
)
async def test_nobody_else_reads_or_writes_it(kept: Kept, app: str, conversation: Conversation) -> None:
    await kept.put({"open": 1}, revision=0)
    assert await kept.get(app, conversation) is None
    assert await kept.put({}, revision=1, app=app, conversation=conversation) is None
    assert await kept.get() == (1, {"open": 1})


async def test_a_closed_app_session_is_not_written_any_more(kept: Kept) -> None:
    await kept.put({"open": 1}, revision=0)
    closed = step(an_instance(), InstanceEvent.CLOSE, now=NOW, reason="closed")
    await kept.store.run(lambda tx: tx.instances.save(closed, was=InstanceState.RUNNING))
    assert await kept.put({"open": 2}, revision=1) is None
    # The next one begins with nothing.
    await kept.store.run(lambda tx: tx.instances.add(an_instance(id="ins_2", app_session="as_2")))
    assert await kept.get() == (0, {})
