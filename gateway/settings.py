"""Numbers and addresses the gateway runs with; the defaults are design §17. Read once, by bootstrap."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * 1024


LOG_LEVELS: Final = ("debug", "info", "warning", "error")
"""From everything to almost nothing; `info` has the line of every request and call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes in bytes, counts, and times in milliseconds; every field may be set under `limits:`."""

    body_bytes: int = 1 * MIB
    """Largest HTTP request body."""
    body_read_ms: int = 30_000
    """How long a request body may take to arrive."""
    head_bytes: int = 32 * KIB
    """Request line and headers together."""
    head_lines: int = 100
    """Headers of one request."""
    head_read_ms: int = 10_000
    """How long a connection may take to send the head of its next request."""
    write_stall_ms: int = 30_000
    """How long a client may leave an answer unread."""
    connections: int = 1_000
    """Open connections, page sockets included."""
    connections_per_peer: int = 250
    """Open connections of one address; trusted proxies are not limited."""
    requests_per_minute: int = 1_200
    """Requests of one address at one door in a minute, before anybody asks who it is."""
    requests_burst: int = 240
    """Of these, how many may come at once."""
    drain_ms: int = 5_000
    """After SIGTERM, how long calls under way may still end; new ones are refused."""
    argument_bytes: int = 128 * KIB
    """Largest canonical text of a call's arguments."""
    argument_depth: int = 64
    """Deepest nesting of a call's arguments."""
    page_result_bytes: int = 512 * KIB
    """Largest result a page may send."""
    capabilities_per_page: int = 500
    """Capabilities one page may register."""
    capabilities_bytes: int = 2 * MIB
    """All declarations of one page together."""
    declaration_bytes: int = 16 * KIB
    """One declaration."""
    schema_depth: int = 32
    """Deepest nesting of a declared schema."""
    pages_per_user: int = 20
    """Pages one user may have connected."""
    page_connections: int = 800
    """Open sockets of pages; at most `connections`."""
    page_arrivals: int = 200
    """Of these, how many may not have said `hello` yet."""
    page_frames_per_second: int = 300
    """How fast one page is listened to; what it says faster waits."""
    page_frames_burst: int = 1_500
    """Frames of one page that may come at once."""
    page_bytes_per_second: int = 2 * MIB
    """The same in bytes."""
    page_bytes_burst: int = 8 * MIB
    """Bytes of one page that may come at once."""
    page_queue_frames: int = 512
    """Frames on their way to one page; a page that takes no more is dropped."""
    page_queue_bytes: int = 8 * MIB
    """The same in bytes."""
    calls_per_minute: int = 60
    """Calls of one agent in a minute."""
    calls_burst: int = 20
    """Of these, how many may come at once."""
    actions_per_minute: int = 60
    """Calls in a minute that the mini apps on a site's pages make in the name of one user."""
    actions_burst: int = 20
    """Of these, how many may come at once."""
    open_actions_per_page: int = 8
    """Such calls that are open at once for the mini apps of one page."""
    surfaces_per_conversation: int = 8
    """Surfaces one conversation may have open."""
    surface_events_per_minute: int = 120
    """Events of one surface in a minute that are taken."""
    surface_bytes_per_minute: int = 256 * KIB
    """Bytes of their data together."""
    surface_events_bytes: int = 1 * MIB
    """Bytes of events that one agent session has not taken yet; at the cap further ones are refused."""
    surface_events_ms: int = 86_400_000
    """How long an event is kept for its agent session."""
    waiting_per_session: int = 64
    """Requests of one agent session that wait for a call at once, by whatever door."""
    app_jobs: int = 4
    """Calls the worker of one mini app does at once."""
    app_queue: int = 64
    """Calls that wait for it; one more is `busy`."""
    app_start_ms: int = 10_000
    """How long the worker of a mini app may take to load it."""
    app_kill_ms: int = 2_000
    """How long a handler in Python may go on after its time; then its worker is killed, with all it holds."""
    open_approvals_per_page: int = 20
    """Questions waiting on one page."""
    ledger_rows: int = 1_000_000
    """Rows of the ledger; at the cap it refuses, it never evicts."""
    ledger_open: int = 2_048
    """Open calls of all sessions."""
    approval_ms: int = 120_000
    """How long the person has to answer; at most `call_ms`."""
    call_ms: int = 600_000
    """How long an accepted call may wait for its dispatch."""
    ticket_ms: int = 120_000
    """Life of a page ticket."""
    standing_ms: int = 900_000
    """How long a page session lives on one ticket."""
    nonce_window_ms: int = 300_000
    """Accepted distance between a request's stamp and our clock, each way."""
    page_grace_ms: int = 10_000
    """How long a dropped page stays listed and calls wait for it."""
    result_ms: int = 86_400_000
    """Latest erasure of a result after the call's end."""
    taken_result_ms: int = 3_600_000
    """Erasure of a result after its caller took it; at most `result_ms`."""
    join_ms: int = 600_000
    """How long an untaken result answers an equal request without a call id."""
    call_age_ms: int = 86_400_000
    """Oldest `issued_at` a request may carry."""
    call_keep_ms: int = 604_800_000
    """How long an ended call is kept whose caller named it with a `call_id`; it refuses a second use of that name as long."""
    minted_call_keep_ms: int = 86_400_000
    """How long any other ended call is kept; at most `call_keep_ms`."""
    grant_keep_ms: int = 2_592_000_000
    """How long ended agent sessions, service keys, admin tokens and page sessions are kept."""
    outbox_keep_ms: int = 604_800_000
    """How long an outbox entry is kept that was delivered."""
    dead_letter_keep_ms: int = 2_592_000_000
    """How long an outbox entry is kept that was given up."""
    audit_keep_ms: int = 34_560_000_000
    """How long audit records are kept; 400 days."""
    page_ping_ms: int = 20_000
    """Time between two pings to a page."""
    listed_changes_ms: int = 2_000
    """Least time between two `list_changed` notices to one session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where it listens and which names it answers to; every field may be set under `server:`."""

    listen_host: str = "127.0.0.1"
    listen_port: int = 8460
    public_url: str = "http://127.0.0.1:8460"
    """What agents and pages are told to connect to."""
    hosts: tuple[str, ...] = ()
    """Further accepted Host headers beside the public one and the listening address."""
    trusted_proxies: tuple[str, ...] = ()
    """Networks (CIDR) of reverse proxies whose `X-Forwarded-*` headers are believed."""
    origins: tuple[str, ...] = ()
    """Origins of browser-based MCP clients; requests without an Origin are not concerned."""
    builtins: tuple[str, ...] = ()
    """Runtime built-ins that are on, by capability id."""
    database: str = field(default="", repr=False)
    """The PostgreSQL database as a URL; empty: SQLite in the data folder. Never shown, it may hold a password."""
    metrics_listen: str = ""
    """Where `/metrics` listens, as `host:port`; empty for nowhere. It asks for no credential."""
    otlp_endpoint: str = ""
    """Base address of the collector spans go to by OTLP over HTTP; empty for none."""
    log_level: str = "info"
    """The least that is logged: `debug`, `info`, `warning` or `error`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where outbox entries are posted; every field may be set under `outbox.webhook:`."""

    url: str
    """The address of the consumer."""
    secret_env: str
    """Name of the environment variable that holds the secret the posts are signed with."""
    timeout_ms: int = 10_000
    """How long the consumer has to answer one post."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbox:
    """What is told outside, and how patiently; every field may be set under `outbox:`."""

    webhook: Webhook | None = None
    """The consumer; without one nothing is written."""
    include_results: bool = False
    """Whether the end of a call that succeeded carries its result."""
    attempts: int = 20
    """How often an entry is tried before it is given up; with the pauses below, for more than eight hours."""
    pause_ms: int = 1_000
    """The rest after the first failed attempt; it doubles with each."""
    pause_cap_ms: int = 3_600_000
    """The longest rest."""


READ_AT_START: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "server.listen": ("server.listen_host", "server.listen_port"),
        "server.database": ("server.database",),
        "server.metrics_listen": ("server.metrics_listen",),
        "server.otlp_endpoint": ("server.otlp_endpoint",),
        "server.log_level": ("server.log_level",),
        "outbox": ("outbox",),
        "limits.ledger_rows": ("limits.ledger_rows",),
        "limits.ledger_open": ("limits.ledger_open",),
    }
)
"""Keys of the file whose change a reload cannot make, each with the fields it sets; every other key counts at once."""
