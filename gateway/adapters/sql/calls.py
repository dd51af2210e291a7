"""The ledger as a repository: `Calls` over the tables of `ledger`."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final

from sqlalchemy import and_, bindparam, delete, exists, func, insert, literal_column, null, select, update

from gateway.adapters.sql.approvals import APPROVALS
from gateway.adapters.sql.connection import Connection, Values
from gateway.adapters.sql.conversations import CHUNK, SqlConversations
from gateway.adapters.sql.ledger import (
    CALLS,
    CHANGING,
    INPUTS,
    IS_OPEN,
    IS_OPEN_IN_FRAME,
    IS_WAITING,
    NAMING,
    QUOTA,
    RECEIPTS,
    RESULTS,
    call_of,
    changing_values,
    naming_values,
)
from gateway.adapters.sql.metadata import NUMBER, TEXT
from gateway.adapters.sql.operations import OPERATIONS
from gateway.adapters.sql.statements import (
    Statement,
    any_of,
    insert_of,
    names_of_any,
    one_of,
    padded,
    value,
)
from gateway.domain.calls import OPEN, Call, CallState, Entry, Receipt, Result, end_of
from gateway.domain.lists import Wanted
from gateway.failpoints import Point, reach
from gateway.runtime.ports import DuplicateKey, LedgerFull, StaleState

_C = CALLS.c
_NUMBER = select(_C.number).where(_C.ref == value(_C.ref)).scalar_subquery()
_LIMIT = bindparam("limit", type_=NUMBER)

_ADD: Final = Statement(
    insert_of(CALLS, without=["number"]).on_conflict_do_nothing(),
    *NAMING,
    *CHANGING,
)
_SAVE: Final = Statement(
    update(CALLS)
    .values({name: value(_C[name], f"new_{name}") for name in CHANGING})
    .where(_C.ref == value(_C.ref), _C.state == value(_C.state, "was")),
    *(f"new_{name}" for name in CHANGING),
    "ref",
    "was",
)
_FIND: Final = Statement(select(CALLS).where(_C.ref == value(_C.ref)), "ref")
_FIND_BY_KEY: Final = Statement(
    select(CALLS).where(
        _C.agent == value(_C.agent),
        _C.user == value(_C.user),
        _C.entry == value(_C.entry),
        _C.call_id == value(_C.call_id),
    ),
    "agent",
    "user",
    "entry",
    "call_id",
)
_EQUALS: Final = Statement(
    select(CALLS)
    .where(
        one_of(_C.entry, [Entry.AGENT_TOOL]),
        _C.session == value(_C.session),
        _C.request_fingerprint == value(_C.request_fingerprint),
        _C.capability == value(_C.capability),
        one_of(_C.state, OPEN)
        | (one_of(_C.state, [CallState.UNKNOWN]) & (_C.taken == 0))
        | ((_C.ended_at >= value(_C.ended_at, "ended_after")) & (_C.taken == 0)),
    )
    .order_by(_C.number.desc()),
    "session",
    "request_fingerprint",
    "capability",
    "ended_after",
)
_DUE: Final = Statement(
    select(CALLS).where(_C.due_at <= value(_C.due_at, "now")).order_by(_C.due_at, _C.number).limit(_LIMIT),
    "now",
    "limit",
)
_NEXT_DUE: Final = Statement(select(_C.due_at).where(_C.due_at.is_not(None)).order_by(_C.due_at).limit(1))
_OPEN: Final = Statement(select(CALLS).where(IS_OPEN))
_OPEN_ON_PAGE: Final = Statement(select(CALLS).where(IS_OPEN, _C.page == value(_C.page)), "page")
_WAITING: Final = Statement(select(CALLS).where(IS_WAITING, _C.activation == value(_C.activation)), "activation")
_OPEN_OF_SESSION: Final = Statement(select(CALLS).where(IS_OPEN, _C.session == value(_C.session)), "session")
_OPEN_OF_INSTANCE: Final = Statement(
    select(CALLS).where(IS_OPEN_IN_FRAME, _C.instance == value(_C.instance)), "instance"
)
_NEWEST = select(CALLS).order_by(_C.number.desc()).limit(_LIMIT)
_RECENT: Final = Statement(_NEWEST, "limit")
_RECENT_OF_SESSION: Final = Statement(_NEWEST.where(_C.session == value(_C.session)), "session", "limit")
_RECENT_OF_USER: Final = Statement(_NEWEST.where(_C.user == value(_C.user)), "user", "limit")
_RECENT_OF_BOTH: Final = Statement(
    _NEWEST.where(_C.session == value(_C.session), _C.user == value(_C.user)),
    "session",
    "user",
    "limit",
)
_BELOW = _C.ref < value(_C.ref, "below")
_NEXT_REFS = select(_C.ref).where(_BELOW).order_by(_C.ref.desc()).limit(bindparam("look", type_=NUMBER)).subquery()
_LOWEST: Final = Statement(
    select(func.min(_NEXT_REFS.c.ref), func.count(_NEXT_REFS.c.ref)),
    "below",
    "look",
)
_PAGE: Final = Statement(
    select(CALLS)
    .where(
        _BELOW,
        _C.ref >= value(_C.ref, "lowest"),
        *(
            # One statement for every choice of filters: an empty text leaves a column open.
            (value(_C[name], name) == literal_column("''")) | (_C[name] == value(_C[name], name))
            for name in ("agent", "user", "session", "capability", "site", "state")
        ),
    )
    .order_by(_C.ref.desc())
    .limit(_LIMIT),
    "below",
    "lowest",
    *(name for name in ("agent", "user", "session", "capability", "site", "state") for _ in range(2)),
    "limit",
)
_ABOVE_ALL: Final = f"call_{'z' * 27}"
"""Greater than every ref."""

_TAKEN_CHUNK: Final = 32
"""Calls marked by one statement."""
_TAKEN_NAMES: Final = names_of_any(_TAKEN_CHUNK)
_ARE_TAKEN: Final = any_of(_C.ref, _TAKEN_CHUNK)
_MARK_TAKEN: Final = Statement(update(CALLS).values(taken=1).where(_ARE_TAKEN), *_TAKEN_NAMES)

_ADD_INPUT: Final = Statement(
    insert(INPUTS).from_select(
        ["call", "arguments", "promise"],
        select(_C.number, bindparam("arguments", type_=TEXT), bindparam("promise", type_=TEXT)).where(
            _C.ref == value(_C.ref)
        ),
    ),
    "arguments",
    "promise",
    "ref",
)
_INPUT: Final = Statement(select(INPUTS.c.arguments).where(INPUTS.c.call == _NUMBER), "ref")
_PROMISE: Final = Statement(select(INPUTS.c.promise).where(INPUTS.c.call == _NUMBER), "ref")
_EMPTY_INPUT: Final = Statement(
    update(INPUTS).values(arguments=value(INPUTS.c.arguments, "nothing")).where(INPUTS.c.call == _NUMBER),
    "nothing",
    "ref",
)
_ERASE_INPUT: Final = Statement(delete(INPUTS).where(INPUTS.c.call == _NUMBER), "ref")

_R = RECEIPTS.c
_LAST_SEQ = select(func.coalesce(func.max(_R.seq), 0)).where(_R.call == _C.number).scalar_subquery()
_ADD_RECEIPT: Final = Statement(
    insert(RECEIPTS).from_select(
        ["call", "seq", "status", "reason", "at"],
        select(
            _C.number,
            _LAST_SEQ + literal_column("1"),
            bindparam("status", type_=TEXT),
            bindparam("reason", type_=TEXT),
            bindparam("at", type_=NUMBER),
        ).where(_C.ref == value(_C.ref)),
    ),
    "status",
    "reason",
    "at",
    "ref",
)
_RECEIPTS: Final = Statement(
    select(_R.seq, _R.status, _R.reason, _R.at).where(_R.call == _NUMBER).order_by(_R.seq), "ref"
)

_PUT_RESULT: Final = Statement(
    insert(RESULTS).from_select(
        ["call", "output", "evidence", "at", "erase_at", "ui"],
        select(
            _C.number,
            bindparam("output", type_=TEXT),
            bindparam("evidence", type_=TEXT),
            bindparam("at", type_=NUMBER),
            bindparam("erase_at", type_=NUMBER),
            bindparam("ui", type_=TEXT),
        ).where(_C.ref == value(_C.ref)),
    ),
    "output",
    "evidence",
    "at",
    "erase_at",
    "ui",
    "ref",
)
_S = RESULTS.c
_RESULT: Final = Statement(select(_S.output, _S.evidence, _S.at, _S.erase_at, _S.ui).where(_S.call == _NUMBER), "ref")
_DRAWN_FOR: Final = Statement(
    select(CALLS, _S.ui)
    .join(RESULTS, _S.call == _C.number)
    .where(_C.user == value(_C.user), _S.ui.is_not(None))
    .order_by(_C.number.desc())
    .limit(_LIMIT),
    "user",
    "limit",
)
_ERASE_UI: Final = Statement(update(RESULTS).values(ui=null()).where(_S.call == _NUMBER), "ref")
_HASTEN: Final = Statement(
    update(RESULTS)
    .values(erase_at=value(_S.erase_at))
    .where(_S.call.in_(select(_C.number).where(_ARE_TAKEN)), _S.erase_at > value(_S.erase_at, "later_than")),
    "erase_at",
    *_TAKEN_NAMES,
    "later_than",
)
_ERASE_RESULTS: Final = Statement(
    delete(RESULTS).where(
        _S.call.in_(
            select(_S.call).where(_S.erase_at <= value(_S.erase_at, "now")).order_by(_S.erase_at).limit(_LIMIT)
        )
    ),
    "now",
    "limit",
)

_IS_UNKNOWN: Final = and_(
    # What has not ended is in the index of ends, under NULL.
    _C.minted.in_([literal_column("0"), literal_column("1")]),
    _C.ended_at.is_(None),
    one_of(_C.state, [CallState.UNKNOWN]),
)
_UNKNOWN: Final = Statement(
    select(CALLS).where(_IS_UNKNOWN, _C.ref > value(_C.ref, "after")).order_by(_C.ref).limit(_LIMIT),
    "after",
    "limit",
)
_COUNT_UNKNOWN: Final = Statement(select(func.count()).select_from(CALLS).where(_IS_UNKNOWN))

_PURGEABLE: Final = Statement(
    select(_C.number)
    .where(
        _C.minted == value(_C.minted),
        _C.ended_at < value(_C.ended_at, "ended_before"),
        one_of(_C.state, [state for state in CallState if state.is_terminal]),
        ~exists().where(_S.call == _C.number),
    )
    .order_by(_C.ended_at)
    .limit(_LIMIT),
    "minted",
    "ended_before",
    "limit",
)
_CHUNK_NAMES: Final = names_of_any(CHUNK)
_FORGET_APPROVALS: Final = Statement(
    delete(APPROVALS).where(APPROVALS.c.call.in_(select(_C.ref).where(any_of(_C.number, CHUNK)))), *_CHUNK_NAMES
)
_FORGET_OPERATIONS: Final = Statement(
    delete(OPERATIONS).where(OPERATIONS.c.call.in_(select(_C.ref).where(any_of(_C.number, CHUNK)))), *_CHUNK_NAMES
)
_FORGET_RECEIPTS: Final = Statement(delete(RECEIPTS).where(any_of(_R.call, CHUNK)), *_CHUNK_NAMES)
_FORGET_CALLS: Final = Statement(delete(CALLS).where(any_of(_C.number, CHUNK)), *_CHUNK_NAMES)

_Q = QUOTA.c
_TAKE_PLACE: Final = Statement(
    update(QUOTA)
    .values(used=_Q.used + 1, open=_Q.open + value(_Q.open, "opened"))
    .where(
        _Q.used < value(_Q.used, "ledger_cap"),
        _Q.open <= value(_Q.open, "open_cap") - value(_Q.open, "opening"),
    ),
    "opened",
    "ledger_cap",
    "open_cap",
    "opening",
)
_GIVE_PLACE_BACK: Final = Statement(
    update(QUOTA).values(used=_Q.used - 1, open=_Q.open - value(_Q.open, "opened")), "opened"
)
_LOCK_QUOTA: Final = Statement(update(QUOTA).values(used=_Q.used))
_GIVE_PLACES_BACK: Final = Statement(update(QUOTA).values(used=_Q.used - value(_Q.used, "forgotten")), "forgotten")
_CLOSE_ONE: Final = Statement(update(QUOTA).values(open=_Q.open - 1))
_REOPEN_ONE: Final = Statement(update(QUOTA).values(open=_Q.open + 1))
_USAGE: Final = Statement(select(_Q.used, _Q.open))


class SqlCalls:
    """`Calls` on one connection. Locks go quota first, then the call (PostgreSQL needs one order)."""

    def __init__(
        self, connection: Connection, conversations: SqlConversations, *, ledger_cap: int, open_cap: int
    ) -> None:
        self._connection = connection
        self._conversations = conversations
        self._ledger_cap = ledger_cap
        self._open_cap = open_cap

    def add(self, call: Call, arguments: str | None, *, promise: str | None = None) -> None:
        opened = int(call.state in OPEN)
        places = (opened, self._ledger_cap, self._open_cap, opened)
        if not self._connection.execute(_TAKE_PLACE, places):
            raise LedgerFull("the ledger, or its share of open calls, is full")
        reach(Point.PLACE_TAKEN)
        if not self._connection.execute(_ADD, (*naming_values(call), *changing_values(call))):
            self._connection.write(_GIVE_PLACE_BACK, (opened,))
            raise DuplicateKey(f"call_id `{call.call_id}` is taken")
        if arguments is not None or promise is not None:
            self._connection.write(_ADD_INPUT, (arguments or "", promise, call.ref))

    def save(self, call: Call, *, was: CallState, at: int | None = None) -> None:
        if not self._connection.execute(_SAVE, (*changing_values(call), call.ref, was.value)):
            raise StaleState(f"call `{call.ref}` is not `{was}`")
        if was in OPEN and call.state not in OPEN:
            self._connection.write(_CLOSE_ONE)
            self._conversations.told_end(call, end_of(call, at))
        elif call.state in OPEN and was not in OPEN:
            self._connection.write(_REOPEN_ONE)
        if call.state is CallState.UNKNOWN:
            self._connection.write(_EMPTY_INPUT, ("", call.ref))
        elif call.state not in OPEN:
            self._connection.write(_ERASE_INPUT, (call.ref,))

    def find(self, ref: str) -> Call | None:
        return self._one(_FIND, (ref,))

    def find_by_key(self, agent: str, user: str, entry: Entry, call_id: str) -> Call | None:
        return self._one(_FIND_BY_KEY, (agent, user, entry.value, call_id))

    def equals(self, session: str, capability: str, request_fingerprint: str, *, ended_after: int) -> Sequence[Call]:
        return self._many(_EQUALS, (session, request_fingerprint, capability, ended_after))

    def input_of(self, ref: str) -> str | None:
        row = self._connection.fetch_one(_INPUT, (ref,))
        return None if row is None else row[0] or None

    def promise_of(self, ref: str) -> str | None:
        row = self._connection.fetch_one(_PROMISE, (ref,))
        return None if row is None else row[0]

    def add_receipt(self, ref: str, status: str, *, reason: str | None, at: int) -> None:
        if not self._connection.execute(_ADD_RECEIPT, (str(status), reason, at, ref)):
            raise LookupError(f"no call `{ref}`")
        self._conversations.told_receipt(ref, at)

    def receipts_of(self, ref: str) -> Sequence[Receipt]:
        rows = self._connection.fetch_all(_RECEIPTS, (ref,))
        return [Receipt(seq=seq, status=status, reason=reason, at=at) for seq, status, reason, at in rows]

    def put_result(self, ref: str, result: Result) -> None:
        values = (result.output, result.evidence, result.at, result.erase_at, result.ui, ref)
        if not self._connection.execute(_PUT_RESULT, values):
            raise LookupError(f"no call `{ref}`")

    def result_of(self, ref: str) -> Result | None:
        row = self._connection.fetch_one(_RESULT, (ref,))
        if row is None:
            return None
        output, evidence, at, erase_at, ui = row
        return Result(output=output, evidence=evidence, at=at, erase_at=erase_at, ui=ui)

    def drawn_for(self, user: str, *, limit: int) -> Sequence[tuple[Call, str]]:
        rows = self._connection.fetch_all(_DRAWN_FOR, (user, limit))
        return [(call_of(row[:-1]), row[-1]) for row in reversed(rows)]

    def erase_ui(self, ref: str) -> None:
        self._connection.write(_ERASE_UI, (ref,))

    def mark_taken(self, refs: Iterable[str], *, erase_at: int) -> None:
        taken = tuple(refs)
        for place in range(0, len(taken), _TAKEN_CHUNK):
            chunk = padded(taken[place : place + _TAKEN_CHUNK], _TAKEN_CHUNK)
            self._connection.write(_MARK_TAKEN, chunk)
            self._connection.write(_HASTEN, (erase_at, *chunk, erase_at))

    def erase_results(self, now: int, limit: int) -> int:
        return self._connection.execute(_ERASE_RESULTS, (now, limit))

    def unknown(self, *, after: str = "", limit: int) -> Sequence[Call]:
        return self._many(_UNKNOWN, (after, limit))

    def count_unknown(self) -> int:
        row = self._connection.fetch_one(_COUNT_UNKNOWN)
        return 0 if row is None else row[0]

    def purge(self, *, minted: bool, ended_before: int, limit: int) -> int:
        # First the lock that everybody takes first: two purges at once then see different calls.
        self._connection.write(_LOCK_QUOTA)
        rows = self._connection.fetch_all(_PURGEABLE, (int(minted), ended_before, limit))
        numbers: list[int] = [row[0] for row in rows]
        forgotten = 0
        for place in range(0, len(numbers), CHUNK):
            chunk = padded(numbers[place : place + CHUNK], CHUNK)
            self._conversations.forget_calls(numbers[place : place + CHUNK])
            self._connection.write(_FORGET_APPROVALS, chunk)
            self._connection.write(_FORGET_OPERATIONS, chunk)
            self._connection.write(_FORGET_RECEIPTS, chunk)
            forgotten += self._connection.execute(_FORGET_CALLS, chunk)
        if forgotten:
            self._connection.write(_GIVE_PLACES_BACK, (forgotten,))
        return forgotten

    def due(self, now: int, limit: int) -> Sequence[Call]:
        return self._many(_DUE, (now, limit))

    def next_due(self) -> int | None:
        row = self._connection.fetch_one(_NEXT_DUE)
        return None if row is None else row[0]

    def open_calls(self) -> Sequence[Call]:
        return self._admitted(_OPEN)

    def open_on_page(self, page: str) -> Sequence[Call]:
        return self._admitted(_OPEN_ON_PAGE, (page,))

    def waiting_for(self, activation: str) -> Sequence[Call]:
        return self._admitted(_WAITING, (activation,))

    def open_of_session(self, session: str) -> Sequence[Call]:
        return self._admitted(_OPEN_OF_SESSION, (session,))

    def open_of_instance(self, instance: str) -> Sequence[Call]:
        return self._admitted(_OPEN_OF_INSTANCE, (instance,))

    def recent(self, *, limit: int, session: str | None = None, user: str | None = None) -> Sequence[Call]:
        match session, user:
            case None, None:
                return self._many(_RECENT, (limit,))
            case _, None:
                return self._many(_RECENT_OF_SESSION, (session, limit))
            case None, _:
                return self._many(_RECENT_OF_USER, (user, limit))
            case _:
                return self._many(_RECENT_OF_BOTH, (session, user, limit))

    def page(self, *, below: str | None, wanted: Wanted, limit: int, look: int) -> tuple[Sequence[Call], str | None]:
        top = below or _ABOVE_ALL
        row = self._connection.fetch_one(_LOWEST, (top, look))
        assert row is not None, "an aggregate always has its row"
        lowest, looked_at = row
        if not looked_at:
            return [], None
        state = wanted.state.value if wanted.state else ""
        asked = (wanted.agent, wanted.user, wanted.session, wanted.capability, wanted.site, state)
        filters = [text or "" for text in asked for _ in range(2)]
        found = self._many(_PAGE, (top, lowest, *filters, limit))
        if len(found) == limit:
            return found, found[-1].ref
        return found, lowest if looked_at == look else None

    def usage(self) -> tuple[int, int]:
        row = self._connection.fetch_one(_USAGE)
        assert row is not None, "the first migration writes the row"
        used, still_open = row
        return used, still_open

    def _one(self, statement: Statement, values: Values) -> Call | None:
        row = self._connection.fetch_one(statement, values)
        return None if row is None else call_of(row)

    def _many(self, statement: Statement, values: Values = ()) -> Sequence[Call]:
        return [call_of(row) for row in self._connection.fetch_all(statement, values)]

    def _admitted(self, statement: Statement, values: Values = ()) -> Sequence[Call]:
        """Calls in order of admission. Ordered here: asked for an order, SQLite leaves the index of open calls."""
        rows = self._connection.fetch_all(statement, values)
        return [call_of(row) for row in sorted(rows, key=itemgetter(0))]
