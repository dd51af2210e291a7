"""C10: the memory of a nonce is longer than the window of its stamp.

Differs from the case: nonce and stamp travel in headers, the stamp in milliseconds; the nonce is one per
transmission and the call_id one per call (rules J), padded to eight characters.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.testing import FakeClock
from tests.contract.stores import SqliteOpener
from tests.interaction.page.rig import LIST, Page, Rig, running
from tests.interaction.surface.client import invoke, post

pytestmark = pytest.mark.anyio

CASE = json.loads((Path(__file__).parent / "input.json").read_text())
SKEW, AGE = CASE["skew_s"] * 1_000, CASE["max_age_s"] * 1_000
COUNTER = {**LIST, "id": CASE["envelope"]["capability"]}
NONCE = "n-0001-000000000"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running() as running_rig:
        yield running_rig


async def transmit(rig: Rig, token: str, stamp: int | str, call_id: str = "rp-1-000", nonce: str = NONCE) -> Any:
    envelope = {**invoke("counter.add"), "call_id": call_id}
    return await post(
        rig, token, envelope, nonce=nonce, headers={"Ostiary-Timestamp": str(stamp), "Prefer": "wait=0"}
    )


async def runs(page: Page) -> int:
    """How often the page was asked so far."""
    await page.declare(COUNTER, seq=99)
    count = 0
    while page.has("invoke"):
        await page.receive("invoke")
        count += 1
    return count


async def test_a_stamp_ahead_of_time_is_used_once_for_as_long_as_it_is_acceptable(rig: Rig) -> None:
    page = await rig.page(COUNTER)
    _, token = await rig.grant()
    stamp = rig.clock.now() + SKEW - 10_000
    assert (await transmit(rig, token, stamp)).status_code == 200  # E1

    rig.clock.advance(stamp + AGE - 1_000 - rig.clock.now())
    await rig.sweep()  # forgets the nonces that are due
    replay = await transmit(rig, token, stamp)  # E2
    assert (replay.status_code, replay.json()["error"]["code"]) == (409, "REPLAY_DETECTED")

    for beyond in (0, 1_000):  # E3
        rig.clock.advance(stamp + AGE + beyond - rig.clock.now())
        await rig.sweep()
        assert (await transmit(rig, token, stamp)).json()["ok"] is False
    assert await rig.records("access.refused", code="call_too_old")
    assert await runs(page) == 1
    assert len(await rig.records("call.admitted")) == 1


async def test_a_stamp_too_far_ahead_is_refused_and_its_nonce_stays_free(rig: Rig) -> None:
    await rig.page(COUNTER)
    _, token = await rig.grant()
    refused = await transmit(rig, token, rig.clock.now() + SKEW + 1_000)  # E4
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "clock_skew")
    assert await rig.records("access.refused", door="surface", code="clock_skew")
    assert (await transmit(rig, token, rig.clock.now())).status_code == 200


@pytest.mark.parametrize("stamp", CASE["bad_expiry"])
async def test_a_stamp_in_another_unit_or_form_is_never_valid_for_ages(rig: Rig, stamp: Any) -> None:
    page = await rig.page(COUNTER)
    _, token = await rig.grant()
    refused = await transmit(rig, token, stamp)  # E5
    assert refused.status_code == 400
    assert refused.json()["error"]["code"] in ("BAD_REQUEST", "clock_skew")
    assert await runs(page) == 0


async def test_a_stamp_in_seconds_is_refused(rig: Rig) -> None:
    await rig.page(COUNTER)
    _, token = await rig.grant()
    refused = await transmit(rig, token, rig.clock.now() // 1_000)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "call_too_old")


async def test_the_same_nonce_of_another_agent_is_another_nonce(rig: Rig) -> None:
    page = await rig.page(COUNTER)
    (_, alice), (_, bob) = await rig.grant("alice"), await rig.grant("bob")
    stamp = rig.clock.now()
    assert (await transmit(rig, alice, stamp)).status_code == 200
    assert (await transmit(rig, bob, stamp)).status_code == 200  # E6
    assert await runs(page) == 2


async def test_a_restart_forgets_no_nonce(tmp_path: Path) -> None:
    opener = SqliteOpener(tmp_path / "ostiary.sqlite3")
    clock = FakeClock()
    store = opener()
    async with running(store, clock) as rig:
        await rig.page(COUNTER)
        _, token = await rig.grant()
        stamp = clock.now() + SKEW - 10_000
        assert (await transmit(rig, token, stamp)).status_code == 200
    await store.close()
    store = opener()
    async with running(store, clock) as rig:
        page = await rig.page(COUNTER)
        replay = await transmit(rig, token, stamp)  # E7
        assert (replay.status_code, replay.json()["error"]["code"]) == (409, "REPLAY_DETECTED")
        assert await runs(page) == 0
    await store.close()


async def test_refused_stamps_do_not_fill_the_store(rig: Rig) -> None:
    await rig.page(COUNTER)
    _, token = await rig.grant()
    for number in range(100):
        nonce = f"flood-{number:010d}"
        await transmit(rig, token, rig.clock.now() + SKEW + 1_000, nonce=nonce)
    free = await rig.store.run(lambda tx: tx.nonces.purge(2**62, 100))
    assert free == 0
