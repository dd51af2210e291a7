"""PostgreSQL: what a server must be, how a connection is set up, and who else holds the database."""

import os
import socket
from collections.abc import Callable
from typing import Any, Final

import psycopg
from psycopg import conninfo

from gateway.runtime.ports import StoreRefused, StoreUnavailable

OLDEST: Final = 140_000
"""PostgreSQL 14, the oldest its makers still mended when this was written."""

GATEWAY_LOCK: Final = 7_021_390_846_205
"""The advisory lock of the gateway that serves a database."""
TURN_LOCK: Final = GATEWAY_LOCK + 1
"""The advisory lock of the transaction that writes."""

PATIENCE_MS: Final = 5_000
"""How long a lock is waited for. A server may need seconds to see that a killed gateway is gone."""

_DEFAULTS: Final = {
    "connect_timeout": 5,
    # A peer that vanished without a word is noticed in about 20 seconds, by either side.
    "keepalives_idle": 5,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}

_SETTINGS: Final = {
    "client_encoding": "UTF8",
    "idle_in_transaction_session_timeout": "60000",
    "tcp_keepalives_idle": "5",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    # Every statement is constant, short and served by an index; a plan made while a table was empty must stay good.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "jit": "off",
}
_SET: Final = "SELECT " + ", ".join(
    f"set_config('{name}', %({name})s, false)" for name in (*_SETTINGS, "lock_timeout")
)

Link = psycopg.Connection[Any]
Connect = Callable[[], Link]


def connect(url: str, *, alone: bool, patience_ms: int = PATIENCE_MS) -> Link:
    """Open a connection set up for the store; `alone` also makes this process the one gateway of the database.

    Raises:
        StoreRefused: the server will not do, or another gateway serves the database.
        StoreUnavailable: the server cannot be reached now.
    """
    link = reach(url, patience_ms=patience_ms)
    try:
        if alone:
            take_gateway_lock(link, url)
    except BaseException:
        link.close()
        raise
    return link


def reach(url: str, *, patience_ms: int = PATIENCE_MS) -> Link:
    """Open a connection, judge the server and set what the store relies on.

    Raises:
        StoreRefused: the server will not do.
        StoreUnavailable: it cannot be reached now.
    """
    try:
        link = psycopg.connect(_parameters_of(url), autocommit=True)
    except psycopg.Error as error:
        raise StoreUnavailable(f"cannot reach {place_of(url)}: {told_by(error)}") from error
    try:
        check_version(link.info.server_version)
        check_encoding(link.info.parameter_status("server_encoding"))
        link.execute(_SET.encode(), {**_SETTINGS, "lock_timeout": str(patience_ms)})
        # Weaker, a confirmed commit could be lost; stronger is the operator's choice.
        link.execute(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
    except psycopg.Error as error:
        link.close()
        raise StoreUnavailable(f"cannot use {place_of(url)}: {told_by(error)}") from error
    except BaseException:
        link.close()
        raise
    return link


def check_version(version: int) -> None:
    """`version` as PostgreSQL numbers it: 150004 is 15.4."""
    if version < OLDEST:
        raise StoreRefused(f"PostgreSQL `{version // 10_000}` is too old: use 14 or newer")


def check_encoding(encoding: str | None) -> None:
    if encoding != "UTF8":
        raise StoreRefused(f"the database is encoded in `{encoding}`: create it with `ENCODING 'UTF8'`")


def take_gateway_lock(link: Link, url: str, *, for_session: bool = True) -> None:
    """Become the one gateway of the database, for the session or for the transaction.

    Raises:
        StoreRefused: another one is; the message says which.
    """
    function = "pg_advisory_lock" if for_session else "pg_advisory_xact_lock"
    try:
        link.execute(f"SELECT {function}({GATEWAY_LOCK})".encode())
    except psycopg.errors.LockNotAvailable as error:
        link.rollback()
        raise StoreRefused(f"another gateway serves {place_of(url)}: {_holder(link)}; stop it first") from error
    except psycopg.Error as error:
        raise StoreUnavailable(f"cannot use {place_of(url)}: {told_by(error)}") from error


def _holder(link: Link) -> str:
    row = link.execute(_HOLDER, (GATEWAY_LOCK,)).fetchone()
    if row is None:
        return "it has ended just now, or hides from this user"
    name, user, address, since = row
    return f"`{name}` as `{user}` from {address}, since {since}"


_HOLDER: Final = """
    SELECT a.application_name, a.usename, coalesce(host(a.client_addr), 'this host'), a.backend_start::text
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (l.classid::bigint << 32) + l.objid::bigint = %s
"""


def place_of(url: str) -> str:
    """Which database `url` means, in words without a secret."""
    given = _told(url)
    database = given.get("dbname") or "the default database"
    host = given.get("host") or given.get("hostaddr") or given.get("service") or "the default host"
    port = f":{given['port']}" if given.get("port") else ""
    return f"PostgreSQL `{database}` at `{host}{port}`"


def told_by(error: psycopg.Error) -> str:
    """The first line of what the server said; never a detail, which may quote values."""
    told = (error.diag.message_primary or str(error)).strip()
    return told.splitlines()[0] if told else type(error).__name__


def _parameters_of(url: str) -> str:
    """What libpq is given: the URL, and our defaults where it says nothing."""
    return conninfo.make_conninfo("", **{**_DEFAULTS, "application_name": _own_name(), **_told(url)})


def _told(url: str) -> dict[str, Any]:
    try:
        return dict(conninfo.conninfo_to_dict(url))
    except psycopg.Error:
        # The library's own words quote the part it did not understand, which may be a password.
        raise StoreRefused("`server.database` is not an address PostgreSQL understands") from None


def _own_name() -> str:
    return f"ostiary pid {os.getpid()} on {socket.gethostname()}"[:63]
