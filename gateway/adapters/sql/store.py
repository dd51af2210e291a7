"""`Store` on SQLite: one connection on one thread, many units of work to a transaction.

The loop queues units; the thread takes what is queued, runs each in a savepoint, commits once, and wakes the
loop once. So a busy gateway pays one disk sync for many calls, and a quiet one waits for nobody.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from gateway.adapters.sql.sqlite import Connect, SqliteConnection, connect
from gateway.adapters.sql.unit_of_work import UnitOfWork
from gateway.failpoints import Point, reach
from gateway.runtime.ports import StoreBusy, StoreUnavailable, Tx

T = TypeVar("T")

_BATCH: Final = 256
"""Units to a transaction at most: the first of a batch waits for the last."""


@dataclass(slots=True)
class _Unit:
    work: Callable[[Tx], Any]
    future: asyncio.Future[Any]
    value: Any = None
    error: BaseException | None = None


class SqliteStore:
    """One database file, one thread, one event loop: the loop of the first `run`."""

    def __init__(
        self, path: Path, *, ledger_cap: int, open_cap: int, queue: int = 1024, connect: Connect = connect
    ) -> None:
        self._path = path
        self._connect = connect
        self._connection = SqliteConnection(connect(path))
        self._tx = UnitOfWork(self._connection, ledger_cap=ledger_cap, open_cap=open_cap)
        self._is_usable = True
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closing = False
        self._room = queue
        self._queue: SimpleQueue[_Unit | None] = SimpleQueue()
        self._thread = Thread(target=self._serve, name="store", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[Tx], T]) -> T:
        """Run `work` and return its value after COMMIT; cancellation of the caller does not stop it."""
        if self._is_closing:
            raise StoreUnavailable("the store is closed")
        if self._room <= 0:
            raise StoreBusy("the queue of the store is full; try again")
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        elif self._loop is not loop:
            raise RuntimeError("a store belongs to one event loop")
        # Nobody else holds the future: a cancelled caller cancels it and nothing more, the unit stays queued.
        future: asyncio.Future[T] = loop.create_future()
        self._room -= 1
        self._queue.put(_Unit(work, future))
        return await future

    async def close(self) -> None:
        """Finish what is queued and let go of the database."""
        if not self._is_closing:
            self._is_closing = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    # ---- on the store thread ----

    def _serve(self) -> None:
        is_open = True
        while is_open:
            batch: list[_Unit] = []
            unit = self._queue.get()
            while unit is not None:
                batch.append(unit)
                if len(batch) == _BATCH or not self._queue.qsize():
                    break
                unit = self._queue.get()
            is_open = unit is not None
            if batch:
                self._commit(batch)
                self._tell(batch)
        self._connection.raw.close()

    def _commit(self, batch: list[_Unit]) -> None:
        """Run a batch in one transaction; where that fails, every member fails."""
        try:
            self._begin()
            for unit in batch:
                self._run(unit)
            reach(Point.UNITS_WRITTEN)
            self._connection.command("COMMIT")
            reach(Point.UNITS_COMMITTED)
        except Exception as error:  # noqa: BLE001 -- whatever it was: the thread goes on, the callers hear of it
            cause = self._connection.failure or error
            self._roll_back()
            for unit in batch:
                unit.value, unit.error = None, StoreUnavailable(f"the store cannot commit: {cause}")
                unit.error.__cause__ = cause

    def _begin(self) -> None:
        """Open a transaction. A connection that cannot do even that is exchanged before the next attempt."""
        if not self._is_usable:
            self._connection.raw.close()
            self._connection.attach(self._connect(self._path))
        self._is_usable = False
        self._connection.renew()
        self._connection.command("BEGIN IMMEDIATE")
        self._is_usable = True

    def _run(self, unit: _Unit) -> None:
        """Run one unit in its savepoint. Raises sqlite3.Error where the transaction itself is lost."""
        connection, audit = self._connection, self._tx.audit
        connection.command("SAVEPOINT unit")
        connection.renew()
        audit.begin()
        try:
            unit.value = unit.work(self._tx)
            audit.flush()
            connection.check()
        except BaseException as error:  # noqa: BLE001 -- it is the caller's, on the other side of the thread
            unit.value, unit.error = None, error
            audit.rollback()
            # SQLite drops the whole transaction on some errors; then there is no savepoint and this raises.
            connection.command("ROLLBACK TO unit")
        connection.command("RELEASE unit")

    def _roll_back(self) -> None:
        """Forget the transaction in place: SQLite then writes over what a failed commit left in its log."""
        self._tx.audit.forget()
        try:
            if self._connection.raw.in_transaction:
                self._connection.command("ROLLBACK")
        except sqlite3.Error:
            self._is_usable = False

    def _tell(self, batch: list[_Unit]) -> None:
        assert self._loop is not None, "a unit was queued on it"
        try:
            self._loop.call_soon_threadsafe(self._resolve, batch)
        except RuntimeError:  # the loop is closed, and with it everybody who could wait
            return

    # ---- back on the loop ----

    def _resolve(self, batch: list[_Unit]) -> None:
        self._room += len(batch)
        for unit in batch:
            if unit.future.done():
                continue
            if unit.error is None:
                unit.future.set_result(unit.value)
            elif isinstance(unit.error, StopIteration):
                unit.future.set_exception(RuntimeError("a unit of work raised StopIteration"))
            else:
                unit.future.set_exception(unit.error)
