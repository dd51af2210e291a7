"""Documents of agents on the page channel: `document` down, `document_news` and one kind of `action` up (design §12).

A document travels in the shell `{protocol, version, document}` (rules A5), which the page checks before it judges what
is in it. Which documents a page may show or act in is not known here.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from gateway.domain.calls import Call
from gateway.domain.documents import ACTION_STATES, DocumentAction, ShownDocument
from gateway.protocol.frame import Frame, Name
from surface_host.documents.table import ID_PATTERN, PROTOCOL

Generation = Annotated[str, Field(pattern=r"^gen_[a-z2-7]{26}$")]
RequestId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{8,64}$")]
ActionId = Annotated[str, Field(pattern=rf"^{ID_PATTERN}$")]


# -- page to gateway ----------------------------------------------------------------------------------------


class DocumentWanted(Frame):
    """The page shows nothing of it yet, or missed a step: it gets the whole as it is now, or that it is gone."""

    type: Literal["document_news"]
    generation: Generation
    what: Literal["wanted"]


class DocumentClosed(Frame):
    """The person closed it."""

    type: Literal["document_news"]
    generation: Generation
    what: Literal["closed"]


class DocumentRef(Frame):
    """The revision a person acts in, as the page shows it."""

    call: Name
    generation: Generation
    revision: Annotated[int, Field(ge=1)]


class DocumentAct(Frame):
    """What the person asks for in a document; answered by receipts and one `action_reply`, whose `id` is `requestId`."""

    type: Literal["action"]
    documentRef: DocumentRef  # noqa: N815 - the seed's spelling
    requestId: RequestId  # noqa: N815 - the seed's spelling
    actionId: ActionId  # noqa: N815 - the seed's spelling
    values: dict[str, Any]


DocumentNews = DocumentWanted | DocumentClosed

DOCUMENT_NEWS: Final[Mapping[str, type[Frame]]] = {"wanted": DocumentWanted, "closed": DocumentClosed}
"""By `what`."""


# -- gateway to page ----------------------------------------------------------------------------------------


def documents_listed(shown: Sequence[ShownDocument], *, max_bytes: int) -> dict[str, Any]:
    """What is open for the page's person on its site, oldest first; the page asks for what it wants to show."""
    return {
        "type": "document",
        "op": "list",
        "max_bytes": max_bytes,
        "documents": [{"documentRef": document.ref, "state": document.state.value} for document in shown],
    }


def document_open(
    document: ShownDocument,
    content: Any,
    *,
    agent: str,
    max_bytes: int,
    actions: Sequence[tuple[DocumentAction, Call]] = (),
) -> dict[str, Any]:
    """Show a document as it is now, in the place of an older revision of it; `actions` are told without dispatching any."""
    return {
        "type": "document",
        "op": "open",
        "documentRef": document.ref,
        "epoch": document.epoch,
        "seq": document.seq,
        "kind": document.kind,
        "state": document.state.value,
        "agent": agent,
        "max_bytes": max_bytes,
        "ui": {"protocol": PROTOCOL, "version": content["version"], "document": content},
        "actions": [_action(action, call) for action, call in actions],
    }


def document_patch(document: ShownDocument, base: int, operations: list[Any]) -> dict[str, Any]:
    """Lead from revision `baseRevision` to the one `documentRef` names; a page that is elsewhere asks for the whole."""
    return {
        "type": "document",
        "op": "patch",
        "documentRef": document.ref,
        "epoch": document.epoch,
        "seq": document.seq,
        "baseRevision": base,
        "operations": operations,
    }


def document_end(document: ShownDocument) -> dict[str, Any]:
    """A document is `complete`, and its actions are open, or `cancelled`."""
    return {
        "type": "document",
        "op": "end",
        "documentRef": document.ref,
        "epoch": document.epoch,
        "seq": document.seq,
        "state": document.state.value,
    }


def document_close(generation: str, reason: str) -> dict[str, Any]:
    """Take a document away."""
    return {"type": "document", "op": "close", "generation": generation, "reason": reason}


def document_action(document: ShownDocument, action: DocumentAction, call: Call) -> dict[str, Any]:
    """How an action of a document stands, for the panel beside it (rules H8)."""
    return {"type": "document", "op": "action", "generation": document.id, **_action(action, call)}


def _action(action: DocumentAction, call: Call) -> dict[str, Any]:
    told = {"requestId": action.request, "actionId": action.action, "state": ACTION_STATES[call.state].value}
    return told if call.code is None else {**told, "code": call.code.wire}
