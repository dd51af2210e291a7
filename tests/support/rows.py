"""Builders of domain values for tests: a plausible one, with what matters overridden."""

from dataclasses import replace
from typing import Any

from gateway.domain.approvals import Approval, ApprovalState, digest_of
from gateway.domain.calls import Call, CallState, Entry
from policy.vocabulary import Effect, Risk

NOW = 1_800_000_000_000


def a_call(**changes: Any) -> Call:
    """A call of `todo.add` on page `page_a`, ready for dispatch."""
    call = Call(
        ref="call_00000000000000000000000001",
        entry=Entry.AGENT_TOOL,
        agent="claude",
        user="ana",
        session="sess_1",
        call_id="call-id-1",
        minted=False,
        request_fingerprint="f" * 64,
        arguments_digest="d" * 32,
        capability="todo.add",
        capability_fingerprint="c" * 64,
        effect=Effect.WRITE,
        risk=Risk.DISPLAY_ONLY,
        state=CallState.READY,
        decision="{}",
        policy_revision="policy-1",
        inventory_revision=1,
        site="todo",
        page_selector=None,
        page="page_a",
        epoch=1,
        timeout_ms=30_000,
        admitted_at=NOW,
        deadline=NOW + 600_000,
    )
    return replace(call, **changes)


def an_approval(**changes: Any) -> Approval:
    """An open approval of `a_call()`, shown on page `page_a`."""
    approval = Approval(
        id="appr_1",
        call="call_00000000000000000000000001",
        nonce="nonce",
        payload='{"v":1}',
        digest=digest_of('{"v":1}'),
        page="page_a",
        epoch=1,
        user="ana",
        decision="{}",
        state=ApprovalState.OPEN,
        opened_at=NOW,
        expires_at=NOW + 120_000,
    )
    return replace(approval, **changes)
