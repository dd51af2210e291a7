"""All a store in memory holds: dictionaries of frozen things, so that a shallow copy is a snapshot."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import TypeVar

from gateway.domain.activations import Activation
from gateway.domain.admin_requests import Made
from gateway.domain.admin_tokens import AdminToken
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.app_sessions import AppEntry, AppSession
from gateway.domain.approvals import Approval
from gateway.domain.audit import ChainedRecord, Checkpoint, Stream
from gateway.domain.bundles import SentBundle
from gateway.domain.calls import Call, Receipt, Result
from gateway.domain.conversations import Asked, Message, Talk
from gateway.domain.denials import Denial
from gateway.domain.documents import DocumentAction, ShownDocument
from gateway.domain.instances import Instance
from gateway.domain.inventory import Baseline
from gateway.domain.lists import Place
from gateway.domain.mini_apps import AppVersion, MiniApp
from gateway.domain.operations import Operation
from gateway.domain.outbox import OutboxEntry
from gateway.domain.pages import PageSession
from gateway.domain.panel_items import PanelItem
from gateway.domain.session_data import SessionData
from gateway.domain.sites import SiteKey, Ticket
from gateway.domain.surfaces import Happening, Surface
from surface_host.bundles import Parts

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Told:
    """A message with the name of its call; the call itself, and its result, are looked up when it is read."""

    ref: str | None
    message: Message


@dataclass(slots=True)
class Tables:
    """Keyed like the rows of the SQL store; a dictionary keeps the order of insertion."""

    calls: dict[str, Call] = field(default_factory=dict[str, Call])
    inputs: dict[str, str] = field(default_factory=dict[str, str])
    promises: dict[str, str] = field(default_factory=dict[str, str])
    receipts: dict[str, tuple[Receipt, ...]] = field(default_factory=dict[str, tuple[Receipt, ...]])
    results: dict[str, Result] = field(default_factory=dict[str, Result])
    approvals: dict[str, Approval] = field(default_factory=dict[str, Approval])
    approved: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    sessions: dict[str, AgentSession] = field(default_factory=dict[str, AgentSession])
    keys: dict[str, SiteKey] = field(default_factory=dict[str, SiteKey])
    tickets: dict[bytes, Ticket] = field(default_factory=dict[bytes, Ticket])
    pages: dict[str, PageSession] = field(default_factory=dict[str, PageSession])
    audit: dict[tuple[Stream, int], ChainedRecord] = field(default_factory=dict[tuple[Stream, int], ChainedRecord])
    checkpoints: dict[tuple[Stream, int], Checkpoint] = field(default_factory=dict[tuple[Stream, int], Checkpoint])
    heads: dict[Stream, ChainedRecord] = field(default_factory=dict[Stream, ChainedRecord])
    nonces: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict[tuple[str, str], tuple[str, int]])
    baselines: dict[str, Baseline] = field(default_factory=dict[str, Baseline])
    conversations: dict[Talk, int] = field(default_factory=dict[Talk, int])
    followed: dict[tuple[str, Talk], Asked] = field(default_factory=dict[tuple[str, Talk], Asked])
    messages: dict[tuple[Talk, int], Told] = field(default_factory=dict[tuple[Talk, int], Told])
    denials: dict[tuple[str, str, str], Denial] = field(default_factory=dict[tuple[str, str, str], Denial])
    admin_tokens: dict[str, AdminToken] = field(default_factory=dict[str, AdminToken])
    admin_requests: dict[tuple[str, str], Made] = field(default_factory=dict[tuple[str, str], Made])
    instances: dict[str, Instance] = field(default_factory=dict[str, Instance])
    activations: dict[str, Activation] = field(default_factory=dict[str, Activation])
    operations: dict[str, Operation] = field(default_factory=dict[str, Operation])
    app_sessions: dict[str, AppSession] = field(default_factory=dict[str, AppSession])
    app_entries: dict[str, tuple[AppEntry, ...]] = field(default_factory=dict[str, tuple[AppEntry, ...]])
    outbox: dict[str, OutboxEntry] = field(default_factory=dict[str, OutboxEntry])
    session_data: dict[tuple[str, str], SessionData] = field(default_factory=dict[tuple[str, str], SessionData])
    surfaces: dict[str, Surface] = field(default_factory=dict[str, Surface])
    surface_bundles: dict[str, tuple[SentBundle, Parts]] = field(default_factory=dict[str, tuple[SentBundle, Parts]])
    surface_states: dict[str, str] = field(default_factory=dict[str, str])
    surface_cursors: dict[str, int] = field(default_factory=dict[str, int])
    surface_events: dict[tuple[str, int], Happening] = field(default_factory=dict[tuple[str, int], Happening])
    documents: dict[str, ShownDocument] = field(default_factory=dict[str, ShownDocument])
    document_snapshots: dict[str, str] = field(default_factory=dict[str, str])
    document_frames: dict[tuple[str, int], tuple[str, str]] = field(
        default_factory=dict[tuple[str, int], tuple[str, str]]
    )
    document_actions: dict[str, DocumentAction] = field(default_factory=dict[str, DocumentAction])
    panel_items: dict[str, PanelItem] = field(default_factory=dict[str, PanelItem])
    mini_apps: dict[str, MiniApp] = field(default_factory=dict[str, MiniApp])
    mini_app_versions: dict[str, AppVersion] = field(default_factory=dict[str, AppVersion])
    installation: dict[str, bytes] = field(default_factory=dict[str, bytes])
    counters: dict[str, int] = field(default_factory=dict[str, int])

    def copy(self) -> "Tables":
        """A snapshot that the original's future does not touch."""
        return Tables(**{table.name: dict(getattr(self, table.name)) for table in fields(self)})


def below_place(rows: Iterable[T], place_of: Callable[[T], Place], below: Place | None) -> list[T]:
    """The rows below a place, latest first."""
    ordered = sorted(rows, key=place_of, reverse=True)
    return [row for row in ordered if below is None or place_of(row) < below]
