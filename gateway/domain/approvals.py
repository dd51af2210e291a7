"""One approval: a person's recorded, single-use yes or no (design §5). Pure."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.domain.errors import IllegalTransition


class ApprovalState(StrEnum):
    """Where an approval stands."""

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"
    CONSUMED = "consumed"
    LAPSED = "lapsed"


class ApprovalEvent(StrEnum):
    """What can happen to an approval."""

    APPROVE = "approve"
    DENY = "deny"
    EXPIRE = "expire"
    WITHDRAW = "withdraw"
    CONSUME = "consume"
    LAPSE = "lapse"


_S, _E = ApprovalState, ApprovalEvent

TRANSITIONS: Final[Mapping[ApprovalState, Mapping[ApprovalEvent, ApprovalState]]] = MappingProxyType(
    {
        _S.OPEN: {
            _E.APPROVE: _S.APPROVED,
            _E.DENY: _S.DENIED,
            _E.EXPIRE: _S.EXPIRED,
            _E.WITHDRAW: _S.WITHDRAWN,
        },
        _S.APPROVED: {_E.CONSUME: _S.CONSUMED, _E.LAPSE: _S.LAPSED, _E.WITHDRAW: _S.WITHDRAWN},
        _S.DENIED: {},
        _S.EXPIRED: {},
        _S.WITHDRAWN: {},
        _S.CONSUMED: {},
        _S.LAPSED: {},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One question put to the person on one document. Instants are milliseconds since the epoch.

    `payload` is the exact text shown (empty once it ended, or where it may not be stored);
    `digest` is the lower-case hex SHA-256 of its UTF-8 bytes.
    It counts only from `page` at `epoch`, once, with the same `nonce` and `digest`.
    """

    id: str
    call: str
    nonce: str
    payload: str
    digest: str
    page: str
    epoch: int
    user: str
    decision: str
    state: ApprovalState
    opened_at: int
    expires_at: int
    decided_at: int | None = None
    use_by: int | None = None


def digest_of(payload: str) -> str:
    """The approval digest of a payload (design §5)."""
    return hashlib.sha256(payload.encode()).hexdigest()


def step(approval: Approval, event: ApprovalEvent, *, now: int, use_within: int = 0) -> Approval:
    """Move `approval` by `event`; an approve sets `use_by` to `now + use_within` (ms).

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[approval.state].get(event)
    if target is None:
        raise IllegalTransition(f"approval in `{approval.state}` cannot `{event}`")
    if event is _E.APPROVE:
        return replace(approval, state=target, decided_at=now, use_by=now + use_within)
    decided_at = now if event is _E.DENY else approval.decided_at
    # The payload holds the arguments: it goes as soon as nobody needs it any more (design §14).
    return replace(approval, state=target, decided_at=decided_at, payload="")
