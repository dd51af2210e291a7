"""Bad frames: answered, noted, survived. The first frame is `hello`, and it is small."""

import asyncio
import json

import pytest

from gateway.transports.page_ws import endpoint
from tests.interaction.page.rig import LIST, Page, Rig, hello
from tests.support.in_loop import until

pytestmark = pytest.mark.anyio

BAD = {
    "not json": ("{", "bad_json"),
    "a list": ("[]", "bad_request"),
    "an unknown type": ('{"type":"eval","script":"1"}', "bad_request"),
    "an unknown field": ('{"type":"started","ref":"call_a","now":1}', "bad_request"),
    "a repeated key": ('{"type":"started","ref":"call_a","ref":"call_b"}', "bad_json"),
    "half a surrogate pair": ('{"type":"bye","why":"\\ud800"}', "bad_json"),
    "NaN": ('{"type":"progress","ref":"call_a","n":NaN}', "bad_json"),
    "beyond 2^53": ('{"type":"pong","n":9007199254740992,"visibility":"visible"}', "unsafe_integer"),
    "too deep": ('{"type":"surface","id":"1","envelope":' + "[" * 200 + "]" * 200 + "}", "too_deep"),
    "a second hello": (json.dumps(hello("A" * 16, "t")), "bad_request"),
}


@pytest.mark.parametrize("text", BAD)
async def test_a_bad_frame_is_answered_and_the_socket_stays_open(rig: Rig, text: str) -> None:
    page = await rig.page(LIST)
    await page.socket.send(BAD[text][0])
    assert (await page.receive("error"))["code"] == BAD[text][1]
    assert await rig.records("frame.refused", peer=page.welcome["page"], code=BAD[text][1])
    assert (await page.declare(LIST, seq=2))["accepted"]


async def test_a_binary_message_is_refused(rig: Rig) -> None:
    page = await rig.page(LIST)
    await page.socket.send(b'{"type":"pong","n":0,"visibility":"hidden"}')
    assert (await page.receive("error"))["code"] == "bad_request"
    assert await rig.records("frame.refused", peer=page.welcome["page"])
    assert (await page.declare(LIST, seq=2))["accepted"]


async def test_a_flood_of_bad_frames_is_counted_and_not_listed(rig: Rig) -> None:
    page = await rig.page(LIST)
    for _ in range(50):
        await page.socket.send("{")
    for _ in range(50):
        await page.receive("error")
    assert len(await rig.records("frame.refused")) == 20
    rig.clock.advance(60_000)
    await rig.services.refusals.sweep()
    assert await rig.records("access.refusals_counted", further=30, peer=page.welcome["page"])


async def test_a_message_of_an_error_names_the_place_and_never_the_value(rig: Rig) -> None:
    page = await rig.page(LIST)
    await page.send({"type": "pong", "n": "4111111111111111", "visibility": "visible"})
    refusal = await page.receive("error")
    assert "/n" in refusal["message"]
    assert "4111" not in json.dumps(refusal)


async def test_before_welcome_a_frame_is_at_most_16_kib(rig: Rig) -> None:
    page = Page(await rig.socket(), "A" * 16, "ann")
    ticket = await rig.ticket()
    frame = json.dumps(hello(page.document, ticket))
    await page.socket.send(frame[:-1] + " " * (16 * 1024 - len(frame) + 1) + "}")
    assert await page.closed() == 1009
    await until(lambda: rig.records("frame.refused", peer="127.0.0.1", code="body_too_large", closed_with=1009))
    # Exactly at the limit it passes, with the same ticket.
    page = Page(await rig.socket(), "A" * 16, "ann")
    await page.socket.send(frame[:-1] + " " * (16 * 1024 - len(frame)) + "}")
    assert await page.receive("welcome")
    await page.socket.close()


async def test_after_welcome_a_frame_is_at_most_1_25_mib(rig: Rig) -> None:
    page = await rig.page(LIST)
    frame = '{"type":"pong","n":0,"visibility":"hidden"'
    await page.socket.send(frame + " " * (1_310_720 - len(frame) - 1) + "}")
    assert (await page.declare(LIST, seq=2))["accepted"]
    await page.socket.send(frame + " " * (1_310_720 - len(frame)) + "}")
    assert await page.closed() == 1009
    refused = {"peer": page.welcome["page"], "code": "body_too_large", "closed_with": 1009}
    # The peer may hear of the close before the gateway has noted it.
    await until(lambda: rig.records("frame.refused", **refused))


async def test_the_first_frame_is_hello(rig: Rig) -> None:
    page = Page(await rig.socket(), "A" * 16, "ann")
    await page.send({"type": "caps", "seq": 1, "part": 1, "parts": 1, "capabilities": [LIST]})
    assert (await page.receive("error"))["code"] == "bad_request"
    assert not rig.services.live.world.pages
    await page.send(hello(page.document, await rig.ticket()))
    assert await page.receive("welcome")
    await page.socket.close()


async def test_hello_comes_in_time(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "HELLO_SECONDS", 0.05)
    page = Page(await rig.socket(), "A" * 16, "ann")
    assert await page.closed() == 4401
    await until(lambda: rig.records("access.refused", door="page", code="unauthenticated"))


async def test_bad_frames_do_not_buy_time_for_hello(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "HELLO_SECONDS", 0.2)
    page = Page(await rig.socket(), "A" * 16, "ann")

    async def chatter() -> None:
        while True:
            await page.socket.send("{")
            await asyncio.sleep(0.02)

    talking = asyncio.create_task(chatter())
    assert await page.closed() == 4401
    talking.cancel()
