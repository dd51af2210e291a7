"""From a call to a consumer's door: what is posted, what never is, and what outlives a gateway."""

import asyncio
import base64
import hmac
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.adapters.webhook import SecretRefused, key_of
from gateway.settings import Outbox, Webhook
from tests.support.databases import database
from tests.support.webhook import KEY, Consumer, Post, consuming
from tests.support.whole_gateway import Whole, serving

__all__ = ["database"]

pytestmark = pytest.mark.anyio

VARIABLE = "OSTIARY_TEST_SECRET"


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, KEY)


def to(consumer: Consumer, **changes: Any) -> Outbox:
    webhook = Webhook(url=consumer.url, secret_env=VARIABLE, timeout_ms=2_000)
    return replace(Outbox(webhook=webhook, pause_ms=100), **changes)


async def echo(whole: Whole, text: str, **more: Any) -> dict[str, Any]:
    envelope: dict[str, Any] = {
        "protocol": "pling.surface/0.1",
        "id": "r",
        "method": "invoke",
        "capability": "runtime.echo",
        "input": {"text": text},
        **more,
    }
    now = whole.gateway.services.clock.now()
    headers = {
        "authorization": f"Bearer {whole.token}",
        "ostiary-nonce": whole.gateway.services.ids.secret(),
        "ostiary-timestamp": str(now),
    }
    answer = await whole.client.post(f"{whole.origin}/surface/v1", json=envelope, headers=headers)
    told: dict[str, Any] = answer.json()
    assert told["ok"], told
    return told


async def test_a_call_is_told_from_its_first_receipt_to_its_end(tmp_path: Path) -> None:
    async with consuming() as consumer, serving(tmp_path, outbox=to(consumer)) as whole:
        await echo(whole, "MARKER-7731", call_id="order-0815")
        accepted, ended = await consumer.has(2)
    ref = ended["subject"]
    assert (accepted["type"], accepted["id"]) == ("dev.ostiary.call.receipt", f"{ref}:receipt:1")
    assert (ended["type"], ended["id"]) == ("dev.ostiary.call.ended", f"{ref}:end")
    assert ended["source"] == whole.gateway.services.live.world.configuration.server.public_url
    assert ended["partitionkey"] == whole.session.conversation
    at = ended["data"].pop("at")
    assert isinstance(at, int)
    assert ended["data"] == {
        "ref": ref,
        "call_id": "order-0815",
        "agent": "coder",
        "capability": "runtime.echo",
        "status": "succeeded",
    }


async def test_arguments_results_users_and_sessions_never_leave(tmp_path: Path) -> None:
    async with consuming() as consumer, serving(tmp_path, outbox=to(consumer)) as whole:
        await echo(whole, "MARKER-7731")
        await consumer.has(2)
        everything = "".join(post.body.decode() + json.dumps(post.headers) for post in consumer.posts)
    for never in ("MARKER-7731", whole.token, KEY, '"ada"'):
        assert never not in everything


async def test_results_leave_where_the_setting_says_so_and_arguments_never(tmp_path: Path) -> None:
    async with consuming() as consumer, serving(tmp_path, outbox=to(consumer, include_results=True)) as whole:
        await echo(whole, "MARKER-7731")
        accepted, ended = await consumer.has(2)
    assert "MARKER-7731" not in json.dumps(accepted)
    assert ended["data"]["result"] == {"text": "MARKER-7731"}


async def test_each_post_is_signed_with_the_secret_of_the_environment(tmp_path: Path) -> None:
    async with consuming() as consumer, serving(tmp_path, outbox=to(consumer)) as whole:
        await echo(whole, "x")
        await consumer.has(2)
    for post in consumer.posts:
        signed = f"{post.headers['webhook-id']}.{post.headers['webhook-timestamp']}.".encode() + post.body
        wanted = base64.b64encode(hmac.digest(key_of(KEY), signed, "sha256")).decode()
        assert post.headers["webhook-signature"] == f"v1,{wanted}"


async def test_a_consumer_that_fails_is_asked_again_and_keeps_its_order(tmp_path: Path) -> None:
    answers = iter([b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n"] * 2)

    def answer(_: Post) -> bytes:
        return next(answers, b"HTTP/1.1 204 No Content\r\n\r\n")

    async with consuming(answer) as consumer, serving(tmp_path, outbox=to(consumer)) as whole:
        await echo(whole, "x")
        events = await consumer.has(4)
    first, second = events[0]["id"], events[3]["id"]
    assert [event["id"] for event in events] == [first, first, first, second]
    assert len({post.body for post in consumer.posts[:3]}) == 1


async def test_a_consumer_that_is_silent_holds_up_no_call(tmp_path: Path) -> None:
    async with consuming(lambda _: None) as consumer, serving(tmp_path, outbox=to(consumer)) as whole:
        async with asyncio.timeout(5):
            for number in range(20):
                await echo(whole, str(number))
        assert len(consumer.posts) == 1


async def test_what_was_not_delivered_when_the_gateway_stopped_goes_on_with_the_next(tmp_path: Path) -> None:
    async with consuming() as gone:
        pass
    async with serving(tmp_path, outbox=to(gone)) as whole:
        await echo(whole, "x")
    async with consuming() as consumer:
        async with serving(tmp_path, outbox=to(consumer)):
            events = await consumer.has(2)
        assert [event["type"] for event in events] == ["dev.ostiary.call.receipt", "dev.ostiary.call.ended"]


async def test_a_dead_letter_is_listed_audited_and_sent_again_when_somebody_says_so(tmp_path: Path) -> None:
    is_down = True

    def answer(_: Post) -> bytes:
        return b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n" if is_down else b"HTTP/1.1 204 No Content\r\n\r\n"

    async with consuming(answer) as consumer, serving(tmp_path, outbox=to(consumer, attempts=1)) as whole:
        await echo(whole, "x")
        await consumer.has(2)
        letters = whole.gateway.services.admin.dead_letters
        async with asyncio.timeout(5):
            while len(await whole.records("outbox.given_up")) < 2:  # noqa: ASYNC110 - the relay tells nobody
                await asyncio.sleep(0.01)
        is_down = False
        assert await letters.requeue_all(by="local:ada") == 2
        events = await consumer.has(4)
    assert [event["id"] for event in events[2:]] == [event["id"] for event in events[:2]]


async def test_without_a_consumer_nothing_is_written(tmp_path: Path) -> None:
    async with serving(tmp_path) as whole:
        await echo(whole, "x")
        counts = await whole.gateway.services.spine.store.run(lambda tx: tx.outbox.counts())
        assert set(counts.values()) == {0}


@pytest.mark.parametrize("value", ["", "short"])
async def test_a_gateway_without_a_good_secret_does_not_come_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    async with consuming() as consumer:
        with pytest.raises(SecretRefused, match=VARIABLE):
            async with serving(tmp_path, outbox=to(consumer)):
                pass
    assert consumer.posts == []


async def test_an_outage_of_the_consumer_is_no_outage_of_health(tmp_path: Path) -> None:
    async with consuming() as gone:
        pass
    async with serving(tmp_path, outbox=to(gone)) as whole:
        await echo(whole, "x")
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{whole.origin}/readyz")).status_code == 200
