"""Everything a transport may use, wired. Made by bootstrap; holds no logic."""

from dataclasses import dataclass

from gateway.runtime.activity import Activity
from gateway.runtime.admin import Admin
from gateway.runtime.agent_sessions import AgentSessions
from gateway.runtime.approvals import Approvals
from gateway.runtime.bundles import Bundles
from gateway.runtime.calls import Calls
from gateway.runtime.context import Contexts
from gateway.runtime.conversations import Conversations
from gateway.runtime.document_actions import DocumentActions
from gateway.runtime.documents import Documents
from gateway.runtime.emissions import Emissions
from gateway.runtime.execution import Execution
from gateway.runtime.identity import Identity
from gateway.runtime.inventories import Inventories, ListChanges
from gateway.runtime.lineup import Lineup
from gateway.runtime.mini_apps import MiniApps
from gateway.runtime.pages import Pages
from gateway.runtime.panel import Panel
from gateway.runtime.ports import Ids, Workers
from gateway.runtime.readiness import Readiness
from gateway.runtime.reconfiguration import Reconfiguration
from gateway.runtime.refusals import Refusals
from gateway.runtime.retention import Retention
from gateway.runtime.running_apps import RunningApps
from gateway.runtime.spine import Spine
from gateway.runtime.steady_clock import SteadyClock
from gateway.runtime.surface import Surface
from gateway.runtime.surface_waits import SurfaceWaits
from gateway.runtime.surfaces import Surfaces
from gateway.runtime.telemetry import Telemetry
from gateway.runtime.workspaces import Workspaces
from gateway.runtime.world import Live


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The use cases of one gateway."""

    clock: SteadyClock
    ids: Ids
    spine: Spine
    live: Live
    identity: Identity
    refusals: Refusals
    readiness: Readiness
    sessions: AgentSessions
    inventories: Inventories
    changes: ListChanges
    calls: Calls
    approvals: Approvals
    execution: Execution
    workers: Workers
    pages: Pages
    contexts: Contexts
    activity: Activity
    surface: Surface
    conversations: Conversations
    lineup: Lineup
    admin: Admin
    reconfiguration: Reconfiguration
    retention: Retention
    telemetry: Telemetry
    emissions: Emissions
    workspaces: Workspaces
    running: RunningApps
    surfaces: Surfaces
    surface_waits: SurfaceWaits
    panel: Panel
    documents: Documents
    document_actions: DocumentActions
    bundles: Bundles
    mini_apps: MiniApps
