"""What the ledger's transactions keep of the actions people take in documents, and how many (rules H6)."""

from typing import Final

from gateway.domain.calls import Call
from gateway.domain.documents import DocumentAction
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.callers import InDocument
from gateway.runtime.ports import Tx

OF_ALL: Final = 2_048
"""Actions that are remembered for the whole gateway; at the cap it refuses, it never evicts."""

OF_SESSION: Final = 128
"""Of these, those in documents of one agent session."""


def no_room_for_action(tx: Tx, person: InDocument, most_open: int) -> GatewayError | None:
    """Why one more action of a document is not taken; None when there is room."""
    if len(tx.calls.open_of_instance(person.place)) >= most_open:
        return GatewayError(
            ErrorCode.BUSY, f"{most_open} actions of this document are under way; let one of them end"
        )
    if tx.documents.count_actions(person.document.session) >= OF_SESSION:
        return _full(OF_SESSION, "the documents of this agent session")
    return _full(OF_ALL, "documents") if tx.documents.count_actions() >= OF_ALL else None


def noted_action(person: InDocument, call: Call, now: int) -> DocumentAction:
    """What is remembered of an action beside its call."""
    return DocumentAction(
        call=call.ref,
        document=person.document.id,
        session=person.document.session,
        request=person.action.request,
        action=person.action.action,
        entry=person.action.entry,
        input=person.action.input,
        at=now,
    )


def _full(most: int, whose: str) -> GatewayError:
    message = f"{most} actions of {whose} are remembered, and none is forgotten; close a document"
    return GatewayError(ErrorCode.LEDGER_FULL, message)
