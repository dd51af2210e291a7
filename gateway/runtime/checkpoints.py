"""Checkpoints of the audit trail: where each stream stood, so that a walk can begin there once older records went.

A checkpoint beside its chain shows truncation and tampering by whoever cannot write both; a copy of it kept
elsewhere shows tampering by anybody, up to its place.
"""

from collections.abc import Sequence

from gateway.domain.audit import Checkpoint, Stream
from gateway.runtime.ports import Tx

_BASE = "audit_base_"


def write_checkpoints(tx: Tx, now: int) -> Sequence[Checkpoint]:
    """Note where every stream stands; returns the newest checkpoint of each that has a record."""
    newest: list[Checkpoint] = []
    for stream in Stream:
        head = tx.audit.tail(limit=1, stream=stream)
        if not head:
            continue
        last = tx.audit.newest_checkpoint(stream, until=2**62)
        if last is None or last.seq < head[0].seq:
            # An instant before an earlier checkpoint's would let its records go too soon.
            at = now if last is None else max(now, last.at)
            last = Checkpoint(stream=stream, seq=head[0].seq, hash=head[0].hash, at=at)
            tx.audit.add_checkpoint(last)
        newest.append(last)
    return newest


def base_of(tx: Tx, stream: Stream) -> int | None:
    """The checkpoint up to which records went, and at which a walk begins; None where nothing went."""
    base = tx.installation.get(_BASE + stream.value)
    return None if base is None else int(base)


def forget_records(tx: Tx, *, written_before: int, limit: int) -> int:
    """Forget at most `limit` audit records that are older than a checkpoint made before `written_before` (ms)."""
    forgotten = 0
    for stream in Stream:
        base = tx.audit.newest_checkpoint(stream, until=written_before)
        if base is None or forgotten == limit:
            continue
        gone = tx.audit.purge(stream, before=base.seq, limit=limit - forgotten)
        if gone:
            tx.installation.put(_BASE + stream.value, str(base.seq).encode())
            forgotten += gone
    return forgotten
