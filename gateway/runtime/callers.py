"""Who asks for a call: an agent by its grant, or the person in front of a mini app's frame or a document (rules B1).

The door decides which of the two it is, and the entry of the call follows from it: nobody names an entry.
"""

from dataclasses import dataclass

from gateway.domain.agent_sessions import AgentSession, Principal
from gateway.domain.calls import Call, Entry
from gateway.domain.configuration import IN_PAGE, Configuration
from gateway.domain.documents import Asking, DocumentState, ShownDocument, is_document
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.instances import Instance
from gateway.runtime.ports import Tx
from gateway.runtime.world import LivePage, World


@dataclass(frozen=True, slots=True, kw_only=True)
class InFrame:
    """The user of `page`, as they act in the frame of `instance` there. No agent, grant or inventory is behind it."""

    page: LivePage
    instance: Instance

    @property
    def place(self) -> str:
        """Where they act; no two places have one name."""
        return self.instance.id

    @property
    def conversation(self) -> str:
        """Where its mini apps work."""
        return self.instance.conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class InDocument:
    """The user of `page`, as they take an action of a document that is shown there (design §12)."""

    page: LivePage
    document: ShownDocument
    action: Asking

    @property
    def place(self) -> str:
        """Where they act; no two places have one name."""
        return self.document.id

    @property
    def conversation(self) -> str:
        """Where mini apps work for it: the conversation its agent showed it in."""
        return self.document.conversation


Person = InFrame | InDocument
"""Who acts themselves, in a frame or in a document."""

Caller = AgentSession | Person


def entry_of(caller: Caller) -> Entry:
    """The door a request of `caller` came by."""
    return Entry.UI_ACTION if isinstance(caller, Person) else Entry.AGENT_TOOL


def principal_of(caller: Caller) -> Principal:
    """Whom the keys of a request name; the agent's part is empty for a person."""
    if isinstance(caller, Person):
        return Principal(agent="", user=caller.page.session.user, session="")
    return Principal(agent=caller.agent, user=caller.user, session=caller.id)


def conversation_of(caller: Caller) -> str:
    """Where its mini apps work: a person's is that of the frame they act in."""
    return caller.conversation


def found(tx: Tx, world: World, call: Call, now: int) -> Caller | GatewayError:
    """Who asked for `call`, or why they may ask for nothing any more."""
    if call.instance is None:
        return _agent(tx, world, call.session, now)
    if not is_document(call.instance):
        return _in_frame(tx, world, call.instance, now)
    action = tx.documents.action_of_call(call.ref)
    if action is None:
        return _not_shown()
    asking = Asking(request=action.request, action=action.action, entry=action.entry, input=action.input)
    return _in_document(tx, world, action.document, asking, call.page, now)


def still(tx: Tx, world: World, caller: Caller, now: int) -> Caller | GatewayError:
    """`caller` as stored, or why they may ask for nothing any more."""
    match caller:
        case InFrame():
            return _in_frame(tx, world, caller.place, now)
        case InDocument():
            return _in_document(tx, world, caller.place, caller.action, caller.page.id, now)
        case _:
            return _agent(tx, world, caller.id, now)


def _agent(tx: Tx, world: World, name: str, now: int) -> AgentSession | GatewayError:
    session = tx.sessions.find(name)
    return ended_grant(world, session, now) or _there(session)


def page_of(tx: Tx, call: Call) -> str | None:
    """The page session a call stands and falls with: the one it runs on, or the one it was asked for on."""
    if call.instance is None or call.page is not None or is_document(call.instance):
        return call.page
    instance = tx.instances.find(call.instance)
    return None if instance is None else instance.page


def label_of(tx: Tx, world: World, call: Call) -> str:
    """What people read as who asked: the configured name of the agent, also of whose document it was, or the mini app's."""
    if call.instance is None:
        return world.configuration.agent_label(call.agent)
    if is_document(call.instance):
        document = tx.documents.find(call.instance)
        return "" if document is None else world.configuration.agent_label(document.agent)
    instance = tx.instances.find(call.instance)
    return "" if instance is None else app_label(world, instance)


def app_label(world: World, instance: Instance) -> str:
    """What people read as the name of a mini app."""
    app = world.apps.apps.get(instance.app)
    return instance.app if app is None else app.name


def ended_grant(world: World, session: AgentSession | None, now: int) -> GatewayError | None:
    """Why a session, as stored, may not be used any more; None when it may."""
    if session is None or session.revoked_at is not None:
        return GatewayError(ErrorCode.SESSION_REVOKED, "the agent session was revoked")
    if not session.is_live(now):
        return GatewayError(ErrorCode.SESSION_EXPIRED, "the agent session has expired")
    if not _is_configured(world.configuration, session):
        return GatewayError(ErrorCode.SESSION_REVOKED, "the configuration no longer grants this")
    return None


def _is_configured(configuration: Configuration, session: AgentSession) -> bool:
    if not session.agent.startswith(IN_PAGE):
        return session.agent in configuration.agents
    site = configuration.sites.get(session.agent.removeprefix(IN_PAGE))
    return site is not None and site.in_page_scope == session.scope


def _in_frame(tx: Tx, world: World, name: str, now: int) -> InFrame | GatewayError:
    instance = tx.instances.find(name)
    page = world.pages.get(instance.page) if instance is not None and instance.page is not None else None
    if instance is None or not instance.is_live or page is None or page.session.user != instance.user:
        return GatewayError(ErrorCode.PAGE_NOT_CONNECTED, "the mini app is not open on its page any more")
    if not _is_enabled(tx, world, instance):
        return GatewayError(ErrorCode.REVOKED, f"mini app `{instance.app}` is not the enabled one any more")
    owners = tx.sessions.of_conversation(instance.user, instance.conversation)
    # What an agent opened is not to be used when nobody is left who may use it (rules B1).
    if all(ended_grant(world, session, now) is not None for session in owners):
        return GatewayError(ErrorCode.SESSION_REVOKED, "the agent session the mini app was opened for has ended")
    return InFrame(page=page, instance=instance)


def _in_document(
    tx: Tx, world: World, name: str, asking: Asking, where: str | None, now: int
) -> InDocument | GatewayError:
    document = tx.documents.find(name)
    if document is None or document.state is not DocumentState.COMPLETE:
        return _not_shown()
    if asking.entry not in world.configuration.documents.invoke:
        return GatewayError(ErrorCode.REVOKED, "the configuration no longer opens this action")
    gone = ended_grant(world, tx.sessions.find(document.session), now)
    if gone is not None:
        return gone
    page = world.pages.get(where) if where is not None else None
    page = page or next(iter(world.pages_of(document.user, document.site)), None)
    if page is None:
        return GatewayError(ErrorCode.PAGE_NOT_CONNECTED, "no page shows the document any more")
    return InDocument(page=page, document=document, action=asking)


def _not_shown() -> GatewayError:
    return GatewayError(ErrorCode.DOCUMENT_NOT_CURRENT, "the document is not shown any more")


def _is_enabled(tx: Tx, world: World, instance: Instance) -> bool:
    """Whether the package an instance runs is the enabled one; by its row too, which the world only follows."""
    app, row = world.apps.apps.get(instance.app), tx.mini_apps.find(instance.app)
    if app is None or not app.is_enabled or app.digest != instance.digest:
        return False
    return row is None or (row.is_enabled and row.digest == instance.digest)


def _there(session: AgentSession | None) -> AgentSession:
    assert session is not None, "a session that is not there has ended"
    return session
