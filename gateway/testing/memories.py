"""What a gateway remembers beside its calls: the audit trail, nonces, baselines, denials, facts of its own."""

from collections.abc import Sequence

from gateway.domain.audit import GENESIS, AuditRecord, ChainedRecord, Checkpoint, Stream, body_of, chain
from gateway.domain.denials import Denial
from gateway.domain.inventory import Baseline
from gateway.testing.tables import Tables


class MemoryAudit:
    """`Audit` over a dictionary in order of appending."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def append(self, record: AuditRecord) -> None:
        head = self._tables.heads.get(record.stream)
        seq, previous = (0, GENESIS) if head is None else (head.seq, head.hash)
        body = body_of(record, seq + 1)
        chained = ChainedRecord(stream=record.stream, seq=seq + 1, body=body, hash=chain(previous, body))
        self._tables.audit[record.stream, chained.seq] = self._tables.heads[record.stream] = chained

    def read(self, stream: Stream, *, after: int, limit: int) -> Sequence[ChainedRecord]:
        return [record for record in self._of(stream) if record.seq > after][:limit]

    def tail(self, *, limit: int, stream: Stream | None = None) -> Sequence[ChainedRecord]:
        records = self._of(stream)
        return records[max(0, len(records) - limit) :]

    def add_checkpoint(self, checkpoint: Checkpoint) -> None:
        self._tables.checkpoints.setdefault((checkpoint.stream, checkpoint.seq), checkpoint)

    def checkpoints(self, stream: Stream, *, after: int, limit: int) -> Sequence[Checkpoint]:
        return [c for c in self._checkpoints(stream) if c.seq > after][:limit]

    def newest_checkpoint(self, stream: Stream, *, until: int) -> Checkpoint | None:
        made = [c for c in self._checkpoints(stream) if c.at <= until]
        return made[-1] if made else None

    def purge(self, stream: Stream, *, before: int, limit: int) -> int:
        old = [record.seq for record in self.read(stream, after=0, limit=limit) if record.seq < before]
        head = self._tables.heads.get(stream)
        old = [seq for seq in old if head is not None and seq < head.seq]
        for seq in old:
            del self._tables.audit[stream, seq]
        for checkpoint in [c for c in self._checkpoints(stream) if c.seq < before][:limit]:
            del self._tables.checkpoints[stream, checkpoint.seq]
        return len(old)

    def _checkpoints(self, stream: Stream) -> list[Checkpoint]:
        own = [c for c in self._tables.checkpoints.values() if c.stream is stream]
        return sorted(own, key=lambda checkpoint: checkpoint.seq)

    def _of(self, stream: Stream | None) -> list[ChainedRecord]:
        return [record for record in self._tables.audit.values() if stream in (None, record.stream)]


class MemoryNonces:
    """`Nonces` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, holder: str, nonce: str, *, ref: str, until: int) -> str | None:
        seen = self._tables.nonces.get((holder, nonce))
        if seen is not None:
            return seen[0]
        self._tables.nonces[holder, nonce] = (ref, until)
        return None

    def purge(self, before: int, limit: int) -> int:
        old = [name for name, (_, until) in self._tables.nonces.items() if until < before][:limit]
        for name in old:
            del self._tables.nonces[name]
        return len(old)


class MemoryBaselines:
    """`Baselines` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def find(self, session: str) -> Baseline | None:
        return self._tables.baselines.get(session)

    def put(self, session: str, baseline: Baseline) -> None:
        self._tables.baselines[session] = baseline


class MemoryDenials:
    """`Denials` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def find(self, agent: str, user: str, request_fingerprint: str, now: int) -> Denial | None:
        denial = self._tables.denials.get((agent, user, request_fingerprint))
        return denial if denial is not None and now < denial.until else None

    def put(self, denial: Denial) -> None:
        self._tables.denials[denial.agent, denial.user, denial.request_fingerprint] = denial

    def lift(self, user: str, capability: str, agent: str) -> int:
        lifted = [
            key
            for key, denial in self._tables.denials.items()
            if (denial.user, denial.capability, denial.agent) == (user, capability, agent)
        ]
        for key in lifted:
            del self._tables.denials[key]
        return len(lifted)

    def list(self, user: str, now: int) -> Sequence[Denial]:
        live = [d for d in self._tables.denials.values() if d.user == user and now < d.until]
        return sorted(live, key=lambda denial: (denial.until, denial.agent, denial.request_fingerprint))

    def purge(self, now: int, limit: int) -> int:
        old = [key for key, denial in self._tables.denials.items() if denial.until <= now][:limit]
        for key in old:
            del self._tables.denials[key]
        return len(old)


class MemoryInstallation:
    """`Installation` over a dictionary."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def get(self, name: str) -> bytes | None:
        return self._tables.installation.get(name)

    def put(self, name: str, value: bytes) -> None:
        self._tables.installation[name] = value
