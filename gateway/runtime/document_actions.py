"""Actions that people take in documents: calls on the one spine, in the person's own name (design §12, rules B1, H6).

A page says which document, which action and what was entered; what is asked for with which arguments is found out from
the document as it is kept. The result comes back as the few scalar fields that the invoke table opens.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from gateway.domain.canonical import canonical, sha256_hex
from gateway.domain.configuration import InvokeTarget
from gateway.domain.documents import Asking, DocumentAction, DocumentState, ShownDocument
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.callers import InDocument
from gateway.runtime.document_judging import kept_document, refusal_of
from gateway.runtime.ports import Tx
from gateway.runtime.requests import CallRequest
from gateway.runtime.spine import Spine
from gateway.runtime.ui_actions import UiActions, call_id_of
from gateway.runtime.workspaces import JsonObject, Tell
from gateway.runtime.world import Live, LivePage
from surface_host.documents import LIMITS, Refused, Scalar, action_arguments

_SCALARS: Final = (str, bool, int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a page sends: the document it shows, the person's request by name, the action, and the values by field."""

    call: str
    generation: str
    revision: int
    request: str
    action: str
    values: JsonObject

    @property
    def text(self) -> bytes:
        """All of it but the name of the request, as canonical JSON; its digest tells two inputs apart."""
        ref = {"call": self.call, "generation": self.generation, "revision": self.revision}
        return canonical({"documentRef": ref, "actionId": self.action, "values": dict(self.values)})


class DocumentActions:
    """One per gateway."""

    def __init__(self, *, spine: Spine, live: Live, actions: UiActions) -> None:
        self._spine = spine
        self._live = live
        self._actions = actions

    async def act(self, page: LivePage, wanted: Wanted, tell: Tell) -> JsonObject:
        """Do what the person asks for, or find that it was asked for before; the fields the document is told.

        Raises:
            GatewayError: there is no output, or no call was made; either way the trail says so already.
        """
        try:
            request = await self._judged(page, wanted)
        except GatewayError as error:
            raise self._actions.refused_at(page, wanted.generation, wanted.action, error) from None
        if isinstance(request, DocumentAction):
            output, entry = await self._actions.again(request.call, tell), request.entry
        else:
            caller = request.caller
            assert isinstance(caller, InDocument)
            output, entry = await self._actions.run(request, tell), caller.action.entry
        return mapped(output, self._live.world.configuration.documents.invoke.get(entry))

    async def _judged(self, page: LivePage, wanted: Wanted) -> CallRequest | DocumentAction:
        """The call that is asked for, or the action it was before."""
        text = _sized(wanted)
        document, content, before = await self._spine.store.run(lambda tx: _found(tx, wanted))
        digest = sha256_hex(text)
        if document is None or (document.user, document.site) != (page.session.user, page.session.site):
            raise GatewayError(ErrorCode.DOCUMENT_NOT_CURRENT, "no such document is open on this page")
        if before is not None:
            if before.input == digest:
                return before
            raise GatewayError(ErrorCode.CALL_ID_CONFLICT, "this request was made with other input; make a new one")
        _check_current(document, wanted)
        entry, arguments = await asyncio.to_thread(_arguments, content or "", document.kind, wanted)
        target = self._live.world.configuration.documents.invoke.get(entry)
        if target is None:
            message = f"the configuration opens no `{entry}` to documents"
            raise GatewayError(ErrorCode.UNSUPPORTED, message, reason="documents.invoke has no such entry")
        asking = Asking(request=wanted.request, action=wanted.action, entry=entry, input=digest)
        return CallRequest(
            caller=InDocument(page=page, document=document, action=asking),
            capability=target.target,
            arguments=dict(arguments),
            call_id=call_id_of(document.id, wanted.request),
        )


def mapped(output: Any, target: InvokeTarget | None) -> JsonObject:
    """The scalar fields of an output that a document is told; none where they are too much together (seed 003)."""
    if target is None or not isinstance(output, dict):
        return {}
    fields = cast("dict[str, Any]", output)
    told = {name: fields[name] for name in target.result_fields if isinstance(fields.get(name), _SCALARS)}
    return told if len(canonical(told)) <= LIMITS["result_bytes"] else {}


def _sized(wanted: Wanted) -> bytes:
    try:
        text = wanted.text
    except (ValueError, RecursionError):
        raise GatewayError(ErrorCode.UNSAFE_INTEGER, "the values cannot be carried unchanged") from None
    if len(text) + len(wanted.request) > LIMITS["request_bytes"]:
        raise GatewayError(ErrorCode.BODY_TOO_LARGE, f"the request is larger than {LIMITS['request_bytes']} bytes")
    return text


def _found(tx: Tx, wanted: Wanted) -> tuple[ShownDocument | None, str | None, DocumentAction | None]:
    document = tx.documents.find(wanted.generation)
    if document is None:
        return None, None, None
    before = tx.documents.find_action(document.id, wanted.request)
    return document, tx.documents.content_of(document.id) if before is None else None, before


def _check_current(document: ShownDocument, wanted: Wanted) -> None:
    if not document.is_live or (document.call, document.revision) != (wanted.call, wanted.revision):
        raise GatewayError(ErrorCode.DOCUMENT_NOT_CURRENT, "the document is closed, or has another revision by now")
    if document.state is not DocumentState.COMPLETE:
        raise GatewayError(ErrorCode.DOCUMENT_INCOMPLETE, "the document is not complete; its actions are not open")


def _arguments(content: str, kind: str, wanted: Wanted) -> tuple[str, Mapping[str, Scalar]]:
    document = kept_document(content, kind)
    try:
        arguments = action_arguments(document, wanted.action, wanted.values)
    except Refused as refused:
        raise refusal_of(refused) from None
    return document.actions[wanted.action]["capability"], arguments
