"""The page of the runtime: every state, event, receipt, intent and reason, read from the code that uses them."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from capabilities.contract import CallModel, HandlerKind, Readiness
from gateway.domain import activations, approvals, calls, instances, mini_apps, operations, outbox, surfaces
from gateway.domain.activations import ACTIVATION_MS, FailureReason
from gateway.domain.app_sessions import EntryKind
from gateway.domain.calls import Entry, ReceiptStatus
from gateway.domain.errors import ErrorCode
from gateway.domain.instances import PAGE_GONE_MS
from gateway.domain.intents import HostIntent
from gateway.domain.operations import Carrier

_MACHINES: Final[Mapping[str, tuple[str, Mapping[Any, Mapping[Any, Any]]]]] = {
    "Installed app": ("What an administrator made of a package. An absent one has no row.", mini_apps.TRANSITIONS),
    "Instance": ("One running mini app in one conversation of one person.", instances.TRANSITIONS),
    "Activation": (
        f"One attempt to make an app ready for the calls that wait for it; it has {ACTIVATION_MS // 1000} s.",
        activations.TRANSITIONS,
    ),
    "Call": (
        "One request for one capability. A refused request has no row; what is `unknown` is never run again.",
        calls.TRANSITIONS,
    ),
    "Approval": ("One question to the person, answered at most once and used at most once.", approvals.TRANSITIONS),
    "Operation": (
        "Durable work with a deadline. `expired` and `unknown` are for work a handler carries.",
        operations.TRANSITIONS,
    ),
    "Surface": ("One surface that an agent shows on a page.", surfaces.TRANSITIONS),
    "Outbox entry": ("One fact for a consumer outside.", outbox.TRANSITIONS),
}

RECEIPTS: Final[Mapping[ReceiptStatus, str]] = {
    ReceiptStatus.ACCEPTED: "The call has its row. Nothing else is promised yet.",
    ReceiptStatus.STARTING: "Its mini app is being made ready; the call waits.",
    ReceiptStatus.ACTIVATION_READY: "The app takes calls; this one was let go.",
    ReceiptStatus.ACTIVATION_FAILED: "The app could not be made ready; `reason` says why. The call ends.",
    ReceiptStatus.ACTIVATION_CANCELLED: "The start was given up; `reason` says why. The call ends.",
    ReceiptStatus.STARTED: "The business of the call has begun.",
    ReceiptStatus.PROGRESS: "How far it is; told to who waits, and not kept.",
}

INTENTS: Final[Mapping[HostIntent, str]] = {
    HostIntent.FOREGROUNDED: "The person looks at it; what waited for that goes on.",
    HostIntent.BACKGROUNDED: "Its tab is hidden. Nothing is interrupted.",
    HostIntent.LEFT_WORKSPACE: "The person went elsewhere: the app's rule `leaving.left_workspace` applies.",
    HostIntent.CLOSED: "It is gone: the rule `leaving.closed` applies, and the instance is closed.",
    HostIntent.RESTORED: "Its frame is there again. Nothing follows.",
    HostIntent.LOCKED: "The screen was locked. Nothing is interrupted.",
}

REASONS: Final[Mapping[FailureReason, str]] = {
    FailureReason.TIMEOUT: "it was not ready in time",
    FailureReason.FOREGROUND_REFUSED: "the person did not let it come to the front",
    FailureReason.PAGE_NOT_CONNECTED: "there is no page to show it on",
    FailureReason.APP_FAILED: "its own start failed; the message says what it said",
    FailureReason.APP_CLOSED: "it was closed while it started",
    FailureReason.APP_WITHDRAWN: "it was turned off, removed or replaced by another package",
    FailureReason.NOBODY_WAITS: "no call waits for it any more",
    FailureReason.INTERRUPTED: "a call interrupted it",
}

ENTRIES: Final[Mapping[Entry, str]] = {
    Entry.AGENT_TOOL: "an agent's call, by MCP, the Surface protocol, LineUp or the in-page port",
    Entry.UI_ACTION: "what a mini app's frame or the person on the page asks for; it has no agent",
    Entry.HOST_INTENT: "what the person or the browser did to a frame; a fact and no call",
}

READINESS: Final[Mapping[Readiness, str]] = {
    Readiness.APP_READY: "the app has to take calls",
    Readiness.FOREGROUND_REQUIRED: "the person also has to look at it",
    Readiness.ACTIVATION_NOT_REQUIRED: "nothing; the call starts nothing and waits for nothing",
}

MODELS: Final[Mapping[CallModel, str]] = {
    CallModel.QUERY: "reads; no operation",
    CallModel.COMMAND: "one result",
    CallModel.INTERACTIVE: "may wait for the person",
    CallModel.OPERATION: "begins an operation, sends receipts, and has its result when that ends",
}

HANDLERS: Final[Mapping[HandlerKind, str]] = {
    HandlerKind.PAGE: "the page's own script",
    HandlerKind.MINIAPP_SDK: "a bundle in a sandboxed frame",
    HandlerKind.PYTHON: "the worker process of an installed app",
    HandlerKind.RUNTIME: "the gateway itself",
}

CARRIERS: Final[Mapping[Carrier, str]] = {
    Carrier.RUNTIME: "the row: it goes on through restarts, reloads and absences, and settles its call",
    Carrier.HANDLER: "a handler: the operation becomes what its call becomes",
}

RECORD: Final[Mapping[EntryKind, str]] = {
    EntryKind.CALL_STARTED: "the work of a call began",
    EntryKind.CALL_ENDED: "a call ended, in which state",
    EntryKind.UI_ACTION: "what the person did in the app",
}

CODES: Final = (
    ErrorCode.APP_ACTIVATION_FAILED,
    ErrorCode.APP_ACTIVATION_CANCELLED,
    ErrorCode.NOT_AVAILABLE,
    ErrorCode.NOT_DELIVERED,
    ErrorCode.HANDLER_ERROR,
    ErrorCode.OUTPUT_SCHEMA_VIOLATION,
    ErrorCode.DEADLINE_EXCEEDED,
    ErrorCode.OUTCOME_UNKNOWN,
    ErrorCode.CANCELLED,
    ErrorCode.UNSUPPORTED,
    ErrorCode.REVOKED,
)


def runtime_page(generated: str) -> str:
    """docs/reference/runtime.md."""
    lines = [
        generated,
        "",
        "# The runtime",
        "",
        "How mini apps are started, called, interrupted and ended: every state, and every word an agent or the trail may show.",
        "[Mini apps](mini-apps.md) says what an author declares; [codes](codes.md) lists all codes.",
        "",
        "## Three entries",
        "",
        "None can pose as another; each has its own checks and its own audit stream.",
        "",
        *_table("entry", ENTRIES),
        "",
        "## What a capability says of itself",
        "",
        *_table("readiness", READINESS),
        "",
        *_table("call model", MODELS),
        "",
        *_table("handler", HANDLERS),
        "",
        "## Activation",
        "",
        "There is one instance and one attempt at a time for each person, conversation and app.",
        "Calls that come meanwhile wait for the same attempt and go on in the order they came, each judged again.",
        "An attempt that fails answers every one of them, with the business answer its capability declares for that (`not_started`), or else with a code.",
        "A call that waits for the app does not wait for the front.",
        "",
        *_table("reason of a start that failed", REASONS),
        "",
        "A page may also say why a frame is not there; that word is then the reason.",
        "",
        "## Receipts",
        "",
        "A receipt is a fact of the protocol and no result. An agent reads `{call_id, app_scope, status, reason?, seq, at}`, and `ref` outside LineUp.",
        "Where a stronger one is written in the same commit, the weaker one is not: `started` stands for `activation_ready`.",
        "Asking again with the same `call_id` gives the newest receipt or the result, and adds nothing.",
        "",
        *_table("status", RECEIPTS),
        "",
        "## Operations",
        "",
        "An operation begins in the transaction that dispatches its call, and has one end.",
        "",
        *_table("carried by", CARRIERS),
        "",
        "## UI actions",
        "",
        "What a mini app's frame asks for is a call of the person, with no agent, no grant and no inventory behind it. It may name a tool of its own app, or a capability its own page declares; the site has to `expose` it and the page's ticket to cover it, also where an agent would need no page for it.",
        "",
        "- A frame that only shows (its bundle has no handlers) asks for nothing, and neither does one whose app was disabled or replaced, or for whose conversation no agent session is alive any more.",
        "- Rules are about agents: only one for every agent (`*`) speaks of it, and then it may forbid, ask and raise. A `permit` never lifts the ask of what a frame wants.",
        "- The dialog names the mini app. A denial holds for that frame, for 10 minutes, unless the person lifts it on the badge.",
        "- The frame's own name of a request is its key: said again, it is the same call, and with other arguments it is a `call_id_conflict`. Two frames may use one name.",
        "- Receipts go to the frame while it waits, and then the output or a code. A page that goes away leaves the call an orphan for 30 s, as an agent does; the frame's end ends what was not handed out.",
        "- No agent is told of it, and to agents its ref is the name of no call.",
        "- `actions_per_minute`, `actions_burst` and `open_actions_per_page` bound it; refusals for the rate are counted, not listed.",
        "",
        "## Host intents",
        "",
        f"A page that stays away {PAGE_GONE_MS // 1000} s counts as `closed`; one that was reloaded does not.",
        "",
        *_table("intent", INTENTS),
        "",
        "## The record of an app session",
        "",
        "It begins with the first work, not with the start of the app.",
        "",
        *_table("line", RECORD),
        "",
        "## States",
        "",
    ]
    for name, (what, table) in _MACHINES.items():
        lines += [f"### {name}", "", what, "", "| from | event | to |", "|---|---|---|"]
        for state, events in table.items():
            lines += [f"| `{state}` | `{event}` | `{target}` |" for event, target in events.items()]
            lines += [f"| `{state}` | – | – |"] if not events else []
        lines.append("")
    lines += ["## Codes of calls of mini apps", "", "| code | retry as it is |", "|---|---|"]
    lines += [f"| `{code.wire}` | {'yes' if code.retryable else 'no'} |" for code in CODES]
    return "\n".join(lines) + "\n"


def _table(head: str, words: Mapping[Any, str]) -> Iterable[str]:
    return [f"| {head} | means |", "|---|---|", *(f"| `{_word(word)}` | {means} |" for word, means in words.items())]


def _word(word: StrEnum) -> str:
    return word.value
