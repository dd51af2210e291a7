"""Status, pages, and the audit trail."""

from typing import Any, Final

from gateway.domain.admin_tokens import AdminScope
from gateway.domain.audit import Stream
from gateway.domain.errors import ErrorCode
from gateway.domain.pages import PageSession
from gateway.protocol.admin import requests
from gateway.protocol.admin import watched as answers
from gateway.runtime.admin.checks import absent
from gateway.runtime.inventory import describe_page
from gateway.runtime.world import LivePage
from gateway.transports.admin_http.operations import Asked, Desk, Operation, Told
from gateway.transports.admin_http.paging import cursor_of, number_in, page_of, place_in, told
from gateway.transports.control import views

_AUDIT: Final = frozenset({AdminScope.AUDIT})


async def _status(asked: Asked[Any, Any]) -> Told:
    status = await asked.services.admin.status()
    limits = asked.services.live.world.configuration.limits
    return Told(
        value={
            "configuration": status.revision,
            "pages": len(status.pages),
            "sessions": status.sessions,
            "ledger_rows": status.ledger_rows,
            "ledger_cap": limits.ledger_rows,
            "open_calls": status.open_calls,
            "open_cap": limits.ledger_open,
        }
    )


def _live(page: LivePage) -> dict[str, Any]:
    return {**describe_page(page), "user": page.session.user, "capabilities": sorted(page.capabilities)}


async def _list_pages(asked: Asked[requests.PageQuery, Any]) -> Told:
    pages = list(asked.services.live.world.pages.values())
    return Told(value=page_of("pages", pages, asked.query, lambda p: (p.session.created_at, p.id), _live))


def _page_session(desk: Desk, page: PageSession) -> dict[str, Any]:
    return {
        "page": page.id,
        "site": page.site,
        "user": page.user,
        "origin": page.origin,
        "epoch": page.epoch,
        "capabilities": list(page.capabilities),
        "live": page.id in desk.services.live.world.pages,
        "created_at": page.created_at,
        "seen_at": page.seen_at,
        "standing_until": page.standing_until,
        "pinned_at": page.pinned_at,
        "ended_at": page.ended_at,
    }


async def _list_page_sessions(asked: Asked[requests.PageQuery, Any]) -> Told:
    query = asked.query
    below = place_in("page-sessions", query.cursor)
    found = await asked.desk.registers.page_sessions(below=below, limit=query.limit + 1)
    rows, has_more = found[: query.limit], len(found) > query.limit
    view = told(
        "page-sessions",
        rows,
        lambda p: (p.created_at, p.id),
        lambda p: _page_session(asked.desk, p),
        has_more=has_more,
    )
    return Told(value=view)


async def _get_page_session(asked: Asked[Any, Any]) -> Told:
    return Told(value=_page_session(asked.desk, await asked.desk.registers.page_session(asked.names["page"])))


async def _records(asked: Asked[requests.PageQuery, Any]) -> Told:
    name = asked.names["stream"]
    if name not in set(Stream):
        raise absent("stream", name)
    query = asked.query
    after = number_in(f"audit/{name}", query.cursor)
    found = await asked.desk.registers.records(Stream(name), after=after, limit=query.limit)
    last = found[-1].seq if found else after
    items = [views.of_record(record) for record in found]
    return Told(value={"items": items, "next": cursor_of(f"audit/{name}", last)})


async def _verify(asked: Asked[Any, Any]) -> Told:
    return Told(value=views.of_verification(await asked.services.admin.audit_verify()))


OPERATIONS: Final = (
    Operation(
        name="getStatus",
        method="GET",
        path="/status",
        told="The gateway at a glance.",
        run=_status,
        answer=answers.Status,
    ),
    Operation(
        name="listPages",
        method="GET",
        path="/pages",
        told="The pages that are open now, opened last first.",
        run=_list_pages,
        answer=answers.LivePages,
        query=requests.PageQuery,
    ),
    Operation(
        name="listPageSessions",
        method="GET",
        path="/page-sessions",
        told="List page sessions, begun last first.",
        run=_list_page_sessions,
        answer=answers.PageSessions,
        query=requests.PageQuery,
    ),
    Operation(
        name="getPageSession",
        method="GET",
        path="/page-sessions/{page}",
        told="Read one page session.",
        run=_get_page_session,
        answer=answers.PageSession,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="readAudit",
        method="GET",
        path="/audit/streams/{stream}",
        told="Read a stream of the audit trail from its oldest record on. `next` is always there: ask again later.",
        run=_records,
        answer=answers.AuditRecords,
        scopes=_AUDIT,
        query=requests.PageQuery,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="verifyAudit",
        method="GET",
        path="/audit/verification",
        told="Recompute every chain. It reads the whole trail.",
        run=_verify,
        answer=answers.Verification,
        scopes=_AUDIT,
    ),
)
