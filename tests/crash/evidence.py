"""Everything a store holds about calls, read in one unit of work. The judge knows the store only through this."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from capabilities.package import PackageRefused, package_of
from gateway.adapters.app_files import FOLDER, FolderAppFiles
from gateway.domain.activations import Activation
from gateway.domain.approvals import Approval
from gateway.domain.audit import AuditEvent, ChainedRecord
from gateway.domain.calls import Call, Receipt, Result
from gateway.domain.conversations import Message, Talk
from gateway.domain.instances import Instance
from gateway.domain.mini_apps import AppVersion, MiniApp
from gateway.domain.operations import Operation
from gateway.domain.outbox import OutboxEntry, OutboxState
from gateway.domain.pages import PageSession
from gateway.runtime.ports import FilesRefused, Tx
from tests.crash.scene import SCRIBE, TALK, USER

ALL: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One audit record, read."""

    event: AuditEvent
    at: int
    facts: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One moment of a store. `records` stand in the order they were written, over all streams."""

    calls: Mapping[str, Call]
    results: Mapping[str, Result]
    log: Sequence[Message]
    """What the conversation of the agent that speaks LineUp is told."""
    receipts: Mapping[str, Sequence[Receipt]]
    """Of each call."""
    accepted: frozenset[str]
    """The calls whose first receipt is `accepted`."""
    inputs: frozenset[str]
    approvals: Mapping[str, Approval]
    pages: Mapping[str, PageSession]
    apps: Sequence[MiniApp]
    versions: Mapping[str, AppVersion]
    """Kept versions of mini apps by digest."""
    folders: Mapping[str, str | None]
    """What lies where packages are kept, by name, and what is wrong with it."""
    pressed: Mapping[str, int]
    """How often the app in a worker did the work of each ref, as the app itself noted."""
    operations: Mapping[str, Operation]
    """By the ref of their call."""
    attempts: Sequence[Activation]
    """Those that are live."""
    instances: Sequence[Instance]
    """Those that are live."""
    outbox: Mapping[str, OutboxEntry]
    used: int
    open: int
    records: Sequence[ChainedRecord]

    @property
    def trail(self) -> list[Record]:
        """The records, read."""
        return [_read(record) for record in self.records]


def _read(record: ChainedRecord) -> Record:
    body = orjson.loads(record.body)
    return Record(event=AuditEvent(body["event"]), at=body["at"], facts=body["facts"])


def collect(tx: Tx) -> Evidence:
    """A unit of work that reads all there is."""
    calls = {call.ref: call for call in tx.calls.recent(limit=ALL)}
    records = tx.audit.tail(limit=ALL)
    named = {str(page) for record in map(_read, records) if (page := record.facts.get("page"))}
    results = {ref: result for ref in calls if (result := tx.calls.result_of(ref)) is not None}
    approvals = [tx.approvals.find(call.approval) for call in calls.values() if call.approval]
    pages = [tx.pages.find(name) for name in named]
    used, still_open = tx.calls.usage()
    return Evidence(
        calls=calls,
        results=results,
        log=tx.conversations.read(Talk(agent=SCRIBE, user=USER, name=TALK), after=0, limit=ALL),
        receipts={ref: tx.calls.receipts_of(ref) for ref in calls},
        accepted=frozenset(ref for ref in calls if _is_accepted(tx, ref)),
        inputs=frozenset(ref for ref in calls if tx.calls.input_of(ref) is not None),
        approvals={approval.id: approval for approval in approvals if approval is not None},
        pages={page.id: page for page in pages if page is not None},
        apps=tx.mini_apps.list(),
        versions={
            version.digest: version for app in tx.mini_apps.list() for version in tx.mini_apps.versions(app.id)
        },
        folders={},
        pressed={},
        operations={ref: operation for ref in calls if (operation := tx.operations.find_of_call(ref)) is not None},
        attempts=list(tx.activations.all_live()),
        instances=list(tx.instances.all_live()),
        outbox={entry.id: entry for state in OutboxState for entry in tx.outbox.page(state, above=0, limit=ALL)},
        used=used,
        open=still_open,
        records=records,
    )


def look(data: Path) -> dict[str, str | None]:
    """The folders of installed packages as the disk has them."""
    files = FolderAppFiles(data)
    return {entry.name: _flaw_of(files, entry.name) for entry in (data / FOLDER).glob("*")}


def _flaw_of(files: FolderAppFiles, name: str) -> str | None:
    try:
        package = package_of(files.load(name))
    except (FilesRefused, PackageRefused) as refused:
        return str(refused)
    return None if package.digest == name else "it is another package"


def _is_accepted(tx: Tx, ref: str) -> bool:
    receipts = tx.calls.receipts_of(ref)
    return bool(receipts) and (receipts[0].seq, receipts[0].status) == (1, "accepted")
