"""The judge sees what it is there to see: each clause is broken once, and named; a sound case breaks none."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.domain import announcements
from gateway.domain.activations import Activation, ActivationState, Goal
from gateway.domain.approvals import ApprovalState
from gateway.domain.audit import GENESIS, AuditEvent, AuditRecord, ChainedRecord, Stream, body_of, chain
from gateway.domain.calls import Call, CallState, Receipt, Result
from gateway.domain.conversations import Asked as Asker
from gateway.domain.conversations import EndTold, ReceiptTold
from gateway.domain.instances import Instance, InstanceState
from gateway.domain.mini_apps import AppState, AppVersion, MiniApp
from gateway.domain.operations import Carrier, Operation, OperationState
from gateway.domain.outbox import OutboxEntry, OutboxState
from gateway.domain.pages import PageSession
from gateway.runtime import audit
from tests.crash.evidence import Evidence
from tests.crash.judge import CLAUSES, judge
from tests.crash.memory import AppStanding, Asked, Heard, Memory, Told
from tests.crash.press import RUN
from tests.crash.scene import SCRIBE
from tests.crash.timer import START
from tests.support.rows import NOW, a_call, an_approval

ASKED = Asked(agent=SCRIBE, capability="todo.add", title="milk", call_id="call-id-1")
READY = a_call(agent=SCRIBE, state=CallState.AWAITING_APPROVAL, approval="appr_1")
DISPATCHED = replace(READY, state=CallState.DISPATCHED, dispatched_at=NOW + 2, approved_at=NOW + 2)
DONE = replace(DISPATCHED, state=CallState.SUCCEEDED, ended_at=NOW + 3)
WAITING = a_call(
    agent=SCRIBE, ref="call_2", call_id="call-id-2", state=CallState.AWAITING_APPROVAL, approval="appr_2"
)
LOST = a_call(agent=SCRIBE, ref="call_3", call_id="call-id-3", state=CallState.UNKNOWN, dispatched_at=NOW + 1)
ACCEPTED = Receipt(seq=1, status="accepted", reason=None, at=NOW)
OPEN = an_approval()
SECOND = an_approval(id="appr_2", call="call_2")
CONSUMED = replace(OPEN, state=ApprovalState.CONSUMED)
PAGE = PageSession(
    id="page_a",
    site="todo",
    user="ana",
    origin="https://app.example.test",
    resume_hash=b"",
    document="d" * 16,
    epoch=3,
    capabilities=(),
    created_at=NOW,
    seen_at=NOW,
    standing_until=NOW,
)
APP = MiniApp(
    id="com.example.focus",
    state=AppState.ENABLED,
    digest="d" * 64,
    granted=(),
    installed_at=NOW,
    changed_at=NOW,
)
VERSION = AppVersion(digest=APP.digest, app=APP.id, version="1.0.0", manifest="{}", key=None, installed_at=NOW)
STORY = (
    audit.of_admin(AuditEvent.APP_INSTALLED, NOW, app=APP.id, version="1.0.0"),
    audit.of_admin(AuditEvent.APP_ENABLED, NOW, app=APP.id, version="1.0.0"),
    audit.of_call(AuditEvent.CALL_ADMITTED, READY, NOW),
    audit.of_approval(AuditEvent.APPROVAL_OPENED, OPEN, READY, NOW),
    audit.of_call(AuditEvent.CALL_ADMITTED, WAITING, NOW),
    audit.of_approval(AuditEvent.APPROVAL_OPENED, SECOND, WAITING, NOW),
    audit.of_call(AuditEvent.CALL_ADMITTED, replace(LOST, state=CallState.READY), NOW),
    audit.of_call(AuditEvent.CALL_DISPATCHED, replace(LOST, state=CallState.DISPATCHED), NOW + 1),
    audit.of_approval(AuditEvent.APPROVAL_DECIDED, replace(OPEN, state=ApprovalState.APPROVED), READY, NOW + 2),
    audit.of_approval(AuditEvent.APPROVAL_CONSUMED, CONSUMED, READY, NOW + 2),
    audit.of_call(AuditEvent.CALL_DISPATCHED, DISPATCHED, NOW + 2),
    audit.of_call(AuditEvent.CALL_ENDED, DONE, NOW + 3),
    audit.of_call(AuditEvent.CALL_LOST, LOST, NOW + 100),
    audit.of_admin(AuditEvent.GATEWAY_STARTED, NOW + 100),
)


def an_end(seq: int, call: Call) -> EndTold:
    state = call.state
    return EndTold(seq=seq, at=NOW, call=call, asked=Asker.TOOL, state=state, code=None, message=None, result=None)


LOG = (
    *(ReceiptTold(seq=n, at=NOW, call=c, receipt=ACCEPTED) for n, c in enumerate((DONE, WAITING, LOST), start=1)),
    an_end(4, DONE),
    an_end(5, LOST),
)


def entry(call: Call, *, is_end: bool, number: int) -> OutboxEntry:
    """What the outbox tells of a call: its receipt, or its end; sent."""
    told = announcements.of_end(call, "ses_1", NOW) if is_end else announcements.of_receipt(call, ACCEPTED, "ses_1")
    return replace(told, state=OutboxState.SENT, number=number, due_at=None, ended_at=NOW)


OUTBOX = (
    entry(DONE, is_end=False, number=1),
    entry(WAITING, is_end=False, number=2),
    entry(LOST, is_end=False, number=3),
    entry(DONE, is_end=True, number=4),
    entry(LOST, is_end=True, number=5),
)
OPERATION = Operation(
    id="oper_1",
    call=DONE.ref,
    app="com.example.timer",
    user="maria",
    conversation="ses_1",
    carrier=Carrier.RUNTIME,
    state=OperationState.COMPLETED,
    started_at=NOW,
    deadline=NOW + 3,
    ended_at=NOW + 3,
)
ENDED = replace(announcements.of_operation_end(OPERATION, DONE, NOW), state=OutboxState.SENT, number=6)
ATTEMPT = Activation(
    id="actv_1",
    instance="inst_1",
    app="com.example.timer",
    user="maria",
    conversation="ses_1",
    goal=Goal.APP,
    state=ActivationState.STARTING,
    started_at=NOW,
    due_at=NOW + 60_000,
)
INSTANCE = Instance(
    id="inst_1",
    app="com.example.timer",
    digest="d" * 64,
    user="maria",
    conversation="ses_1",
    app_session="apps_1",
    state=InstanceState.STARTING,
    opened_at=NOW,
)


def chained(*records: AuditRecord) -> list[ChainedRecord]:
    heads: dict[Stream, tuple[int, bytes]] = {}
    written: list[ChainedRecord] = []
    for record in records:
        seq, head = heads.get(record.stream, (0, GENESIS))
        body = body_of(record, seq + 1)
        heads[record.stream] = (seq + 1, chain(head, body))
        written.append(ChainedRecord(stream=record.stream, seq=seq + 1, body=body, hash=heads[record.stream][1]))
    return written


def sound() -> Evidence:
    """Three calls over one restart: one done, one waiting, one lost."""
    return Evidence(
        calls={call.ref: call for call in (DONE, WAITING, LOST)},
        results={DONE.ref: Result(output='{"done":1}', evidence=None, at=NOW + 3, erase_at=NOW + 10**9)},
        log=LOG,
        receipts={DONE.ref: [ACCEPTED], WAITING.ref: [ACCEPTED], LOST.ref: [ACCEPTED]},
        accepted=frozenset({DONE.ref, WAITING.ref, LOST.ref}),
        inputs=frozenset({WAITING.ref}),
        approvals={approval.id: approval for approval in (CONSUMED, SECOND)},
        pages={PAGE.id: PAGE},
        apps=[APP],
        versions={VERSION.digest: VERSION},
        folders={VERSION.digest: None},
        pressed={},
        operations={},
        attempts=[],
        instances=[],
        outbox={entry.id: entry for entry in OUTBOX},
        used=3,
        open=1,
        records=chained(*STORY),
    )


def remembered() -> Memory:
    memory = Memory()
    memory.hear(Told(ref=DONE.ref, status="succeeded", asked=ASKED, result={"done": 1}))
    memory.hear(Told(ref=WAITING.ref, status="awaiting_approval", asked=replace(ASKED, call_id="call-id-2")))
    memory.outputs[DONE.ref] = {"done": 1}
    for ref in (DONE.ref, LOST.ref):
        memory.asked_to_run[ref] += 1
        memory.effects[ref] += 1
    memory.welcome(PAGE.id, PAGE.epoch)
    for told in OUTBOX:
        memory.take({"id": told.id})
    memory.app = AppStanding(state=AppState.ENABLED, version="1.0.0")
    for place, call in enumerate((DONE, WAITING, LOST), start=1):
        memory.listen(place, Heard(kind="tool.receipt", call_id=call.call_id, status="accepted", seq=1))
    memory.listen(4, Heard(kind="tool.result", call_id=DONE.call_id, status="completed"))
    memory.taken.add(WAITING.call_id)
    return memory


def broken(evidence: Evidence, memory: Memory | None = None) -> set[str]:
    return {found.clause for found in judge(evidence, memory or remembered())}


def test_a_sound_case_breaks_no_clause() -> None:
    assert judge(sound(), remembered()) == []


def with_call(call: Call, **changes: Any) -> Evidence:
    evidence = sound()
    return replace(evidence, calls={**evidence.calls, call.ref: replace(call, **changes)})


def with_operation(state: OperationState) -> Evidence:
    evidence = with_call(DONE, operation=OPERATION.id)
    told = {**evidence.outbox} if state is OperationState.RUNNING else {**evidence.outbox, ENDED.id: ENDED}
    return replace(evidence, operations={DONE.ref: replace(OPERATION, state=state)}, outbox=told)


def with_outbox(*entries: OutboxEntry, without: str = "") -> Evidence:
    evidence = sound()
    kept = {name: entry for name, entry in evidence.outbox.items() if name != without}
    return replace(evidence, outbox={**kept, **{entry.id: entry for entry in entries}})


def without(*events: AuditEvent) -> Evidence:
    return replace(sound(), records=chained(*(record for record in STORY if record.event not in events)))


def forged() -> Evidence:
    first, *rest = sound().records
    return replace(sound(), records=[replace(first, hash=hashlib.sha256(b"forged").digest()), *rest])


def twice() -> Evidence:
    evidence = with_call(replace(WAITING, ref="call_9", call_id=DONE.call_id, approval=None))
    return replace(evidence, used=4, open=2)


BREAKS: dict[str, Callable[[], Evidence]] = {
    "every acknowledged call has its row": lambda: replace(sound(), calls={DONE.ref: DONE, LOST.ref: LOST}),
    "an acknowledged end stays": lambda: with_call(DONE, state=CallState.FAILED),
    "one key is one call": twice,
    "a result is single and what the page said": lambda: replace(sound(), results={}),
    "no result breaks its schema": lambda: with_call(DONE, capability="todo.broken"),
    "only dispatched work reaches the page": lambda: without(AuditEvent.CALL_DISPATCHED),
    "a worker does a call at most once": lambda: replace(sound(), pressed={DONE.ref: 2}),
    "the quota is the rows": lambda: replace(sound(), used=4),
    "a call is written whole": lambda: replace(sound(), inputs=frozenset()),
    "the chain verifies": forged,
    "every move left its record": lambda: without(AuditEvent.CALL_ENDED),
    "an approval is used once": lambda: replace(
        sound(), records=chained(*STORY, audit.of_approval(AuditEvent.APPROVAL_CONSUMED, CONSUMED, DONE, NOW + 200))
    ),
    "dispatched at the kill is unknown": lambda: with_call(LOST, state=CallState.DISPATCHED),
    "what waits survives, or ends by the rules": lambda: with_call(
        WAITING, state=CallState.EXPIRED, ended_at=NOW + 1
    ),
    "an app is as it was told, or as was asked": lambda: replace(
        sound(), apps=[replace(APP, state=AppState.DISABLED)]
    ),
    "an app's files are whole, and no others are left": lambda: replace(sound(), folders={VERSION.digest: "half"}),
    "every change of an app left its record": lambda: without(AuditEvent.APP_ENABLED),
    "an operation ends with its call": lambda: with_operation(OperationState.RUNNING),
    "what was started is carried": lambda: with_call(DONE, capability=START),
    "one attempt and one instance live": lambda: replace(sound(), attempts=[ATTEMPT]),
    "what waits is waited for": lambda: with_call(
        WAITING, state=CallState.WAITING_ACTIVATION, app="com.example.timer", activation="actv_9"
    ),
    "every fact has its entry in the outbox": lambda: with_outbox(without=f"{DONE.ref}:receipt:1"),
    "what the outbox tells is true": lambda: with_outbox(
        replace(OUTBOX[3], data=OUTBOX[3].data.replace("succeeded", "failed"))
    ),
    "what a handler emitted is in the outbox": lambda: with_call(DONE, capability=RUN),
    "what was sent arrived, and nothing else": lambda: with_outbox(replace(OUTBOX[3], id="evt_1", app="a.b")),
    "what is in order arrives in order": lambda: with_outbox(replace(OUTBOX[0], number=9)),
    "what never leaves is not told": lambda: with_outbox(
        replace(OUTBOX[3], data='{"status":"succeeded","o":"oper_1"}')
    ),
    "a page's epoch never goes back": lambda: replace(sound(), pages={PAGE.id: replace(PAGE, epoch=2)}),
    "each receipt and end is told once": lambda: replace(sound(), log=(*LOG, an_end(6, DONE))),
    "what was heard is in the log": lambda: replace(sound(), log=LOG[:3]),
}


@pytest.mark.parametrize("clause", BREAKS)
def test_a_store_that_breaks_a_clause_is_caught(clause: str) -> None:
    assert clause in broken(BREAKS[clause]())


def test_a_package_nobody_needs_is_caught() -> None:
    left = replace(sound(), folders={VERSION.digest: None, ".incoming-1": None})
    assert broken(left) == {"an app's files are whole, and no others are left"}


def test_an_app_may_be_what_was_asked_for_last() -> None:
    memory = remembered()
    memory.app_pending, memory.app = memory.app, AppStanding(state=AppState.DISABLED, version="1.0.0")
    assert judge(sound(), memory) == []


@pytest.mark.parametrize(
    "log",
    [
        pytest.param(LOG[:-1], id="an end that is not told"),
        pytest.param((*LOG, an_end(6, WAITING)), id="an end of a call that has none"),
        pytest.param((LOG[0], *LOG[2:]), id="a receipt that is not told"),
        pytest.param((*LOG, replace(LOG[0], seq=6)), id="a receipt that is told twice"),
        pytest.param((*LOG[:4], replace(LOG[4], seq=6)), id="a place that is left out"),
    ],
)
def test_a_log_that_tells_something_else_is_caught(log: Any) -> None:
    assert "each receipt and end is told once" in broken(replace(sound(), log=log))


def test_a_call_that_was_told_and_is_none_is_caught() -> None:
    memory = remembered()
    memory.taken.add("call-id-9")
    assert broken(sound(), memory) == {"what was heard is in the log"}


@pytest.mark.parametrize("place", [4, 6])
def test_a_place_that_comes_twice_or_not_at_all_is_caught(place: int) -> None:
    memory = remembered()
    memory.listen(place, Heard(kind="tool.result", call_id=LOST.call_id, status="failed"))
    assert "a conversation is told whole, and once" in broken(sound(), memory)


def test_what_goes_on_through_a_kill_is_sound() -> None:
    memory = remembered()
    memory.take({"id": ENDED.id})
    assert judge(with_operation(OperationState.COMPLETED), memory) == []
    assert judge(replace(sound(), attempts=[ATTEMPT], instances=[INSTANCE]), remembered()) == []


def test_an_event_nobody_committed_is_caught() -> None:
    memory = remembered()
    memory.take({"id": "call_9:end"})
    assert broken(sound(), memory) == {"what was sent arrived, and nothing else"}


def test_an_entry_that_was_repeated_is_sound() -> None:
    memory = remembered()
    memory.take({"id": OUTBOX[-1].id})
    assert judge(sound(), memory) == []


def test_a_second_effect_is_caught() -> None:
    memory = remembered()
    memory.effects[DONE.ref] += 1
    assert "the page acts at most once" in broken(sound(), memory)


def test_work_of_a_worker_that_was_not_handed_out_or_not_done_is_caught() -> None:
    clause = {"a worker does a call at most once"}
    assert broken(replace(sound(), pressed={WAITING.ref: 1})) == clause
    assert broken(replace(sound(), pressed={"call_9": 1})) == clause
    assert broken(with_call(DONE, capability=RUN)) == clause | {"what a handler emitted is in the outbox"}
    emitted = replace(OUTBOX[3], id="evt_1", app="com.example.press", number=7)
    memory = remembered()
    memory.take({"id": "evt_1"})
    told = {**sound().outbox, "evt_1": emitted}
    done = replace(with_call(DONE, capability=RUN), pressed={DONE.ref: 1}, outbox=told)
    assert judge(done, memory) == []


def test_what_is_left_of_a_refused_request_is_caught() -> None:
    memory = remembered()
    memory.refuse(replace(ASKED, call_id="call-id-3"))
    assert "a refused request leaves nothing" in broken(sound(), memory)


def test_a_key_that_was_asked_again_may_be_a_call() -> None:
    memory = remembered()
    asked = replace(ASKED, call_id="call-id-3")
    memory.ask(asked)
    memory.refuse(asked)
    memory.ask(asked)
    assert judge(sound(), memory) == []


def test_every_clause_is_broken_by_a_test() -> None:
    assert {*BREAKS, "the page acts at most once", "a refused request leaves nothing"} == set(CLAUSES)


def test_an_answer_that_changes_is_caught() -> None:
    memory = remembered()
    memory.hear(Told(ref=DONE.ref, status="failed", asked=ASKED))
    memory.hear(Told(ref="call_9", status="succeeded", asked=ASKED))
    assert {"a final answer stays", "a repeated call_id is the same call"} <= broken(sound(), memory)
