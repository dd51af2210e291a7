"""The outbox's consumer at an http address of the administrator's own: one signed POST an event.

Headers and signature are those of Standard Webhooks, so that a consumer verifies with any of its libraries:
`webhook-signature: v1,` and the base64 of HMAC-SHA-256 over `id.timestamp.body`. The timestamp is that of the attempt.
The address is never taken from anybody but the configuration, no redirect is followed, no proxy of the environment is
asked, and what the consumer says beside its status is not read.
"""

import base64
import binascii
import hmac
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Final

import httpx

from gateway.domain.outbox import OutboxEntry, Undelivered
from gateway.protocol.outbox_event import CONTENT_TYPE, body_of

SECRET_BYTES: Final = 24
"""Shortest secret."""

_ENCODED: Final = "whsec_"


class SecretRefused(ValueError):
    """The secret will not do; the message says why and holds nothing of it."""


def key_of(secret: str) -> bytes:
    """The key of a secret: the base64 after `whsec_`, or else the bytes of the text itself.

    Raises:
        SecretRefused: it is too short, or not base64 after all.
    """
    try:
        encoded = secret.removeprefix(_ENCODED)
        key = base64.b64decode(encoded, validate=True) if encoded != secret else secret.encode()
    except binascii.Error:
        raise SecretRefused(f"after `{_ENCODED}` the secret is not base64") from None
    if len(key) < SECRET_BYTES:
        raise SecretRefused(f"the secret has {len(key)} bytes; {SECRET_BYTES} are the least")
    return key


def _trust() -> ssl.SSLContext:
    """The usual authorities, those of the system, and whatever `SSL_CERT_FILE` names."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


class WebhookSink:
    """`Sink` over HTTP. `now` is the wall clock in milliseconds: consumers compare the stamp with theirs."""

    def __init__(
        self, *, url: str, key: bytes, public_url: str, version: str, timeout_ms: int, now: Callable[[], int]
    ) -> None:
        self._url = url
        self._key = key
        self._public_url = public_url
        self._now = now
        seconds = timeout_ms / 1_000
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(seconds, connect=min(seconds, 5.0)),
            verify=_trust(),
            follow_redirects=False,
            trust_env=False,
            headers={"User-Agent": f"ostiary/{version}", "Content-Type": CONTENT_TYPE},
        )

    async def __aenter__(self) -> "WebhookSink":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def deliver(self, entry: OutboxEntry) -> Undelivered | None:
        """Post it; anything but a 2xx is a failed attempt, whose `Retry-After` is heeded."""
        body = body_of(entry, self._public_url)
        try:
            # The body of the answer is never read: it could be endless.
            async with self._client.stream(
                "POST", self._url, content=body, headers=self._signed(entry, body)
            ) as answer:
                return None if answer.is_success else self._refused(answer)
        except httpx.TimeoutException:
            return Undelivered(error="no answer in time")
        except httpx.HTTPError as error:
            return Undelivered(error=f"no connection: {type(error).__name__}")

    def _signed(self, entry: OutboxEntry, body: bytes) -> dict[str, str]:
        stamp = str(self._now() // 1_000)
        signature = hmac.digest(self._key, f"{entry.id}.{stamp}.".encode() + body, "sha256")
        return {
            "webhook-id": entry.id,
            "webhook-timestamp": stamp,
            "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
        }

    def _refused(self, answer: httpx.Response) -> Undelivered:
        return Undelivered(error=f"it answered {answer.status_code}", pause_ms=self._pause_ms(answer))

    def _pause_ms(self, answer: httpx.Response) -> int:
        told = answer.headers.get("Retry-After", "")
        if told.isdecimal() and len(told) < 10:
            return int(told) * 1_000
        try:
            until = parsedate_to_datetime(told)
        except ValueError:
            return 0
        if until.tzinfo is None:
            until = until.replace(tzinfo=UTC)
        return max(0, round((until - datetime.fromtimestamp(self._now() / 1_000, UTC)).total_seconds() * 1_000))
