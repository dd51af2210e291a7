"""One connection in libpq's pipeline mode: send statements, then wait for the answers of all of them."""

import select
from collections.abc import Sequence
from typing import Any, Final

import psycopg
from psycopg import pq

DEADLINE_MS: Final = 30_000
"""How long a server may say nothing before it counts as gone; longer than it waits for a lock."""

_Status = pq.ExecStatus
_GOOD: Final = frozenset({_Status.COMMAND_OK, _Status.TUPLES_OK, _Status.PIPELINE_SYNC})


class ConnectionLost(Exception):
    """Nothing more will be heard over this connection."""


class Wire:
    """A psycopg connection taken over for pipelining.

    `error` is the first thing that went wrong among what was waited for last.
    """

    error: psycopg.Error | None

    def __init__(self, link: psycopg.Connection[Any]) -> None:
        self._link = link
        self._raw = link.pgconn
        self._raw.nonblocking = 1
        self._raw.enter_pipeline_mode()
        self._under_way = 0
        self.error = None
        socket = self._raw.socket
        self._readable, self._either = select.poll(), select.poll()
        self._readable.register(socket, select.POLLIN)
        self._either.register(socket, select.POLLIN | select.POLLOUT)

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is open, as the server said at the last `sync`."""
        return self._raw.transaction_status != pq.TransactionStatus.IDLE

    def prepare(self, name: bytes, sql: str) -> None:
        self._raw.send_prepare(name, sql.encode())
        self._under_way += 1

    def send(self, name: bytes, values: Sequence[str | int | bytes | None] = ()) -> None:
        """Send a prepared statement; nobody waits."""
        given: list[bytes | None] = []
        forms: list[int] = []
        for value in values:
            match value:
                case None:
                    given.append(None)
                    forms.append(0)
                case bytes():
                    given.append(value)
                    forms.append(1)
                case str():
                    if "\0" in value:
                        # libpq would send what comes before it, and say nothing.
                        raise ValueError("PostgreSQL cannot hold a text with a NUL character")
                    given.append(value.encode())
                    forms.append(0)
                case _:
                    given.append(b"%d" % value)
                    forms.append(0)
        try:
            self._raw.send_query_prepared(name, given, forms, 1)
        except psycopg.OperationalError as error:
            raise ConnectionLost(_words(error)) from error
        self._under_way += 1

    def receive(self) -> pq.abc.PGresult | None:
        """Wait for all that was sent; the last result. After an error the server skips the rest up to a `sync`.

        Raises:
            ConnectionLost: the answers do not come.
        """
        try:
            if self._under_way:
                self._raw.send_flush_request()
            return self._drain()
        except psycopg.OperationalError as error:
            raise ConnectionLost(_words(error)) from error

    def sync(self) -> pq.abc.PGresult | None:
        """`receive`, and let the server take statements again after an error; the result before the point."""
        try:
            self._raw.pipeline_sync()
            last = self._drain()
            self._answer()
        except psycopg.OperationalError as error:
            raise ConnectionLost(_words(error)) from error
        return last

    def close(self) -> None:
        self._link.close()

    def _drain(self) -> pq.abc.PGresult | None:
        self.error, last = None, None
        while self._raw.flush():
            self._wait(self._either)
            self._raw.consume_input()
        while self._under_way:
            last = self._answer()
            self._under_way -= 1
            # In a pipeline each result is followed by a mark of its end.
            assert self._raw.get_result() is None
            if last.status not in _GOOD and self.error is None:
                self.error = _error_of(last)
        return last

    def _answer(self) -> pq.abc.PGresult:
        raw = self._raw
        while raw.is_busy():
            self._wait(self._readable)
            raw.consume_input()
        result = raw.get_result()
        if result is None or raw.status != pq.ConnStatus.OK:
            raise ConnectionLost(raw.get_error_message())
        return result

    def _wait(self, poll: select.poll) -> None:
        if not poll.poll(DEADLINE_MS):
            raise ConnectionLost(f"the server said nothing for {DEADLINE_MS // 1000} s")


def _error_of(result: pq.abc.PGresult) -> psycopg.Error:
    if result.status == _Status.PIPELINE_ABORTED:
        return psycopg.errors.InFailedSqlTransaction("an earlier statement failed")
    state = result.error_field(pq.DiagnosticField.SQLSTATE)
    words = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"no words"
    kind = psycopg.errors.lookup("XX000" if state is None else state.decode())
    return kind(words.decode(errors="replace"))


def _words(error: psycopg.Error) -> str:
    told = str(error).strip()
    return told.splitlines()[0] if told else "no words"
