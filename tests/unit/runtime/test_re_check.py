"""Between the person's yes and the dispatch everything is judged again; what changed ends the call (design §3)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import pytest

from capabilities.contract import Readiness
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.approvals import ApprovalState
from gateway.domain.calls import CallState
from gateway.domain.errors import GatewayError
from policy.model import Floor, Rule
from policy.vocabulary import Effect, Risk, Verdict
from tests.unit.runtime.rig import ADD, LIST, MILK, Document, Rig, configuration, running, site

pytestmark = pytest.mark.anyio

WATCHED = replace(ADD, readiness=Readiness.FOREGROUND_REQUIRED)

Change = Callable[[Rig, Document, AgentSession], Awaitable[None]]


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    async with running(approval_ms=600_000) as made:
        yield made


async def revoked(rig: Rig, page: Document, session: AgentSession) -> None:
    del page
    await rig.store.run(lambda tx: tx.sessions.save(replace(session, revoked_at=rig.clock.now())))


async def expired(rig: Rig, page: Document, session: AgentSession) -> None:
    del page
    await rig.store.run(lambda tx: tx.sessions.save(replace(session, expires_at=rig.clock.now())))


async def forbidden(rig: Rig, page: Document, session: AgentSession) -> None:
    del page, session
    rule = Rule(id="no", agents=("*",), capabilities=("todo.*",), verdict=Verdict.FORBID)
    rig.services.live.configure(configuration(rules=(rule,)), {})


async def raised(rig: Rig, page: Document, session: AgentSession) -> None:
    del page, session
    floors = (Floor(pattern="todo.*", risk=Risk.SYSTEM_PERMISSION),)
    rig.services.live.configure(configuration(sites={"todo": site(expose=floors)}), {})


async def not_exposed(rig: Rig, page: Document, session: AgentSession) -> None:
    del page, session
    rig.services.live.configure(configuration(sites={"todo": site(expose=())}), {})


async def agent_gone(rig: Rig, page: Document, session: AgentSession) -> None:
    del page, session
    rig.services.live.configure(configuration(agents={}), {})


async def redeclared(rig: Rig, page: Document, session: AgentSession) -> None:
    del session
    changed = {WATCHED.id: replace(WATCHED, description="Deletes everything.")}
    rig.services.live.put_page(replace(page.live, capabilities=changed))


async def withdrawn(rig: Rig, page: Document, session: AgentSession) -> None:
    del session
    rig.services.live.put_page(replace(page.live, capabilities={}))


async def reloaded(rig: Rig, page: Document, session: AgentSession) -> None:
    del session
    row = page.live.session
    await rig.store.run(lambda tx: tx.pages.save(replace(row, epoch=row.epoch + 1)))


CHANGES: dict[str, tuple[Change, str]] = {
    "session revoked": (revoked, "session_revoked"),
    "session expired": (expired, "session_expired"),
    "rule forbids": (forbidden, "policy_changed"),
    "tier raised": (raised, "policy_changed"),
    "not exposed any more": (not_exposed, "policy_changed"),
    "agent not configured any more": (agent_gone, "session_revoked"),
    "fingerprint changed": (redeclared, "stale_inventory"),
    "capability withdrawn": (withdrawn, "revoked"),
    "another document": (reloaded, "page_not_connected"),
}


async def asked(rig: Rig, *, visible: bool = False) -> tuple[Document, AgentSession, str]:
    """An open question about a call that needs the foreground."""
    page = await rig.page(WATCHED, visible=visible)
    session = await rig.grant()
    outcome, _ = await rig.submit(session, "todo.add", MILK)
    return page, session, outcome.call.ref


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_before_the_yes_withdraws_the_question(rig: Rig, name: str) -> None:
    change, code = CHANGES[name]
    page, session, ref = await asked(rig, visible=True)
    await change(rig, page, session)
    await page.decide()
    await refused(rig, page, ref, code)
    # It was no yes: nobody had been shown what it would have been to.
    assert await rig.records("approval.decided", ref=ref) == []


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_after_the_yes_stops_the_dispatch(rig: Rig, name: str) -> None:
    change, code = CHANGES[name]
    page, session, ref = await asked(rig)
    await page.decide()
    assert (await rig.call(ref)).state is CallState.WAITING_ACTIVATION
    await change(rig, page, session)
    rig.services.pages.show(page.id, visible=True)
    await rig.services.pages.try_dispatch(ref)
    await rig.settle()
    await refused(rig, page, ref, code)


async def refused(rig: Rig, page: Document, ref: str, code: str) -> None:
    call = await rig.call(ref)
    assert call.code is not None
    assert (call.state, call.code.wire) == (CallState.DENIED, code)
    assert page.invoked == []
    approval = await rig.store.run(lambda tx: tx.approvals.find_of_call(ref))
    assert approval is not None
    assert (approval.state, approval.payload) == (ApprovalState.WITHDRAWN, "")
    assert len(await rig.records("call.ended", ref=ref)) == 1
    assert len(await rig.records("approval.withdrawn", ref=ref)) == 1
    assert await rig.store.run(lambda tx: tx.calls.input_of(ref)) is None
    await page.decide()
    assert page.invoked == []


async def test_a_yes_is_used_once_and_lapses_after_60_s(rig: Rig) -> None:
    page, _, ref = await asked(rig)
    await page.decide()
    await rig.after(60_000)
    call = await rig.call(ref)
    assert call.code is not None
    assert call.state in (CallState.EXPIRED, CallState.FAILED)
    rig.services.pages.show(page.id, visible=True)
    await rig.settle()
    assert page.invoked == []


async def test_an_equal_decision_keeps_the_question_over_a_reload(rig: Rig) -> None:
    page, _, ref = await asked(rig, visible=True)
    await rig.services.reconfiguration.apply(configuration(revision="policy-111111111111"))
    assert (await rig.call(ref)).state is CallState.AWAITING_APPROVAL
    await page.decide()
    assert page.invoked == [ref]


async def test_a_reload_without_the_agent_ends_what_it_asked_for(rig: Rig) -> None:
    _, _, ref = await asked(rig, visible=True)
    await rig.services.reconfiguration.apply(configuration(agents={}))
    assert (await rig.call(ref)).state is CallState.DENIED


async def test_a_client_in_a_page_gets_no_more_than_the_file_says_now(rig: Rig) -> None:
    page = await rig.page(LIST, ADD)
    before = await rig.services.sessions.in_page(page.live)
    assert before is not None
    assert before.scope == ("todo.*",)
    outcome, _ = await rig.submit(before, "todo.add", MILK)
    narrower = {"todo": site(in_page_scope=("todo.list",))}
    await rig.services.reconfiguration.apply(configuration(sites=narrower))
    assert (await rig.call(outcome.call.ref)).state is CallState.DENIED
    after = await rig.services.sessions.in_page(page.live)
    assert after is not None
    assert (after.id != before.id, after.scope) == (True, ("todo.list",))
    await rig.settle()
    row = await rig.store.run(lambda tx: tx.sessions.find(before.id))
    assert row is not None
    assert row.revoked_at is not None
    with pytest.raises(GatewayError):
        await rig.submit(before, "todo.list", {})


async def test_a_page_has_one_session_of_its_own_however_many_ask_at_once(rig: Rig) -> None:
    page = await rig.page(LIST)
    made = await asyncio.gather(*(rig.services.sessions.in_page(page.live) for _ in range(3)))
    assert len({session.id for session in made if session}) == 1
    assert len(await rig.records("session.added", by="in-page")) == 1


async def test_a_permitted_read_is_forbidden_by_a_rule_at_once(rig: Rig) -> None:
    page = await rig.page(LIST)
    session = await rig.grant()
    await rig.submit(session, "todo.list", {})
    rule = Rule(id="no", agents=("alice",), capabilities=("todo.list",), verdict=Verdict.FORBID)
    await rig.services.reconfiguration.apply(configuration(rules=(rule,)))
    with pytest.raises(GatewayError) as refusal:
        await rig.submit(session, "todo.list", {})
    assert refusal.value.code.wire == "revoked"
    assert LIST.effect is Effect.READ
    assert len(page.invoked) == 1
    assert len(await rig.records("call.refused", code="revoked")) == 1
