"""What must follow a commit, as data. The unit of work returns them; `Effects` performs them on the loop."""

from dataclasses import dataclass
from typing import Any

from gateway.domain.activations import Activation
from gateway.domain.app_catalog import Catalog
from gateway.domain.approvals import Approval
from gateway.domain.audit import AuditRecord
from gateway.domain.calls import Call, Result
from gateway.domain.conversations import Talk
from gateway.domain.documents import DocumentAction, ShownDocument
from gateway.domain.errors import ErrorCode
from gateway.domain.instances import Instance
from gateway.domain.panel_items import PanelItem
from gateway.domain.surfaces import Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Wake the waiters of a call with its newest state."""

    call: Call
    result: Result | None = None
    progress: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipted:
    """Receipts were added, and nothing else of their calls changed: who reads on in a log is woken."""

    calls: tuple[Call, ...]

    @property
    def refs(self) -> frozenset[str]:
        """The names of these calls."""
        return frozenset(call.ref for call in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """Hand a dispatched call to its executor, once; `instance` is the frame that runs it, if one does."""

    call: Call
    arguments: str
    instance: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Show an open approval on its document; `is_secret` says that its payload was not stored."""

    approval: Approval
    is_secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskChanged:
    """Tell the document what became of an approval: `state` as in the wire's `approve_update`."""

    approval: str
    page: str
    epoch: int
    state: str
    code: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelWork:
    """Ask the executor of a dispatched call to stop."""

    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class TryDispatch:
    """A call became ready outside its admission; dispatch it now if its page is there."""

    ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Activate:
    """Bring a mini app to where its attempt wants it: start it, or ask the person to let it come to the front."""

    activation: Activation
    instance: Instance


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiterEnded:
    """A call that waited for an activation waits no more: nobody may be left who wants it."""

    activation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseInstance:
    """Take an instance down where it runs."""

    instance: Instance


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What an app session shows has changed; None: it shows nothing."""

    app_session: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowSurface:
    """Have its page show a surface of an agent."""

    surface: Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSurface:
    """What a surface shows was replaced."""

    surface: Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class HideSurface:
    """Take a surface away where it is shown."""

    surface: Surface


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawAnswer:
    """Show how the answer of a call looks, where its person is; `ui` is canonical JSON."""

    call: Call
    ui: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowItem:
    """Have its page show a standard component of an agent."""

    item: PanelItem


@dataclass(frozen=True, slots=True, kw_only=True)
class HideItem:
    """Take a standard component away where it is shown."""

    item: PanelItem


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowDocument:
    """Have the pages of its person show a document as it is now, or only `page`; `content` is its snapshot.

    `actions` are those that were taken in it, each with its call.
    """

    document: ShownDocument
    content: str
    page: str | None = None
    actions: tuple[tuple[DocumentAction, Call], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeDocument:
    """A document has a next revision: `operations` lead there from revision `base`."""

    document: ShownDocument
    base: int
    operations: list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndDocument:
    """A document was completed or given up; what it shows stays."""

    document: ShownDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class HideDocument:
    """Take a document away where it is shown."""

    document: ShownDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class TellAction:
    """Have the pages that show a document draw how an action of it stands."""

    document: ShownDocument
    action: DocumentAction
    call: Call


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitEvents:
    """A call waits for what happens in the surfaces of its agent session, until `until` (ms)."""

    call: Call
    until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKept:
    """Something happened in a surface of an agent session, and is kept for it."""

    session: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGrew:
    """The log of a conversation has something new to tell."""

    talk: Talk


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded:
    """An agent session was revoked: end its streams."""

    session: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyEnded:
    """A service key of `site` was revoked: documents that may have come by it sign in again."""

    site: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Something a page said has no effect. The record joins the refusals, of which a flood is counted, not listed."""

    peer: str
    code: ErrorCode
    record: AuditRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class AppsChanged:
    """Mini apps were installed, enabled, disabled, replaced or removed: `apps` is what they offer now."""

    apps: Catalog


Effect = (
    Told
    | Receipted
    | Execute
    | Ask
    | AskChanged
    | CancelWork
    | TryDispatch
    | Activate
    | WaiterEnded
    | CloseInstance
    | Project
    | ShowSurface
    | ChangeSurface
    | HideSurface
    | DrawAnswer
    | ShowItem
    | HideItem
    | ShowDocument
    | ChangeDocument
    | EndDocument
    | HideDocument
    | TellAction
    | AwaitEvents
    | EventKept
    | LogGrew
    | SessionEnded
    | KeyEnded
    | Refused
    | AppsChanged
)


@dataclass(frozen=True, slots=True)
class After:
    """What a unit of work hands back: its value and what must follow the commit."""

    value: Any
    effects: tuple[Effect, ...] = ()
