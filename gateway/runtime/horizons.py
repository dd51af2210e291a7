"""Instants before which something may have been forgotten. They only rise, and they outlive restarts.

INVARIANT: what may have been forgotten is refused by its stamp, whatever the clock says now (design §6).
"""

from typing import Final

from gateway.runtime.ports import Tx

_NONCES: Final = "nonce_horizon"
_CALLS: Final = "call_horizon"


def nonce_horizon(tx: Tx) -> int:
    """A nonce whose time ended before this may be forgotten (ms since the epoch)."""
    return _get(tx, _NONCES)


def raise_nonce_horizon(tx: Tx, at: int) -> None:
    """Nonces whose time ended before `at` are forgotten."""
    _raise(tx, _NONCES, at)


def call_horizon(tx: Tx) -> int:
    """A call issued before this, and the call_id its caller gave it, may be forgotten (ms since the epoch)."""
    return _get(tx, _CALLS)


def raise_call_horizon(tx: Tx, at: int) -> None:
    """Calls that were issued before `at` are forgotten."""
    _raise(tx, _CALLS, at)


def _get(tx: Tx, name: str) -> int:
    return int(tx.installation.get(name) or 0)


def _raise(tx: Tx, name: str, at: int) -> None:
    if at > _get(tx, name):
        tx.installation.put(name, str(at).encode())
