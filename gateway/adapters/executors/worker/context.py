"""The context object of a handler or a hook: every method is a question to the gateway, which decides."""

import asyncio
import base64
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from capabilities.contract import HttpResponse, SessionSnapshot
from gateway.adapters.executors.worker.link import Link

MESSAGE_MAX: Final = 200
"""Characters of a progress message; the rest is left out."""

DAY_MS: Final = 86_400_000


class GatewayClock:
    """The gateway's time, told with every frame and carried on by a clock nobody can set."""

    def __init__(self) -> None:
        self._at = 0
        self._since = time.monotonic()

    def set(self, at: int) -> None:
        """The gateway says what time it is, in milliseconds since the epoch."""
        self._at, self._since = at, time.monotonic()

    def now(self) -> datetime:
        """The present, in UTC."""
        milliseconds = self._at + int((time.monotonic() - self._since) * 1_000)
        return datetime.fromtimestamp(milliseconds / 1_000, UTC)


class _Ask:
    """How one job or hook asks."""

    def __init__(self, link: Link, of: str) -> None:
        self.link = link
        self.of = of

    async def __call__(self, what: str, **given: Any) -> Any:
        return await self.link.ask(self.of, what, given)


class Session:
    """`SessionData` kept by the gateway."""

    def __init__(self, ask: _Ask) -> None:
        self._ask = ask

    async def get(self) -> SessionSnapshot:
        kept = await self._ask("session_data")
        return SessionSnapshot(revision=kept["revision"], data=orjson.loads(kept["data"]))

    async def put(self, data: Mapping[str, Any], *, revision: int) -> int:
        put = await self._ask("put_session_data", data=_object(data), revision=revision)
        return put["revision"]


class GatewayHttp:
    """`Http` done by the gateway."""

    def __init__(self, ask: _Ask) -> None:
        self._ask = ask

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        body: bytes | None = None,
        timeout_ms: int | None = None,
    ) -> HttpResponse:
        if json is not None and body is not None:
            raise ValueError("`json` and `body` exclude each other")
        named = {name.lower(): value for name, value in (headers or {}).items()}
        if json is not None:
            body = orjson.dumps(json)
            named.setdefault("content-type", "application/json")
        answer = await self._ask(
            "http",
            method=method.upper(),
            url=url,
            headers=named,
            body=base64.b64encode(body or b"").decode(),
            within_ms=timeout_ms,
        )
        return HttpResponse(status=answer["status"], headers=answer["headers"], body=base64.b64decode(answer["body"]))


class Context:
    """`HandlerContext`, or `AppContext` for a hook."""

    def __init__(self, link: Link, clock: GatewayClock, of: str) -> None:
        self._link = link
        self._ask = _Ask(link, of)
        self.ref: Final = of
        self.cancelled: Final = asyncio.Event()
        self.session: Final = Session(self._ask)
        self.http: Final = GatewayHttp(self._ask)
        self.now: Final[Callable[[], datetime]] = clock.now

    async def progress(self, n: float, total: float | None = None, message: str | None = None) -> None:
        told = None if message is None else message[:MESSAGE_MAX]
        self._link.write({"type": "progress", "id": self.ref, "n": n, "total": total, "message": told})
        # Whoever only reports lets the others of its app run, too.
        await asyncio.sleep(0)

    async def secret(self, name: str) -> str:
        return await self._ask("secret", name=name)

    async def emit(self, type: str, data: Mapping[str, Any]) -> None:  # noqa: A002 - the word of the contract
        await self._ask("emit", type=type, data=_object(data))


def _object(data: Mapping[str, Any]) -> str:
    return orjson.dumps(dict(data)).decode()
