"""A context for the tests of an app: nothing leaves the process, and everything the handler did can be read."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from capabilities.contract import HttpResponse, NotPermitted, SessionConflict, SessionSnapshot


@dataclass(slots=True)
class FakeSession:
    """Session data that begins empty."""

    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    revision: int = 0

    async def get(self) -> SessionSnapshot:
        """What is kept."""
        return SessionSnapshot(revision=self.revision, data=self.data)

    async def put(self, data: Mapping[str, Any], *, revision: int) -> int:
        """Keep `data`, if nobody else did since `revision`."""
        if revision != self.revision:
            raise SessionConflict(self.revision)
        self.data, self.revision = dict(data), revision + 1
        return self.revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """An outbound request a handler made."""

    method: str
    url: str
    headers: Mapping[str, str]
    json: Any
    body: bytes | None


Answering = Callable[[Request], HttpResponse]


@dataclass(slots=True)
class FakeHttp:
    """Answers requests by a function of the test; without one nothing may be asked."""

    answering: Answering | None = None
    requests: list[Request] = field(default_factory=list[Request])

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        body: bytes | None = None,
        timeout_ms: int | None = None,  # noqa: ARG002 - nothing takes time here
    ) -> HttpResponse:
        """Note the request and ask the test for its answer."""
        asked = Request(method=method, url=url, headers=dict(headers or {}), json=json, body=body)
        if self.answering is None:
            raise NotPermitted(f"no answer is prepared for `{url}`")
        self.requests.append(asked)
        return self.answering(asked)


class FakeContext:
    """What a handler is given in a test.

    Attributes:
        session, http, cancelled: `cancelled.set()` asks the handler to stop.
        progressed: what it reported, as (n, total, message).
        emitted: its events, as (type, data).
    """

    def __init__(
        self,
        *,
        now: datetime = datetime(2030, 1, 1, tzinfo=UTC),
        secrets: Mapping[str, str] | None = None,
        answering: Answering | None = None,
        ref: str = "call_00000000000000000000000000",
    ) -> None:
        """Make one; `answering` answers outbound requests, `secrets` are those the app declares."""
        self.ref = ref
        self.session = FakeSession()
        self.http = FakeHttp(answering)
        self.cancelled = asyncio.Event()
        self.progressed: list[tuple[float, float | None, str | None]] = []
        self.emitted: list[tuple[str, dict[str, Any]]] = []
        self._now = now
        self._secrets = dict(secrets or {})

    def now(self) -> datetime:
        """The test's present."""
        return self._now

    async def progress(self, n: float, total: float | None = None, message: str | None = None) -> None:
        """Note what was reported."""
        self.progressed.append((n, total, message))

    async def secret(self, name: str) -> str:
        """The secret the test gave."""
        if name not in self._secrets:
            raise NotPermitted(f"the test gave no secret `{name}`")
        return self._secrets[name]

    async def emit(self, type: str, data: Mapping[str, Any]) -> None:  # noqa: A002 - the word events use
        """Note the event."""
        self.emitted.append((type, dict(data)))
