"""Answers about what was asked: calls, approvals, denials, and why something may be asked."""

from typing import Annotated, Any

from pydantic import Field

from gateway.domain.approvals import ApprovalState
from gateway.domain.calls import CallState, Entry
from gateway.protocol.admin.base import Answer, Instant, Next
from policy.vocabulary import Confirm, Effect, Risk, Verdict


class Receipt(Answer):
    """A protocol fact about a call."""

    seq: int
    status: str
    reason: str | None
    at: Instant


class Call(Answer):
    """A row of the ledger, without arguments, result and message."""

    ref: str
    state: CallState
    code: str | None
    entry: Entry
    agent: str
    user: str
    session: str
    call_id: str
    capability: str
    effect: Effect
    risk: Risk
    site: str | None
    page: str | None
    epoch: int | None
    policy: str
    inventory: int
    fingerprint: str
    arguments_digest: Annotated[str, Field(description="A keyed digest; the arguments are shown nowhere.")]
    approval: str | None
    orphaned: bool
    late: bool
    admitted_at: Instant
    approved_at: Instant | None
    dispatched_at: Instant | None
    ended_at: Instant | None


class CallWithReceipts(Call):
    """A call and what was told about it on the way."""

    receipts: list[Receipt]


class Calls(Answer):
    """Calls, newest first. A page may be short, even empty, before the end: `next` says whether to go on."""

    items: list[Call]
    next: Next


class Approval(Answer):
    """A question that was put to a person: when and where, never what it showed."""

    approval: str
    ref: Annotated[str, Field(description="The call it is about.")]
    state: ApprovalState
    user: str
    page: str
    epoch: int
    shown: Annotated[str, Field(description="The first 32 hex digits of the digest of what was on the screen.")]
    opened_at: Instant
    expires_at: Instant
    decided_at: Instant | None
    use_by: Instant | None


class Approvals(Answer):
    """Approvals, opened last first."""

    items: list[Approval]
    next: Next


class Denial(Answer):
    """A remembered no. Lifting it is the person's, on the badge."""

    agent: str
    user: str
    capability: str
    until: Instant


class Denials(Answer):
    """The denials of one user that are remembered now."""

    items: list[Denial]


class Stage(Answer):
    """One stage of an explanation."""

    stage: str
    outcome: str
    reason: str
    revision: str


class Place(Answer):
    """Where a capability is declared, and how it is decided there. Page null: by the gateway itself."""

    page: dict[str, Any] | None
    verdict: Verdict
    tier: Risk
    reasons: list[str]
    rules: list[str]
    stages: list[Stage]


class Explanation(Answer):
    """Why a session may or may not use a capability; no place means that nothing declares it now."""

    session: str
    agent: str
    user: str
    standing: str
    capability: str
    policy: str
    places: list[Place]


class Offered(Answer):
    """A capability as a session sees it."""

    capability: str
    site: str | None
    title: str
    effect: Effect
    risk: Risk
    confirm: Confirm
    verdict: Verdict
    tier: Risk
    fingerprint: str
    pages: list[str]


class Inventory(Answer):
    """What a session may see now."""

    session: str
    standing: str
    items: list[Offered]
