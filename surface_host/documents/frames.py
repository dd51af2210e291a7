"""Streaming: one generation of a document and the frames that change it. This docstring is the norm (design §12).

A generation begins with a whole document of version 1.1 (`not_in_version` at `/version` for an older one): frame 0,
revision 1. Each `patch` and `checkpoint` that is taken makes the next revision; `complete` and `cancel` end it.
Whoever keeps generations gives them their ids and the epoch, which a restart ends.

A frame is judged in this order; what is refused leaves the generation as it was, and its number free.
1. Another generation `frame_generation` at `/generation`; another epoch `frame_epoch` at `/epoch`.
2. `seq` at or below the last one taken: the same content is `repeated`, other content `frame_conflict` at `/seq`; a number
   that was never taken, because a checkpoint went past it, is `late`. Neither `repeated` nor `late` changes anything.
   Content is the SHA-256 of the canonical `[kind, baseRevision, operations or document or null]`.
3. The generation has ended: `late`.
4. `seq` is not the next: `frame_gap` at `/seq`, but for a checkpoint, which heals the gap.
5. `baseRevision` is not the present revision: `frame_base` at `/baseRevision`; a checkpoint's may be greater, and its own
   revision is one more than that.
6. For `patch` and `checkpoint`: more than 256 frames with the one that opened it `frame_budget` (empty pointer); then the
   patch is applied, or the checkpoint judged; then what is fixed is compared, then the canonical bytes of all
   snapshots together must be at most 16,777,216, else `frame_budget` (empty pointer).

Fixed within a generation, else `declarations_changed` with a pointer into the new document: in this order `version`,
`state`, `derived`, `actions` (as canonical JSON; absent is `{}`), `/root/id`; then for each node in pre-order its `type`,
where the present document has a node of that id, then for a Select the set of its option values, where an earlier
snapshot of the generation offered any for its field (pointer: `options`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, Literal

from surface_host.documents.canonical import canonical, sha256_of
from surface_host.documents.codes import DocumentCode, Refused, refused
from surface_host.documents.declarations import Scalar, nodes_of, thawed
from surface_host.documents.document import Document, judge_value
from surface_host.documents.patches import apply_patch
from surface_host.documents.pointers import cut
from surface_host.documents.scanner import assert_safe_json
from surface_host.documents.table import LIMITS, DocumentKind

_C: Final = DocumentCode


class Status(StrEnum):
    """Whether more may come."""

    STREAMING = "streaming"
    COMPLETE = "complete"
    CANCELLED = "cancelled"


class FrameKind(StrEnum):
    """What a frame does."""

    PATCH = "patch"
    CHECKPOINT = "checkpoint"
    COMPLETE = "complete"
    CANCEL = "cancel"


TRANSITIONS: Final[Mapping[Status, Mapping[FrameKind, Status]]] = MappingProxyType(
    {
        Status.STREAMING: {
            FrameKind.PATCH: Status.STREAMING,
            FrameKind.CHECKPOINT: Status.STREAMING,
            FrameKind.COMPLETE: Status.COMPLETE,
            FrameKind.CANCEL: Status.CANCELLED,
        },
        Status.COMPLETE: {},
        Status.CANCELLED: {},
    }
)

Outcome = Literal["accepted", "repeated", "late"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One step of a generation.

    Attributes:
        body: of a patch its operations, of a checkpoint the whole document, as plain dicts and lists; else None.
    """

    generation: str
    epoch: int
    seq: int
    base_revision: int
    kind: FrameKind
    body: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """A document that is being streamed, or was.

    Attributes:
        kind: what every snapshot must be.
        document: the present snapshot.
        seq: of the last frame taken; 0 is the one that opened it.
        frames: how many snapshots there were.
        size: canonical bytes of all of them.
        digests: of each frame taken, by `seq`.
        options: what Selects offered so far, by field.
    """

    id: str
    epoch: int
    kind: DocumentKind | None
    status: Status
    document: Document
    seq: int
    revision: int
    frames: int
    size: int
    digests: Mapping[int, str]
    options: Mapping[str, frozenset[Scalar]]

    @property
    def may_invoke(self) -> bool:
        """Whether its document may ask for more than local actions: only once it is complete."""
        return self.status is Status.COMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What became of a frame, and the generation afterwards."""

    outcome: Outcome
    generation: Generation


def open_generation(
    generation_id: str, document: Document, *, epoch: int, kind: DocumentKind | None = None
) -> Generation:
    """Begin a generation with its first snapshot.

    Raises:
        Refused: the document is of a version without streaming.
    """
    if document.version != "1.1":
        raise refused(_C.NOT_IN_VERSION, "/version")
    return Generation(
        id=generation_id,
        epoch=epoch,
        kind=kind,
        status=Status.STREAMING,
        document=document,
        seq=0,
        revision=1,
        frames=1,
        size=len(document.canonical),
        digests=MappingProxyType({}),
        options=_options(document),
    )


def take(generation: Generation, frame: Frame) -> Step:
    """Judge one frame; the generation given stays as it is.

    Raises:
        Refused: the frame changes nothing.
    """
    if frame.generation != generation.id:
        raise refused(_C.FRAME_GENERATION, "/generation")
    if frame.epoch != generation.epoch:
        raise refused(_C.FRAME_EPOCH, "/epoch")
    digest = _digest(frame)
    if frame.seq <= generation.seq:
        return _again(generation, frame.seq, digest)
    status = TRANSITIONS[generation.status].get(frame.kind)
    if status is None:
        return Step(outcome="late", generation=generation)
    is_checkpoint = frame.kind is FrameKind.CHECKPOINT
    if frame.seq != generation.seq + 1 and not is_checkpoint:
        raise refused(_C.FRAME_GAP, "/seq")
    if frame.base_revision != generation.revision and not (
        is_checkpoint and frame.base_revision > generation.revision
    ):
        raise refused(_C.FRAME_BASE, "/baseRevision")
    if frame.kind in (FrameKind.PATCH, FrameKind.CHECKPOINT):
        generation = _shown(generation, frame)
    digests = MappingProxyType({**generation.digests, frame.seq: digest})
    return Step(outcome="accepted", generation=replace(generation, status=status, seq=frame.seq, digests=digests))


def _again(generation: Generation, seq: int, digest: str) -> Step:
    known = generation.digests.get(seq)
    if known is None:
        return Step(outcome="late", generation=generation)
    if known != digest:
        raise refused(_C.FRAME_CONFLICT, "/seq")
    return Step(outcome="repeated", generation=generation)


def _digest(frame: Frame) -> str:
    """Of the content; a body that is no plain JSON has none, and is refused for that."""
    try:
        body = assert_safe_json(frame.body, max_bytes=2 * LIMITS["bytes"]).value
    except Refused as refusal:
        return f"refused: {refusal.code}"
    return sha256_of(canonical([frame.kind.value, frame.base_revision, body]))


def _shown(generation: Generation, frame: Frame) -> Generation:
    """The generation with its next snapshot."""
    if generation.frames >= LIMITS["generation_frames"]:
        raise refused(_C.FRAME_BUDGET, "")
    if frame.kind is FrameKind.PATCH:
        document = apply_patch(generation.document, frame.body, kind=generation.kind)
    else:
        document = judge_value(frame.body, kind=generation.kind)
    _check_fixed(generation, document)
    size = generation.size + len(document.canonical)
    if size > LIMITS["generation_bytes"]:
        raise refused(_C.FRAME_BUDGET, "")
    return replace(
        generation,
        document=document,
        revision=frame.base_revision + 1,
        frames=generation.frames + 1,
        size=size,
        options=MappingProxyType({**generation.options, **_options(document)}),
    )


def _check_fixed(generation: Generation, document: Document) -> None:
    before = generation.document
    for name in ("version", "state", "derived", "actions"):
        if _plain(before, name) != _plain(document, name):
            raise refused(_C.DECLARATIONS_CHANGED, f"/{name}")
    if before.root["id"] != document.root["id"]:
        raise refused(_C.DECLARATIONS_CHANGED, "/root/id")
    for node, at in nodes_of(document.root):
        earlier = before.nodes.get(node["id"])
        if earlier is not None and earlier["type"] != node["type"]:
            raise refused(_C.DECLARATIONS_CHANGED, cut(f"{at}/type"))
        if node["type"] == "Select":
            field = node["props"]["field"]
            values = frozenset(option["value"] for option in node["props"]["options"])
            if generation.options.get(field, values) != values:
                raise refused(_C.DECLARATIONS_CHANGED, cut(f"{at}/props/options"))


def _plain(document: Document, name: str) -> bytes:
    return canonical(thawed(document.value.get(name, {})))


def _options(document: Document) -> Mapping[str, frozenset[Scalar]]:
    domains = document.declarations.domains.items()
    return MappingProxyType(
        {name: frozenset(domain.options) for name, domain in domains if domain.options is not None}
    )
