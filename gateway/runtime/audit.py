"""How the runtime writes audit records: one place that knows which facts a record may hold."""

import hmac
from dataclasses import dataclass, replace

from gateway.domain.activations import Activation
from gateway.domain.agent_sessions import Principal
from gateway.domain.approvals import Approval
from gateway.domain.audit import AuditEvent, AuditRecord, Stream
from gateway.domain.calls import Call, Entry
from gateway.domain.documents import ShownDocument
from gateway.domain.errors import GatewayError
from gateway.domain.instances import Instance
from gateway.domain.operations import Operation
from gateway.domain.pages import PageSession
from gateway.domain.panel_items import PanelItem
from gateway.domain.surfaces import Surface

STREAM_OF_ENTRY = {
    Entry.AGENT_TOOL: Stream.AGENT_TOOL,
    Entry.UI_ACTION: Stream.UI_ACTION,
    Entry.HOST_INTENT: Stream.HOST_INTENT,
}

Fact = str | int | bool | list[str] | None


@dataclass(frozen=True, slots=True)
class Digester:
    """Keyed digests: low-entropy values cannot be guessed from the trail without the installation's key."""

    key: bytes

    def digest(self, text: bytes | str) -> str:
        """16 bytes of HMAC-SHA-256 as lower-case hex."""
        raw = text.encode() if isinstance(text, str) else text
        return hmac.digest(self.key, raw, "sha256").hex()[:32]


def of_call(event: AuditEvent, call: Call, at: int, **more: Fact) -> AuditRecord:
    """A record about an accepted call."""
    return AuditRecord(
        stream=STREAM_OF_ENTRY[call.entry],
        event=event,
        at=at,
        facts={
            "ref": call.ref,
            "agent": call.agent or None,
            "user": call.user,
            "session": call.session or None,
            "instance": call.instance,
            "call_id": call.call_id,
            "capability": call.capability,
            "fingerprint": call.capability_fingerprint[:16],
            "arguments": call.arguments_digest,
            "state": call.state.value,
            "code": call.code.wire if call.code else None,
            "site": call.site,
            "page": call.page,
            "epoch": call.epoch,
            "approval": call.approval,
            "policy": call.policy_revision,
            "traceparent": call.traceparent,
            **more,
        },
    )


def of_refusal(
    entry: Entry,
    principal: Principal,
    error: GatewayError,
    at: int,
    *,
    capability: str | None,
    call_id: str | None,
    arguments: str | None,
    peer: str | None,
    traceparent: str | None,
    frame: tuple[str, str] = ("", ""),
) -> AuditRecord:
    """A record about a request that was not accepted; the capability is as asked, whatever the caller was told.

    `frame` is where a person asked, for entries without an agent: a page session, and an instance there.
    """
    return AuditRecord(
        stream=STREAM_OF_ENTRY[entry],
        event=AuditEvent.CALL_REFUSED,
        at=at,
        facts={
            "agent": principal.agent or None,
            "user": principal.user,
            "session": principal.session or None,
            "page": frame[0] or None,
            "instance": frame[1] or None,
            "peer": peer,
            "call_id": call_id,
            "capability": capability[:160] if capability else None,
            "arguments": arguments,
            "code": error.code.wire,
            "reason": str(error.facts["reason"]) if "reason" in error.facts else None,
            "traceparent": traceparent,
        },
    )


def of_approval(event: AuditEvent, approval: Approval, call: Call, at: int, **more: Fact) -> AuditRecord:
    """A record about one approval; shares the argument digest with the records of its call."""
    return AuditRecord(
        stream=STREAM_OF_ENTRY[call.entry],
        event=event,
        at=at,
        facts={
            "approval": approval.id,
            "ref": call.ref,
            "agent": call.agent or None,
            "user": approval.user,
            "capability": call.capability,
            "arguments": call.arguments_digest,
            "shown": approval.digest[:32],
            "page": approval.page,
            "epoch": approval.epoch,
            "state": approval.state.value,
            "traceparent": call.traceparent,
            **more,
        },
    )


def of_activation(
    event: AuditEvent, activation: Activation, at: int, *, entry: Entry = Entry.AGENT_TOOL, **more: Fact
) -> AuditRecord:
    """A record about one attempt to make a mini app ready; `entry` is that of the call it was begun for."""
    return AuditRecord(
        stream=STREAM_OF_ENTRY[entry],
        event=event,
        at=at,
        facts={
            "activation": activation.id,
            "instance": activation.instance,
            "app": activation.app,
            "user": activation.user,
            "conversation": activation.conversation,
            "goal": activation.goal.value,
            "state": activation.state.value,
            "reason": activation.reason,
            **more,
        },
    )


def of_instance(event: AuditEvent, instance: Instance, at: int, **more: Fact) -> AuditRecord:
    """A record about one running mini app."""
    return AuditRecord(
        stream=Stream.AGENT_TOOL,
        event=event,
        at=at,
        facts={
            "instance": instance.id,
            "app": instance.app,
            "digest": instance.digest[:32],
            "user": instance.user,
            "conversation": instance.conversation,
            "site": instance.site,
            "page": instance.page,
            "state": instance.state.value,
            "reason": instance.reason,
            **more,
        },
    )


def of_intent(event: AuditEvent, instance: Instance, at: int, **more: Fact) -> AuditRecord:
    """A record about what the person or the browser did to a running mini app."""
    return replace(of_instance(event, instance, at, **more), stream=Stream.HOST_INTENT)


def of_surface(event: AuditEvent, surface: Surface, at: int, **more: Fact) -> AuditRecord:
    """A record about a surface that an agent shows."""
    return AuditRecord(
        stream=Stream.AGENT_TOOL,
        event=event,
        at=at,
        facts={
            "surface": surface.id,
            "instance": surface.instance,
            "app": surface.app,
            "digest": surface.digest[:32],
            "agent": surface.agent,
            "user": surface.user,
            "session": surface.session,
            "conversation": surface.conversation,
            "site": surface.site,
            "page": surface.page,
            "state": surface.state.value,
            "reason": surface.reason,
            **more,
        },
    )


def of_item(event: AuditEvent, item: PanelItem, at: int, **more: Fact) -> AuditRecord:
    """A record about a standard component in a panel; an answer is the person's own act."""
    return AuditRecord(
        stream=Stream.UI_ACTION if event is AuditEvent.ITEM_ANSWERED else Stream.AGENT_TOOL,
        event=event,
        at=at,
        facts={
            "item": item.id,
            "instance": item.instance,
            "kind": item.kind.value,
            "agent": item.agent,
            "user": item.user,
            "session": item.session,
            "conversation": item.conversation,
            "site": item.site,
            "page": item.page,
            "state": item.state.value,
            "reason": item.reason,
            **more,
        },
    )


def of_surface_intent(surface: Surface, at: int, *, intent: str) -> AuditRecord:
    """A record about what the person or the browser did to the frame of a surface."""
    record = of_surface(AuditEvent.INTENT_REPORTED, surface, at, intent=intent)
    return replace(record, stream=Stream.HOST_INTENT)


def of_document(event: AuditEvent, document: ShownDocument, at: int, **more: Fact) -> AuditRecord:
    """A record about a document that an agent shows."""
    return AuditRecord(
        stream=Stream.AGENT_TOOL,
        event=event,
        at=at,
        facts={
            "document": document.id,
            "digest": document.sha256[:32],
            "revision": document.revision,
            "agent": document.agent,
            "user": document.user,
            "session": document.session,
            "conversation": document.conversation,
            "site": document.site,
            "state": document.state.value,
            "reason": document.reason,
            **more,
        },
    )


def of_refused_intent(page: PageSession, at: int, *, instance: str, intent: str) -> AuditRecord:
    """A record about an intent for an instance that is not the page's."""
    record = of_page(AuditEvent.INTENT_REFUSED, page, at, instance=instance, intent=intent)
    return replace(record, stream=Stream.HOST_INTENT)


def of_operation(event: AuditEvent, operation: Operation, call: Call, at: int, **more: Fact) -> AuditRecord:
    """A record about one operation, in the stream of the entry its call came by."""
    return AuditRecord(
        stream=STREAM_OF_ENTRY[call.entry],
        event=event,
        at=at,
        facts={
            "operation": operation.id,
            "ref": operation.call,
            "app": operation.app,
            "user": operation.user,
            "conversation": operation.conversation,
            "carrier": operation.carrier.value,
            "state": operation.state.value,
            "cause": operation.cause,
            **more,
        },
    )


def of_page(event: AuditEvent, page: PageSession, at: int, **more: Fact) -> AuditRecord:
    """A record about a page session."""
    stream = Stream.UI_ACTION if event in _PERSON else Stream.IDENTITY
    return AuditRecord(
        stream=stream,
        event=event,
        at=at,
        facts={
            "page": page.id,
            "epoch": page.epoch,
            "site": page.site,
            "user": page.user,
            "origin": page.origin,
            **more,
        },
    )


_PERSON = frozenset({AuditEvent.PAGE_PINNED, AuditEvent.PAGE_UNPINNED, AuditEvent.DENIAL_LIFTED})


def of_admin(event: AuditEvent, at: int, **facts: Fact) -> AuditRecord:
    """A record about a change an administrator made."""
    return AuditRecord(stream=Stream.ADMIN, event=event, at=at, facts=facts)


def of_access(event: AuditEvent, at: int, **facts: Fact) -> AuditRecord:
    """A record about a door: who knocked and why it stayed shut."""
    return AuditRecord(stream=Stream.IDENTITY, event=event, at=at, facts=facts)
