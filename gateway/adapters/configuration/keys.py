"""Every section of the file and the keys it knows. Also finds where a misplaced key belongs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

DAY_MS: Final = 86_400_000

TOP: Final = ""
SERVER: Final = "server"
LIMITS: Final = "limits"
OUTBOX: Final = "outbox"
WEBHOOK: Final = "outbox.webhook"
SITE: Final = "sites.<name>"
EXPOSED: Final = "sites.<name>.expose[]"
SITE_LIMITS: Final = "sites.<name>.limits"
IN_PAGE_AGENT: Final = "sites.<name>.in_page_agent"
SITE_SURFACES: Final = "sites.<name>.surfaces"
SURFACES_OF: Final = "sites.<name>.surfaces.agents.<name>"
AGENT: Final = "agents.<name>"
RULE: Final = "rules[]"
APP: Final = "apps.grants.<id>"
APP_SECRET: Final = "apps.grants.<id>.secrets.<name>"  # noqa: S105 - the name of a section
APPS: Final = "apps"
TRUSTED_KEY: Final = "apps.trusted_keys[]"
DOCUMENTS: Final = "documents"
INVOKE: Final = "documents.invoke.<name>"

LOWERED: Final = (
    "pages_per_user",
    "capabilities_per_page",
    "capabilities_bytes",
    "declaration_bytes",
    "page_result_bytes",
    "open_approvals_per_page",
    "actions_per_minute",
    "actions_burst",
    "open_actions_per_page",
    "approval_ms",
    "ticket_ms",
    "standing_ms",
)
"""Limits a site may lower for its own pages."""

BOUNDS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "body_bytes": (16_384, 16_777_216),
        "body_read_ms": (100, 600_000),
        # Below, clients of the protocol with many parameters would not fit.
        "head_bytes": (4_096, 1_048_576),
        "head_lines": (32, 1_000),
        "head_read_ms": (100, 600_000),
        "write_stall_ms": (100, 600_000),
        "connections": (1, 1_000_000),
        "connections_per_peer": (1, 1_000_000),
        "requests_per_minute": (1, 10_000_000),
        "requests_burst": (1, 1_000_000),
        "drain_ms": (1, 600_000),
        # An approval shows every argument beside the whole input in one page frame.
        "argument_bytes": (1_024, 262_144),
        "argument_depth": (1, 64),
        # A page frame ends at 1.25 MiB; the result shares it with evidence and escapes.
        "page_result_bytes": (1_024, 1_048_576),
        "capabilities_per_page": (1, 2_000),
        "capabilities_bytes": (16_384, 8_388_608),
        "declaration_bytes": (1_024, 65_536),
        "schema_depth": (1, 32),
        "pages_per_user": (1, 200),
        "page_connections": (1, 100_000),
        "page_arrivals": (1, 10_000),
        "page_frames_per_second": (10, 100_000),
        "page_frames_burst": (100, 1_000_000),
        # One frame of 1.25 MiB must fit.
        "page_bytes_per_second": (65_536, 1_073_741_824),
        "page_bytes_burst": (1_310_720, 1_073_741_824),
        "page_queue_frames": (64, 65_536),
        "page_queue_bytes": (1_310_720, 268_435_456),
        "calls_per_minute": (1, 10_000_000),
        "calls_burst": (1, 1_000_000),
        "actions_per_minute": (1, 10_000_000),
        "actions_burst": (1, 1_000_000),
        "open_actions_per_page": (1, 200),
        "surfaces_per_conversation": (1, 64),
        "surface_events_per_minute": (1, 100_000),
        # One event must fit.
        "surface_bytes_per_minute": (16_384, 1_073_741_824),
        "surface_events_bytes": (16_384, 1_073_741_824),
        "surface_events_ms": (60_000, 86_400_000),
        "waiting_per_session": (1, 100_000),
        "app_jobs": (1, 64),
        "app_queue": (1, 10_000),
        "app_start_ms": (500, 120_000),
        # A handler has a moment to say that it stopped before its call counts as lost.
        "app_kill_ms": (500, 60_000),
        "open_approvals_per_page": (1, 200),
        "ledger_rows": (1, 100_000_000),
        "ledger_open": (1, 100_000),
        "approval_ms": (500, 600_000),
        "call_ms": (500, 600_000),
        # A ticket is a bearer secret on its way through a browser.
        "ticket_ms": (1_000, 120_000),
        "standing_ms": (10_000, 900_000),
        "nonce_window_ms": (1_000, 900_000),
        "page_grace_ms": (100, 60_000),
        "result_ms": (1_000, 86_400_000),
        "taken_result_ms": (1_000, 86_400_000),
        "join_ms": (1_000, 600_000),
        # Keys of calls live 48 h; an older stamp could no longer be told from a replay.
        "call_age_ms": (1_000, 86_400_000),
        # A retry carries a stamp of at most 24 h, and its call may have ended a day after the stamp.
        "call_keep_ms": (2 * DAY_MS, 400 * DAY_MS),
        "minted_call_keep_ms": (3_600_000, 400 * DAY_MS),
        "grant_keep_ms": (DAY_MS, 400 * DAY_MS),
        "outbox_keep_ms": (3_600_000, 400 * DAY_MS),
        "dead_letter_keep_ms": (3_600_000, 400 * DAY_MS),
        "audit_keep_ms": (30 * DAY_MS, 4_000 * DAY_MS),
        "page_ping_ms": (500, 60_000),
        "listed_changes_ms": (100, 60_000),
    }
)
"""What each limit may be set to: never zero, never so large that another bound of the design would break."""

OUTBOX_BOUNDS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "attempts": (1, 100),
        "pause_ms": (100, 3_600_000),
        "pause_cap_ms": (100, DAY_MS),
    }
)
WEBHOOK_MS: Final = (100, 60_000)

DOCUMENT_BOUNDS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        # Above is no document of the language; below, few documents say anything.
        "max_bytes": (1_024, 262_144),
        "max_generations": (1, 2_048),
    }
)
INVOKE_ENTRIES: Final = 32
RESULT_FIELDS: Final = 32

KEYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        TOP: ("version", "server", "limits", "outbox", "sites", "agents", "rules", "apps", "documents"),
        SERVER: (
            "listen",
            "public_url",
            "hosts",
            "trusted_proxies",
            "origins",
            "builtins",
            "database",
            "metrics_listen",
            "otlp_endpoint",
            "log_level",
        ),
        LIMITS: tuple(BOUNDS),
        OUTBOX: ("webhook", "include_results", *OUTBOX_BOUNDS),
        WEBHOOK: ("url", "secret_env", "timeout_ms"),
        SITE: (
            "address",
            "label",
            "origins",
            "users",
            "expose",
            "record_limit",
            "in_page_agent",
            "allow_automated_approval",
            "limits",
            "surfaces",
        ),
        SITE_LIMITS: LOWERED,
        SITE_SURFACES: ("bundles", "profile", "hashes", "agents"),
        SURFACES_OF: ("bundles", "profile", "hashes"),
        EXPOSED: ("id", "effect", "risk", "confirm"),
        IN_PAGE_AGENT: ("scope",),
        AGENT: ("label",),
        RULE: ("id", "agents", "users", "capabilities", "verdict", "tier"),
        APP: ("secrets", "internal_hosts"),
        APP_SECRET: ("env",),
        APPS: ("trusted_keys", "require_signature", "grants"),
        TRUSTED_KEY: ("name", "key"),
        DOCUMENTS: (*DOCUMENT_BOUNDS, "invoke"),
        INVOKE: ("target", "risk", "result_fields"),
    }
)
