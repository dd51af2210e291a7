"""`Store` over SQL: one connection on one thread, many units of work to a transaction.

The loop gathers units while its turns bring more; the thread takes what was gathered, runs one after the other,
commits once, and wakes the loop once. So a busy gateway pays one disk sync for many calls, and a quiet one waits
for nobody.

Units are first run together. Where one of them fails, the transaction is rolled back and they are run again, each
in a savepoint of its own, so that it fails alone: savepoints would cost every unit what few of them need.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, TypeVar

from gateway.adapters.sql import backups
from gateway.adapters.sql.connection import Database, Interrupted
from gateway.adapters.sql.unit_of_work import UnitOfWork
from gateway.failpoints import Point, reach
from gateway.runtime.ports import StoreBusy, StoreRefused, StoreUnavailable, Tx

T = TypeVar("T")

_ATTEMPTS: Final = 3
"""How often a transaction that was interrupted is tried."""


@dataclass(slots=True)
class _Unit:
    work: Callable[[Tx], Any]
    future: asyncio.Future[Any]
    heard: Callable[[Any], None] | None
    value: Any = None
    error: BaseException | None = None


@dataclass(slots=True)
class _Copy:
    target: Path
    future: asyncio.Future[None]


class _OneFailed(Exception):
    """A unit raised `error`; it must not take the others with it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class SqlStore:
    """One database, one thread, one event loop: the loop of the first `run`."""

    def __init__(self, database: Database, *, ledger_cap: int, open_cap: int, queue: int = 1024) -> None:
        self._database = database
        self._tx = UnitOfWork(database, ledger_cap=ledger_cap, open_cap=open_cap)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closing = False
        self._room = queue
        self._queue: SimpleQueue[_Unit | _Copy | None] = SimpleQueue()
        self._gathered: list[_Unit] = []
        self._is_over = False
        self._is_copying = False
        self._thread = Thread(target=self._serve, name="store", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[Tx], T], heard: Callable[[T], None] | None = None) -> T:
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
        self._gathered.append(_Unit(work, future, heard))
        if len(self._gathered) == 1:
            loop.call_soon(self._gather, loop, 1)
        return await future

    def _gather(self, loop: asyncio.AbstractEventLoop, known: int) -> None:
        """Hand the units over once a turn of the loop brought no more of them.

        A thread woken while the loop is at work would take the interpreter's lock from it and give it back at
        every statement and every send; so both work in turns, as far as what comes together lets them.
        """
        count = len(self._gathered)
        if known < count < self._database.batch:
            loop.call_soon(self._gather, loop, count)
        else:
            self._hand_over()

    def _hand_over(self) -> None:
        for unit in self._gathered:
            self._queue.put(unit)
        self._gathered.clear()

    async def close(self) -> None:
        """Finish what is queued and let go of the database."""
        if not self._is_closing:
            self._is_closing = True
            self._hand_over()
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    async def back_up(self, target: Path) -> None:
        """Write a copy of the database, as it is when the copy is done, into the new file `target` of mode 0600.

        Units of work go on meanwhile, between pieces of the copy.

        Raises:
            StoreRefused: it cannot be written there, or another copy is being written; the message says why.
            StoreUnavailable: the database failed; nothing was left behind.
        """
        if self._is_closing:
            raise StoreUnavailable("the store is closed")
        loop = self._loop = self._loop or asyncio.get_running_loop()
        with backups.begun(target) as part:
            future: asyncio.Future[None] = loop.create_future()
            self._queue.put(_Copy(part, future))
            # Whoever asked may leave; the thread writes on, and the file must stay until it is done.
            await asyncio.shield(future)
            await asyncio.to_thread(backups.seal, part, target)

    # ---- on the store thread ----

    def _serve(self) -> None:
        while not self._is_over:
            self._take(self._queue.get())
        self._database.close()

    def _take(self, item: _Unit | _Copy | None) -> None:
        """Do what was queued, and with a unit those behind it."""
        batch: list[_Unit] = []
        while isinstance(item, _Unit):
            batch.append(item)
            if len(batch) == self._database.batch or not self._queue.qsize():
                break
            item = self._queue.get()
        if batch:
            self._commit(batch)
            self._tell(batch)
        if item is None:
            self._is_over = True
        elif isinstance(item, _Copy):
            self._copy(item)

    def _copy(self, copy: _Copy) -> None:
        error: Exception | None = None
        if self._is_copying:
            error = StoreRefused("another backup is being written; try again when it is done")
        else:
            self._is_copying = True
            try:
                self._database.copy_to(copy.target, self._between)
            except Exception as failed:  # noqa: BLE001 -- it is the caller's, on the other side of the thread
                error = failed
            self._is_copying = False
        with suppress(RuntimeError):  # the loop is closed, and with it everybody who could wait
            copy.future.get_loop().call_soon_threadsafe(_resolve_copy, copy.future, error)

    def _between(self) -> None:
        """Serve what was queued while a piece of a copy was written."""
        if self._queue.qsize():
            self._take(self._queue.get())
        if self._is_over:
            raise StoreUnavailable("the store was closed while a backup was written")

    def _commit(self, batch: list[_Unit]) -> None:
        """Run a batch in one transaction; where that fails, every member fails."""
        run, attempt = self._together, 0
        while True:
            attempt += 1
            try:
                self._try(batch, run)
            except _OneFailed as failed:
                self._roll_back()
                if len(batch) == 1:
                    batch[0].value, batch[0].error = None, failed.error
                    return
                run = self._apart
                continue
            except Interrupted as error:
                cause: Exception = error
                self._roll_back()
                if attempt < _ATTEMPTS:
                    continue
            except Exception as error:  # noqa: BLE001 -- whatever it was: the thread goes on, the callers hear of it
                cause = error
                self._roll_back()
            else:
                return
            for unit in batch:
                unit.value, unit.error = None, StoreUnavailable(f"the store cannot commit: {cause}")
                unit.error.__cause__ = cause
            return

    def _try(self, batch: list[_Unit], run: Callable[[list[_Unit]], None]) -> None:
        database = self._database
        database.begin()
        if not database.is_alone:
            self._tx.audit.forget()
        run(batch)
        reach(Point.UNITS_WRITTEN)
        database.commit()
        reach(Point.UNITS_COMMITTED)

    def _together(self, batch: list[_Unit]) -> None:
        """Run units that share one fate. Raises `_OneFailed` where one of them raises."""
        try:
            for unit in batch:
                unit.value = unit.work(self._tx)
                self._database.check()
            self._tx.audit.flush()
            self._database.settle()
        except Interrupted:
            raise
        except BaseException as error:
            raise _OneFailed(error) from error

    def _apart(self, batch: list[_Unit]) -> None:
        for unit in batch:
            self._run(unit)

    def _run(self, unit: _Unit) -> None:
        """Run one unit in its savepoint. Raises where the transaction itself is lost."""
        database, audit = self._database, self._tx.audit
        unit.error = None
        database.enter()
        audit.begin()
        try:
            unit.value = unit.work(self._tx)
            audit.flush()
            database.settle()
        except Interrupted:
            raise
        except BaseException as error:  # noqa: BLE001 -- it is the caller's, on the other side of the thread
            unit.value, unit.error = None, error
            audit.rollback()
            database.undo()
        database.leave()

    def _roll_back(self) -> None:
        self._tx.audit.forget()
        self._database.roll_back()

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
            if unit.error is None and unit.heard is not None:
                unit.heard(unit.value)
            if unit.future.done():
                continue
            if unit.error is None:
                unit.future.set_result(unit.value)
            elif isinstance(unit.error, StopIteration):
                unit.future.set_exception(RuntimeError("a unit of work raised StopIteration"))
            else:
                unit.future.set_exception(unit.error)


def _resolve_copy(future: asyncio.Future[None], error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
