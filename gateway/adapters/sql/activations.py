"""Attempts to make a mini app ready."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import CheckConstraint, Index, Table, bindparam, delete, literal_column, select

from gateway.adapters.sql.connection import Connection
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
from gateway.domain.activations import Activation, ActivationState, Goal
from gateway.runtime.ports import StaleState

ACTIVATIONS: Final = Table(
    "activations",
    METADATA,
    key("id", TEXT),
    needed("instance", TEXT),
    needed("app", TEXT),
    needed("user", TEXT),
    needed("conversation", TEXT),
    needed("goal", TEXT),
    needed("state", TEXT),
    needed("started_at", NUMBER),
    needed("due_at", NUMBER),
    optional("ended_at", NUMBER),
    optional("reason", TEXT),
    sqlite_strict=True,
)
_A = ACTIVATIONS.c
_ROWS: Final = Rows(Activation, words={"goal": Goal, "state": ActivationState})
_IS_LIVE = one_of(_A.state, [ActivationState.STARTING])
_LIMIT = bindparam("limit", type_=NUMBER)
ACTIVATIONS.append_constraint(CheckConstraint(one_of(_A.state, ActivationState), name="activations_state"))
ACTIVATIONS.append_constraint(CheckConstraint(one_of(_A.goal, Goal), name="activations_goal"))
Index(
    "activations_live",
    _A.app,
    _A.conversation,
    _A.user,
    unique=True,
    sqlite_where=_IS_LIVE,
    postgresql_where=_IS_LIVE,
)
Index("activations_due", _A.due_at, sqlite_where=_IS_LIVE, postgresql_where=_IS_LIVE)
Index("activations_of_instance", _A.instance)
Index("activations_ended", _A.ended_at)

_ADD: Final = Statement(insert_of(ACTIVATIONS), *names_of(ACTIVATIONS))
_SAVE: Final = Statement(
    replace_of(ACTIVATIONS, "id").where(_A.state == value(_A.state, "was")),
    *names_of_replace(ACTIVATIONS, "id"),
    "was",
)
_FIND: Final = Statement(select(ACTIVATIONS).where(_A.id == value(_A.id)), "id")
_LIVE: Final = Statement(
    select(ACTIVATIONS).where(
        _IS_LIVE,
        _A.app == value(_A.app),
        _A.conversation == value(_A.conversation),
        _A.user == value(_A.user),
    ),
    "app",
    "conversation",
    "user",
)
_LIVE_OF_INSTANCE: Final = Statement(
    select(ACTIVATIONS).where(_IS_LIVE, _A.instance == value(_A.instance)), "instance"
)
_ALL_LIVE: Final = Statement(select(ACTIVATIONS).where(_IS_LIVE).order_by(_A.started_at, _A.id))
_DUE: Final = Statement(
    select(ACTIVATIONS)
    .where(_IS_LIVE, _A.due_at <= value(_A.due_at, "now"))
    .order_by(_A.due_at, _A.id)
    .limit(_LIMIT),
    "now",
    "limit",
)
_NEXT_DUE: Final = Statement(select(_A.due_at).where(_IS_LIVE).order_by(_A.due_at).limit(literal_column("1")))
_PURGE: Final = Statement(
    delete(ACTIVATIONS).where(
        _A.id.in_(
            select(_A.id).where(_A.ended_at < value(_A.ended_at, "ended_before")).order_by(_A.ended_at).limit(_LIMIT)
        )
    ),
    "ended_before",
    "limit",
)


class SqlActivations(Reader[Activation]):
    """`Activations` on one connection."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _ROWS)

    def add(self, activation: Activation) -> None:
        self._connection.write(_ADD, _ROWS.values(activation))

    def save(self, activation: Activation, *, was: ActivationState) -> None:
        if not self._connection.execute(_SAVE, (*_ROWS.values(activation, without="id"), activation.id, was.value)):
            raise StaleState(f"activation `{activation.id}` is not `{was}`")

    def find(self, activation: str) -> Activation | None:
        return self._one(_FIND, activation)

    def live(self, user: str, conversation: str, app: str) -> Activation | None:
        return self._one(_LIVE, app, conversation, user)

    def live_of_instance(self, instance: str) -> Activation | None:
        return self._one(_LIVE_OF_INSTANCE, instance)

    def all_live(self) -> Sequence[Activation]:
        return self._many(_ALL_LIVE)

    def due(self, now: int, limit: int) -> Sequence[Activation]:
        return self._many(_DUE, now, limit)

    def next_due(self) -> int | None:
        return self._first(_NEXT_DUE)

    def purge(self, ended_before: int, limit: int) -> int:
        return self._connection.execute(_PURGE, (ended_before, limit))
