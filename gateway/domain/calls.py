"""One call: its ledger row, its states, and the table that moves it (design §3). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from gateway.domain.errors import ErrorCode, IllegalTransition
from policy.vocabulary import Effect, Risk


class Entry(StrEnum):
    """Three doors that never pose as each other (seed 002 §3)."""

    AGENT_TOOL = "agent_tool"
    UI_ACTION = "ui_action"
    HOST_INTENT = "host_intent"


class CallState(StrEnum):
    """Where an accepted call stands. A refused request has no row and so no state."""

    AWAITING_APPROVAL = "awaiting_approval"
    WAITING_ACTIVATION = "waiting_activation"
    READY = "ready"
    DISPATCHED = "dispatched"
    UNKNOWN = "unknown"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        """Whether no event can move it any more. `unknown` is not terminal."""
        return not TRANSITIONS[self]

    @property
    def is_undispatched(self) -> bool:
        """Whether nothing was handed to an executor yet."""
        return self in UNDISPATCHED


class CallEvent(StrEnum):
    """What can happen to a call."""

    APPROVE = "approve"
    APPROVE_UNREADY = "approve_unready"
    DENY = "deny"
    EXPIRE = "expire"
    CANCEL = "cancel"
    WITHDRAW = "withdraw"
    REFUSED_BY_PAGE = "refused_by_page"
    ACTIVATED = "activated"
    ACTIVATION_FAILED = "activation_failed"
    ACTIVATION_CANCELLED = "activation_cancelled"
    ANSWER = "answer"
    DISPATCH = "dispatch"
    SUCCEED = "succeed"
    FAIL = "fail"
    NOT_DELIVERED = "not_delivered"
    CANCEL_CONFIRMED = "cancel_confirmed"
    LOSE = "lose"
    RECONCILE_SUCCEEDED = "reconcile_succeeded"
    RECONCILE_FAILED = "reconcile_failed"


_S, _E = CallState, CallEvent

TRANSITIONS: Final[Mapping[CallState, Mapping[CallEvent, CallState]]] = MappingProxyType(
    {
        _S.AWAITING_APPROVAL: {
            _E.APPROVE: _S.READY,
            _E.APPROVE_UNREADY: _S.WAITING_ACTIVATION,
            _E.DENY: _S.DENIED,
            _E.EXPIRE: _S.EXPIRED,
            _E.CANCEL: _S.CANCELLED,
            _E.WITHDRAW: _S.DENIED,
            _E.REFUSED_BY_PAGE: _S.FAILED,
        },
        _S.WAITING_ACTIVATION: {
            _E.ACTIVATED: _S.READY,
            _E.ACTIVATION_FAILED: _S.FAILED,
            _E.ACTIVATION_CANCELLED: _S.CANCELLED,
            _E.ANSWER: _S.SUCCEEDED,
            _E.EXPIRE: _S.EXPIRED,
            _E.CANCEL: _S.CANCELLED,
            _E.WITHDRAW: _S.DENIED,
        },
        _S.READY: {
            _E.DISPATCH: _S.DISPATCHED,
            _E.EXPIRE: _S.EXPIRED,
            _E.CANCEL: _S.CANCELLED,
            _E.WITHDRAW: _S.DENIED,
        },
        _S.DISPATCHED: {
            _E.SUCCEED: _S.SUCCEEDED,
            _E.FAIL: _S.FAILED,
            _E.NOT_DELIVERED: _S.FAILED,
            _E.CANCEL_CONFIRMED: _S.CANCELLED,
            _E.LOSE: _S.UNKNOWN,
        },
        _S.UNKNOWN: {
            _E.SUCCEED: _S.SUCCEEDED,
            _E.FAIL: _S.FAILED,
            _E.RECONCILE_SUCCEEDED: _S.SUCCEEDED,
            _E.RECONCILE_FAILED: _S.FAILED,
        },
        _S.SUCCEEDED: {},
        _S.FAILED: {},
        _S.DENIED: {},
        _S.EXPIRED: {},
        _S.CANCELLED: {},
    }
)

UNDISPATCHED: Final = frozenset({_S.AWAITING_APPROVAL, _S.WAITING_ACTIVATION, _S.READY})
"""Accepted and not yet handed to an executor."""

OPEN: Final = UNDISPATCHED | {_S.DISPATCHED}
"""What counts to the cap of open calls; `unknown` does not."""


ORPHAN_MS: Final = 30_000
"""How long an orphaned call may be re-armed (design §3)."""

LAPSE_MS: Final = 60_000
"""How long an approved call may wait for its dispatch (design §17)."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One row of the ledger. Instants are milliseconds since the epoch.

    `agent` and `session` are empty for entries without an agent; `instance` then names the mini app's frame in which
    the person acted. `page_selector` is what the caller sent;
    `page`, `epoch`, `site` are what it resolved to. `decision` is the canonical text an approval is bound to.
    `deadline` bounds the time before dispatch, `approve_by` the question to the person, `execute_by` the work.
    `app` is the mini app it belongs to (in which `conversation`), `activation` the attempt it waits for or waited for, `operation` the durable
    operation that carries it: such a call is settled by that row and by nothing else (rules B5).
    """

    ref: str
    entry: Entry
    agent: str
    user: str
    session: str
    call_id: str
    minted: bool
    request_fingerprint: str
    arguments_digest: str
    capability: str
    capability_fingerprint: str
    effect: Effect
    risk: Risk
    state: CallState
    decision: str
    policy_revision: str
    inventory_revision: int
    site: str | None
    page_selector: str | None
    page: str | None
    epoch: int | None
    timeout_ms: int
    admitted_at: int
    deadline: int
    instance: str | None = None
    approve_by: int | None = None
    input_in_memory: bool = False
    traceparent: str | None = None
    app: str | None = None
    conversation: str | None = None
    activation: str | None = None
    operation: str | None = None
    approval: str | None = None
    approved_at: int | None = None
    orphaned_at: int | None = None
    handed_out: bool = False
    dispatched_at: int | None = None
    execute_by: int | None = None
    cancel_requested: bool = False
    ended_at: int | None = None
    code: ErrorCode | None = None
    message: str | None = None
    late: bool = False
    taken: bool = False

    @property
    def is_orphaned(self) -> bool:
        """Whether its last waiter left before dispatch; an orphan cannot be dispatched."""
        return self.orphaned_at is not None

    @property
    def due_at(self) -> int | None:
        """The next instant at which time alone changes this call; None once time has no say."""
        bounds: list[int | None] = []
        if self.state is CallState.DISPATCHED:
            bounds = [None if self.operation is not None else self.execute_by]
        elif self.state in UNDISPATCHED:
            bounds = [
                self.deadline,
                self.approve_by,
                None if self.orphaned_at is None else self.orphaned_at + ORPHAN_MS,
                None if self.approved_at is None else self.approved_at + LAPSE_MS,
            ]
        return min((bound for bound in bounds if bound is not None), default=None)


def step(
    call: Call, event: CallEvent, *, now: int, code: ErrorCode | None = None, message: str | None = None
) -> Call:
    """Move `call` by `event` at `now`; ends and losses carry the `code` its caller will see.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[call.state].get(event)
    if target is None:
        raise IllegalTransition(f"call in `{call.state}` cannot `{event}`")
    if target is CallState.DISPATCHED:
        return replaced(call, state=target, dispatched_at=now, execute_by=now + call.timeout_ms, approve_by=None)
    if target in UNDISPATCHED:
        approved_at = now if call.state is CallState.AWAITING_APPROVAL else call.approved_at
        return replaced(call, state=target, approved_at=approved_at, approve_by=None)
    return replaced(
        call,
        state=target,
        ended_at=None if target is CallState.UNKNOWN else now,
        code=code,
        # It may be a page's own words, or quote its output, and one of the stores cannot hold a NUL.
        message=None if message is None else message.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        late=call.state is CallState.UNKNOWN,
    )


def end_of(call: Call, at: int | None) -> int:
    """When a call ended or was lost, in ms since the epoch: the row says so, but for `unknown`, which needs `at`."""
    ended = call.ended_at if at is None else at
    return call.admitted_at if ended is None else ended


def replaced(call: Call, **changes: Any) -> Call:
    """`dataclasses.replace`, for the path of every call."""
    # `dataclasses.replace` sets forty fields one by one, which costs ten times as much; every call moves twice.
    # This is why `Call` has no slots.
    moved = object.__new__(Call)
    moved.__dict__.update(call.__dict__, **changes)
    return moved


class ReceiptStatus(StrEnum):
    """The seven words a receipt may say (rules F1)."""

    ACCEPTED = "accepted"
    STARTING = "starting"
    ACTIVATION_READY = "activation_ready"
    ACTIVATION_FAILED = "activation_failed"
    ACTIVATION_CANCELLED = "activation_cancelled"
    STARTED = "started"
    PROGRESS = "progress"


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A protocol fact about an accepted call, never a result (rules F1). `status` is a `ReceiptStatus`."""

    seq: int
    status: str
    reason: str | None
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The one business outcome of a call: canonical JSON texts, erased at `erase_at` at the latest.

    `ui` is how the answer looks on the person's page, sanitised; the caller is not told it.
    """

    output: str
    evidence: str | None
    at: int
    erase_at: int
    ui: str | None = None
