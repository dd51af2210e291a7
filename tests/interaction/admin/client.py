"""A program that administers a gateway over HTTP, and what the trail says of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from gateway.domain.audit import Stream
from gateway.runtime.admin.trail import TrailRecord
from tests.interaction.page.rig import Rig


@dataclass
class Program:
    """Holds one admin token."""

    rig: Rig
    token: str
    name: str = "pipeline"
    _seen: set[tuple[Stream, int]] = field(default_factory=set[tuple[Stream, int]])

    async def ask(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, **more: Any
    ) -> httpx.Response:
        """One request below `/admin/v1`."""
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        given = {"json": body} if body is not None else {}
        return await self.rig.http.request(method, f"/admin/v1{path}", headers=sent, **given, **more)

    async def get(self, path: str, **params: Any) -> Any:
        """What a read answers; it must succeed."""
        answer = await self.ask("GET", path, params=params)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def every(self, path: str, *, limit: int = 2, **params: Any) -> list[Any]:
        """A whole list, page by page."""
        found: list[Any] = []
        page = await self.get(path, limit=limit, **params)
        while True:
            assert len(page["items"]) <= limit
            found += page["items"]
            if page["next"] is None:
                return found
            page = await self.get(path, limit=limit, cursor=page["next"], **params)

    @property
    def by(self) -> str:
        """How the trail names it."""
        return f"admin:{self.name}@127.0.0.1"

    async def news(self) -> list[TrailRecord]:
        """The records this program caused since it last asked, over all streams."""
        await self.rig.services.spine.drain()
        records = await self.rig.services.admin.audit_after({}, limit=10_000)
        fresh = [r for r in records if r.facts.get("by") == self.by and (r.stream, r.seq) not in self._seen]
        self._seen |= {(r.stream, r.seq) for r in fresh}
        return fresh


async def program(rig: Rig, *scopes: str, name: str = "pipeline") -> Program:
    """One with a fresh token."""
    return Program(rig, await rig.admin_token(*scopes, name=name), name)


SESSION: dict[str, Any] = {"agent": "alice", "user": "ann", "sites": ["todo"], "scope": ["todo.*"]}
KEY: dict[str, Any] = {"site": "todo", "capabilities": ["todo.*"]}
