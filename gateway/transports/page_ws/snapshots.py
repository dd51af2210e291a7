"""A page's declarations: numbered parts become one snapshot, and each declaration is judged by itself."""

import asyncio
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final

from capabilities.check import judge_descriptor
from capabilities.contract import Descriptor
from capabilities.registry import HOST
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.protocol.page_frames import Caps, Rejection, read_declaration
from gateway.protocol.strict_json import dumps
from gateway.settings import Limits

JUDGED_AT_ONCE: Final = 8
"""Declarations judged before others get the loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """What a document says it offers: declarations with their sizes in bytes, and ids of the host's own pack."""

    declarations: list[tuple[Any, int]]
    host: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A whole snapshot: what is taken by id, and what is not."""

    accepted: dict[str, Descriptor] = field(default_factory=dict[str, Descriptor])
    rejected: list[Rejection] = field(default_factory=list[Rejection])


class Snapshots:
    """The snapshot a document is sending. A new first part, or a wrong one, forgets what came before."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._expected: tuple[int, int, int] | None = None
        self._texts: list[tuple[Any, int]] = []
        self._host: list[str] = []

    def take(self, frame: Caps) -> Whole | None:
        """Add a part; the whole snapshot once the last part is here.

        Raises:
            GatewayError: the parts are out of order, or the snapshot is too large.
        """
        if frame.part == 1:
            self._expected, self._texts, self._host = (frame.seq, 1, frame.parts), [], list(frame.host)
        if self._expected != (frame.seq, frame.part, frame.parts) or frame.part > frame.parts:
            self._forget()
            raise GatewayError(ErrorCode.BAD_REQUEST, "parts come in order, from 1; send the snapshot again")
        self._texts += [(declaration, self._size_of(declaration)) for declaration in frame.capabilities]
        self._judge_size()
        if frame.part < frame.parts:
            self._expected = (frame.seq, frame.part + 1, frame.parts)
            return None
        whole = Whole(declarations=self._texts, host=self._host)
        self._forget()
        return whole

    def _size_of(self, declaration: Any) -> int:
        try:
            return len(dumps(declaration))
        except TypeError:
            # Too deep to be written, and so to be taken: it counts as one that is too large.
            return self._limits.declaration_bytes + 1

    def _judge_size(self) -> None:
        count, size = len(self._texts), sum(size for _, size in self._texts)
        limits = self._limits
        if count <= limits.capabilities_per_page and size <= limits.capabilities_bytes:
            return
        self._forget()
        raise GatewayError(
            ErrorCode.BODY_TOO_LARGE,
            f"a page declares at most {limits.capabilities_per_page} capabilities and {limits.capabilities_bytes} bytes",
        )

    def _forget(self) -> None:
        self._expected, self._texts, self._host = None, [], []


async def judge(whole: Whole, limits: Limits, app_segments: AbstractSet[str] = frozenset()) -> Judged:
    """Judge each declaration of a snapshot; one that is refused never hides its siblings.

    INVARIANT: what the host itself can do is declared by the gateway. A page names such a capability, and cannot word it.

    `app_segments` are the first segments of ids that belong to installed mini apps.
    """
    judged = Judged()
    for name in whole.host:
        known = HOST.get(name)
        if known is None:
            judged.rejected.append(Rejection(id=name, code=ErrorCode.UNSUPPORTED.wire, pointer=""))
        else:
            judged.accepted[name] = known
    for number, (declaration, size) in enumerate(whole.declarations):
        if number % JUDGED_AT_ONCE == JUDGED_AT_ONCE - 1:
            await asyncio.sleep(0)
        verdict = _judge_one(declaration, size, limits, app_segments, judged)
        if isinstance(verdict, Rejection):
            judged.rejected.append(verdict)
        else:
            judged.accepted[verdict.id] = verdict
    return judged


def _judge_one(
    declaration: Any, size: int, limits: Limits, app_segments: AbstractSet[str], before: Judged
) -> Descriptor | Rejection:
    read = read_declaration(declaration)
    if isinstance(read, Rejection):
        return read
    refusal = judge_descriptor(read, page=True, app_segments=app_segments, max_depth=limits.schema_depth)
    if refusal is not None:
        return Rejection(id=read.id[:160], code=refusal.code, pointer=refusal.pointer)
    if size > limits.declaration_bytes:
        return Rejection(id=read.id, code=ErrorCode.BAD_REQUEST.wire, pointer="")
    if read.id in before.accepted:
        return Rejection(id=read.id, code=ErrorCode.BAD_REQUEST.wire, pointer="/id")
    return read
