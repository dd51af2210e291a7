"""Requests that can be sent again: what one made is remembered in the transaction that makes it."""

from dataclasses import dataclass

from gateway.domain.admin_requests import REMEMBERED_MS, Made
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.ports import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Once:
    """The caller's own name of a request: whose it is, its digest, and the digest of what is asked."""

    holder: str
    key: str
    request: str


class MadeBefore(Exception):
    """The same request made `name` before; nothing was made now."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def remember(tx: Tx, once: Once | None, name: str, now: int) -> None:
    """Note that this request makes `name`.

    Raises:
        MadeBefore: it made something already.
        GatewayError: `key_reused`, for another request under the same key.
    """
    if once is None:
        return
    known = tx.admin_requests.find(once.holder, once.key)
    if known is None:
        until = now + REMEMBERED_MS
        tx.admin_requests.add(Made(holder=once.holder, key=once.key, request=once.request, name=name, until=until))
    elif known.request == once.request:
        raise MadeBefore(known.name)
    else:
        raise GatewayError(
            ErrorCode.KEY_REUSED, "this `Idempotency-Key` came before with another request; use a new one"
        )
