"""One unit of work: all repositories over one connection. Importing it completes `METADATA`."""

from gateway.adapters.sql.activations import SqlActivations
from gateway.adapters.sql.admin_requests import SqlAdminRequests
from gateway.adapters.sql.admin_tokens import SqlAdminTokens
from gateway.adapters.sql.agent_sessions import SqlAgentSessions
from gateway.adapters.sql.app_sessions import SqlAppSessions
from gateway.adapters.sql.approvals import SqlApprovals
from gateway.adapters.sql.audit import SqlAudit
from gateway.adapters.sql.baselines import SqlBaselines
from gateway.adapters.sql.calls import SqlCalls
from gateway.adapters.sql.connection import Connection
from gateway.adapters.sql.conversations import SqlConversations
from gateway.adapters.sql.denials import SqlDenials
from gateway.adapters.sql.documents import SqlDocuments
from gateway.adapters.sql.installation import SqlInstallation
from gateway.adapters.sql.instances import SqlInstances
from gateway.adapters.sql.mini_apps import SqlMiniApps
from gateway.adapters.sql.nonces import SqlNonces
from gateway.adapters.sql.operations import SqlOperations
from gateway.adapters.sql.outbox import SqlOutbox
from gateway.adapters.sql.pages import SqlPageSessions
from gateway.adapters.sql.panel_items import SqlPanelItems
from gateway.adapters.sql.session_data import SqlSessionDatas
from gateway.adapters.sql.site_keys import SqlSiteKeys
from gateway.adapters.sql.surfaces import SqlSurfaces
from gateway.adapters.sql.tickets import SqlTickets


class UnitOfWork:
    """`Tx` over one connection; the store begins and ends it."""

    def __init__(self, connection: Connection, *, ledger_cap: int, open_cap: int) -> None:
        self.conversations = SqlConversations(connection)
        self.calls = SqlCalls(connection, self.conversations, ledger_cap=ledger_cap, open_cap=open_cap)
        self.approvals = SqlApprovals(connection)
        self.baselines = SqlBaselines(connection)
        self.sessions = SqlAgentSessions(connection, self.baselines)
        self.keys = SqlSiteKeys(connection)
        self.tickets = SqlTickets(connection)
        self.pages = SqlPageSessions(connection)
        self.audit = SqlAudit(connection)
        self.nonces = SqlNonces(connection)
        self.denials = SqlDenials(connection)
        self.outbox = SqlOutbox(connection)
        self.session_data = SqlSessionDatas(connection)
        self.installation = SqlInstallation(connection)
        self.instances = SqlInstances(connection)
        self.activations = SqlActivations(connection)
        self.operations = SqlOperations(connection)
        self.app_sessions = SqlAppSessions(connection)
        self.surfaces = SqlSurfaces(connection)
        self.documents = SqlDocuments(connection)
        self.panel_items = SqlPanelItems(connection)
        self.admin_tokens = SqlAdminTokens(connection)
        self.admin_requests = SqlAdminRequests(connection)
        self.mini_apps = SqlMiniApps(connection)
