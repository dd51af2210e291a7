"""The composition root: the only module that names concrete adapters and wires the use cases."""

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import structlog
from starlette.routing import BaseRoute, Router
from starlette.types import ASGIApp

from capabilities.contract import Descriptor, Handler
from capabilities.registry import BUILTINS, SURFACES, Builtin
from gateway.adapters import configuration_file
from gateway.adapters.app_files import FolderAppFiles
from gateway.adapters.clock import SystemClock
from gateway.adapters.executors.app_probe import ProcessAppProbe
from gateway.adapters.executors.python_workers import PythonWorkers
from gateway.adapters.ids import RandomIds
from gateway.adapters.logs import configure_logs
from gateway.adapters.metrics import CONTENT_TYPE, PrometheusMeter
from gateway.adapters.outbound_http import GuardedHttp
from gateway.adapters.sql import backups, check_place, open_postgresql, open_sqlite
from gateway.adapters.sql.moving import Moved, move
from gateway.adapters.webhook import SecretRefused, WebhookSink, key_of
from gateway.domain.audit import AuditEvent, AuditRecord
from gateway.domain.configuration import Configuration
from gateway.domain.outbox import Patience
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.activity import Activity
from gateway.runtime.admin import Admin, Reloader
from gateway.runtime.admin.trail import Trail
from gateway.runtime.agent_sessions import AgentSessions
from gateway.runtime.announcements import AnnouncingStore
from gateway.runtime.approvals import Approvals
from gateway.runtime.audit import Digester
from gateway.runtime.bundles import Bundles
from gateway.runtime.calls import Calls
from gateway.runtime.checkpoints import write_checkpoints
from gateway.runtime.context import Contexts
from gateway.runtime.conversations import Conversations
from gateway.runtime.document_actions import DocumentActions
from gateway.runtime.documents import Documents
from gateway.runtime.draining import settled
from gateway.runtime.emissions import Emissions
from gateway.runtime.execution import Execution
from gateway.runtime.frames import Frames
from gateway.runtime.handler_services import AppServices
from gateway.runtime.identity import Identity
from gateway.runtime.inventories import Inventories, ListChanges
from gateway.runtime.lineup import Lineup
from gateway.runtime.lineup_surfaces import LineupSurfaces
from gateway.runtime.mini_apps import MiniApps
from gateway.runtime.outbox import Relay
from gateway.runtime.pages import Pages
from gateway.runtime.panel import Panel
from gateway.runtime.planning import Planner
from gateway.runtime.ports import (
    AppFiles,
    AppProbe,
    Clock,
    Ids,
    Sink,
    Store,
    StoreBusy,
    StoreRefused,
    StoreUnavailable,
    Tx,
    Workers,
)
from gateway.runtime.readiness import Readiness
from gateway.runtime.reconfiguration import Reconfiguration
from gateway.runtime.recovery import recover
from gateway.runtime.refusals import Refusals
from gateway.runtime.restoring import Restored, mark_restored
from gateway.runtime.retention import Retention
from gateway.runtime.running_apps import RunningApps
from gateway.runtime.services import Services
from gateway.runtime.spine import Spine
from gateway.runtime.steady_clock import SteadyClock
from gateway.runtime.surface import Surface
from gateway.runtime.surface_waits import SurfaceWaits
from gateway.runtime.surfaces import Surfaces
from gateway.runtime.sweeper import Sweeper
from gateway.runtime.telemetry import NO_METER, NO_TRACER, Telemetry, Tracer, names
from gateway.runtime.telemetry.gauges import read_gauges
from gateway.runtime.telemetry.metered_store import MeteredStore
from gateway.runtime.ui_actions import UiActions
from gateway.runtime.vault import Vault
from gateway.runtime.workers import WorkerCalls
from gateway.runtime.world import Live, World
from gateway.settings import Outbox, Server, Webhook
from gateway.transports import admin_http, agents_mcp, assets, health, lineup, page_ws, surface_http
from gateway.transports.doors import WELL_KNOWN, Edge
from gateway.transports.metrics_http import metrics_app
from gateway.transports.page_ws.app_link import AppLink
from gateway.transports.page_ws.document_link import ChannelDocumentLink
from gateway.transports.page_ws.panel import ChannelPanelLink
from gateway.transports.request_log import RequestLog

DATABASE = "ostiary.sqlite3"

FINISH_SECONDS = 10.0
"""Longest time a stop waits for the last transactions."""

AT_A_TERMINAL: Final = "warning"
"""What a command that works by itself logs, on standard error: standard output is for its own words."""

_log = structlog.get_logger("ostiary.gateway")


Enabled = Callable[[Configuration], Mapping[str, Descriptor]]
"""Which built-ins a configuration turns on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppHost:
    """What mini apps have of this machine: where their files lie, what runs them (processes, unless a test says
    otherwise), what tries them out before they are enabled, and the variables their secrets are looked up in."""

    files: AppFiles
    workers: Workers | None = None
    probe: AppProbe | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """A running gateway: its use cases, its one ASGI application, and the one of `/metrics` where it is on."""

    services: Services
    app: ASGIApp
    mcp: "agents_mcp.McpEndpoint"
    lineup: "lineup.LineupEndpoint"
    reloader: Reloader
    metrics: ASGIApp | None = None

    async def drain(self) -> None:
        """Refuse what is new, and give calls that were handed out a while to end: the first half of a graceful end."""
        self._refuse_new()
        services = self.services
        limits = services.live.world.configuration.limits
        await settled(services.spine, services.calls.attendance, within_ms=limits.drain_ms)

    def stop_streams(self) -> None:
        """End long-lived streams, sockets and waits, so that a graceful exit does not wait for them."""
        reach(Point.SHUTDOWN_BEGUN)
        self._refuse_new()
        self.services.calls.attendance.wake_all()
        self.mcp.close()
        self.lineup.close()
        self.services.pages.close_all("shutdown")

    def _refuse_new(self) -> None:
        self.services.readiness.stop()
        self.services.calls.close()


@asynccontextmanager
async def build(
    configuration: Configuration,
    data: Path,
    *,
    file: Path | None = None,
    store: Store | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    builtins: Mapping[str, Builtin] = BUILTINS,
    extensions: "agents_mcp.Extensions | None" = None,
    tracer: Tracer | None = None,
    sink: Sink | None = None,
) -> AsyncGenerator[Gateway]:
    """Wire a gateway over `data` and run it until the block ends. The caller holds the process lock.

    `file` is what a reload reads again; `store`, `clock`, `ids`, `builtins`, `extensions`, `tracer` and `sink` are
    for tests and benchmarks.

    Raises:
        SecretRefused: the secret of the webhook is not there, or will not do.
    """
    configure_logs(configuration.server.log_level)
    clock, ids = clock or SystemClock(), ids or RandomIds()
    announcing: AnnouncingStore | None = None
    async with AsyncExitStack() as stack:
        if store is None:
            store = _open(configuration, data)
            stack.push_async_callback(store.close)
        meter = PrometheusMeter() if configuration.server.metrics_listen else None
        if meter is not None:
            store = MeteredStore(store, meter)
        if tracer is None:
            tracer = await stack.enter_async_context(_tracing(configuration.server))
        limits = configuration.limits
        webhook = configuration.outbox.webhook
        if webhook is not None:
            sink = sink or await stack.enter_async_context(_webhook(webhook, configuration, clock))
            store = announcing = _announcing(configuration, store, clock)
        await recover(store, clock.now(), grace_ms=limits.page_grace_ms, revision=configuration.revision)
        key = await _installation_key(store)
        enabled = _enabled(builtins)
        services = wire(
            store,
            configuration,
            clock=clock,
            ids=ids,
            key=key,
            enabled=enabled,
            handlers={name: builtin.handler for name, builtin in builtins.items()},
            host=AppHost(files=FolderAppFiles(data), probe=ProcessAppProbe(), environment=os.environ),
            telemetry=Telemetry(meter=meter or NO_METER, tracer=tracer),
        )
        await services.mini_apps.load()
        sweeper = Sweeper(
            spine=services.spine,
            clock=services.clock,
            pages=services.pages,
            refusals=services.refusals,
            retention=services.retention,
            running=services.running,
            surfaces=services.surfaces,
        )
        await services.running.restore()
        await services.surfaces.restore()
        await services.panel.restore()
        await services.documents.restore()
        mcp = agents_mcp.McpEndpoint(services, extensions=extensions)
        lineup_endpoint = lineup.LineupEndpoint(services)
        await stack.enter_async_context(mcp.run())
        await stack.enter_async_context(_background(sweeper.run()))
        if webhook is not None and announcing is not None and sink is not None:
            relay = _relay(configuration.outbox, webhook, services, sink)
            announcing.on_written = relay.wake
            await stack.enter_async_context(_background(relay.run()))
        reloader = Reloader(
            services=services, path=file, load=configuration_file.load_file, judge=configuration_file.load
        )
        gateway = Gateway(
            services=services,
            app=RequestLog(_app(services, mcp, lineup_endpoint, reloader), services.telemetry),
            mcp=mcp,
            lineup=lineup_endpoint,
            reloader=reloader,
            metrics=_metrics(services, store, meter) if meter else None,
        )
        try:
            yield gateway
        finally:
            gateway.stop_streams()
            await _finish(services)


async def _finish(services: Services) -> None:
    """Let what was begun be committed, and say that the gateway stopped; a dead store holds up nobody."""
    services.surface_waits.close()
    # First: what handlers still say is recorded.
    await services.workers.close()
    now = services.clock.now()
    stopped = audit.of_admin(AuditEvent.GATEWAY_STOPPED, now)
    services.spine.close()
    try:
        async with asyncio.timeout(FINISH_SECONDS):
            await services.mini_apps.settled()
            await services.spine.drain()
            await services.refusals.close()
            reach(Point.SHUTDOWN_DRAINED)
            await services.spine.store.run(lambda tx: (tx.audit.append(stopped), write_checkpoints(tx, now)))
            reach(Point.SHUTDOWN_WRITTEN)
    except (TimeoutError, StoreBusy, StoreUnavailable) as trouble:
        _log.error("stopped_unfinished", error=type(trouble).__name__)


def _open(configuration: Configuration, data: Path, database: Path | None = None) -> Store:
    """The one store of this configuration.

    Raises:
        StoreRefused: it will not open; the message says why.
        StoreUnavailable: it cannot be reached.
    """
    ledger_cap, open_cap = configuration.limits.ledger_rows, configuration.limits.ledger_open
    url = configuration.server.database
    if url:
        return open_postgresql(url, ledger_cap=ledger_cap, open_cap=open_cap)
    return open_sqlite(database or data / DATABASE, ledger_cap=ledger_cap, open_cap=open_cap)


def flaw_of_place(configuration: Configuration, data: Path) -> str | None:
    """Why the database cannot live in `data`, as far as that shows without opening it."""
    if configuration.server.database:
        return None
    try:
        check_place(data / DATABASE)
    except StoreRefused as error:
        return str(error)
    return None


@asynccontextmanager
async def open_offline(configuration: Configuration, data: Path) -> AsyncGenerator[Admin]:
    """Administration while no gateway runs. The caller holds the process lock."""
    configure_logs(AT_A_TERMINAL)
    store = _open(configuration, data)
    try:
        key = await _installation_key(store)
        services = wire(
            store,
            configuration,
            clock=SystemClock(),
            ids=RandomIds(),
            key=key,
            enabled=_enabled(BUILTINS),
            handlers={},
            host=AppHost(files=FolderAppFiles(data)),
        )
        await services.mini_apps.read()
        yield services.admin
        services.spine.close()
        await services.spine.drain()
    finally:
        await store.close()


async def restore(
    configuration: Configuration, data: Path, backup: Path | None, *, keep_grants: bool, by: str
) -> tuple[Restored, Path | None]:
    """Put `backup` in the place of the database and end what of the past could happen again; `backup` None: only
    the latter, over a database that was restored by other means. The caller holds the process lock.

    Returns what ended, and where the old database is kept.

    Raises:
        StoreRefused: it cannot be used; the database stays as it was.
    """
    if backup is not None and configuration.server.database:
        raise StoreRefused("the database is PostgreSQL: restore it with `pg_restore`, then `ostiary restore --mark`")
    database, now = data / DATABASE, SystemClock().now()
    if backup is None and not configuration.server.database and not database.exists():
        raise StoreRefused(f"there is no database in `{data}` to mark")
    configure_logs(AT_A_TERMINAL)
    staged = None if backup is None else backups.stage(backup, database)
    try:
        store = _open(configuration, data, staged)
        if configuration.outbox.webhook is not None:
            store = _announcing(configuration, store, SystemClock())
        try:
            if staged is not None and (broken := (await Trail(store).verify()).broken):
                first = broken[0]
                raise StoreRefused(
                    f"the audit trail of `{backup}` is broken: stream {first.stream}, record {first.seq}: {first.what}"
                )
            window = configuration.limits.nonce_window_ms
            restored = await store.run(
                lambda tx: mark_restored(tx, now, window_ms=window, keep_grants=keep_grants, by=by)
            )
        finally:
            await store.close()
        return restored, None if staged is None else backups.swap(staged, database, stamp=str(now))
    finally:
        if staged is not None:
            backups.remove(staged)


def move_to_postgresql(data: Path, url: str, *, by: str) -> Moved:
    """Copy the SQLite database in `data` into the empty PostgreSQL database `url`. The caller holds the process lock.

    Raises:
        StoreRefused: it cannot be done; the target is as it was.
        StoreUnavailable: the target failed.
    """
    source, now = data / DATABASE, SystemClock().now()
    if not source.exists():
        raise StoreRefused(f"there is no SQLite database in `{data}` to move")
    configure_logs(AT_A_TERMINAL)

    def record_of(moved: Moved) -> AuditRecord:
        return audit.of_admin(AuditEvent.STORE_MIGRATED, now, by=by, rows=sum(moved.rows.values()))

    return move(source, url, record_of)


def _enabled(builtins: Mapping[str, Builtin]) -> Enabled:
    def enabled(configuration: Configuration) -> Mapping[str, Descriptor]:
        on = configuration.server.builtins
        return {name: builtin.descriptor for name, builtin in builtins.items() if name in on}

    return enabled


def wire(
    store: Store,
    configuration: Configuration,
    *,
    clock: Clock,
    ids: Ids,
    key: bytes,
    enabled: Enabled,
    handlers: Mapping[str, Handler],
    host: AppHost,
    telemetry: Telemetry | None = None,
) -> Services:
    """Make the use cases over one store, with mini apps at home on `host`; without `telemetry` nobody is told how
    they fare."""
    telemetry = telemetry or Telemetry()
    spine, vault, wall, clock = Spine(store), Vault(), clock, SteadyClock(clock)
    meter = telemetry.meter
    world = World(
        configuration=configuration,
        builtins=enabled(configuration),
        surfaces=SURFACES,
        on_policy_error=lambda: meter.add(names.POLICY_ERRORS),
    )
    live = Live(world)
    identity = Identity(spine=spine, live=live, clock=clock, ids=ids)
    inventories = Inventories(spine, live, clock)
    sessions = AgentSessions(spine=spine, live=live, clock=clock, ids=ids, identity=identity, inventories=inventories)
    approvals = Approvals(spine=spine, live=live, clock=clock, ids=ids, vault=vault)
    planner = Planner(
        live=live,
        clock=clock,
        ids=ids,
        inventories=inventories,
        approvals=approvals,
        digester=Digester(key),
        handlers=handlers,
        store=spine.store,
    )
    calls = Calls(
        spine=spine,
        live=live,
        clock=clock,
        planner=planner,
        inventories=inventories,
        approvals=approvals,
        vault=vault,
        watch=telemetry.calls,
    )
    pages = Pages(spine=spine, live=live, clock=clock, ids=ids, approvals=approvals, vault=vault)
    pages.on_gone(sessions.page_gone)
    emissions = Emissions(spine=spine, clock=clock, ids=ids, is_consumed=configuration.outbox.webhook is not None)
    app_services = AppServices(
        spine=spine,
        live=live,
        clock=clock,
        emissions=emissions,
        http=GuardedHttp(),
        environment=host.environment,
        meter=meter,
    )
    workers = host.workers or PythonWorkers(clock)
    worker_calls = WorkerCalls(
        spine=spine, live=live, clock=clock, workers=workers, services=app_services, meter=meter
    )
    execution = Execution(
        spine=spine, live=live, clock=clock, handlers=handlers, workers=worker_calls, watch=telemetry.calls
    )
    execution.connect_pages(pages)
    link = AppLink(pages)
    running = RunningApps(spine=spine, live=live, clock=clock, vault=vault, workers=workers, frames=link)
    pages.on_gone(running.page_gone)
    actions = UiActions(spine=spine, live=live, clock=clock, calls=calls)
    surfaces = Surfaces(spine=spine, live=live, clock=clock, link=link)
    pages.on_gone(surfaces.page_gone)
    panel = Panel(spine=spine, live=live, clock=clock, link=ChannelPanelLink(pages))
    channel = ChannelDocumentLink(pages, lambda: live.world.configuration.documents.max_bytes)
    documents = Documents(spine=spine, live=live, clock=clock, calls=calls, link=channel)
    waits = SurfaceWaits(spine=spine, live=live, clock=clock)
    execution.connect_waits(waits)
    frames = Frames(
        spine=spine,
        live=live,
        clock=clock,
        apps=running,
        execution=execution,
        actions=actions,
        surfaces=surfaces,
        panel=panel,
        link=link,
    )
    execution.connect_apps(frames, running)
    contexts = Contexts(pages=pages, ids=ids)
    lineup_calls = Lineup(spine=spine, calls=calls, surfaces=LineupSurfaces(calls=calls, inventories=inventories))
    # Ages are judged by the wall: a clock that only once was far ahead would make everything old.
    retention = Retention(store=store, live=live, clock=wall, meter=telemetry.meter)
    bundles = Bundles(host.files)
    mini_apps = MiniApps(
        spine=spine,
        live=live,
        clock=clock,
        files=host.files,
        workers=workers,
        probe=host.probe,
        on_gone=bundles.forget,
    )
    return Services(
        clock=clock,
        ids=ids,
        spine=spine,
        live=live,
        identity=identity,
        refusals=Refusals(spine, clock, telemetry.meter),
        readiness=Readiness(spine, clock),
        sessions=sessions,
        inventories=inventories,
        changes=ListChanges(inventories, live, clock, spine),
        calls=calls,
        approvals=approvals,
        execution=execution,
        workers=workers,
        pages=pages,
        contexts=contexts,
        activity=Activity(spine=spine, live=live, clock=clock, calls=calls, pages=pages, sessions=sessions),
        surface=Surface(
            spine=spine,
            live=live,
            clock=clock,
            calls=calls,
            sessions=sessions,
            inventories=inventories,
            contexts=contexts,
        ),
        conversations=Conversations(spine=spine, calls=calls),
        lineup=lineup_calls,
        admin=Admin(
            spine=spine,
            live=live,
            clock=clock,
            ids=ids,
            identity=identity,
            retention=retention,
            mini_apps=mini_apps,
        ),
        reconfiguration=Reconfiguration(spine=spine, live=live, clock=clock, pages=pages, builtins=enabled),
        retention=retention,
        telemetry=telemetry,
        workspaces=frames,
        mini_apps=mini_apps,
        running=running,
        surfaces=surfaces,
        surface_waits=waits,
        panel=panel,
        documents=documents,
        document_actions=DocumentActions(spine=spine, live=live, actions=actions),
        emissions=emissions,
        bundles=bundles,
    )


def _webhook(webhook: Webhook, configuration: Configuration, clock: Clock) -> WebhookSink:
    secret = os.environ.get(webhook.secret_env)
    if not secret:
        raise SecretRefused(
            f"`outbox.webhook.secret_env` names `{webhook.secret_env}`, and no such environment variable is set;"
            " set it to the secret you share with the consumer"
        )
    try:
        key = key_of(secret)
    except SecretRefused as error:
        raise SecretRefused(f"`{webhook.secret_env}`: {error}") from error
    return WebhookSink(
        url=webhook.url,
        key=key,
        public_url=configuration.server.public_url,
        version=version("ostiary"),
        timeout_ms=webhook.timeout_ms,
        now=clock.now,
    )


def _announcing(configuration: Configuration, store: Store, clock: Clock) -> AnnouncingStore:
    return AnnouncingStore(store, clock, include_results=configuration.outbox.include_results)


def _relay(outbox: Outbox, webhook: Webhook, services: Services, sink: Sink) -> Relay:
    return Relay(
        spine=services.spine,
        clock=services.clock,
        ids=services.ids,
        sink=sink,
        patience=Patience(attempts=outbox.attempts, first_ms=outbox.pause_ms, cap_ms=outbox.pause_cap_ms),
        attempt_ms=webhook.timeout_ms,
        meter=services.telemetry.meter,
    )


def _metrics(services: Services, store: Store, meter: PrometheusMeter) -> ASGIApp:
    async def text() -> bytes:
        queued = store.depth if isinstance(store, MeteredStore) else 0
        return meter.text(await read_gauges(services, queued=queued))

    host = services.live.world.configuration.server.metrics_listen.rpartition(":")[0]
    return metrics_app(text, CONTENT_TYPE, listen_host=host.strip("[]"))


@asynccontextmanager
async def _tracing(server: Server) -> AsyncGenerator[Tracer]:
    """Spans to the configured collector, or to nobody; what is left is sent at the end."""
    if not server.otlp_endpoint and not any(os.environ.get(name) for name in _COLLECTORS):
        yield NO_TRACER
        return
    # The SDK takes long to import, and few gateways have a collector.
    from gateway.adapters.tracing import tracer_to

    tracer = tracer_to(server.otlp_endpoint)
    try:
        yield tracer
    finally:
        await asyncio.to_thread(tracer.close)


_COLLECTORS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Variables of the environment that name a collector, by OpenTelemetry's own convention."""


def _app(
    services: Services, mcp: "agents_mcp.McpEndpoint", conversations: "lineup.LineupEndpoint", reloader: Reloader
) -> Edge:
    return behind_edge(
        services,
        mcp.route,
        *page_ws.routes(services),
        *surface_http.routes(services),
        *conversations.routes,
        *admin_http.routes(services, reloader),
        *assets.routes(services),
    )


def behind_edge(services: Services, *routes: BaseRoute) -> Edge:
    """`routes` and the health addresses as one application, with the edge around them."""
    doors = (
        *agents_mcp.DOORS,
        *surface_http.DOORS,
        *lineup.DOORS,
        *assets.DOORS,
        *admin_http.DOORS,
        *health.DOORS,
        WELL_KNOWN,
    )
    return Edge(Router(routes=[*routes, *health.routes(services)]), services, doors)


async def _installation_key(store: Store) -> bytes:
    """The key of argument digests; made once, kept in the store."""
    fresh = secrets.token_bytes(32)

    def work(tx: Tx) -> bytes:
        known = tx.installation.get("digest_key")
        if known is None:
            tx.installation.put("digest_key", fresh)
        return known or fresh

    return await store.run(work)


@asynccontextmanager
async def _background(work: Coroutine[Any, Any, None]) -> AsyncGenerator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
