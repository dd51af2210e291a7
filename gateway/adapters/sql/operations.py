"""Durable business work with a deadline."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import CheckConstraint, ForeignKey, Index, Table, and_, bindparam, literal_column, select

from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.ledger import CALLS
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, key, needed, optional
from gateway.adapters.sql.rows import Reader, Rows
from gateway.adapters.sql.statements import (
    Statement,
    insert_of,
    names_of,
    names_of_replace,
    one_of,
    replace_of,
    value,
)
from gateway.domain.operations import Carrier, Operation, OperationState
from gateway.runtime.ports import StaleState

OPERATIONS: Final = Table(
    "operations",
    METADATA,
    key("id", TEXT),
    needed("call", TEXT, ForeignKey(CALLS.c.ref)),
    needed("app", TEXT),
    needed("user", TEXT),
    needed("conversation", TEXT),
    needed("carrier", TEXT),
    needed("state", TEXT),
    needed("started_at", NUMBER),
    needed("deadline", NUMBER),
    optional("app_session", TEXT),
    optional("ended_at", NUMBER),
    optional("cause", TEXT),
    optional("answers", TEXT),
    sqlite_strict=True,
)
_O = OPERATIONS.c
_ROWS: Final = Rows(Operation, words={"carrier": Carrier, "state": OperationState})
_IS_RUNNING = one_of(_O.state, [OperationState.RUNNING])
_IS_TIMED = and_(_IS_RUNNING, one_of(_O.carrier, [Carrier.RUNTIME]))
OPERATIONS.append_constraint(CheckConstraint(one_of(_O.state, OperationState), name="operations_state"))
OPERATIONS.append_constraint(CheckConstraint(one_of(_O.carrier, Carrier), name="operations_carrier"))
Index("operations_of_app_session", _O.app_session, _O.started_at)
Index("operations_of_call", _O.call, unique=True)
Index("operations_due", _O.deadline, sqlite_where=_IS_TIMED, postgresql_where=_IS_TIMED)
Index("operations_running", _O.app, _O.conversation, sqlite_where=_IS_RUNNING, postgresql_where=_IS_RUNNING)

_ADD: Final = Statement(insert_of(OPERATIONS), *names_of(OPERATIONS))
_SAVE: Final = Statement(
    replace_of(OPERATIONS, "id").where(_O.state == value(_O.state, "was")),
    *names_of_replace(OPERATIONS, "id"),
    "was",
)
_FIND: Final = Statement(select(OPERATIONS).where(_O.id == value(_O.id)), "id")
_FIND_OF_CALL: Final = Statement(select(OPERATIONS).where(_O.call == value(_O.call)), "call")
_RUNNING: Final = Statement(
    select(OPERATIONS)
    .where(
        _IS_RUNNING,
        _O.app == value(_O.app),
        _O.conversation == value(_O.conversation),
        _O.user == value(_O.user),
    )
    .order_by(_O.started_at, _O.id),
    "app",
    "conversation",
    "user",
)
_NEWEST: Final = Statement(
    select(OPERATIONS)
    .where(_O.app_session == value(_O.app_session))
    .order_by(_O.started_at.desc(), _O.id.desc())
    .limit(literal_column("1")),
    "app_session",
)
_DUE: Final = Statement(
    select(OPERATIONS)
    .where(_IS_TIMED, _O.deadline <= value(_O.deadline, "now"))
    .order_by(_O.deadline, _O.id)
    .limit(bindparam("limit", type_=NUMBER)),
    "now",
    "limit",
)
_NEXT_DUE: Final = Statement(select(_O.deadline).where(_IS_TIMED).order_by(_O.deadline).limit(literal_column("1")))


class SqlOperations(Reader[Operation]):
    """`Operations` on one connection. They are forgotten with their calls."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _ROWS)

    def add(self, operation: Operation) -> None:
        self._connection.write(_ADD, _ROWS.values(operation))

    def save(self, operation: Operation, *, was: OperationState) -> None:
        if not self._connection.execute(_SAVE, (*_ROWS.values(operation, without="id"), operation.id, was.value)):
            raise StaleState(f"operation `{operation.id}` is not `{was}`")

    def find(self, operation: str) -> Operation | None:
        return self._one(_FIND, operation)

    def find_of_call(self, ref: str) -> Operation | None:
        return self._one(_FIND_OF_CALL, ref)

    def newest_of(self, app_session: str) -> Operation | None:
        return self._one(_NEWEST, app_session)

    def running(self, user: str, conversation: str, app: str) -> Sequence[Operation]:
        return self._many(_RUNNING, app, conversation, user)

    def due(self, now: int, limit: int) -> Sequence[Operation]:
        return self._many(_DUE, now, limit)

    def next_due(self) -> int | None:
        return self._first(_NEXT_DUE)
