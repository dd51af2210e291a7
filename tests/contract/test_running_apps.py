"""Contracts of `Instances`, `Activations`, `Operations` and `AppSessions`: one live each, moved from the state it was in."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.domain import activations, instances, operations
from gateway.domain.activations import Activation, ActivationEvent, ActivationState, Goal
from gateway.domain.app_sessions import AppEntry, AppSession, EntryKind
from gateway.domain.calls import CallState
from gateway.domain.instances import PAGE_GONE_MS, Instance, InstanceEvent, InstanceState
from gateway.domain.operations import Carrier, Operation, OperationEvent, OperationState
from gateway.runtime.ports import DuplicateKey, StaleState, Store, Tx
from tests.contract.samples import NOW, a_call, a_session

pytestmark = pytest.mark.anyio

APP = "dev.example.focus"


def an_instance(name: str = "inst_1", **changes: Any) -> Instance:
    instance = Instance(
        id=name,
        app=APP,
        digest="d" * 64,
        user="maria",
        conversation="talk",
        app_session=f"apps of {name}",
        state=InstanceState.STARTING,
        opened_at=NOW,
    )
    return replace(instance, **changes)


def an_activation(name: str = "actv_1", **changes: Any) -> Activation:
    activation = Activation(
        id=name,
        instance="inst_1",
        app=APP,
        user="maria",
        conversation="talk",
        goal=Goal.APP,
        state=ActivationState.STARTING,
        started_at=NOW,
        due_at=NOW + 60_000,
    )
    return replace(activation, **changes)


def an_operation(name: str = "oper_1", **changes: Any) -> Operation:
    operation = Operation(
        id=name,
        call="call_1",
        app=APP,
        user="maria",
        conversation="talk",
        carrier=Carrier.RUNTIME,
        state=OperationState.RUNNING,
        started_at=NOW,
        deadline=NOW + 1_000,
    )
    return replace(operation, **changes)


async def test_an_instance_comes_back_as_it_went_in(store: Store) -> None:
    full = an_instance(
        site="shop", page="page_1", is_foreground=True, page_gone_at=NOW, closed_at=NOW + 1, reason="left"
    )
    await store.run(lambda tx: tx.instances.add(full))
    assert await store.run(lambda tx: tx.instances.find("inst_1")) == full
    assert await store.run(lambda tx: tx.instances.of_app_session("apps of inst_1")) == full
    assert await store.run(lambda tx: tx.instances.find("inst_2")) is None
    assert await store.run(lambda tx: tx.instances.of_app_session("apps of inst_2")) is None


async def test_one_instance_of_an_app_is_live_in_a_conversation(store: Store) -> None:
    await store.run(lambda tx: tx.instances.add(an_instance()))
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.instances.add(an_instance("inst_2")))
    for other in ("user", "conversation", "app"):
        await store.run(lambda tx, other=other: tx.instances.add(an_instance(f"inst_{other}", **{other: "b"})))
    closed = instances.step(an_instance(), InstanceEvent.CLOSE, now=NOW)
    await store.run(lambda tx: tx.instances.save(closed, was=InstanceState.STARTING))
    await store.run(lambda tx: tx.instances.add(an_instance("inst_2")))
    live = await store.run(lambda tx: tx.instances.live("maria", "talk", APP))
    assert live == an_instance("inst_2")


async def test_an_instance_moves_from_the_state_it_was_in(store: Store) -> None:
    await store.run(lambda tx: tx.instances.add(an_instance()))
    running = instances.step(an_instance(), InstanceEvent.OPEN, now=NOW)
    await store.run(lambda tx: tx.instances.save(running, was=InstanceState.STARTING))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.instances.save(running, was=InstanceState.STARTING))


async def test_live_instances_are_found_by_page_and_by_app(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.instances.add(an_instance("inst_b", page="page_1", opened_at=NOW + 1))
        tx.instances.add(an_instance("inst_a", page="page_1", conversation="b"))
        tx.instances.add(an_instance("inst_c", app="dev.example.other"))
        tx.instances.add(an_instance("inst_d", page="page_1", state=InstanceState.CLOSED))

    await store.run(work)
    found = await store.run(
        lambda tx: (
            [i.id for i in tx.instances.live_on_page("page_1")],
            [i.id for i in tx.instances.live_of_app(APP)],
            [i.id for i in tx.instances.all_live()],
        )
    )
    assert found == (["inst_a", "inst_b"], ["inst_a", "inst_b"], ["inst_a", "inst_c", "inst_b"])


async def test_an_instance_is_due_once_its_page_stayed_away(store: Store) -> None:
    await store.run(lambda tx: tx.instances.add(an_instance(page="page_1", page_gone_at=NOW)))
    await store.run(lambda tx: tx.instances.add(an_instance("inst_2", user="b", page="page_2")))
    due_at = NOW + PAGE_GONE_MS
    assert await store.run(lambda tx: tx.instances.next_due()) == due_at
    assert await store.run(lambda tx: tx.instances.due(due_at - 1, 10)) == []
    assert [i.id for i in await store.run(lambda tx: tx.instances.due(due_at, 10))] == ["inst_1"]


async def test_instances_without_a_frame_are_unowned_once_no_grant_and_no_call_is_left(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.sessions.add(a_session("ses_1", conversation="granted", expires_at=NOW + 10))
        tx.sessions.add(a_session("ses_2", conversation="revoked", revoked_at=NOW))
        tx.sessions.add(a_session("ses_3", conversation="bare", user="ben"))
        tx.calls.add(a_call(app=APP, conversation="working", user="maria", state=CallState.DISPATCHED), None)
        tx.calls.add(a_call("call_2", app=APP, conversation="bare", user="maria", state=CallState.SUCCEEDED), None)
        for conversation in ("granted", "revoked", "bare", "working"):
            tx.instances.add(an_instance(conversation, conversation=conversation))
        tx.instances.add(an_instance("shown", conversation="shown", page="page_1"))
        tx.instances.add(an_instance("closed", conversation="closed", state=InstanceState.CLOSED))

    async def unowned(now: int, limit: int = 10) -> list[str]:
        return [i.id for i in await store.run(lambda tx: tx.instances.unowned(now, limit))]

    await store.run(work)
    assert await unowned(NOW) == ["bare", "revoked"]
    assert await unowned(NOW, 1) == ["bare"]
    assert await unowned(NOW + 9) == ["bare", "revoked"]
    assert await unowned(NOW + 10) == ["bare", "granted", "revoked"]


async def test_closed_instances_are_forgotten_the_oldest_first(store: Store) -> None:
    def work(tx: Tx) -> None:
        for age in range(3):
            closed = an_instance(f"inst_{age}", state=InstanceState.CLOSED, closed_at=NOW - age)
            tx.instances.add(closed)

    await store.run(work)
    assert await store.run(lambda tx: tx.instances.purge(NOW, 1)) == 1
    assert await store.run(lambda tx: tx.instances.find("inst_2")) is None
    assert await store.run(lambda tx: tx.instances.purge(NOW, 9)) == 1
    assert await store.run(lambda tx: tx.instances.find("inst_0")) is not None


async def test_an_activation_comes_back_as_it_went_in(store: Store) -> None:
    full = an_activation(goal=Goal.FOREGROUND, state=ActivationState.FAILED, ended_at=NOW, reason="timeout")
    await store.run(lambda tx: tx.activations.add(full))
    assert await store.run(lambda tx: tx.activations.find("actv_1")) == full
    assert await store.run(lambda tx: tx.activations.find("actv_2")) is None


async def test_one_activation_of_an_app_is_live_in_a_conversation(store: Store) -> None:
    await store.run(lambda tx: tx.activations.add(an_activation()))
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.activations.add(an_activation("actv_2")))
    ended = activations.step(an_activation(), ActivationEvent.REACH, now=NOW)
    await store.run(lambda tx: tx.activations.save(ended, was=ActivationState.STARTING))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.activations.save(ended, was=ActivationState.STARTING))
    await store.run(lambda tx: tx.activations.add(an_activation("actv_2", instance="inst_2")))
    found = await store.run(
        lambda tx: (tx.activations.live("maria", "talk", APP), tx.activations.live_of_instance("inst_2"))
    )
    assert [a.id for a in found if a] == ["actv_2", "actv_2"]
    assert await store.run(lambda tx: tx.activations.live_of_instance("inst_1")) is None


async def test_an_activation_is_due_while_it_is_live(store: Store) -> None:
    def work(tx: Tx) -> None:
        tx.activations.add(an_activation(due_at=NOW + 2))
        tx.activations.add(an_activation("actv_2", user="b", due_at=NOW + 1))
        tx.activations.add(an_activation("actv_3", user="c", due_at=NOW, state=ActivationState.READY, ended_at=NOW))

    await store.run(work)
    assert await store.run(lambda tx: tx.activations.next_due()) == NOW + 1
    assert [a.id for a in await store.run(lambda tx: tx.activations.due(NOW + 2, 10))] == ["actv_2", "actv_1"]
    assert await store.run(lambda tx: tx.activations.due(NOW, 10)) == []
    assert [a.id for a in await store.run(lambda tx: tx.activations.all_live())] == ["actv_1", "actv_2"]
    assert await store.run(lambda tx: tx.activations.purge(NOW + 1, 10)) == 1


async def test_calls_wait_for_an_activation_in_the_order_they_came(store: Store) -> None:
    waiting = {"state": CallState.WAITING_ACTIVATION, "app": APP, "activation": "actv_1"}

    def work(tx: Tx) -> None:
        tx.calls.add(a_call("call_b", **waiting), None)
        tx.calls.add(a_call("call_a", **waiting), None)
        tx.calls.add(a_call("call_c", **{**waiting, "activation": "actv_2"}), None)
        tx.calls.add(a_call("call_d", **{**waiting, "state": CallState.READY}), None)

    await store.run(work)
    assert [c.ref for c in await store.run(lambda tx: tx.calls.waiting_for("actv_1"))] == ["call_b", "call_a"]


async def test_an_operation_comes_back_as_it_went_in(store: Store) -> None:
    await store.run(lambda tx: tx.calls.add(a_call("call_1"), None))
    full = an_operation(
        app_session="apps_1", state=OperationState.INTERRUPTED, ended_at=NOW, cause="left", answers="{}"
    )
    await store.run(lambda tx: tx.operations.add(full))
    assert await store.run(lambda tx: tx.operations.find("oper_1")) == full
    assert await store.run(lambda tx: tx.operations.find_of_call("call_1")) == full
    assert await store.run(lambda tx: tx.operations.find_of_call("call_2")) is None
    with pytest.raises(DuplicateKey):
        await store.run(lambda tx: tx.operations.add(an_operation("oper_2")))


async def test_running_operations_of_the_runtime_are_due_at_their_deadline(store: Store) -> None:
    def work(tx: Tx) -> None:
        for number in range(4):
            tx.calls.add(a_call(f"call_{number}"), None)
        tx.operations.add(an_operation("oper_0", call="call_0", deadline=NOW + 2))
        tx.operations.add(an_operation("oper_1", call="call_1", deadline=NOW + 1, conversation="b"))
        tx.operations.add(an_operation("oper_2", call="call_2", deadline=NOW, carrier=Carrier.HANDLER))
        done = operations.step(an_operation("oper_3", call="call_3"), OperationEvent.COMPLETE, now=NOW)
        tx.operations.add(replace(done, deadline=NOW))

    await store.run(work)
    assert await store.run(lambda tx: tx.operations.next_due()) == NOW + 1
    assert [o.id for o in await store.run(lambda tx: tx.operations.due(NOW + 2, 10))] == ["oper_1", "oper_0"]
    assert await store.run(lambda tx: tx.operations.due(NOW, 10)) == []
    running = await store.run(lambda tx: tx.operations.running("maria", "talk", APP))
    assert [o.id for o in await store.run(lambda tx: tx.operations.running("maria", "b", APP))] == ["oper_1"]
    assert [operation.id for operation in running] == ["oper_0", "oper_2"]


async def test_the_newest_operation_of_an_app_session_is_found(store: Store) -> None:
    def work(tx: Tx) -> None:
        for number, at in enumerate((NOW, NOW + 1, NOW)):
            tx.calls.add(a_call(f"call_{number}"), None)
            tx.operations.add(
                an_operation(f"oper_{number}", call=f"call_{number}", app_session="apps_1", started_at=at)
            )

    await store.run(work)
    newest = await store.run(lambda tx: (tx.operations.newest_of("apps_1"), tx.operations.newest_of("apps_2")))
    assert newest == (an_operation("oper_1", call="call_1", app_session="apps_1", started_at=NOW + 1), None)


async def test_an_operation_ends_once(store: Store) -> None:
    await store.run(lambda tx: tx.calls.add(a_call("call_1"), None))
    await store.run(lambda tx: tx.operations.add(an_operation()))
    done = operations.step(an_operation(), OperationEvent.COMPLETE, now=NOW)
    stopped = operations.step(an_operation(), OperationEvent.INTERRUPT, now=NOW)
    await store.run(lambda tx: tx.operations.save(done, was=OperationState.RUNNING))
    with pytest.raises(StaleState):
        await store.run(lambda tx: tx.operations.save(stopped, was=OperationState.RUNNING))
    assert await store.run(lambda tx: tx.operations.find("oper_1")) == done


async def test_an_operation_is_forgotten_with_its_call(store: Store) -> None:
    ended = a_call("call_1", state=CallState.SUCCEEDED, ended_at=NOW)
    await store.run(lambda tx: tx.calls.add(ended, None))
    await store.run(lambda tx: tx.operations.add(an_operation(state=OperationState.COMPLETED, ended_at=NOW)))
    assert await store.run(lambda tx: tx.calls.purge(minted=False, ended_before=NOW + 1, limit=10)) == 1
    assert await store.run(lambda tx: tx.operations.find("oper_1")) is None


async def test_an_app_session_keeps_its_record_in_order(store: Store) -> None:
    session = AppSession(id="apps_1", app=APP, user="maria", conversation="talk", opened_at=NOW)

    def work(tx: Tx) -> None:
        tx.app_sessions.add(session)
        for ref, state in (("call_1", None), ("call_1", "succeeded")):
            kind = EntryKind.CALL_ENDED if state else EntryKind.CALL_STARTED
            tx.app_sessions.append("apps_1", kind, ref=ref, capability="focus.start", state=state, at=NOW)
        tx.app_sessions.append(
            "apps_2", EntryKind.UI_ACTION, ref="act_1", capability="focus.more", state=None, at=NOW
        )

    await store.run(work)
    assert await store.run(lambda tx: tx.app_sessions.find("apps_1")) == session
    started, ended = await store.run(lambda tx: tx.app_sessions.entries("apps_1", limit=10))
    assert started == AppEntry(
        seq=1, kind=EntryKind.CALL_STARTED, ref="call_1", capability="focus.start", state=None, at=NOW
    )
    assert (ended.seq, ended.state) == (2, "succeeded")
    assert await store.run(lambda tx: tx.app_sessions.entries("apps_1", after=1, limit=10)) == [ended]
    assert await store.run(lambda tx: tx.app_sessions.entries("apps_1", limit=1)) == [started]


async def test_an_app_session_is_forgotten_with_its_record(store: Store) -> None:
    session = AppSession(id="apps_1", app=APP, user="maria", conversation="talk", opened_at=NOW)

    def work(tx: Tx) -> None:
        tx.app_sessions.add(session)
        tx.app_sessions.add(replace(session, id="apps_2"))
        tx.app_sessions.append(
            "apps_1", EntryKind.CALL_STARTED, ref="call_1", capability="focus.start", state=None, at=NOW
        )
        tx.app_sessions.save(replace(session, ended_at=NOW))

    await store.run(work)
    assert await store.run(lambda tx: tx.app_sessions.purge(NOW, 10)) == 0
    assert await store.run(lambda tx: tx.app_sessions.purge(NOW + 1, 10)) == 1
    assert await store.run(lambda tx: tx.app_sessions.find("apps_1")) is None
    assert await store.run(lambda tx: tx.app_sessions.entries("apps_1", limit=10)) == []
    assert await store.run(lambda tx: tx.app_sessions.find("apps_2")) is not None
