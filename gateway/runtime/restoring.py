"""What a gateway forgets when its database is one of an earlier day (design §1, §6).

Between the backup and now, calls were made, approved and run that this database knows nothing of, tickets and
nonces were used, grants were revoked. Nothing of that may happen a second time, so whatever could bring it back ends.
"""

from dataclasses import dataclass, replace
from typing import Final

from gateway.domain.audit import AuditEvent
from gateway.domain.calls import CallEvent, CallState
from gateway.domain.errors import ErrorCode
from gateway.domain.mini_apps import AppEvent, step
from gateway.runtime import audit
from gateway.runtime.ending import end
from gateway.runtime.horizons import raise_call_horizon, raise_nonce_horizon
from gateway.runtime.ports import Tx
from gateway.runtime.settlement import lose

_MESSAGE: Final = "the gateway was restored from a backup; what became of this call is not known"
_ALL: Final = 2**62

PLACES: Final = 1_000_000
"""Left out in every conversation: more than were told since any backup worth restoring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What ended. `refused_until`: until when (ms) requests with a stamp are refused, for those before may be in."""

    lost: int
    cancelled: int
    pages: int
    tickets: int
    sessions: int
    keys: int
    admin_tokens: int
    apps: int
    refused_until: int


def mark_restored(tx: Tx, now: int, *, window_ms: int, keep_grants: bool, by: str) -> Restored:
    """End, in one unit of work, whatever of the past could happen again. `window_ms`: how far a stamp may be ahead."""
    lost = cancelled = 0
    for call in tx.calls.open_calls():
        if call.state is CallState.DISPATCHED:
            lose(tx, call, now, ErrorCode.OUTCOME_UNKNOWN, _MESSAGE)
            lost += 1
        else:
            # It may have been approved and run since: its caller must not read that nothing happened.
            end(tx, call, CallEvent.CANCEL, now, ErrorCode.OUTCOME_UNKNOWN, _MESSAGE)
            cancelled += 1
    # A stamp made before this instant may lie ahead of it, and its nonce be used up: none of those is taken.
    raise_nonce_horizon(tx, now + 3 * window_ms)
    raise_call_horizon(tx, now + window_ms)
    # Messages were told since under places this database knows nothing of.
    tx.conversations.leap(PLACES)
    revoked = (0, 0, 0) if keep_grants else _revoke_all(tx, now)
    disabled = 0 if keep_grants else _disable_apps(tx, now)
    restored = Restored(
        lost=lost,
        cancelled=cancelled,
        pages=tx.pages.end_all(now),
        tickets=tx.tickets.purge(_ALL, _ALL),
        sessions=revoked[0],
        keys=revoked[1],
        admin_tokens=revoked[2],
        apps=disabled,
        refused_until=now + 2 * window_ms,
    )
    record = audit.of_admin(
        AuditEvent.GATEWAY_RESTORED,
        now,
        by=by,
        unknown=lost,
        cancelled=cancelled,
        pages=restored.pages,
        tickets=restored.tickets,
        sessions=restored.sessions,
        keys=restored.keys,
        admin_tokens=restored.admin_tokens,
        apps=restored.apps,
    )
    tx.audit.append(record)
    return restored


def _disable_apps(tx: Tx, now: int) -> int:
    enabled = [app for app in tx.mini_apps.list() if app.is_enabled]
    for app in enabled:
        tx.mini_apps.put(step(app, AppEvent.DISABLE, now=now))
    return len(enabled)


def _revoke_all(tx: Tx, now: int) -> tuple[int, int, int]:
    sessions = [session for session in tx.sessions.list() if session.revoked_at is None]
    for session in sessions:
        tx.sessions.save(replace(session, revoked_at=now))
    keys = [key for key in tx.keys.list() if key.revoked_at is None]
    for key in keys:
        tx.keys.save(replace(key, revoked_at=now))
    tokens = [token for token in tx.admin_tokens.list() if token.revoked_at is None]
    for token in tokens:
        tx.admin_tokens.save(replace(token, revoked_at=now))
    return len(sessions), len(keys), len(tokens)
