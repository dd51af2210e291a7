"""Judging documents and their frames where nobody waits for it: before the transaction, beside the loop (design §12).

Verdicts are of `surface_host.documents`; here they become refusals of ours: a code, a pointer and the faults for the
author, never a value (rules A3, A4). What is prepared counts only while the document still stands where it was taken from.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson

from capabilities.builtin.documents import (
    DOCUMENTS,
    INTELLIGENT,
    STREAM_CANCEL,
    STREAM_COMPLETE,
    STREAM_OPEN,
    STREAM_PATCH,
    STRUCTURED,
)
from gateway.domain.documents import ShownDocument
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.ports import Store, Tx
from surface_host.documents import (
    Document,
    DocumentCode,
    DocumentKind,
    Frame,
    FrameKind,
    Generation,
    Issue,
    Refused,
    Status,
    Step,
    judge,
    judge_value,
    open_generation,
    take,
)

T = TypeVar("T")
Given = Mapping[str, Any]

EPOCH: Final = "document_epoch"
"""Where the installation keeps how often a gateway began to show documents."""

KINDS: Final[Mapping[str, DocumentKind]] = {STRUCTURED.id: "structured", INTELLIGENT.id: "intelligent"}
"""What a document of a capability must be; that of a stream its opening says."""

FRAMES: Final[Mapping[str, FrameKind]] = {
    STREAM_PATCH.id: FrameKind.PATCH,
    STREAM_COMPLETE.id: FrameKind.COMPLETE,
    STREAM_CANCEL.id: FrameKind.CANCEL,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Streamed:
    """A document as it is kept: its row, snapshot, frames and the epoch that runs."""

    row: ShownDocument
    content: str
    digests: Mapping[int, str]
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What was judged before the transaction. `base` is what a frame was judged against."""

    document: Document | None = None
    base: ShownDocument | None = None
    step: Step | None = None
    refusal: GatewayError | None = None


async def prepared(store: Store, capability: str, given: Given, *, max_bytes: int) -> Prepared | None:
    """Judge what a request shows beside the loop; None where only the transaction can tell."""
    if capability not in DOCUMENTS:
        return None
    if capability not in FRAMES:
        return await asyncio.to_thread(_opening, capability, given, max_bytes)
    found = await store.run(lambda tx: streamed(tx, given["generation"]))
    return None if found is None else await asyncio.to_thread(_framed, capability, given, found, max_bytes)


def streamed(tx: Tx, name: str) -> Streamed | None:
    """A live document with all a frame is judged by."""
    row = tx.documents.find(name)
    content = None if row is None else tx.documents.content_of(name)
    if row is None or content is None:
        return None
    return Streamed(row=row, content=content, digests=tx.documents.digests_of(name), epoch=epoch_of(tx))


def epoch_of(tx: Tx) -> int:
    """Which run of the gateway this is; a restart ends it (rules H5)."""
    return int(tx.installation.get(EPOCH) or b"1")


def opened(capability: str, given: Given, max_bytes: int) -> Document:
    """Judge the document that a call opens.

    Raises:
        GatewayError: it is not legal.
    """

    def work() -> Document:
        kind = KINDS.get(capability) or given.get("kind", "intelligent")
        document = judge_value(given["document"], max_bytes=max_bytes, kind=kind)
        if capability == STREAM_OPEN.id:
            open_generation("", document, epoch=1, kind=kind)
        return document

    return _told(work)


def stepped(capability: str, given: Given, found: Streamed, max_bytes: int) -> Step:
    """Judge a frame against the document as it is kept.

    Raises:
        GatewayError: it changes nothing.
    """
    return _told(lambda: _take(capability, given, found, max_bytes))


def refusal_of(refused: Refused) -> GatewayError:
    """The same as a refusal of ours."""
    words = f"document at `{refused.pointer or '/'}`: {refused.issues[0].reason}"
    return GatewayError(
        ErrorCode(refused.code.value),
        words,
        pointer=refused.pointer,
        issues=[
            {"code": issue.code.value, "pointer": issue.pointer, "reason": issue.reason} for issue in refused.issues
        ],
    )


def kept_document(content: str, kind: str) -> Document:
    """A snapshot that was judged before, as a document again."""
    return judge(content.encode(), kind="structured" if kind == "structured" else "intelligent")


def _take(capability: str, given: Given, found: Streamed, max_bytes: int) -> Step:
    row, is_checkpoint = found.row, "document" in given
    if row.epoch != found.epoch:
        raise _fault(DocumentCode.FRAME_EPOCH, "/epoch")
    document = kept_document(found.content, row.kind)
    generation = Generation(
        id=row.id,
        epoch=row.epoch,
        kind="structured" if row.kind == "structured" else "intelligent",
        status=Status(row.state.value),
        document=document,
        seq=row.seq,
        revision=row.revision,
        frames=row.frames,
        size=row.size,
        digests=found.digests,
        options={name: frozenset(values) for name, values in orjson.loads(row.options).items()},
    )
    frame = Frame(
        generation=given["generation"],
        epoch=given["epoch"],
        seq=given["seq"],
        base_revision=given["baseRevision"],
        kind=FrameKind.CHECKPOINT if is_checkpoint else FRAMES[capability],
        body=given["document"] if is_checkpoint else given.get("operations"),
    )
    step = take(generation, frame)
    is_new = step.generation.revision != row.revision
    if is_new and len(step.generation.document.canonical) > max_bytes:
        raise _fault(DocumentCode.TOO_LARGE, "")
    return step


def _opening(capability: str, given: Given, max_bytes: int) -> Prepared:
    try:
        return Prepared(document=opened(capability, given, max_bytes))
    except GatewayError as refusal:
        return Prepared(refusal=refusal)


def _framed(capability: str, given: Given, found: Streamed, max_bytes: int) -> Prepared:
    try:
        return Prepared(base=found.row, step=stepped(capability, given, found, max_bytes))
    except GatewayError as refusal:
        return Prepared(base=found.row, refusal=refusal)


def _told(work: Callable[[], T]) -> T:
    try:
        return work()
    except Refused as refused:
        raise refusal_of(refused) from None


def _fault(code: DocumentCode, pointer: str) -> Refused:
    return Refused((Issue(code=code, pointer=pointer, reason=code.means),))
