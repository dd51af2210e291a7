"""The names of everything that is measured and traced, in one place.

Spans and `mcp_*` metrics follow the OpenTelemetry conventions for MCP, which are still in development: a rename
there is a change here and nowhere else. docs/reference/metrics.md is written from this table, the adapter makes its
families from it, and what is not in it cannot be counted.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.domain.audit import Stream
from gateway.domain.calls import CallState, Entry
from gateway.domain.errors import ErrorCode
from gateway.domain.outbox import UNDELIVERED
from gateway.domain.workers import Loss
from policy.vocabulary import Risk, Verdict

OTHER: Final = "other"
"""What a label says in place of a value that is not one of its own: nobody outside can make new series."""


class Kind(StrEnum):
    """What a metric is to Prometheus."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Metric:
    """One family. `labels` names each label with the values it may have; seconds and bytes as base units.

    `buckets` are upper bounds, without the infinite one. Gauges are read when somebody looks.
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[tuple[str, frozenset[str]], ...] = ()
    buckets: tuple[float, ...] = ()


def _values(*words: str) -> frozenset[str]:
    return frozenset(words)


_CODES: Final = frozenset(code.wire for code in ErrorCode)
_STATES: Final = frozenset(state.value for state in CallState)
_ENTRIES: Final = frozenset(entry.value for entry in Entry)
_LOSSES: Final = frozenset(loss.value for loss in Loss)
_RISKS: Final = frozenset(risk.value for risk in Risk)

DOORS: Final = _values(
    "mcp",
    "surface",
    "lineup",
    "host_tokens",
    "page",
    "in_page",
    "assets",
    "sandbox",
    "admin",
    "health",
    "well_known",
    "elsewhere",
    "connection",
)

METHODS: Final = _values(
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "notifications/initialized",
    "notifications/cancelled",
)

ROUTES: Final = _values(
    "/mcp",
    "/surface/v1",
    "/lineup/v1/{rest}",
    "/v1/host-tokens",
    "/page/v1",
    "/surface-host{rest}",
    "/livez",
    "/healthz",
    "/readyz",
    "/admin/v1/{rest}",
)

FRAMES: Final = _values(
    *("hello", "ticket", "caps", "refused", "started", "progress", "result", "described", "decision", "surface"),
    *("action", "pong", "error", "bye", "welcome", "caps_ack", "invoke", "ack", "cancel", "describe"),
    *("approve_request", "approve_update", "surface_reply", "action_reply", "ping", "activity"),
    *("app", "app_news", "intent", "receipt"),
)

_MS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

# ---- metrics ----------------------------------------------------------------------------------------------------

MCP_OPERATION: Final = Metric(
    name="mcp_server_operation_duration_seconds",
    kind=Kind.HISTOGRAM,
    help="How long one MCP request took, from its first byte read to its answer.",
    labels=(
        ("mcp_method_name", METHODS),
        ("error_type", _values("", "tool_error", "-32700", "-32600", "-32601", "-32602", "-32603", "-32001")),
    ),
    buckets=(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300),
)
HTTP_REQUEST: Final = Metric(
    name="http_server_request_duration_seconds",
    kind=Kind.HISTOGRAM,
    help="How long one HTTP request took at any door; a stream or socket counts from its beginning to its end.",
    labels=(
        ("http_route", ROUTES),
        ("http_response_status_code", _values(*(str(status) for status in range(100, 600)))),
    ),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)
CALLS: Final = Metric(
    name="ostiary_calls_total",
    kind=Kind.COUNTER,
    help="Calls that reached a state; a call counts once in each state it was seen in.",
    labels=(("state", _STATES), ("entry", _ENTRIES), ("risk", _RISKS)),
)
CALLS_REFUSED: Final = Metric(
    name="ostiary_calls_refused_total",
    kind=Kind.COUNTER,
    help="Requests for a call that were not accepted.",
    labels=(("entry", _ENTRIES), ("code", _CODES)),
)
CALL_STAGE: Final = Metric(
    name="ostiary_call_stage_duration_seconds",
    kind=Kind.HISTOGRAM,
    help="How long a stage of a call took: admit and settle include their commit, dispatch is the executor's own time.",
    labels=(("stage", _values("admit", "approve", "ready", "dispatch", "settle")),),
    buckets=(*_MS, 30.0, 60.0, 120.0, 600.0),
)
IDEMPOTENCY: Final = Metric(
    name="ostiary_idempotency_outcomes_total",
    kind=Kind.COUNTER,
    help="What a request for a call was to the ledger.",
    labels=(("outcome", _values("new", "replay", "conflict", "full", "too_old", "retransmission")),),
)
POLICY_DECISIONS: Final = Metric(
    name="ostiary_policy_decisions_total",
    kind=Kind.COUNTER,
    help="Decisions about requests for a call; tier is `none` where the answer was forbid.",
    labels=(("verdict", frozenset(verdict.value for verdict in Verdict)), ("tier", _RISKS | {"none"})),
)
POLICY_ERRORS: Final = Metric(
    name="ostiary_policy_errors_total",
    kind=Kind.COUNTER,
    help="Decisions that could not be made, which forbids. There should be none.",
)
APPROVALS: Final = Metric(
    name="ostiary_approval_decisions_total",
    kind=Kind.COUNTER,
    help="What became of questions to the person.",
    labels=(("decision", _values("approved", "denied", "expired", "withdrawn")), ("risk", _RISKS)),
)
APPROVAL_LATENCY: Final = Metric(
    name="ostiary_approval_latency_seconds",
    kind=Kind.HISTOGRAM,
    help="How long people took to answer.",
    labels=(("decision", _values("approved", "denied")),),
    buckets=(0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600),
)
APPROVAL_SUBSECOND: Final = Metric(
    name="ostiary_approval_subsecond_ratio",
    kind=Kind.GAUGE,
    help="Share of approvals given within one second since the start: nobody reads that fast.",
)
REFUSALS: Final = Metric(
    name="ostiary_refusals_total",
    kind=Kind.COUNTER,
    help="Connections, requests and frames turned away at a door.",
    labels=(("door", DOORS), ("code", _CODES)),
)
PAGE_FRAMES: Final = Metric(
    name="ostiary_page_frames_total",
    kind=Kind.COUNTER,
    help="Frames of the page channel; `in` comes from a page and was understood.",
    labels=(("direction", _values("in", "out")), ("type", FRAMES)),
)
PAGES_DROPPED: Final = Metric(
    name="ostiary_pages_dropped_total",
    kind=Kind.COUNTER,
    help="Sockets of pages given up from this side: the page did not read, or did not answer pings.",
    labels=(("reason", _values("slow", "silent")),),
)
PURGED: Final = Metric(
    name="ostiary_purged_total",
    kind=Kind.COUNTER,
    help="Rows removed because their time was over.",
    labels=(
        (
            "kind",
            _values(
                *("results", "nonces", "tickets", "admin_requests", "denials", "calls", "minted_calls", "sessions"),
                *(
                    "keys",
                    "admin_tokens",
                    "pages",
                    "audit_records",
                    "messages",
                    "conversations",
                    "outbox",
                    "dead_letters",
                ),
                *("activations", "instances", "app_sessions"),
            ),
        ),
    ),
)
WORKER_JOBS: Final = Metric(
    name="ostiary_worker_jobs_total",
    kind=Kind.COUNTER,
    help="Calls the workers of mini apps answered, or that never reached one, by what came of them.",
    labels=(
        (
            "outcome",
            _values(
                *("succeeded", "handler_error", "deadline_exceeded", "cancelled", "not_delivered"),
                *("not_available", "busy", "app_activation_failed"),
            ),
        ),
    ),
)
WORKER_LOSSES: Final = Metric(
    name="ostiary_worker_losses_total",
    kind=Kind.COUNTER,
    help="Calls that were lost with the worker that held them: whether they ran is unknown.",
    labels=(("reason", _LOSSES),),
)
WORKER_ENDS: Final = Metric(
    name="ostiary_worker_ends_total",
    kind=Kind.COUNTER,
    help="Workers that ended and nobody had wished it; each is begun again.",
    labels=(("reason", _LOSSES),),
)
WORKERS: Final = Metric(name="ostiary_workers_running", kind=Kind.GAUGE, help="Workers of mini apps that take calls.")
WORKER_HELD: Final = Metric(
    name="ostiary_worker_jobs_held", kind=Kind.GAUGE, help="Calls the workers of mini apps hold."
)
WORKER_QUEUE: Final = Metric(
    name="ostiary_worker_jobs_waiting", kind=Kind.GAUGE, help="Calls that wait for the worker of their mini app."
)
HANDLER_REQUESTS: Final = Metric(
    name="ostiary_handler_requests_total",
    kind=Kind.COUNTER,
    help="Outbound requests the handlers of mini apps asked for.",
    labels=(("outcome", _values("answered", "not_permitted", "request_failed", "too_much", "refused")),),
)
OUTBOX_ATTEMPTS: Final = Metric(
    name="ostiary_outbox_attempts_total",
    kind=Kind.COUNTER,
    help="Attempts to hand an outbox entry to its consumer: taken, to be tried again, or the last of its entry.",
    labels=(("outcome", _values("delivered", "failed", "given_up")),),
)
OUTBOX_ENTRIES: Final = Metric(
    name="ostiary_outbox_entries",
    kind=Kind.GAUGE,
    help="Outbox entries the consumer has not taken: on their way, or given up.",
    labels=(("state", frozenset(state.value for state in UNDELIVERED)),),
)
OUTBOX_LAG: Final = Metric(
    name="ostiary_outbox_lag_seconds",
    kind=Kind.GAUGE,
    help="Age of the oldest entry on its way; 0 when none is.",
)
STORE_UNIT: Final = Metric(
    name="ostiary_store_unit_duration_seconds",
    kind=Kind.HISTOGRAM,
    help="How long one unit of work ran on the store, without its wait and its commit.",
    buckets=(0.0001, 0.00025, 0.0005, *_MS),
)
STORE_COMMIT: Final = Metric(
    name="ostiary_store_commit_duration_seconds",
    kind=Kind.HISTOGRAM,
    help="From the end of a unit of work to its commit, as its caller sees it: what shares its transaction included.",
    buckets=(0.0001, 0.00025, 0.0005, *_MS),
)
STORE_FAILURES: Final = Metric(
    name="ostiary_store_failures_total",
    kind=Kind.COUNTER,
    help="Units of work that were not kept: the queue was full, or the database did not commit.",
    labels=(("reason", _values("busy", "unavailable")),),
)
STORE_QUEUE: Final = Metric(
    name="ostiary_store_queue_depth", kind=Kind.GAUGE, help="Units of work handed to the store and not finished."
)
STORE_UP: Final = Metric(
    name="ostiary_store_up",
    kind=Kind.GAUGE,
    help="1 when the store answered this scrape; the gauges read from it are absent otherwise.",
)
LEDGER_USED: Final = Metric(name="ostiary_ledger_used", kind=Kind.GAUGE, help="Rows of the ledger.")
LEDGER_CAP: Final = Metric(
    name="ostiary_ledger_cap", kind=Kind.GAUGE, help="Rows the ledger may hold; then calls are refused."
)
LEDGER_OPEN: Final = Metric(name="ostiary_ledger_open", kind=Kind.GAUGE, help="Calls that are not finished.")
LEDGER_OPEN_CAP: Final = Metric(
    name="ostiary_ledger_open_cap", kind=Kind.GAUGE, help="Calls that may be open at once."
)
UNKNOWN_OPEN: Final = Metric(
    name="ostiary_unknown_open",
    kind=Kind.GAUGE,
    help="Calls whose outcome nobody knows and nobody has reconciled.",
)
PAGES: Final = Metric(name="ostiary_pages_connected", kind=Kind.GAUGE, help="Pages with an open socket.")
AGENT_SESSIONS: Final = Metric(
    name="ostiary_agent_sessions_connected",
    kind=Kind.GAUGE,
    help="Agent sessions that spoke within five minutes or wait for something.",
)
AUDIT_HEAD_AGE: Final = Metric(
    name="ostiary_audit_chain_head_age_seconds",
    kind=Kind.GAUGE,
    help="Age of the newest record of a stream of the audit trail; absent while the stream is empty.",
    labels=(("stream", frozenset(stream.value for stream in Stream)),),
)

METRICS: Final[tuple[Metric, ...]] = (
    MCP_OPERATION,
    HTTP_REQUEST,
    CALLS,
    CALLS_REFUSED,
    CALL_STAGE,
    IDEMPOTENCY,
    POLICY_DECISIONS,
    POLICY_ERRORS,
    APPROVALS,
    APPROVAL_LATENCY,
    APPROVAL_SUBSECOND,
    REFUSALS,
    PAGE_FRAMES,
    PAGES_DROPPED,
    PURGED,
    WORKER_JOBS,
    WORKER_LOSSES,
    WORKER_ENDS,
    WORKERS,
    WORKER_HELD,
    WORKER_QUEUE,
    HANDLER_REQUESTS,
    OUTBOX_ATTEMPTS,
    OUTBOX_ENTRIES,
    OUTBOX_LAG,
    STORE_UNIT,
    STORE_COMMIT,
    STORE_FAILURES,
    STORE_QUEUE,
    STORE_UP,
    LEDGER_USED,
    LEDGER_CAP,
    LEDGER_OPEN,
    LEDGER_OPEN_CAP,
    UNKNOWN_OPEN,
    PAGES,
    AGENT_SESSIONS,
    AUDIT_HEAD_AGE,
)
"""Every family, in the order it is told."""

# ---- spans ------------------------------------------------------------------------------------------------------

MCP_METHOD: Final = "mcp.method.name"
MCP_VERSION: Final = "mcp.protocol.version"
MCP_SESSION: Final = "mcp.session.id"
JSONRPC_ID: Final = "jsonrpc.request.id"
RPC_STATUS: Final = "rpc.response.status_code"
ERROR_TYPE: Final = "error.type"
TOOL: Final = "gen_ai.tool.name"
OPERATION: Final = "gen_ai.operation.name"
EXECUTE_TOOL: Final = "execute_tool"
TRANSPORT: Final = "network.transport"
PROTOCOL: Final = "network.protocol.name"
CLIENT: Final = "client.address"

HTTP_METHOD: Final = "http.request.method"
HTTP_ROUTE: Final = "http.route"
HTTP_STATUS: Final = "http.response.status_code"

CALL_REF: Final = "ostiary.call.ref"
CALL_CAPABILITY: Final = "ostiary.call.capability"
CALL_ENTRY: Final = "ostiary.call.entry"
CALL_STATE: Final = "ostiary.call.state"
CALL_EFFECT: Final = "ostiary.call.effect"
CALL_RISK: Final = "ostiary.call.risk"

TOOL_ERROR: Final = "tool_error"
