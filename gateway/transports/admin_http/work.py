"""Calls, approvals and denials: what was asked, never what it said."""

from typing import Any, Final

from gateway.domain.admin_tokens import AdminScope
from gateway.domain.approvals import Approval
from gateway.domain.denials import Denial
from gateway.domain.errors import ErrorCode
from gateway.domain.lists import Wanted
from gateway.protocol.admin import requests
from gateway.protocol.admin import work as answers
from gateway.transports.admin_http.operations import Asked, Desk, Link, Operation, Told
from gateway.transports.admin_http.paging import cursor_of, place_in, text_in, told
from gateway.transports.control import views

_CALLS: Final = frozenset({AdminScope.READ, AdminScope.CALLS})


async def _list_calls(asked: Asked[requests.CallQuery, Any]) -> Told:
    query = asked.query
    wanted = Wanted(
        agent=query.agent,
        user=query.user,
        session=query.session,
        capability=query.capability,
        site=query.site,
        state=query.state,
    )
    below = text_in("calls", query.cursor)
    found, further = await asked.desk.registers.calls(below=below, wanted=wanted, limit=query.limit)
    items = [views.of_call(call) for call in found]
    return Told(value={"items": items, "next": None if further is None else cursor_of("calls", further)})


async def _call(desk: Desk, ref: str) -> Told:
    call, receipts = await desk.services.admin.call(ref)
    return Told(value={**views.of_call(call), "receipts": [views.of_receipt(receipt) for receipt in receipts]})


async def _get_call(asked: Asked[Any, Any]) -> Told:
    return await _call(asked.desk, asked.names["ref"])


async def _cancel(asked: Asked[Any, Any]) -> Told:
    await asked.services.admin.cancel(asked.names["ref"], by=asked.by)
    return await _call(asked.desk, asked.names["ref"])


async def _reconcile(asked: Asked[Any, requests.Reconciliation]) -> Told:
    body, ref = asked.body, asked.names["ref"]
    succeeded = body.outcome == "succeeded"
    await asked.services.admin.reconcile(ref, succeeded=succeeded, reason=body.reason, by=asked.by)
    return await _call(asked.desk, ref)


def _approval(approval: Approval) -> dict[str, Any]:
    return {
        "approval": approval.id,
        "ref": approval.call,
        "state": approval.state,
        "user": approval.user,
        "page": approval.page,
        "epoch": approval.epoch,
        "shown": approval.digest[:32],
        "opened_at": approval.opened_at,
        "expires_at": approval.expires_at,
        "decided_at": approval.decided_at,
        "use_by": approval.use_by,
    }


async def _list_approvals(asked: Asked[requests.PageQuery, Any]) -> Told:
    query = asked.query
    below = place_in("approvals", query.cursor)
    # One more than asked for tells whether there is more.
    found = await asked.desk.registers.approvals(below=below, limit=query.limit + 1)
    rows, has_more = found[: query.limit], len(found) > query.limit
    return Told(value=told("approvals", rows, lambda a: (a.opened_at, a.id), _approval, has_more=has_more))


async def _get_approval(asked: Asked[Any, Any]) -> Told:
    return Told(value=_approval(await asked.desk.registers.approval(asked.names["approval"])))


def _denial(denial: Denial) -> dict[str, Any]:
    return {
        "agent": denial.agent,
        "user": denial.user,
        "capability": denial.capability,
        "until": denial.until,
    }


async def _list_denials(asked: Asked[requests.DenialQuery, Any]) -> Told:
    return Told(value={"items": [_denial(denial) for denial in await asked.desk.registers.denials(asked.query.user)]})


OPERATIONS: Final = (
    Operation(
        name="listCalls",
        method="GET",
        path="/calls",
        told="List calls, newest first. A page looks at a bounded number of calls: go on while `next` is there.",
        run=_list_calls,
        answer=answers.Calls,
        scopes=_CALLS,
        query=requests.CallQuery,
        links={"read the newest": Link(operation="getCall", names={"ref": "items/0/ref"})},
    ),
    Operation(
        name="getCall",
        method="GET",
        path="/calls/{ref}",
        told="Read one call and its receipts.",
        run=_get_call,
        answer=answers.CallWithReceipts,
        scopes=_CALLS,
        refusals=(ErrorCode.UNKNOWN_CALL,),
        links={"end it": Link(operation="cancelCall", names={"ref": "ref"})},
    ),
    Operation(
        name="cancelCall",
        method="POST",
        path="/calls/{ref}/cancel",
        told="End a call that was not handed out; of one that was, ask its executor to stop.",
        run=_cancel,
        answer=answers.CallWithReceipts,
        scopes=frozenset({AdminScope.CALLS}),
        matched_by="getCall",
        refusals=(ErrorCode.UNKNOWN_CALL, ErrorCode.STATE_CONFLICT),
    ),
    Operation(
        name="reconcileCall",
        method="POST",
        path="/calls/{ref}/reconcile",
        told="Settle a call that is `unknown` by what was found out elsewhere. Nothing is run.",
        run=_reconcile,
        answer=answers.CallWithReceipts,
        scopes=frozenset({AdminScope.CALLS}),
        body=requests.Reconciliation,
        matched_by="getCall",
        is_match_required=True,
        refusals=(ErrorCode.UNKNOWN_CALL, ErrorCode.STATE_CONFLICT),
    ),
    Operation(
        name="listApprovals",
        method="GET",
        path="/approvals",
        told="List questions that were put to people, opened last first; never what they showed.",
        run=_list_approvals,
        answer=answers.Approvals,
        scopes=_CALLS,
        query=requests.PageQuery,
        links={"read the newest": Link(operation="getApproval", names={"approval": "items/0/approval"})},
    ),
    Operation(
        name="getApproval",
        method="GET",
        path="/approvals/{approval}",
        told="Read one approval.",
        run=_get_approval,
        answer=answers.Approval,
        scopes=_CALLS,
        refusals=(ErrorCode.NOT_FOUND,),
        links={"its call": Link(operation="getCall", names={"ref": "ref"})},
    ),
    Operation(
        name="listDenials",
        method="GET",
        path="/denials",
        told="The noes of a user that are remembered now. Lifting one is the person's, on the badge.",
        run=_list_denials,
        answer=answers.Denials,
        scopes=_CALLS,
        query=requests.DenialQuery,
    ),
)
