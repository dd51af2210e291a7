"""What stays of a call: keyed digests in the trail, and a result for a day, or for an hour once it was read (§14)."""

import hashlib
import hmac

import pytest

from tests.interaction.page.rig import LIST, Page, Rig
from tests.interaction.surface.client import envelope, invoke, post

pytestmark = pytest.mark.anyio

HOUR = 3_600_000


async def ended(rig: Rig, page: Page, token: str) -> str:
    """A call that succeeded; its ref."""
    body = (await post(rig, token, invoke("todo.list"), headers={"Prefer": "wait=0"})).json()
    await page.answer(await page.receive("invoke"), ["private"])
    await page.receive("ack")
    return body["result"]["ref"]


async def test_low_entropy_arguments_cannot_be_guessed_from_the_trail(rig: Rig) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    await ended(rig, page, token)
    (record,) = await rig.records("call.admitted")
    assert record["arguments"] == hmac.new(bytes(32), b"{}", hashlib.sha256).hexdigest()[:32]
    assert record["arguments"] not in hashlib.sha256(b"{}").hexdigest()


@pytest.mark.parametrize(("is_read", "kept_ms"), [(False, 24 * HOUR), (True, HOUR)], ids=["unread", "read"])
async def test_a_result_is_erased_in_time_and_the_status_says_so(rig: Rig, is_read: bool, kept_ms: int) -> None:
    page = await rig.page(LIST)
    _, token = await rig.grant()
    ref = await ended(rig, page, token)
    status = envelope("status", input={"ref": ref})
    if is_read:
        assert (await post(rig, token, status)).json()["result"]["result"] == ["private"]
        rig.clock.advance(1_000)
        await rig.services.spine.drain()
    # Looked for once a minute.
    rig.clock.advance(kept_ms - 61_000)
    await rig.sweep()
    assert await rig.store.run(lambda tx: tx.calls.result_of(ref)) is not None
    rig.clock.advance(61_000)
    await rig.sweep()
    assert await rig.store.run(lambda tx: tx.calls.result_of(ref)) is None
    told = (await post(rig, token, status)).json()["result"]
    assert (told["status"], told["error"]["code"]) == ("succeeded", "result_erased")
