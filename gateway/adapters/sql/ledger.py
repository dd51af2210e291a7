"""The tables of calls: the ledger row, and what hangs on it by its number. Rows are mapped here, by hand.

Everything that belongs to a call is keyed by `number`, not by the random `ref`: new rows then share the
newest pages of every table, and a batch of calls writes few of them.
"""

from typing import Final

from sqlalchemy import CheckConstraint, ForeignKey, Index, Table, UniqueConstraint

from gateway.adapters.sql.connection import Row, Values
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, counter, key, needed, optional
from gateway.adapters.sql.statements import one_of
from gateway.domain.calls import OPEN, Call, CallState, Entry
from gateway.domain.errors import ErrorCode
from policy.vocabulary import Effect, Risk

CALLS: Final = Table(
    "calls",
    METADATA,
    counter(),
    # What names the call: written once.
    needed("ref", TEXT),
    needed("entry", TEXT),
    needed("agent", TEXT),
    needed("user", TEXT),
    needed("session", TEXT),
    needed("call_id", TEXT),
    needed("minted", NUMBER),
    needed("request_fingerprint", TEXT),
    needed("arguments_digest", TEXT),
    needed("capability", TEXT),
    optional("page_selector", TEXT),
    needed("admitted_at", NUMBER),
    # What `save` replaces.
    needed("capability_fingerprint", TEXT),
    needed("effect", TEXT),
    needed("risk", TEXT),
    needed("state", TEXT),
    needed("decision", TEXT),
    needed("policy_revision", TEXT),
    needed("inventory_revision", NUMBER),
    optional("site", TEXT),
    optional("page", TEXT),
    optional("epoch", NUMBER),
    needed("timeout_ms", NUMBER),
    needed("deadline", NUMBER),
    optional("approve_by", NUMBER),
    needed("input_in_memory", NUMBER),
    optional("traceparent", TEXT),
    optional("approval", TEXT),
    optional("approved_at", NUMBER),
    optional("orphaned_at", NUMBER),
    needed("handed_out", NUMBER),
    optional("dispatched_at", NUMBER),
    optional("execute_by", NUMBER),
    needed("cancel_requested", NUMBER),
    optional("ended_at", NUMBER),
    optional("code", TEXT),
    optional("message", TEXT),
    needed("late", NUMBER),
    needed("taken", NUMBER),
    optional("due_at", NUMBER),
    optional("app", TEXT),
    optional("conversation", TEXT),
    optional("activation", TEXT),
    optional("operation", TEXT),
    optional("instance", TEXT),
    UniqueConstraint("agent", "user", "entry", "call_id", name="calls_key"),
    UniqueConstraint("ref", name="calls_ref"),
    sqlite_strict=True,
)
_C = CALLS.c

CALLS.append_constraint(CheckConstraint(one_of(_C.entry, Entry), name="calls_entry"))
CALLS.append_constraint(CheckConstraint(one_of(_C.state, CallState), name="calls_state"))

IS_OPEN: Final = one_of(_C.state, OPEN)
IS_DUE_SOMETIME: Final = _C.due_at.is_not(None)

# A partial index never looks at a column that a hot statement compares with a value: SQLite would weigh the
# value against the condition and compile the statement anew at every call.
Index("calls_equal", _C.session, _C.request_fingerprint, _C.capability)
Index("calls_due", _C.due_at, sqlite_where=IS_DUE_SOMETIME, postgresql_where=IS_DUE_SOMETIME)
Index("calls_open", _C.state, _C.session, _C.page, sqlite_where=IS_OPEN, postgresql_where=IS_OPEN)
Index("calls_ended", _C.minted, _C.ended_at)
Index("calls_of_session", _C.session, _C.number)
Index("calls_of_user", _C.user, _C.number)
IS_OPEN_IN_FRAME: Final = IS_OPEN & _C.instance.is_not(None)
Index("calls_of_instance", _C.instance, sqlite_where=IS_OPEN_IN_FRAME, postgresql_where=IS_OPEN_IN_FRAME)
IS_WAITING: Final = one_of(_C.state, [CallState.WAITING_ACTIVATION])
Index("calls_waiting", _C.activation, sqlite_where=IS_WAITING, postgresql_where=IS_WAITING)

INPUTS: Final = Table(
    "call_inputs",
    METADATA,
    key("call", NUMBER, ForeignKey(_C.number)),
    # Empty where the arguments are kept in memory or erased; canonical JSON never is.
    needed("arguments", TEXT),
    # The output schema of a page's declaration.
    optional("promise", TEXT),
    sqlite_strict=True,
)

RECEIPTS: Final = Table(
    "call_receipts",
    METADATA,
    key("call", NUMBER, ForeignKey(_C.number)),
    key("seq", NUMBER),
    needed("status", TEXT),
    optional("reason", TEXT),
    needed("at", NUMBER),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

RESULTS: Final = Table(
    "call_results",
    METADATA,
    key("call", NUMBER, ForeignKey(_C.number)),
    needed("output", TEXT),
    optional("evidence", TEXT),
    needed("at", NUMBER),
    needed("erase_at", NUMBER),
    optional("ui", TEXT),
    sqlite_strict=True,
)
Index("call_results_erase", RESULTS.c.erase_at)

QUOTA: Final = Table(
    "quota",
    METADATA,
    key("id", NUMBER),
    needed("used", NUMBER),
    needed("open", NUMBER),
    CheckConstraint("id = 1", name="quota_single"),
    CheckConstraint("used >= 0 AND open >= 0", name="quota_counts"),
    sqlite_strict=True,
)

_COLUMNS: Final = tuple(column.name for column in CALLS.columns)
NAMING: Final = _COLUMNS[_COLUMNS.index("ref") : _COLUMNS.index("capability_fingerprint")]
CHANGING: Final = _COLUMNS[_COLUMNS.index("capability_fingerprint") :]

# A dictionary is several times faster than the call of an enumeration.
_ENTRY: Final = {word.value: word for word in Entry}
_EFFECT: Final = {word.value: word for word in Effect}
_RISK: Final = {word.value: word for word in Risk}
_STATE: Final = {word.value: word for word in CallState}
_CODE: Final = {word.value: word for word in ErrorCode}


def naming_values(call: Call) -> Values:
    """The values of `NAMING`."""
    return (
        call.ref,
        call.entry.value,
        call.agent,
        call.user,
        call.session,
        call.call_id,
        int(call.minted),
        call.request_fingerprint,
        call.arguments_digest,
        call.capability,
        call.page_selector,
        call.admitted_at,
    )


def changing_values(call: Call) -> Values:
    """The values of `CHANGING`."""
    return (
        call.capability_fingerprint,
        call.effect.value,
        call.risk.value,
        call.state.value,
        call.decision,
        call.policy_revision,
        call.inventory_revision,
        call.site,
        call.page,
        call.epoch,
        call.timeout_ms,
        call.deadline,
        call.approve_by,
        int(call.input_in_memory),
        call.traceparent,
        call.approval,
        call.approved_at,
        call.orphaned_at,
        int(call.handed_out),
        call.dispatched_at,
        call.execute_by,
        int(call.cancel_requested),
        call.ended_at,
        None if call.code is None else call.code.value,
        call.message,
        int(call.late),
        int(call.taken),
        call.due_at,
        call.app,
        call.conversation,
        call.activation,
        call.operation,
        call.instance,
    )


def call_of(row: Row) -> Call:
    """The call of a whole row."""
    (
        _,
        ref,
        entry,
        agent,
        user,
        session,
        call_id,
        minted,
        request_fingerprint,
        arguments_digest,
        capability,
        page_selector,
        admitted_at,
        capability_fingerprint,
        effect,
        risk,
        state,
        decision,
        policy_revision,
        inventory_revision,
        site,
        page,
        epoch,
        timeout_ms,
        deadline,
        approve_by,
        input_in_memory,
        traceparent,
        approval,
        approved_at,
        orphaned_at,
        handed_out,
        dispatched_at,
        execute_by,
        cancel_requested,
        ended_at,
        code,
        message,
        late,
        taken,
        _,
        app,
        conversation,
        activation,
        operation,
        instance,
    ) = row
    return Call(
        ref=ref,
        entry=_ENTRY[entry],
        agent=agent,
        user=user,
        session=session,
        call_id=call_id,
        minted=minted == 1,
        request_fingerprint=request_fingerprint,
        arguments_digest=arguments_digest,
        capability=capability,
        capability_fingerprint=capability_fingerprint,
        effect=_EFFECT[effect],
        risk=_RISK[risk],
        state=_STATE[state],
        decision=decision,
        policy_revision=policy_revision,
        inventory_revision=inventory_revision,
        site=site,
        page_selector=page_selector,
        page=page,
        epoch=epoch,
        timeout_ms=timeout_ms,
        admitted_at=admitted_at,
        instance=instance,
        deadline=deadline,
        approve_by=approve_by,
        input_in_memory=input_in_memory == 1,
        traceparent=traceparent,
        app=app,
        conversation=conversation,
        activation=activation,
        operation=operation,
        approval=approval,
        approved_at=approved_at,
        orphaned_at=orphaned_at,
        handed_out=handed_out == 1,
        dispatched_at=dispatched_at,
        execute_by=execute_by,
        cancel_requested=cancel_requested == 1,
        ended_at=ended_at,
        code=None if code is None else _CODE[code],
        message=message,
        late=late == 1,
        taken=taken == 1,
    )
