"""Write the pages of docs/ that say what the code already says: codes, events, metrics, commands, diagrams, admin API.

Usage: `python scripts/docs.py` writes them, `python scripts/docs.py --check` only compares and ends with 1 and a
diff where one is out of date. Words that no table of the code holds stand here, keyed by the code's own names.
"""

import ast
import difflib
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import typer
from document_page import document_page
from runtime_page import runtime_page

from gateway.adapters.configuration.keys import BOUNDS
from gateway.cli import app
from gateway.domain import approvals, calls, mini_apps, workers
from gateway.domain.audit import AuditEvent, Stream
from gateway.domain.errors import ErrorCode
from gateway.protocol.lineup.words import REFUSALS as LINEUP
from gateway.protocol.surface import REFUSED_IN_RESULT, SPELLINGS
from gateway.runtime.telemetry.names import METRICS
from gateway.settings import READ_AT_START, Limits
from gateway.transports import admin_http
from gateway.transports.agents_mcp.refusals import TOLD
from gateway.transports.errors import STATUSES
from gateway.transports.lineup.openapi import document as lineup_document
from gateway.transports.page_ws.results import CODES, REFUSALS
from gateway.transports.surface_http.openapi import document as surface_document
from scripts import documents, lineup_page
from surface_host.documents.codes import DocumentCode

ROOT: Final = Path(__file__).resolve().parent.parent
DOCS: Final = ROOT / "docs"

GENERATED: Final = "<!-- Written by scripts/docs.py; do not edit. -->"

# ---- codes ------------------------------------------------------------------------------------------------------

AREAS: Final = {
    "request": "The request itself",
    "identity": "Who asks",
    "inventory": "What there is",
    "policy": "What is allowed",
    "replay": "Calls that were made before",
    "approval": "What the person said",
    "execution": "What became of the work",
    "document": "What is wrong with a document",
    "surface": "What a bundle may be",
    "admin": "At the admin API alone",
}

_C = ErrorCode

MEANINGS: Final[Mapping[ErrorCode, str]] = {
    _C.BAD_JSON: "The text is not JSON, or JSON that two readers could understand differently, such as a repeated key.",
    _C.BAD_REQUEST: "The shape is wrong: a field is missing, unknown or of another type.",
    _C.PROTOCOL_UNSUPPORTED: "The protocol or version is not spoken here; the answer lists those that are.",
    _C.STORE_UNAVAILABLE: "The database did not take the change; nothing was kept.",
    _C.BODY_TOO_LARGE: "The body, frame or arguments are larger than the limit.",
    _C.ENCODING_UNSUPPORTED: "The body is compressed; send it as it is.",
    _C.TOO_SLOW: "The body did not arrive in time.",
    _C.ARGUMENTS_INVALID: "The arguments do not fit the schema, or the page's own check refused them.",
    _C.UNSAFE_INTEGER: "A number cannot be carried unchanged: an integer beyond 2^53 - 1 or a number that is not finite.",
    _C.TOO_DEEP: "The value is nested deeper than the limit.",
    _C.RATE_LIMITED: "The agent made too many calls, or its address too many requests; the answer says how long to wait.",
    _C.BUSY: "The queue of the store is full, a count such as pages of a user, questions on a page or waiting requests of a session is at its cap, or the gateway is shutting down.",
    _C.UNAUTHENTICATED: "There is no credential, or one that is not known or not valid any more.",
    _C.WRONG_DOOR: "The credential is of a kind that another door takes.",
    _C.ORIGIN_REFUSED: "The origin is missing where it is needed, or is not one of the site's.",
    _C.HOST_REFUSED: "The `Host` header is not a name the gateway answers to; see `server.hosts`.",
    _C.TICKET_USED: "The page ticket was used before; fetch a new one.",
    _C.SESSION_REVOKED: "The agent session was revoked.",
    _C.SESSION_EXPIRED: "The agent session has expired.",
    _C.UNKNOWN_CONVERSATION: "The session has no such conversation; one of somebody else gets the same answer.",
    _C.SENDER_REFUSED: "The sender of the message is not the agent the token belongs to.",
    _C.UNKNOWN_CAPABILITY: "This session knows no such capability; one that exists elsewhere gets the same answer.",
    _C.STALE_INVENTORY: "The capability changed since it was listed; read the new description, then decide.",
    _C.REVOKED: "The capability was there and is no longer offered to this session.",
    _C.UNSUPPORTED: "This door does not offer that, such as an in-page client on a site that allows none.",
    _C.PAGE_NOT_CONNECTED: "It needs a page that is not open now; the answer may name the address to open.",
    _C.AMBIGUOUS_PAGE: "Several pages offer it; name one, or let the person pin one. The answer lists them.",
    _C.ID_RESERVED: "A page registered an id whose first segment belongs to the gateway.",
    _C.ID_INVALID: "A page registered an id that breaks the grammar.",
    _C.SCHEMA_REFUSED: "A declared schema is too deep, refers outside itself, or is not a schema.",
    _C.FORBIDDEN: "Policy forbids it, or an approval was given where it cannot count.",
    _C.POLICY_CHANGED: "The decision changed after the call was accepted; nothing ran.",
    _C.POLICY_ERROR: "A rule could not be evaluated, which forbids. Reserved: an evaluation error now shows as a call that is not offered.",
    _C.UNKNOWN_CALL: "No call of this caller has that name.",
    _C.CALL_ID_CONFLICT: "The call_id was used for another request; use a new one.",
    _C.CALL_TOO_OLD: "The request, or the stamp of its transmission, is older than what is accepted.",
    _C.CLOCK_SKEW: "The stamp of the transmission lies in the future; check the clock.",
    _C.LEDGER_FULL: "The ledger is at its cap; nothing is evicted to make room.",
    _C.REPLAY_DETECTED: "This very transmission, or this very decision, came before.",
    _C.RESULT_ERASED: "The call succeeded and its result is no longer kept.",
    _C.DENIED: "The person said no, now or to this same request within the last ten minutes.",
    _C.APPROVAL_EXPIRED: "Nobody answered in time.",
    _C.APPROVAL_LAPSED: "It was approved, and could not be handed out soon enough for the approval to hold.",
    _C.APPROVAL_UNAVAILABLE: "Nobody can be asked: no page of the user is open, or the tier does not exist yet.",
    _C.AGENT_PAUSED: "The agent is paused on this page. Reserved; nothing pauses an agent yet.",
    _C.AGENT_LEFT: "A click came after the caller had hung up; nothing ran.",
    _C.NOT_AVAILABLE: "The page or built-in cannot do it now, and did not run it.",
    _C.NOT_DELIVERED: "The request never reached the page; nothing ran.",
    _C.HANDLER_ERROR: "The action ran and failed, or what it gave back cannot be carried.",
    _C.OUTPUT_SCHEMA_VIOLATION: "The action's output breaks its declared schema; the output goes nowhere.",
    _C.DEADLINE_EXCEEDED: "It waited too long to start, or did not answer in time; in the latter case the state is `unknown`.",
    _C.OUTCOME_UNKNOWN: "Whether it ran cannot be known; it is not run again. Look at the page before you ask anew.",
    _C.CANCELLED: "It was cancelled before it ran, or stopped when asked to.",
    _C.APP_ACTIVATION_FAILED: "What it needs did not start or come to the foreground in time.",
    _C.APP_ACTIVATION_CANCELLED: "Its start was cancelled. Reserved for mini apps.",
    _C.SURFACE_TOO_LARGE: "The html, css and js of a bundle are more than 160 KiB, or its tags are not closed.",
    _C.SURFACE_NOT_TEXT: "A part of a bundle is no text that can be carried: it holds half of a surrogate pair.",
    _C.SURFACE_ELEMENT: "The html of a bundle has an element that is not for surfaces; the message names it.",
    _C.SURFACE_ATTRIBUTE: "The html of a bundle has an attribute that is not for surfaces, or not for the strict profile; the message names it.",
    _C.SURFACE_REMOTE: "The html or css of a bundle loads something from elsewhere; use `data:` addresses.",
    _C.SURFACE_ENDS_EARLY: "The css or js of a bundle holds what would end its own element.",
    _C.SURFACE_INTEGRITY: "The bundle is not the one its `integrity` names.",
    _C.SURFACE_NOT_ALLOWED: "The site takes no such bundle from this agent: it is not on the list, or not signed. The message names its integrity.",
    _C.SURFACE_BAD_SIGNATURE: "The signature of a bundle is not by a trusted key, or not over this bundle.",
    _C.SURFACE_ID_TAKEN: "An installed mini app has the id of the bundle; name one of its surfaces, or use another id.",
    _C.SURFACE_VERSION_TAKEN: "This conversation showed another bundle under the same id and version; give it a version of its own.",
    _C.NOT_FOUND: "Nothing has that name, or there is no such path.",
    _C.METHOD_NOT_ALLOWED: "The path is there and takes other methods; `Allow` lists them.",
    _C.DECLARED_IN_FILE: "`ostiary.yaml` declares it; edit the file and reload.",
    _C.SCOPE_MISSING: "The admin token is good, and has no scope for this; the answer names those that would do.",
    _C.CONFIGURATION_REFUSED: "The configuration file is refused; the answer lists line, key, problem and hint.",
    _C.KEY_REUSED: "The `Idempotency-Key` came before with another request; use a new one.",
    _C.PRECONDITION_FAILED: "It has changed since the version `If-Match` names; read it again.",
    _C.PRECONDITION_REQUIRED: "This change needs `If-Match` with the `ETag` you decided by.",
    _C.STATE_CONFLICT: "Its state has no place for that, such as cancelling a call that has ended.",
    **{_C(code.value): f"{code.means[:1].upper()}{code.means[1:]}." for code in DocumentCode},
    _C.DOCUMENT_FULL: "As many documents are open as `documents.max_generations` allows; nothing is evicted, so let one end.",
    _C.DOCUMENT_NOT_CURRENT: "The document is not open, or not in the revision that was named.",
    _C.DOCUMENT_INCOMPLETE: "An action leaves the page only once its document is complete.",
    _C.PACKAGE_REFUSED: "The package of a mini app is damaged, not signed as the configuration demands, or claims ids of another app.",
}
"""What a code tells its reader, and what to do where that is not plain."""


def _is_admin(code: ErrorCode) -> bool:
    return code.value.startswith("admin.")


def _mcp(code: ErrorCode) -> str:
    if _is_admin(code):
        return "–"
    status, rpc = TOLD[code]
    return "tool result" if rpc is None else f"HTTP {status}, JSON-RPC {rpc}"


def _surface(code: ErrorCode) -> str:
    if _is_admin(code):
        return "–"
    return f"`{SPELLINGS[code]}`" + (" in `result`" if code in REFUSED_IN_RESULT else "")


def _lineup(code: ErrorCode) -> str:
    if _is_admin(code):
        return "–"
    status = LINEUP[code]
    return "HTTP" if status is None else f"`{status.value}`"


def codes_page() -> str:
    """docs/reference/codes.md."""
    return "\n".join([*_codes_head(), *_codes_tables(), *_codes_of_pages()]) + "\n"


def _codes_head() -> Iterator[str]:
    yield from (
        GENERATED,
        "",
        "# Codes",
        "",
        "Every refusal and every failed call has one code.",
        "Inside the gateway it is written `area.reason`; on the wire it is the spelling in the first column, on every door except the surface protocol, which has a column of its own.",
        "A message goes with it, for people; programs read the code.",
        "",
        "- **Retry**: the same request, sent again later, may succeed without anybody changing anything.",
        "- **HTTP**: the status where the refusal is the whole answer, at `/surface/v1`, `/v1/host-tokens`, `/admin/v1`, the page channel's handshake and the files.",
        "- **Surface**: the spelling in [`pling.surface/0.1`](../spec/surface-protocol.md).",
        "  `in result` means `ok: true` with `result.error`, because the action, a person or policy answered; the others are `ok: false`.",
        "  A call that was accepted and then failed is always told in `result.error`.",
        "  Beside `PERMISSION_DENIED` the field `reason` holds the first column.",
        "- **LineUp**: the `status` of the message a refused call is answered with over [`lineup.v1`](lineup-v1.md), with the first column in `error.code`; `HTTP` where there was no call to speak of.",
        "- **MCP**: how a refusal at the door of `/mcp` is told.",
        "  A tool result has `isError: true` and an object `{code, message, retryable, ref?}`.",
        "  Once a `tools/call` was read, every code is told as a tool result; only a tool name this session was never shown is JSON-RPC -32602.",
        "",
    )


def _codes_tables() -> Iterator[str]:
    for area, title in AREAS.items():
        yield from (
            f"## {title}: `{area}`",
            "",
            "| code | means | retry | HTTP | Surface | LineUp | MCP |",
            "|---|---|---|---|---|---|---|",
        )
        for code in ErrorCode:
            if code.value.partition(".")[0] == area:
                retry = "yes" if code.retryable else ""
                yield f"| `{code.wire}` | {MEANINGS[code]} | {retry} | {STATUSES[code]} | {_surface(code)} | {_lineup(code)} | {_mcp(code)} |"
        yield ""


def _codes_of_pages() -> Iterator[str]:
    yield from (
        "## What a page says, and what its caller reads",
        "",
        "A page has words of its own on [its channel](../spec/page-channel.md); the gateway translates them.",
        "",
        "| a page's frame | word | code |",
        "|---|---|---|",
    )
    for word, code in REFUSALS.items():
        yield f"| `refused` | `{word}` | `{code.wire}` |"
    for word, code in CODES.items():
        yield f"| `result` with `ok: false` | `{word}` | `{code.wire}` |"
    yield from (
        "",
        "The codes in `refused` are those of a question (`approve_request`) the page would not put.",
        "Work that was handed out and that the page refuses to run is `not_available` where the table says so, and `not_delivered` otherwise: nothing ran either way.",
    )


# ---- audit events -----------------------------------------------------------------------------------------------

FACTS: Final[Mapping[str, str]] = {
    "activation": "an attempt to make a mini app ready",
    "admin_token": "the id of an admin token",
    "activations": "how many ended attempts to make a mini app ready were forgotten",
    "admin_tokens": "how many admin tokens were forgotten or ended",
    "agent": "the agent's name in the configuration; absent where no agent is involved",
    "app": "the id of a mini app",
    "approval": "the gateway's name of the approval",
    "app_sessions": "how many ended app sessions were forgotten, with their records and what the apps kept there",
    "apps": "how many mini apps a restore disabled",
    "arguments": "keyed digest of the arguments (HMAC-SHA-256 with the installation's key, 16 bytes)",
    "attempts": "how often it was tried",
    "audit_records": "how many audit records were forgotten",
    "by": "who did it: `local:<user of the operating system>`, `user:<user>` from the badge, `admin:<name of the admin token>@<address>`, `in-page`, `signal`, `demo`, `retention`",
    "calls": "how many calls were forgotten that their callers had named",
    "call_id": "the caller's key of the call, or the ref where the gateway made one",
    "cancelled": "how many calls a restore found not handed out yet",
    "capabilities": "the patterns a service key covers",
    "capability": "a capability id, as asked",
    "carrier": "who does the work of an operation: `runtime` or `handler`",
    "cause": "what ended an operation: `deadline`, a host intent, or the capability that interrupted it",
    "code": "the wire spelling of a [code](codes.md)",
    "configuration": "the revision of the configuration file in force",
    "conversation": "the conversation a mini app runs in",
    "digest": "the first 32 hex digits of the digest of a mini app's package",
    "door": "`mcp`, `surface`, `lineup`, `host_tokens`, `page`, `in_page`, `assets`, `admin` or `well_known`; `elsewhere` for an address no door has, `connection` before there is a request",
    "conversations": "how many empty logs of conversations were forgotten",
    "dead_letters": "how many outbox entries were forgotten that had been given up",
    "entry": "the id of an outbox entry, which is that of its event",
    "epoch": "which document of the page session, counted from 1",
    "expires_at": "the end, in milliseconds since 1970",
    "fingerprint": "the first 16 hex digits of the capability fingerprint",
    "further": "how many refusals came after those that were written singly",
    "goal": "what an activation is after: `app` or `foreground`",
    "instance": "one running mini app; of a call, the one, or the document, in which a person asked for it; of a surface, its agent's name of it",
    "instances": "how many closed instances of mini apps were forgotten",
    "intent": "what the person or the browser did to a mini app's frame",
    "kept": "the revision that stays in force",
    "key": "the id of a service key",
    "keys": "how many service keys were forgotten or ended",
    "late": "true where the result came after the call was `unknown`",
    "lifted": "how many remembered denials were lifted",
    "minted_calls": "how many other calls were forgotten",
    "name": "the name of an admin token",
    "operation": "durable work with a deadline",
    "origin": "the origin of the page or request",
    "outbox": "how many outbox entries were forgotten that had been delivered",
    "page": "a page session",
    "pages": "how many page sessions were forgotten or ended",
    "peer": "the address of the other end, the page session whose frame it was, or `others`",
    "permissions": "what a mini app is granted from now on",
    "places": "file, line and column of each problem",
    "pointer": "JSON pointer to the refused part",
    "closed_with": "the close code of a WebSocket that was closed for what came over it",
    "policy": "the revision of the configuration the call was decided by",
    "reason": "what a refusal adds to its code, or what an administrator noted",
    "ref": "the gateway's name of the call",
    "rows": "how many rows were copied, of all tables together",
    "signed_by": "the name of the trusted key that signed a package, absent where none did",
    "scope": "the patterns a session may use, or the scopes of an admin token",
    "session": "the agent session",
    "sessions": "how many agent sessions were forgotten or ended",
    "shown": "the first 32 hex digits of the approval digest: what was on the screen",
    "site": "a site's name",
    "sites": "the sites a session reaches",
    "surface": "a surface that an agent shows, by the gateway's name of it",
    "item": "a standard component that an agent shows, by the gateway's name of it",
    "kind": "which standard component",
    "document": "a document that an agent shows, by its generation",
    "revision": "which snapshot of a document",
    "seq": "the number of a frame of a document",
    "state": "the state of the call or approval after this",
    "tickets": "how many page tickets were ended",
    "traceparent": "the place in a trace the request belongs to, where it named one or the gateway makes spans",
    "type": "the type of an event in the outbox",
    "unknown": "how many calls a start or a restore found handed out and unanswered",
    "target": "the host with its port, or the name of a secret, that was asked for",
    "version": "the version of a mini app",
    "was": "the version there was before",
    "what": "method and path of a request to the admin API, with the names of placeholders instead of what stood there; of a handler, `http` or `secret`",
    "user": "the user the agent acts for, or whose page it is",
}
"""Every fact a record may hold."""

CALL: Final = (
    "ref agent user session instance call_id capability fingerprint arguments state code site page epoch approval policy"
    " traceparent"
)
APPROVAL: Final = "approval ref agent user capability arguments shown page epoch state traceparent"
PAGE: Final = "page epoch site user origin"
DOOR: Final = "door peer code"

ACTIVATION: Final = "activation instance app user conversation goal state reason"
ITEM: Final = "item instance kind agent user session conversation site page state reason"
DOCUMENT: Final = "document digest revision agent user session conversation site state reason"
SURFACE: Final = "surface instance app digest agent user session conversation site page state reason"
INSTANCE: Final = "instance app digest user conversation site page state reason"
OPERATION: Final = "operation ref app user conversation carrier state cause"

ENTRY: Final = "the call's entry"
"""The stream of the door a call came in by."""


@dataclass(frozen=True, slots=True)
class Event:
    """When it is written, in which stream, with which facts at most."""

    when: str
    stream: str
    facts: str


_A = AuditEvent
_AGENT, _INTENT = Stream.AGENT_TOOL.value, Stream.HOST_INTENT.value
_ADMIN, _IDENTITY, _UI = Stream.ADMIN.value, Stream.IDENTITY.value, Stream.UI_ACTION.value

EVENTS: Final[Mapping[AuditEvent, Event]] = {
    _A.CALL_REFUSED: Event(
        "A request was not accepted; there is no ledger row.",
        ENTRY,
        "agent user session page instance peer call_id capability arguments code reason traceparent",
    ),
    _A.CALL_ADMITTED: Event("A request became a call.", ENTRY, CALL),
    _A.CALL_REPLAYED: Event("A request found the call it had become before; nothing ran again.", ENTRY, CALL),
    _A.CALL_DISPATCHED: Event("The call was handed to its one executor.", ENTRY, CALL),
    _A.CALL_ENDED: Event("The call reached a terminal state.", ENTRY, f"{CALL} late reason cause"),
    _A.CALL_LOST: Event("No answer can be expected any more: the call is `unknown`.", ENTRY, CALL),
    _A.CALL_ORPHANED: Event("The last waiter hung up before the call was handed out.", ENTRY, CALL),
    _A.CALL_REARMED: Event("A caller of an orphaned call came back in time.", ENTRY, CALL),
    _A.CALL_CANCEL_REQUESTED: Event(
        "The caller wants work stopped that was handed out already; or an administrator (`by`) wants a call ended.",
        ENTRY,
        f"{CALL} by",
    ),
    _A.CALL_RECONCILED: Event(
        "An administrator settled an `unknown` call by what was found out elsewhere; nothing ran.",
        ENTRY,
        f"{CALL} by reason",
    ),
    _A.CALL_RESULT_DROPPED: Event("An answer came that the state of the call has no place for.", ENTRY, CALL),
    _A.APPROVAL_OPENED: Event("A question was put to the person.", ENTRY, APPROVAL),
    _A.APPROVAL_DECIDED: Event("The person approved or denied; `state` says which.", ENTRY, APPROVAL),
    _A.APPROVAL_REFUSED: Event(
        "A decision did not count: wrong page, nonce or digest, not visible, automated, too late, or twice."
        " Where no such approval is known to that page, the record is about the page, in the stream `identity`.",
        f"{ENTRY}, {_IDENTITY}",
        f"{APPROVAL} code site origin",
    ),
    _A.APPROVAL_EXPIRED: Event("Nobody answered in time.", ENTRY, APPROVAL),
    _A.APPROVAL_WITHDRAWN: Event(
        "The question was taken back, because its call ended otherwise or a decision changed.", ENTRY, APPROVAL
    ),
    _A.APPROVAL_CONSUMED: Event("The approval was used up by the dispatch of its call.", ENTRY, APPROVAL),
    _A.APPROVAL_LAPSED: Event("An approval was not used within its time.", ENTRY, APPROVAL),
    _A.DENIAL_LIFTED: Event(
        "The person allowed an agent, or their mini apps, to ask again.", _UI, f"{PAGE} capability agent lifted"
    ),
    _A.ACTIVATION_STARTED: Event("A call needs its mini app ready; the attempt began.", ENTRY, f"{ACTIVATION} ref"),
    _A.ACTIVATION_REACHED: Event("The app is as the attempt wanted it.", _AGENT, ACTIVATION),
    _A.ACTIVATION_FAILED: Event("The attempt failed; what waited for it was answered.", _AGENT, ACTIVATION),
    _A.ACTIVATION_CANCELLED: Event(
        "The attempt was given up: interrupted, or nobody waited for it any more.", _AGENT, ACTIVATION
    ),
    _A.INSTANCE_OPENED: Event("A mini app is being started.", _AGENT, INSTANCE),
    _A.INSTANCE_CLOSED: Event("A running mini app was taken down.", _AGENT, INSTANCE),
    _A.OPERATION_STARTED: Event("Durable work began.", ENTRY, OPERATION),
    _A.OPERATION_ENDED: Event("Durable work reached its one end, or was lost.", ENTRY, OPERATION),
    _A.SURFACE_OPENED: Event("An agent shows a surface on a page.", _AGENT, f"{SURFACE} ref"),
    _A.SURFACE_CLOSED: Event("A surface is shown no more; `reason` says why.", _AGENT, SURFACE),
    _A.ITEM_SHOWN: Event("An agent shows a standard component in the panel of a page.", _AGENT, f"{ITEM} ref"),
    _A.ITEM_ANSWERED: Event("The person answered one.", "ui_action", ITEM),
    _A.ITEM_CLOSED: Event("One is shown no more; `reason` says why.", _AGENT, ITEM),
    _A.GENUI_DROPPED: Event(
        "What a handler said of how its answer looks is no legal description; the result stands.", ENTRY, CALL
    ),
    _A.DOCUMENT_OPENED: Event("An agent shows a document to a person on a site.", _AGENT, f"{DOCUMENT} ref"),
    _A.DOCUMENT_CHANGED: Event(
        "A frame of a document was taken: another revision, or its end.", _AGENT, f"{DOCUMENT} ref seq"
    ),
    _A.DOCUMENT_CLOSED: Event("A document is shown no more; `reason` says why.", _AGENT, DOCUMENT),
    _A.INTENT_REPORTED: Event(
        "A page told what the person or the browser did to the frame of a mini app or of a surface.",
        _INTENT,
        f"{INSTANCE} surface agent session intent",
    ),
    _A.INTENT_REFUSED: Event(
        "A page told of a frame that is not its own; nothing followed.", _INTENT, f"{PAGE} instance intent"
    ),
    _A.CONTEXT_DESCRIBED: Event("An agent was given the records a page shows.", _IDENTITY, f"{PAGE} agent session"),
    _A.PAGE_CONNECTED: Event("A new page session began.", _IDENTITY, PAGE),
    _A.PAGE_REPLACED: Event(
        "A document continued a page session: after a reload, or the same one after a break.", _IDENTITY, PAGE
    ),
    _A.PAGE_REFUSED: Event("A page was not let in, or its new ticket was refused.", _IDENTITY, f"site origin {DOOR}"),
    _A.PAGE_SLOWED: Event("A page spoke faster than it may; it is read more slowly.", _IDENTITY, DOOR),
    _A.PAGE_PINNED: Event("The person chose the page agents work on.", _UI, PAGE),
    _A.PAGE_UNPINNED: Event("The person took that choice back.", _UI, PAGE),
    _A.CAPABILITY_REFUSED: Event(
        "One declaration of a page was refused, or withdrawn because a mini app that was installed has its id; its siblings stand.",
        _IDENTITY,
        f"{DOOR} capability pointer",
    ),
    _A.FRAME_REFUSED: Event(
        "A frame of a page was refused; the socket stays open, unless `closed_with` names its close code.",
        _IDENTITY,
        f"{DOOR} pointer closed_with",
    ),
    _A.TICKET_MINTED: Event("A site's backend got a page ticket.", _IDENTITY, "site key user origin"),
    _A.TICKET_REFUSED: Event("A site's backend asked for a ticket it may not have.", _IDENTITY, "site key code"),
    _A.ACCESS_REFUSED: Event("A door stayed shut.", _IDENTITY, f"{DOOR} origin agent session"),
    _A.ACCESS_REFUSALS_COUNTED: Event(
        "What came after the first 20 refusals of one peer, code, door and minute.", _IDENTITY, f"{DOOR} further"
    ),
    _A.SESSION_ADDED: Event(
        "An agent session was made, by an administrator or for an in-page client.",
        _ADMIN,
        "session agent user sites scope expires_at by",
    ),
    _A.SESSION_REVOKED: Event("An agent session was ended before its time.", _ADMIN, "session agent user by"),
    _A.KEY_ADDED: Event("A site's backend got a service key.", _ADMIN, "key site capabilities expires_at by"),
    _A.KEY_REVOKED: Event("A service key was ended.", _ADMIN, "key site by"),
    _A.ADMIN_TOKEN_ADDED: Event("A token of the admin API was made.", _ADMIN, "admin_token name scope expires_at by"),
    _A.ADMIN_TOKEN_REVOKED: Event("A token of the admin API was ended.", _ADMIN, "admin_token name by"),
    _A.ADMIN_REFUSED: Event(
        "The admin API refused a request of somebody it knows; each leaves one record, whatever it was for.",
        _ADMIN,
        "by what code",
    ),
    _A.HANDLER_REFUSED: Event(
        "A handler of a mini app asked for a host or a secret it may not have.", _IDENTITY, "app ref what target code"
    ),
    _A.APP_INSTALLED: Event("A mini app was installed, disabled.", _ADMIN, "app version digest signed_by by"),
    _A.APP_ENABLED: Event(
        "Agents may use a mini app from now on, or its permissions were changed.",
        _ADMIN,
        "app version permissions by",
    ),
    _A.APP_DISABLED: Event("No agent may use a mini app any more.", _ADMIN, "app version by"),
    _A.APP_UPGRADED: Event(
        "A later version took the place of the one there was.",
        _ADMIN,
        "app version was digest signed_by permissions by",
    ),
    _A.APP_ROLLED_BACK: Event(
        "An earlier version that was kept took the place of the one there was.",
        _ADMIN,
        "app version was digest permissions by",
    ),
    _A.APP_REMOVED: Event("A mini app was removed with its versions and files.", _ADMIN, "app version by"),
    _A.APP_REFUSED: Event(
        "A package was refused when somebody wanted it installed, or an installed one when it was to be enabled;"
        " what there was goes on. `reason` is `broken`, `changed`, `unreadable`, `claimed`, `surface`, `unsigned`,"
        " `unknown_key` or `bad_signature`.",
        _ADMIN,
        "app digest reason by",
    ),
    _A.APP_FOUND_BROKEN: Event(
        "At a start the files of a mini app were not those that were installed, or must not run any more;"
        " it stays installed and is `not_available`.",
        _ADMIN,
        "app version digest reason",
    ),
    _A.RETENTION_APPLIED: Event(
        "What was older than the configuration keeps was forgotten; one record for each run that forgot history.",
        _ADMIN,
        "by calls minted_calls activations instances app_sessions sessions conversations keys admin_tokens pages"
        " outbox dead_letters audit_records",
    ),
    _A.OUTBOX_GIVEN_UP: Event(
        "An outbox entry used up its attempts; it is kept as a dead letter.", _ADMIN, "entry type attempts reason"
    ),
    _A.OUTBOX_REQUEUED: Event("An administrator put a dead letter back in line.", _ADMIN, "entry type by"),
    _A.OUTBOX_EMISSION_REFUSED: Event(
        "A handler emitted an event after its call was over or its time was up; it is not sent.",
        _ADMIN,
        "app ref type reason",
    ),
    _A.CONFIGURATION_LOADED: Event("A reload took a changed file over.", _ADMIN, "configuration by"),
    _A.CONFIGURATION_REFUSED: Event("A reload refused a file; the old one stays in force.", _ADMIN, "places kept by"),
    _A.GATEWAY_STARTED: Event(
        "The gateway started and applied the rules of a restart.", _ADMIN, "unknown configuration"
    ),
    _A.GATEWAY_BACKED_UP: Event("A copy of the database was written.", _ADMIN, "by"),
    _A.GATEWAY_RESTORED: Event(
        "The database is one of an earlier day; whatever of the past could happen again was ended.",
        _ADMIN,
        "by unknown cancelled pages tickets sessions keys admin_tokens apps",
    ),
    _A.GATEWAY_STOPPED: Event("The gateway stopped in good order.", _ADMIN, ""),
    _A.STORE_MIGRATED: Event(
        "Everything up to here was copied from SQLite into this PostgreSQL database.", _ADMIN, "by rows"
    ),
}
"""Every event, in the words of somebody who reads the trail."""


def events_page() -> str:
    """docs/reference/audit-events.md."""
    lines = [
        GENERATED,
        "",
        "# Audit events",
        "",
        "One record for each refusal, acceptance, step of an approval, dispatch, result and change of configuration.",
        "It is written in the transaction of what it tells: where the record cannot be written, nothing happens.",
        "A record holds names, digests, counts and times, and never arguments, results or credentials.",
        "`ostiary audit tail` prints records, `ostiary audit verify` recomputes the chains.",
        "",
        "## Streams",
        "",
        f"There are {len(Stream)} chains that stay apart: {', '.join(f'`{stream.value}`' for stream in Stream)}.",
        "The first three are the three entries; `ui_action` also holds what the person does on the badge, and what a page asked for a frame that is not its own.",
        "A record is `{stream, seq, event, at, facts}` in canonical JSON, and its hash is SHA-256 over the hash before it and that text.",
        "",
        "## Events",
        "",
        "The last column lists the facts a record may hold; those that do not apply are left out.",
        "",
        "| event | when | stream | facts |",
        "|---|---|---|---|",
    ]
    for event, told in EVENTS.items():
        facts = " ".join(f"`{fact}`" for fact in told.facts.split()) or "none"
        lines.append(f"| `{event.value}` | {told.when} | {told.stream} | {facts} |")
    lines += ["", "## Facts", "", "| fact | means |", "|---|---|"]
    lines += [f"| `{fact}` | {meaning} |" for fact, meaning in FACTS.items()]
    return "\n".join(lines) + "\n"


# ---- metrics ----------------------------------------------------------------------------------------------------


def metrics_page() -> str:
    """docs/reference/metrics.md."""
    lines = [
        GENERATED,
        "",
        "# Metrics",
        "",
        "`GET /metrics` on `server.metrics_listen`, in the text format of Prometheus; [Watch a gateway](../how-to/observe.md) says what to look at.",
        "Every label has a closed set of values, and one that is not in it is told as `other`; no label names a user, a session or a capability.",
        "Beside these there are the `process_*` metrics of the client library.",
        "",
        "| metric | type | means |",
        "|---|---|---|",
    ]
    lines += [f"| `{metric.name}` | {metric.kind} | {metric.help} |" for metric in METRICS]
    lines += ["", "## Labels", "", "| metric | label | values |", "|---|---|---|"]
    for metric in METRICS:
        for label, values in metric.labels:
            lines.append(f"| `{metric.name}` | `{label}` | {_values_of(values)} |")
    lines += ["", "## Buckets", "", "Upper bounds in seconds.", "", "| metric | buckets |", "|---|---|"]
    lines += [f"| `{m.name}` | {' '.join(f'{bound:g}' for bound in m.buckets)} |" for m in METRICS if m.buckets]
    return "\n".join(lines) + "\n"


def _values_of(values: frozenset[str]) -> str:
    if values >= {code.wire for code in ErrorCode}:
        return "a [code](codes.md)"
    if all(value.isdecimal() for value in values):
        return "an HTTP status; 499 where the client left first"
    return " ".join(f"`{value}`" if value else "none" for value in sorted(values))


# ---- commands ---------------------------------------------------------------------------------------------------


def cli_page() -> str:
    """docs/reference/cli.md."""
    root: Any = typer.main.get_command(app)
    lines = [
        GENERATED,
        "",
        "# Commands",
        "",
        root.help,
        "",
        "`serve`, `init`, `check`, `connect`, `demo` and `app new|build|check|pack` stand alone; the others ask the running gateway over its control socket.",
        "Where no gateway runs they take its lock and open the database themselves, `reload` excepted.",
        "A command that fails says why on standard error and ends with 1; wrong usage ends with 2.",
        "With `--json` the answer is JSON on standard output; advice goes to standard error.",
        "",
    ]
    for path, command in commands(root):
        lines += _command(path, command)
    return "\n".join(lines)


def commands(group: Any, path: tuple[str, ...] = ("ostiary",)) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below `group` with its words; groups only through their commands."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


def _command(path: tuple[str, ...], command: Any) -> Iterator[str]:
    name = " ".join(path)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    usage = [name, *(_argument(p) for p in arguments), *(_use(p) for p in options if p.required)]
    if any(not p.required for p in options):
        usage.append("[OPTIONS]")
    yield from (f"## `{name}`", "", command.help, "", "```", " ".join(usage), "```", "")
    rows = [(f"`{_argument(p)}`", p) for p in arguments if p.help] + [
        (", ".join(f"`{opt}`" for opt in (*p.opts, *p.secondary_opts)), p) for p in options
    ]
    if rows:
        yield from ("| | default | |", "|---|---|---|")
        for told, parameter in rows:
            yield f"| {told} | {_default(parameter)} | {_help(parameter)} |"
        yield ""


def _argument(parameter: Any) -> str:
    return parameter.metavar or parameter.name.upper()


def _use(option: Any) -> str:
    return f"{option.opts[0]} {(option.metavar or option.name).upper()}"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    if getattr(parameter, "is_flag", False):
        return "" if parameter.secondary_opts else "off"
    return "" if parameter.default in (None, ()) else f"`{parameter.default}`"


def _help(parameter: Any) -> str:
    told = [parameter.help or ""]
    kind = parameter.bare_type
    if isinstance(kind, type) and issubclass(kind, StrEnum) and not parameter.help.startswith(next(iter(kind))):
        told.append(f"One of {', '.join(f'`{word}`' for word in kind)}.")
    if parameter.min is not None:
        told.append(f"From {parameter.min} to {parameter.max}.")
    return " ".join(part for part in told if part)


# ---- state diagrams ---------------------------------------------------------------------------------------------

DIAGRAMS: Final[Mapping[str, tuple[Mapping[Any, Mapping[Any, Any]], tuple[tuple[str, str], ...]]]] = {
    "call states": (
        calls.TRANSITIONS,
        (
            ("awaiting_approval", "admit, ask"),
            ("waiting_activation", "admit, not ready"),
            ("ready", "admit, permit"),
        ),
    ),
    "approval states": (approvals.TRANSITIONS, (("open", "ask the person"),)),
    "app states": (mini_apps.TRANSITIONS, (("absent", "never installed"),)),
    "worker states": (workers.TRANSITIONS, (("stopped", "install"),)),
}
"""The tables to draw, and where each begins."""


def diagram(name: str) -> str:
    """One table as a mermaid state diagram; events that lead the same way share an arrow."""
    table, begins = DIAGRAMS[name]
    lines = ["```mermaid", "stateDiagram-v2", *(f"    [*] --> {state}: {label}" for state, label in begins)]
    for state, row in table.items():
        if not row:
            lines.append(f"    {state} --> [*]")
        for target in dict.fromkeys(row.values()):
            events = ", ".join(event for event, to in row.items() if to is target)
            lines.append(f"    {state} --> {target}: {events}")
    return "\n".join([*lines, "```"])


def with_diagrams(text: str) -> str:
    """`text` with each diagram renewed between its markers."""
    for name in DIAGRAMS:
        begin, end = f"<!-- {name}: written by scripts/docs.py -->", f"<!-- end of {name} -->"
        between = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        if not between.search(text):
            raise SystemExit(f"docs/architecture.md has no place for `{name}`: {begin} … {end}")
        text = between.sub(f"{begin}\n{diagram(name)}\n{end}", text)
    return text


# ---- limits -----------------------------------------------------------------------------------------------------


def limits_table() -> str:
    """Every limit with what the code knows of it; the words are the docstrings of its field."""
    lines = ["| key | default | bounds | unit | counts from | |", "|---|---|---|---|---|---|"]
    for name, words in _words_of_limits():
        low, high = BOUNDS[name]
        start = "start" if f"limits.{name}" in READ_AT_START else "reload"
        default = getattr(Limits(), name)
        lines.append(f"| `{name}` | {default} | {low} … {high} | {unit_of(name)} | {start} | {words} |")
    return "\n".join(lines)


def unit_of(limit: str) -> str:
    """What one of it is, as its name says."""
    if limit.endswith("_ms"):
        return "ms"
    return "bytes" if "bytes" in limit.split("_") else "count"


def _words_of_limits() -> Iterator[tuple[str, str]]:
    source = ast.parse((ROOT / "gateway" / "settings.py").read_text())
    body = next(n.body for n in source.body if isinstance(n, ast.ClassDef) and n.name == "Limits")
    for field, after in pairwise(body):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                yield name, f"{words[0].lower()}{words[1:].removesuffix('.')}"
            case ast.AnnAssign(target=ast.Name(id=name)), _:
                raise SystemExit(f"`Limits.{name}` has no words; write them below it")
            case _:
                pass


def with_limits(text: str) -> str:
    """`text` with the table of limits renewed between its markers."""
    begin, end = "<!-- limits: written by scripts/docs.py -->", "<!-- end of limits -->"
    before, found, rest = text.partition(begin)
    if not found or end not in rest:
        raise SystemExit(f"docs/reference/configuration.md has no place for the limits: {begin} … {end}")
    return f"{before}{begin}\n{limits_table()}\n{end}{rest.partition(end)[2]}"


# ---- the program ------------------------------------------------------------------------------------------------


def pages() -> dict[Path, str]:
    """Every page this program writes, with the text it should have."""
    architecture, configuration = DOCS / "architecture.md", DOCS / "reference" / "configuration.md"
    return {
        DOCS / "reference" / "codes.md": codes_page(),
        DOCS / "reference" / "audit-events.md": events_page(),
        DOCS / "reference" / "cli.md": cli_page(),
        DOCS / "reference" / "runtime.md": runtime_page(GENERATED),
        DOCS / "reference" / "metrics.md": metrics_page(),
        DOCS / "reference" / "admin-api.openapi.json": admin_http.document().decode(),
        DOCS / "reference" / "lineup-v1.md": lineup_page.page(),
        DOCS / "spec" / "lineup-v1.openapi.json": lineup_document().decode(),
        DOCS / "spec" / "surface-protocol.openapi.json": surface_document().decode(),
        DOCS / "reference" / "document-dsl.md": document_page(GENERATED),
        DOCS / "spec" / "ui-document.schema.json": documents.schema(),
        ROOT / "surface_host" / "src" / "documents" / "table.ts": documents.typescript(),
        configuration: with_limits(configuration.read_text()),
        architecture: with_diagrams(architecture.read_text()),
    }


def stale() -> dict[Path, str]:
    """The pages that differ from the code, each with a diff."""
    found: dict[Path, str] = {}
    for path, wanted in pages().items():
        present = path.read_text() if path.exists() else ""
        if present != wanted:
            name = str(path.relative_to(ROOT))
            lines = difflib.unified_diff(
                present.splitlines(),
                wanted.splitlines(),
                f"{name} (as it is)",
                f"{name} (as the code has it)",
                lineterm="",
            )
            found[path] = "\n".join(lines)
    return found


def main(*flags: str) -> int:
    """Write, or with `--check` compare."""
    if flags not in ((), ("--check",)):
        print("usage: python scripts/docs.py [--check]", file=sys.stderr)
        return 2
    if flags:
        for path, difference in stale().items():
            print(f"{difference}\n`{path.relative_to(ROOT)}` is out of date; run `python scripts/docs.py`")
        return 1 if stale() else 0
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
