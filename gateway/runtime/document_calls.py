"""What agents do with documents: `ui.structured_ui`, `ui.intelligent_ui`, `ui.stream_*`, in units of work (design §12).

Each is done in the transaction that dispatches its call and has its answer there; pages follow the commit. What was
judged before it counts only while the document stands where it was judged.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import orjson

from capabilities.builtin.documents import CALLBACK_UNITS, STREAM_OPEN
from gateway.domain import documents
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.audit import AuditEvent
from gateway.domain.calls import Call, CallEvent
from gateway.domain.canonical import canonical
from gateway.domain.documents import Closed, DocumentMove, DocumentState, ShownDocument
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime import audit
from gateway.runtime.callers import ended_grant
from gateway.runtime.document_judging import (
    FRAMES,
    KINDS,
    Given,
    Prepared,
    Streamed,
    epoch_of,
    opened,
    stepped,
    streamed,
)
from gateway.runtime.effects import (
    ChangeDocument,
    Effect,
    EndDocument,
    EventKept,
    HideDocument,
    ShowDocument,
)
from gateway.runtime.ending import end
from gateway.runtime.ports import Tx
from gateway.runtime.settlement import Answer, settle
from gateway.runtime.surface_calls import may
from gateway.runtime.world import World
from surface_host.documents import Document, Step

Effects = tuple[Effect, ...]
Done = tuple[Answer, Effects]

_MOVES: Final[Mapping[DocumentState, DocumentMove]] = {
    DocumentState.COMPLETE: DocumentMove.COMPLETE,
    DocumentState.CANCELLED: DocumentMove.CANCEL,
}


def refusal(
    tx: Tx, world: World, session: AgentSession, capability: str, given: Given, prepared: Prepared | None
) -> GatewayError | None:
    """Why a call that shows or changes a document cannot do it now; None when it can."""
    try:
        _judged(tx, world, session, capability, given, prepared)
    except GatewayError as error:
        return error
    return None


def carry_document(
    tx: Tx, world: World, call: Call, arguments: str, now: int, prepared: Prepared | None
) -> tuple[Call, Effects]:
    """Do what a call that was just dispatched asks for; its row is written already."""
    session = tx.sessions.find(call.session)
    assert session is not None, "its grant was looked at in this transaction"
    given: Given = orjson.loads(arguments)
    try:
        judged = _judged(tx, world, session, call.capability, given, prepared)
    except GatewayError as error:
        answer, effects = Answer(code=error.code, message=error.message), Effects()
    else:
        if isinstance(judged, Document):
            former = _replaced(tx, world, session, given, call.capability)
            effects = () if former is None else close(tx, former, Closed.REPLACED, now)
            answer, shown = _open(tx, call, session, given, judged, now)
            effects += shown
        else:
            answer, effects = _step(tx, call, given, *judged, now)
    return _settled(tx, world, call, answer, effects, now)


def carry_callback(tx: Tx, world: World, call: Call, arguments: str, now: int) -> tuple[Call, Effects]:
    """Tell the agent of a document what one of its actions says (rules H7)."""
    given: Given = orjson.loads(arguments)
    document = tx.documents.find(call.instance or "")
    action = tx.documents.action_of_call(call.ref)
    assert document is not None, "its document was looked at in this transaction"
    assert action is not None, "it was written with its call"
    answer, effects = _told(tx, world, document, action.action, given["text"], now)
    return _settled(tx, world, call, answer, effects, now)


def close(tx: Tx, document: ShownDocument, reason: str, now: int) -> Effects:
    """Close a document. What was asked for in it and not begun ends; whether its agent is told is for the caller."""
    effects = Effects()
    for call in tx.calls.open_of_instance(document.id):
        if call.state.is_undispatched:
            message = "the document it was asked for in was closed"
            effects += end(tx, call, CallEvent.WITHDRAW, now, ErrorCode.DOCUMENT_NOT_CURRENT, message)[1]
    closed = documents.step(document, DocumentMove.CLOSE, now=now, reason=reason)
    tx.documents.save(closed, was=document)
    tx.audit.append(audit.of_document(AuditEvent.DOCUMENT_CLOSED, closed, now))
    return (*effects, HideDocument(document=closed))


def lost(tx: Tx, document: ShownDocument, reason: str, now: int) -> Effects:
    """Close a document its agent did not close, and tell the agent."""
    effects = close(tx, document, reason, now)
    return (*effects, *_kept(tx, document, "close", {"reason": reason}, now))


def _told(tx: Tx, world: World, document: ShownDocument, action: str, text: str, now: int) -> Done:
    if len(text.encode("utf-16-le")) // 2 > CALLBACK_UNITS:
        message = f"at `/text`: more than {CALLBACK_UNITS} UTF-16 units"
        return Answer(code=ErrorCode.ARGUMENTS_INVALID, message=message), ()
    gone = ended_grant(world, tx.sessions.find(document.session), now)
    if gone is not None:
        return Answer(code=gone.code, message=gone.message), ()
    data = {"text": text, "action": action, "revision": document.revision}
    size = len(canonical(data))
    if tx.surfaces.kept(document.session) + size > world.configuration.limits.surface_events_bytes:
        return Answer(code=ErrorCode.BUSY, message="the agent has not taken what it was told before"), ()
    return _said(accepted=True), _kept(tx, document, documents.CALLBACK, data, now)


def _kept(tx: Tx, document: ShownDocument, event: str, data: dict[str, Any], now: int) -> Effects:
    text = canonical(data).decode()
    tx.surfaces.add_event(document.session, surface=document.id, instance=document.id, event=event, data=text, at=now)
    return (EventKept(session=document.session),)


# -- judging ----------------------------------------------------------------------------------------------------


def _judged(
    tx: Tx, world: World, session: AgentSession, capability: str, given: Given, prepared: Prepared | None
) -> Document | tuple[Streamed, Step]:
    """The document a call opens, or the step it takes.

    Raises:
        GatewayError: neither.
    """
    most = world.configuration.documents.max_bytes
    if capability in FRAMES:
        found = streamed(tx, given["generation"])
        if found is None or not _is_own(world, session, capability, found.row):
            message = "document at `/generation`: no generation of yours has this name"
            raise GatewayError(ErrorCode.DOCUMENT_FRAME_GENERATION, message, pointer="/generation")
        if prepared is None or prepared.base != found.row:
            return found, stepped(capability, given, found, most)
        if prepared.step is None:
            assert prepared.refusal is not None, "it was judged"
            raise prepared.refusal
        return found, prepared.step
    _check_room(tx, world, session, given, capability)
    if prepared is None:
        return opened(capability, given, most)
    if prepared.document is None:
        assert prepared.refusal is not None, "it was judged"
        raise prepared.refusal
    return prepared.document


def _check_room(tx: Tx, world: World, session: AgentSession, given: Given, capability: str) -> None:
    replaced = _replaced(tx, world, session, given, capability)
    most = world.configuration.documents.max_generations
    if replaced is None and tx.documents.count_live() >= most:
        raise GatewayError(ErrorCode.DOCUMENT_FULL, f"{most} documents are open; replace one of yours, or try later")


def _replaced(tx: Tx, world: World, session: AgentSession, given: Given, capability: str) -> ShownDocument | None:
    name = given.get("replaces")
    if name is None:
        return None
    found = tx.documents.find(name)
    if found is None or not found.is_live or not _is_own(world, session, capability, found):
        message = f"no document `{name}` of yours is open; leave `replaces` out"
        raise GatewayError(ErrorCode.DOCUMENT_NOT_CURRENT, message)
    return found


def _is_own(world: World, session: AgentSession, capability: str, row: ShownDocument) -> bool:
    """Whether a session may do that to a document: one of its conversation, on a site that lets it."""
    of_session = (session.agent, session.user, session.conversation)
    return (row.agent, row.user, row.conversation) == of_session and may(world, session, capability, row.site)


# -- doing ------------------------------------------------------------------------------------------------------


def _open(tx: Tx, call: Call, session: AgentSession, given: Given, document: Document, now: int) -> Done:
    assert call.site is not None
    is_streaming = call.capability == STREAM_OPEN.id
    row = ShownDocument(
        id=documents.PREFIX + call.ref.removeprefix("call_"),
        call=call.ref,
        session=session.id,
        agent=session.agent,
        user=session.user,
        conversation=session.conversation,
        site=call.site,
        kind=KINDS.get(call.capability) or given.get("kind", "intelligent"),
        state=DocumentState.STREAMING if is_streaming else DocumentState.COMPLETE,
        epoch=epoch_of(tx),
        seq=0,
        revision=1,
        frames=1,
        size=len(document.canonical),
        sha256=document.sha256,
        options=_options_of(document),
        opened_at=now,
    )
    content = document.canonical.decode()
    tx.documents.add(row, content)
    tx.audit.append(audit.of_document(AuditEvent.DOCUMENT_OPENED, row, now, ref=call.ref))
    more = {"epoch": row.epoch, "seq": row.seq} if is_streaming else {}
    return _said(documentRef=row.ref, **more), (ShowDocument(document=row, content=content),)


def _step(tx: Tx, call: Call, given: Given, found: Streamed, step: Step, now: int) -> Done:
    row, after = found.row, step.generation
    if step.outcome != "accepted":
        return _taken(row, step), ()
    moved, is_new = row, after.revision != row.revision
    if (move := _MOVES.get(DocumentState(after.status.value))) is not None:
        moved = documents.step(row, move, now=now)
    moved = replace(
        moved,
        seq=after.seq,
        revision=after.revision,
        frames=after.frames,
        size=after.size,
        sha256=after.document.sha256,
        options=canonical({name: _listed(values) for name, values in after.options.items()}).decode(),
    )
    content = after.document.canonical.decode() if is_new else None
    tx.documents.save(moved, was=row, content=content)
    tx.documents.add_frame(row.id, after.seq, call=call.ref, digest=after.digests[after.seq])
    tx.audit.append(audit.of_document(AuditEvent.DOCUMENT_CHANGED, moved, now, ref=call.ref, seq=moved.seq))
    answer = _taken(moved, step)
    if content is None:
        return answer, (EndDocument(document=moved),)
    if "document" in given:
        return answer, (ShowDocument(document=moved, content=content),)
    return answer, (ChangeDocument(document=moved, base=row.revision, operations=given["operations"]),)


def _taken(row: ShownDocument, step: Step) -> Answer:
    return _said(
        generation=row.id,
        epoch=row.epoch,
        seq=row.seq,
        revision=row.revision,
        outcome=step.outcome,
        state=row.state.value,
    )


def _options_of(document: Document) -> str:
    offered = {
        name: _listed(domain.options)
        for name, domain in document.declarations.domains.items()
        if domain.options is not None
    }
    return canonical(offered).decode()


def _listed(values: Any) -> list[Any]:
    # Any order is as good as any other, but it must be one.
    return sorted(values, key=lambda value: (type(value).__name__, value))


def _said(**output: Any) -> Answer:
    return Answer(output=canonical(output).decode())


def _settled(tx: Tx, world: World, call: Call, answer: Answer, effects: Effects, now: int) -> tuple[Call, Effects]:
    ended, told = settle(tx, call.ref, answer, now, result_ms=world.configuration.limits.result_ms)
    assert ended is not None
    return ended, (*effects, *told)
