"""The audit trail over HTTP: whole, in order and in pages of any size, for those who may read it and nobody else."""

from collections.abc import AsyncGenerator
from typing import Any, Final

import pytest

from gateway.domain.admin_tokens import AdminScope
from gateway.domain.audit import AuditEvent, Stream
from gateway.runtime import audit
from gateway.runtime.ports import Tx
from gateway.transports.admin_http.paging import cursor_of
from tests.interaction.admin.client import Program, program
from tests.interaction.page.rig import Rig
from tests.support.databases import database

__all__ = ["database"]

pytestmark = pytest.mark.anyio

PATH: Final = "/audit/streams/identity"
LONG: Final = 203
"""Records that do not come in one page."""


def knocks(tx: Tx) -> None:
    for number in range(LONG):
        tx.audit.append(audit.of_access(AuditEvent.ACCESS_REFUSED, 1_700_000_000_000 + number, door=f"door {number}"))


async def pages(reader: Program, **size: int) -> AsyncGenerator[list[Any]]:
    """Every page of the stream, the empty one at its end too."""
    page = await reader.get(PATH, **size)
    yield page["items"]
    while page["items"]:
        page = await reader.get(PATH, cursor=page["next"], **size)
        yield page["items"]


@pytest.mark.parametrize(
    ("size", "lengths"),
    [({"limit": 1}, [1] * LONG), ({"limit": 200}, [200, 3]), ({}, [50, 50, 50, 50, 3])],
    ids=["the smallest", "the largest", "as it comes"],
)
async def test_every_record_comes_once_and_in_order(rig: Rig, size: dict[str, int], lengths: list[int]) -> None:
    await rig.store.run(knocks)
    reader = await program(rig, AdminScope.AUDIT)
    found = [page async for page in pages(reader, **size)]
    assert [len(page) for page in found] == [*lengths, 0]
    kept = await rig.services.admin.audit_read(Stream.IDENTITY, after=0, limit=1_000)
    assert [record for page in found for record in page] == [
        {"stream": "identity", "seq": r.seq, "event": r.event, "at": r.at, "facts": dict(r.facts)} for r in kept
    ]
    assert len(kept) == LONG


async def test_a_place_belongs_to_its_stream_and_may_lie_behind_the_end(admin: Program) -> None:
    for stream in Stream:
        far = cursor_of(f"audit/{stream}", 2**62 - 1)
        assert await admin.get(f"/audit/streams/{stream}", cursor=far) == {"items": [], "next": far}
        other = await admin.ask("GET", PATH, params={"cursor": far})
        assert (other.status_code == 200) is (stream is Stream.IDENTITY)
    codes = [record.facts["code"] for record in await admin.news()]
    assert codes == ["bad_request"] * (len(Stream) - 1)


async def test_who_may_do_all_else_may_not_read_the_trail_and_is_in_it(rig: Rig) -> None:
    stranger = await program(rig, *(scope for scope in AdminScope if scope is not AdminScope.AUDIT))
    for path in (PATH, "/audit/verification"):
        answer = await stranger.ask("GET", path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "scope_missing")
        assert answer.json()["error"]["scopes"] == [AdminScope.AUDIT]
        assert f'scope="{AdminScope.AUDIT}"' in answer.headers["www-authenticate"]
    assert [(r.event, r.facts["what"], r.facts["code"]) for r in await stranger.news()] == [
        ("admin.refused", "GET /audit/streams/{stream}", "scope_missing"),
        ("admin.refused", "GET /audit/verification", "scope_missing"),
    ]


async def test_reading_the_trail_leaves_nothing_in_it(rig: Rig) -> None:
    reader = await program(rig, AdminScope.AUDIT)
    for stream in Stream:
        await reader.get(f"/audit/streams/{stream}")
    assert (await reader.get("/audit/verification"))["intact"] is True
    assert await reader.news() == []
