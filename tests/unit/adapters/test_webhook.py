"""The webhook sink against a consumer on a real socket: what is posted, what counts as taken, what is never done."""

import asyncio
import base64
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gateway.adapters.webhook import SECRET_BYTES, SecretRefused, WebhookSink, key_of
from gateway.domain.outbox import Undelivered
from tests.contract.samples import NOW, an_entry
from tests.support.webhook import Consumer, Post, consuming

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
KEY = b"k" * 32


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def sink(consumer: Consumer, **changes: Any) -> WebhookSink:
    given: dict[str, Any] = {
        "url": consumer.url,
        "key": KEY,
        "public_url": "https://gate.test",
        "version": "9",
        "timeout_ms": 2_000,
        "now": lambda: NOW,
        **changes,
    }
    return WebhookSink(**given)


def example() -> ModuleType:
    """The consumer the documentation shows."""
    spec = importlib.util.spec_from_file_location(
        "webhook_consumer", ROOT / "docs" / "examples" / "webhook_consumer.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def saying(text: bytes | None) -> Callable[[Post], bytes | None]:
    """A consumer with one answer to everything."""

    def answer(_: Post) -> bytes | None:
        return text

    return answer


def status(line: str, *headers: str) -> Callable[[Post], bytes | None]:
    return saying("\r\n".join([f"HTTP/1.1 {line}", "Content-Length: 0", *headers, "", ""]).encode())


async def test_an_entry_is_posted_as_a_cloud_event() -> None:
    async with consuming() as consumer, sink(consumer) as hook:
        traceparent = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
        assert await hook.deliver(an_entry(traceparent=traceparent)) is None
        [post] = consumer.posts
        assert post.line == "POST /hook?of=ostiary HTTP/1.1"
        assert post.headers["content-type"] == "application/cloudevents+json"
        assert post.headers["user-agent"] == "ostiary/9"
        assert post.event == {
            "specversion": "1.0",
            "id": "call_1:end",
            "source": "https://gate.test",
            "type": "dev.ostiary.call.ended",
            "subject": "call_1",
            "time": "2023-11-14T22:13:20.000Z",
            "partitionkey": "ses_1",
            "datacontenttype": "application/json",
            "data": {"ref": "call_1", "status": "succeeded"},
            "traceparent": traceparent,
        }


async def test_what_an_app_emitted_names_the_app_as_its_source() -> None:
    async with consuming() as consumer, sink(consumer) as hook:
        await hook.deliver(an_entry(app="com.example.orders", type="order.submitted"))
        assert consumer.events[0]["source"] == "https://gate.test/apps/com.example.orders"
        assert consumer.events[0]["type"] == "order.submitted"


async def test_the_documented_consumer_takes_the_signature_and_refuses_a_changed_post() -> None:
    is_ours = example().is_ours
    async with consuming() as consumer, sink(consumer) as hook:
        await hook.deliver(an_entry())
        [post] = consumer.posts
        now = NOW / 1_000
        assert is_ours(KEY, post.headers, post.body, now)
        assert not is_ours(b"x" * 32, post.headers, post.body, now)
        assert not is_ours(KEY, post.headers, post.body + b" ", now)
        assert not is_ours(KEY, {**post.headers, "webhook-id": "call_2:end"}, post.body, now)
        assert is_ours(KEY, post.headers, post.body, now + 300)
        assert not is_ours(KEY, post.headers, post.body, now + 301)


async def test_a_repeat_is_the_same_event_signed_anew() -> None:
    clock = [NOW]
    async with consuming() as consumer, sink(consumer, now=lambda: clock[0]) as hook:
        await hook.deliver(an_entry())
        clock[0] += 60_000
        await hook.deliver(an_entry(attempts=2, holder="lease_2", due_at=NOW, error="no answer in time"))
        first, second = consumer.posts
        assert first.body == second.body
        assert first.headers["webhook-id"] == second.headers["webhook-id"] == "call_1:end"
        assert first.headers["webhook-signature"] != second.headers["webhook-signature"]


@pytest.mark.parametrize("line", ["200 OK", "202 Accepted", "299 Whatever"])
async def test_a_2xx_takes_it(line: str) -> None:
    async with consuming(status(line)) as consumer, sink(consumer) as hook:
        assert await hook.deliver(an_entry()) is None


@pytest.mark.parametrize("line", ["400 Bad Request", "404 Not Found", "410 Gone", "500 No", "503 Later"])
async def test_any_other_status_is_a_failed_attempt(line: str) -> None:
    async with consuming(status(line)) as consumer, sink(consumer) as hook:
        assert await hook.deliver(an_entry()) == Undelivered(error=f"it answered {line[:3]}")


async def test_a_redirect_is_not_followed() -> None:
    async with (
        consuming() as elsewhere,
        consuming(status("307 Over There", f"Location: {elsewhere.url}")) as consumer,
    ):
        async with sink(consumer) as hook:
            assert await hook.deliver(an_entry()) == Undelivered(error="it answered 307")
        assert elsewhere.posts == []


async def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async with consuming() as proxy, consuming() as consumer:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        async with sink(consumer) as hook:
            assert await hook.deliver(an_entry()) is None
        assert (len(consumer.posts), proxy.posts) == (1, [])


@pytest.mark.parametrize(
    ("told", "pause_ms"),
    [
        ("7", 7_000),
        ("0", 0),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60_000),
        ("Tue, 14 Nov 2023 22:13:00 GMT", 0),
        ("soon", 0),
        ("-5", 0),
        ("9" * 40, 0),
    ],
)
async def test_retry_after_is_heeded(told: str, pause_ms: int) -> None:
    async with consuming(status("429 Slower", f"Retry-After: {told}")) as consumer, sink(consumer) as hook:
        assert await hook.deliver(an_entry()) == Undelivered(error="it answered 429", pause_ms=pause_ms)


async def test_silence_ends_with_the_time_limit() -> None:
    async with consuming(saying(None)) as consumer, sink(consumer, timeout_ms=100) as hook:
        assert await hook.deliver(an_entry()) == Undelivered(error="no answer in time")


async def test_an_endless_answer_is_not_read() -> None:
    endless = saying(b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n" + b"x" * 1_000_000)
    async with consuming(endless) as consumer, sink(consumer) as hook, asyncio.timeout(2):
        assert await hook.deliver(an_entry()) is None


async def test_nobody_there_and_no_http_are_failed_attempts() -> None:
    async with consuming() as gone:
        pass
    async with sink(gone) as hook:
        assert await hook.deliver(an_entry()) == Undelivered(error="no connection: ConnectError")
    async with consuming(saying(b"nonsense\r\n\r\n")) as consumer, sink(consumer) as hook:
        failed = await hook.deliver(an_entry())
        assert failed is not None
        assert failed.error.startswith("no connection: ")


def test_a_secret_is_base64_after_its_mark_and_itself_without() -> None:
    assert key_of("whsec_" + base64.b64encode(KEY).decode()) == KEY
    assert key_of("a" * SECRET_BYTES) == b"a" * SECRET_BYTES


@pytest.mark.parametrize(
    "secret", ["a" * (SECRET_BYTES - 1), "whsec_" + base64.b64encode(b"short").decode(), "whsec_%%%%"]
)
def test_a_poor_secret_is_refused_without_being_quoted(secret: str) -> None:
    with pytest.raises(SecretRefused) as refused:
        key_of(secret)
    assert secret not in str(refused.value)


def test_the_how_to_shows_the_example_as_it_is() -> None:
    shown = (ROOT / "docs" / "how-to" / "webhook.md").read_text().split("```python\n")[1].split("```")[0]
    assert shown in (ROOT / "docs" / "examples" / "webhook_consumer.py").read_text()


async def test_a_post_says_nothing_of_attempts_or_holders() -> None:
    async with consuming() as consumer, sink(consumer) as hook:
        await hook.deliver(an_entry(attempts=3, holder="lease_secret", error="it answered 500"))
        post: Post = consumer.posts[0]
        assert "lease_secret" not in post.body.decode() + json.dumps(post.headers)
