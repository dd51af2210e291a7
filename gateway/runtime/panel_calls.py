"""What agents do with standard components: show one, or take it away, in the transaction that dispatches their call."""

from collections.abc import Mapping
from typing import Any, Final

from capabilities.builtin.standard import STANDARD
from gateway.domain import panel_items
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call
from gateway.domain.canonical import canonical
from gateway.domain.conversations import Talk
from gateway.domain.errors import ErrorCode
from gateway.domain.panel_items import LIVE_MAX, ItemKind, ItemMove, ItemState, PanelItem
from gateway.runtime import audit
from gateway.runtime.effects import Effect, HideItem, ShowItem
from gateway.runtime.ports import Tx
from gateway.runtime.settlement import Answer

Effects = tuple[Effect, ...]
Given = Mapping[str, Any]

KIND_OF: Final[Mapping[str, ItemKind]] = {capability: ItemKind(capability[3:]) for capability in STANDARD}
"""By capability id."""

_ENVELOPE: Final = frozenset({"instance_id", "tell"})
"""What of the arguments is about the item and not in it."""


def show_item(tx: Tx, call: Call, session: AgentSession, given: Given, now: int) -> tuple[Answer, Effects]:
    """Show what `call` asks for, in the place of what its agent shows under the same name."""
    kind = KIND_OF[call.capability]
    content = {name: value for name, value in given.items() if name not in _ENVELOPE}
    fault = panel_items.content_fault(kind, content)
    if fault is not None:
        return Answer(code=ErrorCode.ARGUMENTS_INVALID, message=fault), ()
    talk, instance = Talk.of(session), given["instance_id"]
    if tx.surfaces.live(talk, instance) is not None:
        message = f"`{instance}` is a surface of yours; give this another name"
        return Answer(code=ErrorCode.ARGUMENTS_INVALID, message=message), ()
    there = tx.panel_items.live_of_talk(talk)
    former = next((item for item in there if item.instance == instance), None)
    if former is None and len(there) >= LIVE_MAX:
        return Answer(code=ErrorCode.BUSY, message=f"{LIVE_MAX} things are shown in this conversation; close one"), ()
    effects = () if former is None else close_item(tx, former, "replaced", now)
    assert call.page is not None
    assert call.site is not None
    item = PanelItem(
        id=panel_items.PREFIX + call.ref.removeprefix("call_"),
        session=session.id,
        agent=session.agent,
        user=session.user,
        conversation=session.conversation,
        instance=instance,
        kind=kind,
        content=canonical(content).decode(),
        site=call.site,
        page=call.page,
        state=ItemState.SHOWN,
        is_told=given.get("tell") == "conversation",
        shown_at=now,
    )
    tx.panel_items.add(item)
    tx.audit.append(audit.of_item(AuditEvent.ITEM_SHOWN, item, now, ref=call.ref))
    told = {"instance_id": instance, "replaced": former is not None}
    return Answer(output=canonical(told).decode()), (*effects, ShowItem(item=item))


def find_item(tx: Tx, session: AgentSession, instance: str) -> PanelItem | None:
    """What is shown for a session's agent under its name of it."""
    return next((item for item in tx.panel_items.live_of_talk(Talk.of(session)) if item.instance == instance), None)


def close_item(tx: Tx, item: PanelItem, reason: str, now: int) -> Effects:
    """Take an item away. Whether its agent is told so is for the caller."""
    closed = panel_items.step(item, ItemMove.CLOSE, now=now, reason=reason)
    tx.panel_items.save(closed, was=item.state)
    tx.audit.append(audit.of_item(AuditEvent.ITEM_CLOSED, closed, now))
    return (HideItem(item=closed),)
