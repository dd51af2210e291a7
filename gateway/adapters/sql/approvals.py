"""Approvals, and the capability fingerprint each user last approved."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import CheckConstraint, ForeignKey, Index, Table, UniqueConstraint, bindparam, select, tuple_

from gateway.adapters.sql.connection import Connection, Row, Values
from gateway.adapters.sql.ledger import CALLS
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, counter, key, needed, optional
from gateway.adapters.sql.statements import (
    LAST,
    Statement,
    insert_of,
    names_of,
    names_of_replace,
    one_of,
    replace_of,
    value,
)
from gateway.domain.approvals import Approval, ApprovalState
from gateway.domain.lists import Place
from gateway.runtime.ports import StaleState

APPROVALS: Final = Table(
    "approvals",
    METADATA,
    counter(),
    needed("id", TEXT),
    needed("call", TEXT, ForeignKey(CALLS.c.ref)),
    needed("nonce", TEXT),
    needed("payload", TEXT),
    needed("digest", TEXT),
    needed("page", TEXT),
    needed("epoch", NUMBER),
    needed("user", TEXT),
    needed("decision", TEXT),
    needed("state", TEXT),
    needed("opened_at", NUMBER),
    needed("expires_at", NUMBER),
    optional("decided_at", NUMBER),
    optional("use_by", NUMBER),
    UniqueConstraint("id", name="approvals_id"),
    sqlite_strict=True,
)
_A = APPROVALS.c
_IS_OPEN = one_of(_A.state, [ApprovalState.OPEN])
APPROVALS.append_constraint(CheckConstraint(one_of(_A.state, ApprovalState), name="approvals_state"))
Index("approvals_of_call", _A.call)
Index("approvals_opened", _A.opened_at, _A.id)
Index("approvals_open_on_page", _A.page, sqlite_where=_IS_OPEN, postgresql_where=_IS_OPEN)

APPROVED: Final = Table(
    "approved_fingerprints",
    METADATA,
    key("user", TEXT),
    key("capability", TEXT),
    needed("fingerprint", TEXT),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

_ADD: Final = Statement(insert_of(APPROVALS, without=["number"]), *names_of(APPROVALS, without=["number"]))
_FIND: Final = Statement(select(APPROVALS).where(_A.id == value(_A.id)), "id")
_FIND_OF_CALL: Final = Statement(
    select(APPROVALS).where(_A.call == value(_A.call)).order_by(_A.number.desc()).limit(1), "call"
)
_SAVE: Final = Statement(
    replace_of(APPROVALS, "id", without=["number"]).where(_A.state == value(_A.state, "was")),
    *names_of_replace(APPROVALS, "id", without=["number"]),
    "was",
)
_OPEN_ON_PAGE: Final = Statement(
    select(APPROVALS).where(_IS_OPEN, _A.page == value(_A.page)).order_by(_A.number), "page"
)
_OPENED = value(_A.opened_at, "at")
_PAGE: Final = Statement(
    select(APPROVALS)
    .where(tuple_(_A.opened_at, _A.id) < tuple_(_OPENED, value(_A.id, "below")))
    .order_by(_A.opened_at.desc(), _A.id.desc())
    .limit(bindparam("limit", type_=NUMBER)),
    "at",
    "below",
    "limit",
)
_LAST_APPROVED: Final = Statement(
    select(APPROVED.c.fingerprint).where(
        APPROVED.c.user == value(APPROVED.c.user), APPROVED.c.capability == value(APPROVED.c.capability)
    ),
    "user",
    "capability",
)
_NOTE_APPROVED: Final = Statement(
    (_insert := insert_of(APPROVED)).on_conflict_do_update(
        index_elements=["user", "capability"], set_={"fingerprint": _insert.excluded.fingerprint}
    ),
    *names_of(APPROVED),
)


class SqlApprovals:
    """`Approvals` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, approval: Approval) -> None:
        self._connection.write(_ADD, (approval.id, *_values(approval)))

    def find(self, approval: str) -> Approval | None:
        row = self._connection.fetch_one(_FIND, (approval,))
        return None if row is None else _approval_of(row)

    def find_of_call(self, ref: str) -> Approval | None:
        row = self._connection.fetch_one(_FIND_OF_CALL, (ref,))
        return None if row is None else _approval_of(row)

    def save(self, approval: Approval, *, was: ApprovalState) -> None:
        if not self._connection.execute(_SAVE, (*_values(approval), approval.id, was.value)):
            raise StaleState(f"approval `{approval.id}` is not `{was}`")

    def open_on_page(self, page: str) -> Sequence[Approval]:
        return [_approval_of(row) for row in self._connection.fetch_all(_OPEN_ON_PAGE, (page,))]

    def page(self, *, below: Place | None, limit: int) -> Sequence[Approval]:
        return [_approval_of(row) for row in self._connection.fetch_all(_PAGE, (*(below or LAST), limit))]

    def last_approved_fingerprint(self, user: str, capability: str) -> str | None:
        row = self._connection.fetch_one(_LAST_APPROVED, (user, capability))
        return None if row is None else row[0]

    def note_approved(self, user: str, capability: str, fingerprint: str) -> None:
        self._connection.write(_NOTE_APPROVED, (user, capability, fingerprint))


def _values(approval: Approval) -> Values:
    return (
        approval.call,
        approval.nonce,
        approval.payload,
        approval.digest,
        approval.page,
        approval.epoch,
        approval.user,
        approval.decision,
        approval.state.value,
        approval.opened_at,
        approval.expires_at,
        approval.decided_at,
        approval.use_by,
    )


def _approval_of(row: Row) -> Approval:
    (
        _,
        name,
        call,
        nonce,
        payload,
        digest,
        page,
        epoch,
        user,
        decision,
        state,
        opened_at,
        expires_at,
        decided_at,
        use_by,
    ) = row
    return Approval(
        id=name,
        call=call,
        nonce=nonce,
        payload=payload,
        digest=digest,
        page=page,
        epoch=epoch,
        user=user,
        decision=decision,
        state=ApprovalState(state),
        opened_at=opened_at,
        expires_at=expires_at,
        decided_at=decided_at,
        use_by=use_by,
    )
