"""What the runtime needs from the world: one store with units of work, a clock, fresh names.

A unit of work is one synchronous function `fn(tx)`. It reads, decides with pure code, writes, and returns
a value; it never awaits and may be run again. `Store.run` resumes its caller only after COMMIT.
Whatever `fn` raises rolls its own writes back and reaches the caller; other units of work are not touched.
Every port has a contract suite in `tests/contract`, and the in-memory fake in `gateway/testing` passes it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from gateway.domain.activations import Activation, ActivationState
from gateway.domain.admin_requests import Made
from gateway.domain.admin_tokens import AdminToken
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.app_sessions import AppEntry, AppSession, EntryKind
from gateway.domain.approvals import Approval, ApprovalState
from gateway.domain.audit import AuditRecord, ChainedRecord, Checkpoint, Stream
from gateway.domain.bundles import SentBundle
from gateway.domain.calls import Call, CallState, Entry, Receipt, Result
from gateway.domain.conversations import Following, Message, Talk
from gateway.domain.denials import Denial
from gateway.domain.documents import DocumentAction, ShownDocument
from gateway.domain.instances import Instance, InstanceState
from gateway.domain.inventory import Baseline
from gateway.domain.lists import Place, Wanted
from gateway.domain.mini_apps import AppVersion, MiniApp
from gateway.domain.operations import Operation, OperationState
from gateway.domain.outbound import Target
from gateway.domain.outbox import OutboxEntry, OutboxState, Undelivered
from gateway.domain.pages import PageSession
from gateway.domain.panel_items import ItemState, PanelItem
from gateway.domain.session_data import SessionData
from gateway.domain.sites import SiteKey, Ticket
from gateway.domain.surfaces import Happening, Surface, SurfaceState
from gateway.domain.workers import (
    Asker,
    Conversation,
    Ending,
    HookFailure,
    Inbound,
    Job,
    Kept,
    Loss,
    Outbound,
    WorkerLoad,
    WorkerState,
)
from gateway.settings import Limits
from surface_host.bundles import Parts

T = TypeVar("T")


class StaleState(Exception):
    """A compare-and-set met another state than expected; the use case reads again."""


class LedgerFull(Exception):
    """The ledger, or its share of open calls, is at its cap; nothing was written."""


class DuplicateKey(Exception):
    """The (agent, user, entry, call_id) of a new call is taken."""


class StoreBusy(Exception):
    """The bounded queue of the store is full; nothing was written."""


class StoreUnavailable(Exception):
    """The store cannot commit (disk full, database gone); nothing was written."""


class StoreRefused(Exception):
    """The store will not open here; the message says why and what to do."""


class FilesRefused(Exception):
    """The files of a package cannot be written, read or removed; the message says why."""


class Clock(Protocol):
    """Wall time in milliseconds since the epoch."""

    def now(self) -> int:
        """The present."""
        ...

    def monotonic(self) -> int:
        """Milliseconds from some start on, by a clock nobody can set: for measuring how much time passed."""
        ...

    async def sleep_until(self, instant: int) -> None:
        """Return at `instant`, soon after, or once as much time passed as was left; timers never decide."""
        ...


class Ids(Protocol):
    """Fresh names and secrets."""

    def ref(self) -> str:
        """`call_` and 26 characters of [a-z2-7] nobody can guess; a later ref is a greater text where time counts."""
        ...

    def name(self, prefix: str) -> str:
        """`prefix_` and 26 random characters of [a-z2-7]."""
        ...

    def secret(self) -> str:
        """43 characters of base64url: 256 random bits."""
        ...


class Calls(Protocol):
    """The ledger with inputs, receipts and results. Quota: `used` rows of `cap`, open calls of `open_cap`."""

    def add(self, call: Call, arguments: str | None, *, promise: str | None = None) -> None:
        """Insert the row, its input (None: kept in memory) and one more used place.

        `promise` is the JSON text of the output schema a page declared: its answer may come after a restart,
        and before the page has declared anything again.

        Raises:
            DuplicateKey: the call_id is taken for (agent, user, entry).
            LedgerFull: no place is left (rows, or open calls).
        """
        ...

    def save(self, call: Call, *, was: CallState, at: int | None = None) -> None:
        """Replace the row, which must still be in state `was`; when nothing will be handed out any more (the new
        state is terminal or `unknown`), erase the input, and tell the end to the conversations that follow it.

        `at` is when, where the row does not say: `unknown` has no end.

        Raises:
            StaleState: it is not.
        """
        ...

    def find(self, ref: str) -> Call | None: ...

    def find_by_key(self, agent: str, user: str, entry: Entry, call_id: str) -> Call | None: ...

    def equals(self, session: str, capability: str, request_fingerprint: str, *, ended_after: int) -> Sequence[Call]:
        """The `agent_tool` calls of this session equal in capability and fingerprint, newest first, that are still
        open, or whose end was taken by nobody: `unknown`, or ended at or after `ended_after`."""
        ...

    def input_of(self, ref: str) -> str | None: ...

    def promise_of(self, ref: str) -> str | None:
        """The output schema the call was accepted under, until it ends; that of an `unknown` call is still there."""
        ...

    def add_receipt(self, ref: str, status: str, *, reason: str | None, at: int) -> None:
        """Append the next receipt, and tell it to the conversations that follow the call; their `seq` counts
        from 1."""
        ...

    def receipts_of(self, ref: str) -> Sequence[Receipt]: ...

    def put_result(self, ref: str, result: Result) -> None:
        """Store the one result; a second one for the same ref is an error of the caller (raises)."""
        ...

    def result_of(self, ref: str) -> Result | None: ...

    def drawn_for(self, user: str, *, limit: int) -> Sequence[tuple[Call, str]]:
        """The calls of `user` whose result has a `ui`, with it; the newest, oldest of them first."""
        ...

    def erase_ui(self, ref: str) -> None:
        """Forget how the answer of a call looks; its result stays."""
        ...

    def mark_taken(self, refs: Iterable[str], *, erase_at: int) -> None:
        """Note that the final result reached a caller; the result goes at `erase_at` if that is earlier."""
        ...

    def erase_results(self, now: int, limit: int) -> int:
        """Erase at most `limit` of what is due; returns how many. The ledger rows stay."""
        ...

    def unknown(self, *, after: str = "", limit: int) -> Sequence[Call]:
        """The `unknown` calls whose ref is greater than `after`, by ref."""
        ...

    def count_unknown(self) -> int:
        """How many calls are `unknown`."""
        ...

    def purge(self, *, minted: bool, ended_before: int, limit: int) -> int:
        """Forget at most `limit` calls, the earliest ended first, whose call_id the gateway did or did not make
        (`minted`), that ended before `ended_before` and whose result is erased, with their receipts and approvals.
        The used places fall by exactly as many; returns how many."""
        ...

    def due(self, now: int, limit: int) -> Sequence[Call]:
        """Calls whose `due_at` has come, oldest first."""
        ...

    def next_due(self) -> int | None: ...

    def open_calls(self) -> Sequence[Call]:
        """Every call in an open state (not `unknown`), in order of admission."""
        ...

    def open_on_page(self, page: str) -> Sequence[Call]: ...

    def waiting_for(self, activation: str) -> Sequence[Call]:
        """The calls that wait for this activation, in order of admission."""
        ...

    def open_of_session(self, session: str) -> Sequence[Call]: ...

    def open_of_instance(self, instance: str) -> Sequence[Call]:
        """The open calls a person asked for in the frame of this mini app instance, in order of admission."""
        ...

    def recent(self, *, limit: int, session: str | None = None, user: str | None = None) -> Sequence[Call]:
        """Newest first."""
        ...

    def page(self, *, below: str | None, wanted: Wanted, limit: int, look: int) -> tuple[Sequence[Call], str | None]:
        """The latest refs first: at most `limit` calls that are wanted, among the `look` whose refs are the greatest
        below `below`, and the ref to go on below (None at the end). So a rare filter costs no walk of the ledger:
        a page may be short, even empty, before the end."""
        ...

    def usage(self) -> tuple[int, int]:
        """(rows used, open calls)."""
        ...


class Approvals(Protocol):
    def add(self, approval: Approval) -> None: ...

    def find(self, approval: str) -> Approval | None: ...

    def find_of_call(self, ref: str) -> Approval | None:
        """The newest approval of the call."""
        ...

    def save(self, approval: Approval, *, was: ApprovalState) -> None:
        """Replace the row, which must still be in state `was`.

        Raises:
            StaleState: it is not.
        """
        ...

    def open_on_page(self, page: str) -> Sequence[Approval]: ...

    def page(self, *, below: Place | None, limit: int) -> Sequence[Approval]:
        """At most `limit`, opened last first, below (`opened_at`, id)."""
        ...

    def last_approved_fingerprint(self, user: str, capability: str) -> str | None:
        """The capability fingerprint this user last approved for `capability`; for the dialog's changed mark."""
        ...

    def note_approved(self, user: str, capability: str, fingerprint: str) -> None: ...


class Instances(Protocol):
    """Running mini apps; at most one is live for (user, conversation, app)."""

    def add(self, instance: Instance) -> None:
        """Insert it.

        Raises:
            DuplicateKey: another one is live for its user, conversation and app.
        """
        ...

    def save(self, instance: Instance, *, was: InstanceState) -> None:
        """Replace the row, which must still be in state `was`.

        Raises:
            StaleState: it is not.
        """
        ...

    def find(self, instance: str) -> Instance | None: ...

    def of_app_session(self, app_session: str) -> Instance | None: ...

    def live(self, user: str, conversation: str, app: str) -> Instance | None: ...

    def all_live(self) -> Sequence[Instance]:
        """Those that are not closed, opened first first; so are the lists below."""
        ...

    def live_on_page(self, page: str) -> Sequence[Instance]: ...

    def live_of_app(self, app: str) -> Sequence[Instance]: ...

    def due(self, now: int, limit: int) -> Sequence[Instance]:
        """Those whose page stayed away too long, gone first first."""
        ...

    def next_due(self) -> int | None: ...

    def unowned(self, now: int, limit: int) -> Sequence[Instance]:
        """At most `limit` without a frame whose conversation has no grant that is in force at `now`, and in which no
        call of their app is open."""
        ...

    def purge(self, closed_before: int, limit: int) -> int:
        """Forget at most `limit` that closed before `closed_before`; returns how many."""
        ...


class Activations(Protocol):
    """Attempts to make a mini app ready; at most one is live for (user, conversation, app)."""

    def add(self, activation: Activation) -> None:
        """Insert it.

        Raises:
            DuplicateKey: another one is live for its user, conversation and app.
        """
        ...

    def save(self, activation: Activation, *, was: ActivationState) -> None:
        """Replace the row, which must still be in state `was`.

        Raises:
            StaleState: it is not.
        """
        ...

    def find(self, activation: str) -> Activation | None: ...

    def live(self, user: str, conversation: str, app: str) -> Activation | None: ...

    def live_of_instance(self, instance: str) -> Activation | None: ...

    def all_live(self) -> Sequence[Activation]:
        """Those that are `starting`, begun first first."""
        ...

    def due(self, now: int, limit: int) -> Sequence[Activation]:
        """Those whose time is up, due first first."""
        ...

    def next_due(self) -> int | None: ...

    def purge(self, ended_before: int, limit: int) -> int:
        """Forget at most `limit` that ended before `ended_before`; returns how many."""
        ...


class Operations(Protocol):
    """Durable business work; one for a call at most, forgotten with it."""

    def add(self, operation: Operation) -> None:
        """Insert it.

        Raises:
            DuplicateKey: its call has one.
        """
        ...

    def save(self, operation: Operation, *, was: OperationState) -> None:
        """Replace the row, which must still be in state `was`.

        Raises:
            StaleState: it is not.
        """
        ...

    def find(self, operation: str) -> Operation | None: ...

    def find_of_call(self, ref: str) -> Operation | None: ...

    def newest_of(self, app_session: str) -> Operation | None: ...

    def running(self, user: str, conversation: str, app: str) -> Sequence[Operation]:
        """Those that run for this user, conversation and app, begun first first."""
        ...

    def due(self, now: int, limit: int) -> Sequence[Operation]:
        """Running ones that time alone ends, due first first."""
        ...

    def next_due(self) -> int | None: ...


class AppSessions(Protocol):
    """The visible record around each instance."""

    def add(self, session: AppSession) -> None: ...

    def save(self, session: AppSession) -> None: ...

    def find(self, session: str) -> AppSession | None: ...

    def append(self, session: str, kind: EntryKind, *, ref: str, capability: str, state: str | None, at: int) -> None:
        """Add the next entry; their `seq` counts from 1."""
        ...

    def entries(self, session: str, *, after: int = 0, limit: int) -> Sequence[AppEntry]:
        """At most `limit` with seq > `after`, in order."""
        ...

    def purge(self, ended_before: int, limit: int) -> int:
        """Forget at most `limit` that ended before `ended_before`, with their records and their session data; returns
        how many."""
        ...


class PanelItems(Protocol):
    """Standard components that agents show; at most one is live for a conversation and the agent's name of it."""

    def add(self, item: PanelItem) -> None:
        """Insert it.

        Raises:
            DuplicateKey: another one is live under its name.
        """
        ...

    def save(self, item: PanelItem, *, was: ItemState) -> None:
        """Replace the row, which must still be in state `was`.

        Raises:
            StaleState: it is not.
        """
        ...

    def find(self, item: str) -> PanelItem | None: ...

    def live_of_talk(self, talk: Talk) -> Sequence[PanelItem]:
        """What is shown for a conversation, oldest first; so are the others."""
        ...

    def live_of_session(self, session: str) -> Sequence[PanelItem]: ...

    def live_of_person(self, user: str, site: str) -> Sequence[PanelItem]: ...

    def all_live(self) -> Sequence[PanelItem]: ...

    def purge(self, ended_before: int, limit: int) -> int:
        """Forget what ended before then, oldest first, at most `limit`; returns how many."""
        ...


class Surfaces(Protocol):
    """Surfaces that agents show; at most one is live for a conversation and the agent's name of it."""

    def add(self, surface: Surface, state: str) -> None:
        """Insert it with what it shows, as canonical JSON.

        Raises:
            DuplicateKey: another one is live under its name.
        """
        ...

    def save(self, surface: Surface, *, was: SurfaceState) -> None:
        """Replace the row, which must still be in state `was`; what a closed one showed is erased.

        Raises:
            StaleState: it is not.
        """
        ...

    def find(self, surface: str) -> Surface | None: ...

    def put_state(self, surface: str, state: str) -> None:
        """Replace what it shows."""
        ...

    def state_of(self, surface: str) -> str | None: ...

    def put_bundle(self, surface: str, bundle: SentBundle, parts: Parts) -> None:
        """Keep what its agent sent for it; erased with its state."""
        ...

    def bundle_of(self, surface: str) -> SentBundle | None:
        """What a live one shows that its agent sent; None for one of an installed app."""
        ...

    def parts_of(self, surface: str) -> Parts | None: ...

    def live(self, talk: Talk, instance: str) -> Surface | None: ...

    def live_of_talk(self, talk: Talk) -> Sequence[Surface]:
        """Those that are not closed, opened first first; so are the lists below."""
        ...

    def live_of_session(self, session: str) -> Sequence[Surface]: ...

    def live_on_page(self, page: str) -> Sequence[Surface]: ...

    def all_live(self) -> Sequence[Surface]: ...

    def of_app(self, talk: Talk, app: str) -> Sequence[Surface]:
        """Those of an app in a conversation that are kept, closed ones too."""
        ...

    def due(self, now: int, limit: int) -> Sequence[Surface]:
        """Live ones whose page stayed away too long, gone first first."""
        ...

    def next_due(self) -> int | None: ...

    def purge(self, closed_before: int, limit: int) -> int:
        """Forget at most `limit` that closed before `closed_before`; returns how many."""
        ...

    def add_event(self, session: str, *, surface: str, instance: str, event: str, data: str, at: int) -> None:
        """Keep what happened, at the next place of its agent session; places count from 1."""
        ...

    def last(self, session: str) -> int:
        """The greatest place that was given; 0 before the first."""
        ...

    def events(self, session: str, *, after: int, limit: int) -> Sequence[Happening]:
        """At most `limit` of those kept at places > `after`, in order."""
        ...

    def kept(self, session: str) -> int:
        """How many bytes the data of all that is kept for it has."""
        ...

    def forget_events(self, session: str, until: int) -> int:
        """Forget those at places <= `until`; returns how many."""
        ...

    def listeners(self) -> Sequence[str]:
        """The agent sessions something was ever kept for and not erased."""
        ...

    def erase_events(self, session: str) -> int:
        """Forget all of an agent session, its places too; returns how many events that were."""
        ...

    def purge_events(self, before: int, limit: int) -> int:
        """Forget at most `limit` that happened before `before`; returns how many."""
        ...


class Documents(Protocol):
    """Documents that agents show: rows, snapshots, frames that were taken, and what people asked for in them."""

    def add(self, document: ShownDocument, content: str) -> None:
        """Insert it with its first snapshot, as canonical JSON.

        Raises:
            DuplicateKey: it is there.
        """
        ...

    def save(self, document: ShownDocument, *, was: ShownDocument, content: str | None = None) -> None:
        """Replace the row, which must still have the state, seq and revision of `was`, and the snapshot if one is given.

        Of what closed its snapshot, frames and actions are erased.

        Raises:
            StaleState: it has not.
        """
        ...

    def find(self, document: str) -> ShownDocument | None: ...

    def content_of(self, document: str) -> str | None:
        """Its newest snapshot."""
        ...

    def live_of_person(self, user: str, site: str) -> Sequence[ShownDocument]:
        """Those that are not closed, opened first first; so are the lists below."""
        ...

    def live_of_session(self, session: str) -> Sequence[ShownDocument]: ...

    def all_live(self) -> Sequence[ShownDocument]: ...

    def count_live(self) -> int: ...

    def purge(self, closed_before: int, limit: int) -> int:
        """Forget at most `limit` that closed before `closed_before`; returns how many."""
        ...

    def add_frame(self, document: str, seq: int, *, call: str, digest: str) -> None:
        """Remember that a call brought this frame."""
        ...

    def digests_of(self, document: str) -> Mapping[int, str]:
        """What each frame that was taken held, by `seq`."""
        ...

    def add_action(self, action: DocumentAction) -> None:
        """Remember what a person asked for.

        Raises:
            DuplicateKey: the call, or the request of this document, is there.
        """
        ...

    def find_action(self, document: str, request: str) -> DocumentAction | None: ...

    def action_of_call(self, call: str) -> DocumentAction | None: ...

    def actions_of(self, document: str) -> Sequence[DocumentAction]:
        """In the order they were asked for."""
        ...

    def count_actions(self, session: str | None = None) -> int:
        """How many are remembered, of one agent session or of all."""
        ...


class AgentSessions(Protocol):
    def add(self, session: AgentSession) -> None: ...

    def find(self, session: str) -> AgentSession | None: ...

    def find_by_token(self, token_hash: bytes) -> AgentSession | None: ...

    def save(self, session: AgentSession) -> None: ...

    def of_conversation(self, user: str, conversation: str) -> Sequence[AgentSession]:
        """Those that were given for this user and conversation and not revoked, the newest first."""
        ...

    def list(self) -> Sequence[AgentSession]: ...

    def expired(self, after: int, until: int) -> Sequence[AgentSession]:
        """Those not revoked whose end lies after `after` and not after `until`."""
        ...

    def purge(self, ended_before: int, limit: int) -> int:
        """Forget at most `limit` that expired or were revoked before `ended_before` and of which no call is kept,
        with their baselines; returns how many."""
        ...


class SiteKeys(Protocol):
    def add(self, key: SiteKey) -> None: ...

    def find(self, key: str) -> SiteKey | None: ...

    def save(self, key: SiteKey) -> None: ...

    def list(self) -> Sequence[SiteKey]: ...

    def purge(self, ended_before: int, limit: int) -> int:
        """Forget at most `limit` that expired or were revoked before `ended_before`; returns how many."""
        ...


class Tickets(Protocol):
    def add(self, ticket: Ticket) -> None: ...

    def find(self, ticket_hash: bytes) -> Ticket | None: ...

    def use(self, ticket_hash: bytes, at: int) -> bool:
        """Mark it used; False when it already was."""
        ...

    def purge(self, before: int, limit: int) -> int:
        """Forget at most `limit` tickets that expired before `before`; returns how many."""
        ...


class PageSessions(Protocol):
    def add(self, page: PageSession) -> None: ...

    def find(self, page: str) -> PageSession | None: ...

    def save(self, page: PageSession) -> None: ...

    def page(self, *, below: Place | None, limit: int) -> Sequence[PageSession]:
        """At most `limit`, begun last first, below (`created_at`, id)."""
        ...

    def pinned(self, user: str, site: str) -> PageSession | None:
        """The page this user pinned on this site, latest pin first."""
        ...

    def end_all(self, at: int) -> int:
        """End every page session that has not ended; returns how many."""
        ...

    def purge(self, before: int, limit: int) -> int:
        """Forget at most `limit` whose standing ended before `before` and that hold no open call; returns how
        many."""
        ...


class Audit(Protocol):
    def append(self, record: AuditRecord) -> None:
        """Chain one more record to its stream, in this transaction."""
        ...

    def read(self, stream: Stream, *, after: int, limit: int) -> Sequence[ChainedRecord]:
        """Records with seq > `after`, in order."""
        ...

    def tail(self, *, limit: int, stream: Stream | None = None) -> Sequence[ChainedRecord]:
        """The newest `limit` records over one or all streams, oldest first."""
        ...

    def add_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep it; one for the same place is kept already, and nothing changes."""
        ...

    def checkpoints(self, stream: Stream, *, after: int, limit: int) -> Sequence[Checkpoint]:
        """Checkpoints with seq > `after`, in order."""
        ...

    def newest_checkpoint(self, stream: Stream, *, until: int) -> Checkpoint | None:
        """The one with the greatest seq among those made at or before `until` (ms)."""
        ...

    def purge(self, stream: Stream, *, before: int, limit: int) -> int:
        """Forget at most `limit` records with seq < `before`, the oldest first, and checkpoints there; returns how
        many records. The head of a stream goes on being its head."""
        ...


class Nonces(Protocol):
    def add(self, holder: str, nonce: str, *, ref: str, until: int) -> str | None:
        """Remember `nonce` of `holder` until `until` (ms) with the call it began; the earlier call's ref if seen."""
        ...

    def purge(self, before: int, limit: int) -> int:
        """Forget at most `limit` whose time ended before `before`; returns how many."""
        ...


class Baselines(Protocol):
    def find(self, session: str) -> Baseline | None: ...

    def put(self, session: str, baseline: Baseline) -> None: ...


class Conversations(Protocol):
    """The logs of conversations. `seq` grows by one with each message of a log, and none is ever given twice.

    INVARIANT: of a call that is followed, each receipt and the first end is exactly one message, written with it in
    one transaction (`Calls.add_receipt`, `Calls.save`).
    """

    def follow(self, ref: str, following: Following) -> None:
        """Tell a conversation of all that becomes of the call from now on; who follows it already goes on as before."""
        ...

    def told_end(self, call: Call, at: int) -> None:
        """Tell that `call` ended, to those that follow it; for a call that was added with its end."""
        ...

    def tell_event(self, talk: Talk, body: str, at: int) -> None:
        """Tell what a person did in a surface: the canonical JSON text of the payload."""
        ...

    def head(self, talk: Talk) -> int:
        """The greatest `seq` there is or was; 0 before the first message."""
        ...

    def read(self, talk: Talk, *, after: int, limit: int) -> Sequence[Message]:
        """At most `limit` messages with seq > `after`, in order, each with its call as it is now."""
        ...

    def purge(self, before: int, limit: int) -> int:
        """Forget at most `limit` messages written before `before`; returns how many."""
        ...

    def leap(self, by: int) -> None:
        """Leave the next `by` places of every log empty: the database is one of an earlier day, and some of them
        were given since."""
        ...

    def close(self, limit: int) -> int:
        """Forget at most `limit` logs that hold nothing and that no agent session names; returns how many."""
        ...


class Denials(Protocol):
    def find(self, agent: str, user: str, request_fingerprint: str, now: int) -> Denial | None: ...

    def put(self, denial: Denial) -> None: ...

    def lift(self, user: str, capability: str, agent: str) -> int:
        """Forget this user's denials of `capability` to `agent`; returns how many."""
        ...

    def list(self, user: str, now: int) -> Sequence[Denial]: ...

    def purge(self, now: int, limit: int) -> int:
        """Forget at most `limit` that are over at `now`; returns how many."""
        ...


class AdminTokens(Protocol):
    def add(self, token: AdminToken) -> None: ...

    def find(self, token: str) -> AdminToken | None: ...

    def find_by_token(self, token_hash: bytes) -> AdminToken | None: ...

    def save(self, token: AdminToken) -> None: ...

    def used(self, token: str, at: int) -> None:
        """Note the hour of its last use, whatever else changed meanwhile; a token that is not there is let be."""
        ...

    def list(self) -> Sequence[AdminToken]: ...

    def purge(self, ended_before: int, limit: int) -> int:
        """Forget at most `limit` that expired or were revoked before `ended_before`; returns how many."""
        ...


class AdminRequests(Protocol):
    """Requests of the admin API that can be sent again."""

    def add(self, made: Made) -> None: ...

    def find(self, holder: str, key: str) -> Made | None: ...

    def purge(self, before: int, limit: int) -> int:
        """Forget at most `limit` of what was to be remembered until before `before`; returns how many."""
        ...


class Outbox(Protocol):
    """Entries on their way out. The first pending one of each key has its turn; the others wait for it."""

    def add(self, entry: OutboxEntry) -> bool:
        """Write a pending entry behind those of its key, with the next number. Is it the first, its turn comes at its
        `due_at`, or at once. False, and nothing is written, where an entry of that id is there."""
        ...

    def claim(self, holder: str, *, now: int, until: int, limit: int) -> Sequence[OutboxEntry]:
        """Begin an attempt at no more than `limit` entries whose turn has come, those due first before the others:
        each is `holder`'s until `until` and counts one attempt more. No two are of one key."""
        ...

    def save(self, entry: OutboxEntry, *, holder: str) -> None:
        """Replace the row, which must still be pending and held by `holder`. Where the entry ended, the next pending
        one of its key has its turn, at the instant it ended.

        Raises:
            StaleState: it is not.
        """
        ...

    def requeue(self, entry: OutboxEntry) -> None:
        """Put a dead entry behind those of its key, as `entry` says, with a number of its own.

        Raises:
            StaleState: it is not dead.
        """
        ...

    def find(self, event: str) -> OutboxEntry | None: ...

    def page(self, state: OutboxState, *, above: int, limit: int) -> Sequence[OutboxEntry]:
        """At most `limit` entries in `state` with a number > `above`, in the order of their numbers."""
        ...

    def next_due(self) -> int | None:
        """When the next turn comes, or the next attempt counts as lost."""
        ...

    def oldest_pending(self) -> int | None:
        """The instant of the event that waits longest, whether its turn came or not."""
        ...

    def counts(self) -> Mapping[OutboxState, int]:
        """How many entries are `UNDELIVERED`, by state; each of these states has its count."""
        ...

    def purge(self, state: OutboxState, *, ended_before: int, limit: int) -> int:
        """Forget at most `limit` entries that ended in `state` before `ended_before`; returns how many."""
        ...


class Sink(Protocol):
    """Who consumes the outbox."""

    async def deliver(self, entry: OutboxEntry) -> Undelivered | None:
        """Hand `entry` over, within the sink's own time limit; None once the consumer has taken it.

        The same entry is the same event, byte for byte: the consumer may see it again.
        """
        ...


class SessionDatas(Protocol):
    """What mini apps keep for their app sessions."""

    def find(self, app: str, app_session: str) -> SessionData | None: ...

    def put(self, data: SessionData) -> bool:
        """Write `data` in the place of the revision before its own; False, and nothing is written, where the present
        revision is another one."""
        ...

    def erase(self, app_session: str) -> int:
        """Forget what was kept for an app session; returns how many objects that were."""
        ...


class MiniApps(Protocol):
    """Installed mini apps with the versions of each that are kept."""

    def put(self, app: MiniApp) -> None:
        """Insert the app, or replace what is stored of it."""
        ...

    def find(self, app: str) -> MiniApp | None: ...

    def list(self) -> Sequence[MiniApp]:
        """By id."""
        ...

    def remove(self, app: str) -> bool:
        """Forget the app and its versions; False when it was not there."""
        ...

    def add_version(self, version: AppVersion) -> None:
        """Keep one more version of an app that is there.

        Raises:
            DuplicateKey: its digest, or this version of the app, is there.
        """
        ...

    def find_version(self, digest: str) -> AppVersion | None: ...

    def versions(self, app: str) -> Sequence[AppVersion]:
        """Those of one app, installed first first."""
        ...

    def digests(self) -> frozenset[str]:
        """Those of every kept version of every app."""
        ...

    def drop_version(self, digest: str) -> None:
        """Forget one version; one that is not there is let be."""
        ...


class AppFiles(Protocol):
    """The files of installed packages, in a folder for each digest. Every method blocks for as long as a disk does.

    What the files must be is the reader's to judge: here they are only kept whole.
    """

    def fetch(self, source: Path, *, limit: int) -> bytes:
        """The file somebody names, or its first `limit` + 1 bytes.

        Raises:
            FilesRefused: it is no regular file, or cannot be read.
        """
        ...

    def folder(self, digest: str) -> Path:
        """Where the files of a package lie, if it is there."""
        ...

    def put(self, digest: str, files: Mapping[str, bytes]) -> None:
        """Keep exactly these files by their paths, whole or not at all; what is there as it should be is let be.

        Raises:
            FilesRefused: they cannot be written; nothing of them is there.
        """
        ...

    def load(self, digest: str) -> Mapping[str, bytes]:
        """Everything that lies in the folder of a package.

        Raises:
            FilesRefused: it is not there, cannot be read, or holds something that is no file.
        """
        ...

    def remove(self, digest: str) -> None:
        """Let a package go; one that is not there is let be.

        Raises:
            FilesRefused: it cannot be removed.
        """
        ...

    def keep_only(self, digests: Collection[str]) -> int:
        """Let go of everything but these packages, what a crash left half written included; returns how many went."""
        ...

    def digests(self) -> frozenset[str]:
        """The packages that are there."""
        ...


class AppProbe(Protocol):
    """Tries an app's Python out before it counts."""

    async def flaw(self, folder: Path, module: str, methods: Collection[str], *, within_ms: int) -> str | None:
        """Load `module` from `folder` in a process of its own, once; what is wrong with it, in words for an
        administrator, or None where it declares handlers for all of `methods`."""
        ...


class Installation(Protocol):
    """Facts of this installation that outlive restarts."""

    def get(self, name: str) -> bytes | None: ...

    def put(self, name: str, value: bytes) -> None: ...


class Tx(Protocol):
    """One unit of work in progress: the repositories, all in one transaction."""

    @property
    def calls(self) -> Calls: ...
    @property
    def approvals(self) -> Approvals: ...
    @property
    def sessions(self) -> AgentSessions: ...
    @property
    def keys(self) -> SiteKeys: ...
    @property
    def tickets(self) -> Tickets: ...
    @property
    def pages(self) -> PageSessions: ...
    @property
    def audit(self) -> Audit: ...
    @property
    def nonces(self) -> Nonces: ...
    @property
    def baselines(self) -> Baselines: ...
    @property
    def conversations(self) -> Conversations: ...
    @property
    def denials(self) -> Denials: ...
    @property
    def admin_tokens(self) -> AdminTokens: ...
    @property
    def admin_requests(self) -> AdminRequests: ...
    @property
    def instances(self) -> Instances: ...
    @property
    def activations(self) -> Activations: ...
    @property
    def operations(self) -> Operations: ...
    @property
    def app_sessions(self) -> AppSessions: ...
    @property
    def surfaces(self) -> Surfaces: ...
    @property
    def documents(self) -> Documents: ...
    @property
    def panel_items(self) -> PanelItems: ...
    @property
    def outbox(self) -> Outbox: ...
    @property
    def session_data(self) -> SessionDatas: ...
    @property
    def mini_apps(self) -> MiniApps: ...
    @property
    def installation(self) -> Installation: ...


class Store(Protocol):
    """Runs units of work, many to a transaction, each in its own savepoint."""

    async def run(self, work: Callable[[Tx], T], heard: Callable[[T], None] | None = None) -> T:
        """Run `work` and return its value after COMMIT; cancellation of the caller does not stop it.

        `heard` is called with the value on the loop, in the order of the units, before the caller goes on and
        also where no caller is left. It must not raise.

        Raises:
            StoreBusy: the queue is full.
            StoreUnavailable: it could not be committed; nothing of it was kept.
        """
        ...

    async def back_up(self, target: Path) -> None:
        """Write a copy of the database into the new file `target`, while units of work go on.

        Raises:
            StoreRefused: it cannot be written there; the message says why.
            StoreUnavailable: the store failed; nothing was left behind.
        """
        ...

    async def close(self) -> None:
        """Finish what is queued and let go of the database."""
        ...


class WorkerNews(Protocol):
    """Who hears what becomes of jobs. Called on the loop; each job has one `ended` or `lost`, and nothing after it,
    except that a job lost for its time may still end once, late, as long as its worker lives."""

    def started(self, ref: str) -> None:
        """The worker has it: its handler runs from now on."""
        ...

    def progressed(self, ref: str, n: float, total: float | None, message: str | None) -> None: ...

    def ended(self, ref: str, ending: Ending) -> None: ...

    def lost(self, ref: str, why: Loss) -> None:
        """It was given to the worker, and nobody knows whether it ran to its end."""
        ...

    def worker_ended(self, app: str, why: Loss) -> None:
        """The worker of `app` ended and nobody had wished it; another one is begun, sooner or later."""
        ...


class HandlerServices(Protocol):
    """What a handler gets from the gateway through its context. The asker is the gateway's word, never the worker's.

    Every method raises `ServiceDenied` for what it does not do; after the end of its call a handler gets nothing.
    """

    async def session_data(self, asker: Asker) -> Kept: ...

    async def put_session_data(self, asker: Asker, data: str, *, revision: int) -> int:
        """Replace what is kept at `revision`, and return the new one; `conflict` where it is another by now."""
        ...

    async def emit(self, asker: Asker, kind: str, data: str) -> None:
        """Put the event into the outbox; `data` is the JSON text of an object."""
        ...

    async def secret(self, asker: Asker, name: str) -> str: ...

    async def http(self, asker: Asker, request: Outbound) -> Inbound: ...


class OutboundHttp(Protocol):
    """The way to the network, for handlers."""

    async def send(self, request: Outbound, target: Target, *, is_internal: bool) -> Inbound:
        """Ask `target` once and follow no redirect. The connection goes to an address that was checked: a public
        one, unless the administrator says that the name `is_internal`.

        Raises:
            ServiceDenied: `not_permitted` for an address that is not public, `request_failed` where no answer came in
                time, `too_much` for an answer that is too large.
        """
        ...


class Workers(Protocol):
    """One worker process for each installed app that is on. A worker that blocks or crashes stops no other."""

    def connect(self, news: WorkerNews, services: HandlerServices, limits: Callable[[], Limits]) -> None:
        """Say who hears of jobs, who answers handlers, and what holds now; once, before anything is started."""
        ...

    def start(self, app: str, folder: Path, module: str) -> None:
        """Keep one worker of `app` running: `module` of the installed `folder`. Returns at once.

        The same again changes nothing. Another one takes the place of the old, which first gets a while to
        end what it was given; there are never two workers of one app.
        """
        ...

    async def stop(self, app: str) -> None:
        """Let it end what it was given for a while, then end the process; returns when it is gone. What it was
        never given ends as `not_available`."""
        ...

    def state(self, app: str) -> WorkerState: ...

    def load(self) -> WorkerLoad: ...

    def submit(self, job: Job) -> None:
        """Hand `job` over. Its news may come before this returns: `busy` where too many wait already,
        `not_available` where the app has no worker or it keeps crashing."""
        ...

    def cancel(self, ref: str) -> None:
        """Tell the handler to stop. A job that was not given to the worker ends `cancelled` at once; one that is
        not known is let be."""
        ...

    async def activate(self, app: str, conversation: Conversation, *, within_ms: int) -> HookFailure | None:
        """Run the `activate` hook, once however many ask at a time; None when the app is ready there.

        A worker that starts again runs it again before the first job that needs it.
        """
        ...

    async def deactivate(self, app: str, conversation: Conversation, *, within_ms: int) -> HookFailure | None:
        """Let the jobs of this conversation end for a while, then run the `deactivate` hook once. Where the app is
        not active, nothing is done."""
        ...

    async def close(self) -> None:
        """The gateway stops: tell handlers to stop, and end every worker a moment later."""
        ...
