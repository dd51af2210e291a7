"""Conversations, the calls they are told of, and their messages. A message points at its receipt or result."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import (
    ForeignKey,
    Index,
    Table,
    UniqueConstraint,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    insert,
    literal_column,
    select,
    update,
)

from gateway.adapters.sql.agent_sessions import SESSIONS
from gateway.adapters.sql.connection import Connection, Row, Values
from gateway.adapters.sql.ledger import CALLS, RECEIPTS, RESULTS, call_of
from gateway.adapters.sql.metadata import METADATA, NUMBER, TEXT, counter, key, needed, optional
from gateway.adapters.sql.statements import (
    Statement,
    Upsert,
    any_of,
    insert_of,
    names_of,
    names_of_any,
    padded,
    value,
)
from gateway.domain.calls import Call, CallState, Receipt, Result
from gateway.domain.conversations import Asked, EndTold, EventTold, Following, Message, ReceiptTold, Talk
from gateway.domain.errors import ErrorCode

CONVERSATIONS: Final = Table(
    "conversations",
    METADATA,
    counter(),
    needed("agent", TEXT),
    needed("user", TEXT),
    needed("name", TEXT),
    # The greatest seq that was purged or left out: what comes after it never has a seq that was given before.
    needed("floor", NUMBER),
    UniqueConstraint("agent", "user", "name", name="conversations_key"),
    sqlite_strict=True,
)
_V = CONVERSATIONS.c

FOLLOWED: Final = Table(
    "conversation_calls",
    METADATA,
    key("call", NUMBER, ForeignKey(CALLS.c.number)),
    key("conversation", NUMBER, ForeignKey(_V.number)),
    needed("asked", TEXT),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_F = FOLLOWED.c
Index("conversation_calls_conversation", _F.conversation)

MESSAGES: Final = Table(
    "conversation_messages",
    METADATA,
    key("conversation", NUMBER, ForeignKey(_V.number)),
    key("seq", NUMBER),
    needed("at", NUMBER),
    # A receipt has `call` and `receipt`, an end `call` and `state`, an event of a surface `body`.
    optional("call", NUMBER, ForeignKey(CALLS.c.number)),
    optional("receipt", NUMBER),
    optional("state", TEXT),
    optional("code", TEXT),
    optional("message", TEXT),
    optional("body", TEXT),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
_M = MESSAGES.c
Index("conversation_messages_at", _M.at)
Index("conversation_messages_call", _M.call)

_LIMIT = bindparam("limit", type_=NUMBER)
_IS_IT = and_(_V.agent == value(_V.agent), _V.user == value(_V.user), _V.name == value(_V.name))
_NAMES: Final = ("agent", "user", "name")

_newest = select(func.max(_M.seq)).where(_M.conversation == _V.number).scalar_subquery()
_HEAD_OF_IT = case((func.coalesce(_newest, literal_column("0")) > _V.floor, _newest), else_=_V.floor)

_OPEN: Final = Statement(
    insert_of(CONVERSATIONS, without=["number"]).on_conflict_do_nothing(),
    *names_of(CONVERSATIONS, without=["number"]),
)
_FOLLOW: Final = Statement(
    Upsert(FOLLOWED)
    .from_select(
        ["call", "conversation", "asked"],
        select(CALLS.c.number, _V.number, bindparam("asked", type_=TEXT)).where(
            CALLS.c.ref == value(CALLS.c.ref), _IS_IT
        ),
    )
    .on_conflict_do_nothing(),
    "asked",
    "ref",
    *_NAMES,
)
_ANY_FOLLOWED: Final = Statement(select(_F.call).limit(literal_column("1")))
_OF_CALL = FOLLOWED.join(CALLS, CALLS.c.number == _F.call).join(CONVERSATIONS, _V.number == _F.conversation)
_TELL_RECEIPT: Final = Statement(
    insert(MESSAGES).from_select(
        ["conversation", "seq", "at", "call", "receipt"],
        select(
            _V.number,
            _HEAD_OF_IT + literal_column("1"),
            bindparam("at", type_=NUMBER),
            _F.call,
            select(func.max(RECEIPTS.c.seq)).where(RECEIPTS.c.call == _F.call).scalar_subquery(),
        )
        .select_from(_OF_CALL)
        .where(CALLS.c.ref == value(CALLS.c.ref)),
    ),
    "at",
    "ref",
)
_TELL_END: Final = Statement(
    insert(MESSAGES).from_select(
        ["conversation", "seq", "at", "call", "state", "code", "message"],
        select(
            _V.number,
            _HEAD_OF_IT + literal_column("1"),
            bindparam("at", type_=NUMBER),
            _F.call,
            bindparam("state", type_=TEXT),
            bindparam("code", type_=TEXT),
            bindparam("message", type_=TEXT),
        )
        .select_from(_OF_CALL)
        .where(CALLS.c.ref == value(CALLS.c.ref)),
    ),
    "at",
    "state",
    "code",
    "message",
    "ref",
)
_TELL_EVENT: Final = Statement(
    insert(MESSAGES).from_select(
        ["conversation", "seq", "at", "body"],
        select(
            _V.number,
            _HEAD_OF_IT + literal_column("1"),
            bindparam("at", type_=NUMBER),
            bindparam("body", type_=TEXT),
        ).where(_IS_IT),
    ),
    "at",
    "body",
    *_NAMES,
)
_HEAD: Final = Statement(select(_HEAD_OF_IT).where(_IS_IT), *_NAMES)
_READ: Final = Statement(
    select(
        *(_M[name] for name in ("seq", "at", "receipt", "state", "code", "message", "body")),
        _F.asked,
        *(RECEIPTS.c[name] for name in ("status", "reason", "at")),
        *(RESULTS.c[name] for name in ("output", "evidence", "at", "erase_at")),
        *CALLS.c,
    )
    .select_from(
        MESSAGES.join(CONVERSATIONS, _V.number == _M.conversation)
        .outerjoin(CALLS, CALLS.c.number == _M.call)
        .outerjoin(FOLLOWED, and_(_F.call == _M.call, _F.conversation == _M.conversation))
        .outerjoin(RECEIPTS, and_(RECEIPTS.c.call == _M.call, RECEIPTS.c.seq == _M.receipt))
        .outerjoin(RESULTS, and_(RESULTS.c.call == _M.call, _M.state == literal_column("'succeeded'")))
    )
    .where(_IS_IT, _M.seq > value(_M.seq, "after"))
    .order_by(_M.seq)
    .limit(_LIMIT),
    *_NAMES,
    "after",
    "limit",
)
_OWN: Final = 15
"""Columns of a message before those of its call."""

_OLD: Final = Statement(
    select(_M.conversation, _M.seq).where(_M.at < value(_M.at, "before")).order_by(_M.at).limit(_LIMIT),
    "before",
    "limit",
)
_RAISE: Final = Statement(
    update(CONVERSATIONS)
    .values(floor=value(_V.floor))
    .where(_V.number == value(_V.number), _V.floor < value(_V.floor, "below")),
    "floor",
    "number",
    "below",
)
_FORGET: Final = Statement(
    delete(MESSAGES).where(_M.conversation == value(_M.conversation), _M.seq == value(_M.seq)), "conversation", "seq"
)
_LEAP: Final = Statement(update(CONVERSATIONS).values(floor=_HEAD_OF_IT + value(_V.floor, "by")), "by")
_CLOSE: Final = Statement(
    delete(CONVERSATIONS).where(
        _V.number.in_(
            select(_V.number)
            .where(
                ~exists().where(_M.conversation == _V.number),
                ~exists().where(_F.conversation == _V.number),
                ~exists().where(
                    SESSIONS.c.agent == _V.agent, SESSIONS.c.user == _V.user, SESSIONS.c.conversation == _V.name
                ),
            )
            .limit(_LIMIT)
        )
    ),
    "limit",
)

CHUNK: Final = 100
"""Calls whose messages one statement forgets."""
_CHUNK_NAMES: Final = names_of_any(CHUNK)
_RAISE_OVER: Final = Statement(
    update(CONVERSATIONS)
    .values(floor=_HEAD_OF_IT)
    .where(_V.number.in_(select(_F.conversation).where(any_of(_F.call, CHUNK)))),
    *_CHUNK_NAMES,
)
_FORGET_OF_CALLS: Final = Statement(delete(MESSAGES).where(any_of(_M.call, CHUNK)), *_CHUNK_NAMES)
_UNFOLLOW: Final = Statement(delete(FOLLOWED).where(any_of(_F.call, CHUNK)), *_CHUNK_NAMES)


class SqlConversations:
    """`Conversations` on one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._is_used: bool | None = None

    def follow(self, ref: str, following: Following) -> None:
        self._is_used = True
        name = _values(following.talk)
        self._connection.write(_OPEN, (*name, 0))
        self._connection.write(_FOLLOW, (following.asked.value, ref, *name))

    def told_receipt(self, ref: str, at: int) -> None:
        """The newest receipt of a call was just added; a call nobody follows leaves no message."""
        if self._is_any_followed():
            self._connection.write(_TELL_RECEIPT, (at, ref))

    def _is_any_followed(self) -> bool:
        # Where nobody speaks LineUp, no call pays for it. What is rolled back or forgotten since may leave this true.
        if self._is_used is None:
            self._is_used = self._connection.fetch_one(_ANY_FOLLOWED) is not None
        return self._is_used

    def told_end(self, call: Call, at: int) -> None:
        if not self._is_any_followed():
            return
        code = None if call.code is None else call.code.value
        self._connection.write(_TELL_END, (at, call.state.value, code, call.message, call.ref))

    def tell_event(self, talk: Talk, body: str, at: int) -> None:
        name = _values(talk)
        self._connection.write(_OPEN, (*name, 0))
        self._connection.write(_TELL_EVENT, (at, body, *name))

    def head(self, talk: Talk) -> int:
        row = self._connection.fetch_one(_HEAD, _values(talk))
        return 0 if row is None else row[0]

    def read(self, talk: Talk, *, after: int, limit: int) -> Sequence[Message]:
        rows = self._connection.fetch_all(_READ, (*_values(talk), after, limit))
        return [_message_of(row) for row in rows]

    def purge(self, before: int, limit: int) -> int:
        rows = self._connection.fetch_all(_OLD, (before, limit))
        for conversation, seq in rows:
            self._connection.write(_RAISE, (seq, conversation, seq))
            self._connection.write(_FORGET, (conversation, seq))
        return len(rows)

    def forget_calls(self, numbers: Sequence[int]) -> None:
        """Forget the messages of calls that are about to be forgotten: at most `CHUNK`."""
        chunk = padded(numbers, CHUNK)
        self._connection.write(_RAISE_OVER, chunk)
        self._connection.write(_FORGET_OF_CALLS, chunk)
        self._connection.write(_UNFOLLOW, chunk)

    def leap(self, by: int) -> None:
        self._connection.write(_LEAP, (by,))

    def close(self, limit: int) -> int:
        return self._connection.execute(_CLOSE, (limit,))


def _values(talk: Talk) -> Values:
    return (talk.agent, talk.user, talk.name)


def _message_of(row: Row) -> Message:
    seq, at, receipt, state, code, message, body, asked, status, reason, noted_at = row[:11]
    if body is not None:
        return EventTold(seq=seq, at=at, body=body)
    call = call_of(row[_OWN:])
    if receipt is not None:
        return ReceiptTold(
            seq=seq, at=at, call=call, receipt=Receipt(seq=receipt, status=status, reason=reason, at=noted_at)
        )
    return EndTold(
        seq=seq,
        at=at,
        call=call,
        asked=Asked(asked),
        state=CallState(state),
        code=None if code is None else ErrorCode(code),
        message=message,
        result=_result_of(row[11:_OWN]),
    )


def _result_of(row: Row) -> Result | None:
    output, evidence, at, erase_at = row
    return None if output is None else Result(output=output, evidence=evidence, at=at, erase_at=erase_at)
