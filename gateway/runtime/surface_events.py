"""What happens in surfaces, on its way to their agents: kept until they ask, or told to their conversation (rules G).

`ui.events` is a call that waits: it is answered when something happens, when its time is over, or after a restart,
and what it waits for is in the store.
"""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from capabilities.builtin.surfaces import EVENTS
from gateway.domain.calls import Call, CallState
from gateway.domain.canonical import canonical
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.panel_items import PanelItem
from gateway.domain.surfaces import CLOSE, Happening, Surface
from gateway.failpoints import Point, reach
from gateway.runtime.callers import ended_grant
from gateway.runtime.effects import AwaitEvents, Effect, EventKept, LogGrew
from gateway.runtime.ports import Tx
from gateway.runtime.settlement import Answer, settle
from gateway.runtime.world import World

Effects = tuple[Effect, ...]
Given = Mapping[str, Any]

Source = Surface | PanelItem
"""What an agent shows, and a person does something in."""

AT_ONCE: Final = 100
"""Events of one answer."""

ANSWER_BYTES: Final = 256 * 1024
"""Their data together, unless the first alone is more."""


def is_waiting(call: Call) -> bool:
    """Whether it is a dispatched `ui.events`, which nobody carries but the store."""
    return call.capability == EVENTS.id and call.state is CallState.DISPATCHED


def carry_events(tx: Tx, world: World, call: Call, given: Given, now: int) -> tuple[Call, Effects]:
    """Answer an `ui.events` that was just dispatched, or let it wait."""
    # What the agent has it does not need to have kept.
    tx.surfaces.forget_events(call.session, given.get("cursor", 0))
    ended = answered(tx, world, call, given, now)
    if ended is not None:
        return ended
    return call, (AwaitEvents(call=call, until=_until(call, given)),)


def answered(tx: Tx, world: World, call: Call, given: Given, now: int) -> tuple[Call, Effects] | None:
    """The call with what it waited for, or with nothing if its time is over; None while it goes on waiting."""
    cursor: int = given.get("cursor", 0)
    found = tx.surfaces.events(call.session, after=cursor, limit=AT_ONCE + 1)
    if not found and now < _until(call, given):
        return None
    told = _fitting(found)
    output = {
        "events": [_told(happening) for happening in told],
        "cursor": told[-1].seq if told else cursor,
        "more": len(told) < len(found),
    }
    return _settled(tx, call, Answer(output=canonical(output).decode()), now, world.configuration.limits.result_ms)


def given_of(tx: Tx, call: Call) -> Given:
    """What a waiting `ui.events` was asked with."""
    given: Given = orjson.loads(tx.calls.input_of(call.ref) or "{}")
    return given


def stopped(tx: Tx, call: Call, now: int) -> tuple[Call, Effects]:
    """End a waiting `ui.events` at its caller's request."""
    return _settled(tx, call, Answer(code=ErrorCode.CANCELLED, message="stopped at its caller's request"), now, 0)


def given_up(tx: Tx, call: Call, now: int) -> tuple[Call, Effects]:
    """End a waiting `ui.events` that nobody watches any more: nothing it could have told is lost."""
    message = "the gateway started anew while it waited; ask again with the same `cursor`"
    return _settled(tx, call, Answer(code=ErrorCode.NOT_DELIVERED, message=message), now, 0)


def happened(tx: Tx, world: World, surface: Surface, event: str, data: Mapping[str, Any], now: int) -> Effects:
    """Keep or tell what a person did in a surface.

    Raises:
        GatewayError: the surface may not send it, or not so much of it; nothing is kept.
    """
    if event == CLOSE or not _may_send(tx, world, surface, event):
        raise GatewayError(ErrorCode.BAD_REQUEST, f"surface `{surface.surface}` declares no event `{event}`")
    gone = ended_grant(world, tx.sessions.find(surface.session), now)
    if gone is not None:
        raise gone
    text = canonical(dict(data)).decode()
    size = len(text.encode())
    limits, counted = world.configuration.limits, surface.with_event(size, now)
    if counted.events > limits.surface_events_per_minute or counted.bytes > limits.surface_bytes_per_minute:
        raise GatewayError(ErrorCode.RATE_LIMITED, "too many events of this surface; they are not taken for a while")
    told = told_or_kept(tx, world, surface, event, text, now)
    tx.surfaces.save(counted, was=surface.state)
    return told


def _may_send(tx: Tx, world: World, surface: Surface, event: str) -> bool:
    if surface.is_sent:
        sent = tx.surfaces.bundle_of(surface.id)
        return sent is not None and sent.may_send(event)
    app = world.apps.apps.get(surface.app)
    offered = app.surface_named(surface.surface) if app is not None and app.digest == surface.digest else None
    return offered is not None and event in offered.events


def told_or_kept(tx: Tx, world: World, source: Source, event: str, data: str, now: int) -> Effects:
    """Tell an agent what a person did, or keep it until it asks; `data` is canonical JSON.

    Raises:
        GatewayError: too much is kept for it already.
    """
    limit = world.configuration.limits.surface_events_bytes
    if not source.is_told and tx.surfaces.kept(source.session) + len(data.encode()) > limit:
        raise GatewayError(ErrorCode.BUSY, "the agent has not taken what happened before")
    return _passed_on(tx, source, event, data, now)


def gone(tx: Tx, source: Source, reason: str, now: int) -> Effects:
    """Tell its agent that something it showed is gone which it did not close."""
    return _passed_on(tx, source, CLOSE, canonical({"reason": reason}).decode(), now)


def _passed_on(tx: Tx, source: Source, event: str, data: str, now: int) -> Effects:
    if source.is_told:
        payload = {"instance_id": source.instance, "event": event, "data": orjson.loads(data)}
        tx.conversations.tell_event(source.talk, canonical(payload).decode(), now)
        reach(Point.EVENT_TOLD)
        return (LogGrew(talk=source.talk),)
    tx.surfaces.add_event(source.session, surface=source.id, instance=source.instance, event=event, data=data, at=now)
    reach(Point.EVENT_KEPT)
    return (EventKept(session=source.session),)


def _settled(tx: Tx, call: Call, answer: Answer, now: int, result_ms: int) -> tuple[Call, Effects]:
    ended, effects = settle(tx, call.ref, answer, now, result_ms=result_ms)
    assert ended is not None
    return ended, effects


def _until(call: Call, given: Given) -> int:
    assert call.dispatched_at is not None
    wait_ms: int = given.get("wait_ms", 0)
    return call.dispatched_at + wait_ms


def _fitting(found: Any) -> list[Happening]:
    """As many as one answer holds, at least one if there is one."""
    told, size = list[Happening](), 0
    for happening in found[:AT_ONCE]:
        size += len(happening.data.encode())
        if told and size > ANSWER_BYTES:
            break
        told.append(happening)
    return told


def _told(happening: Happening) -> dict[str, Any]:
    return {
        "event": happening.event,
        "data": orjson.loads(happening.data),
        "instance_id": happening.instance,
        "at": happening.at,
    }
