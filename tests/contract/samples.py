"""One plausible thing of each kind; a test names only what it is about."""

from dataclasses import replace
from typing import Any

from gateway.domain.admin_requests import Made
from gateway.domain.admin_tokens import AdminScope, AdminToken
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.approvals import Approval, ApprovalState, digest_of
from gateway.domain.audit import AuditEvent, AuditRecord, Stream
from gateway.domain.calls import Call, CallState, Entry, Result
from gateway.domain.denials import Denial
from gateway.domain.errors import ErrorCode
from gateway.domain.mini_apps import AppState, AppVersion, MiniApp
from gateway.domain.outbox import OutboxEntry
from gateway.domain.pages import PageSession
from gateway.domain.session_data import SessionData
from gateway.domain.sites import SiteKey, Ticket
from policy.vocabulary import Effect, Risk

NOW = 1_700_000_000_000


def a_call(ref: str = "call_1", **changes: Any) -> Call:
    call = Call(
        ref=ref,
        entry=Entry.AGENT_TOOL,
        agent="claude",
        user="maria",
        session="ses_1",
        call_id=f"key-of-{ref}",
        minted=False,
        request_fingerprint=f"fingerprint of {ref}",
        arguments_digest="d" * 64,
        capability="todo.add",
        capability_fingerprint="c" * 64,
        effect=Effect.WRITE,
        risk=Risk.USER_CONFIRMATION,
        state=CallState.READY,
        decision='{"verdict":"ask"}',
        policy_revision="p" * 64,
        inventory_revision=42,
        site="shop",
        page_selector=None,
        page="page_1",
        epoch=3,
        timeout_ms=30_000,
        admitted_at=NOW,
        deadline=NOW + 600_000,
    )
    return replace(call, **changes)


def a_full_call(ref: str = "call_1") -> Call:
    """A call with a value in every field."""
    return a_call(
        ref,
        minted=True,
        state=CallState.UNKNOWN,
        page_selector="page_1",
        approve_by=NOW + 1,
        input_in_memory=True,
        traceparent="00-" + "a" * 32 + "-" + "b" * 16 + "-01",
        app="dev.example.focus",
        conversation="talk",
        activation="actv_1",
        operation="oper_1",
        instance="inst_1",
        approval="apr_1",
        approved_at=NOW + 2,
        orphaned_at=NOW + 3,
        handed_out=True,
        dispatched_at=NOW + 4,
        execute_by=NOW + 5,
        cancel_requested=True,
        ended_at=NOW + 6,
        code=ErrorCode.OUTCOME_UNKNOWN,
        message="the page went away",
        late=True,
        taken=True,
    )


def a_result(**changes: Any) -> Result:
    return replace(Result(output='{"id":7}', evidence=None, at=NOW, erase_at=NOW + 86_400_000), **changes)


def an_approval(name: str = "apr_1", call: str = "call_1", **changes: Any) -> Approval:
    payload = '{"summary":"add ‘milk’"}'
    approval = Approval(
        id=name,
        call=call,
        nonce="n" * 22,
        payload=payload,
        digest=digest_of(payload),
        page="page_1",
        epoch=3,
        user="maria",
        decision='{"verdict":"ask"}',
        state=ApprovalState.OPEN,
        opened_at=NOW,
        expires_at=NOW + 120_000,
    )
    return replace(approval, **changes)


def a_session(name: str = "ses_1", **changes: Any) -> AgentSession:
    session = AgentSession(
        id=name,
        agent="claude",
        user="maria",
        conversation=name,
        sites=("shop", "blog"),
        scope=("todo.*", "report.create"),
        token_hash=f"token of {name}".encode(),
        created_at=NOW,
        expires_at=NOW + 86_400_000,
    )
    return replace(session, **changes)


def a_key(name: str = "key_1", **changes: Any) -> SiteKey:
    key = SiteKey(
        id=name,
        site="shop",
        secret_hash=b"s" * 32,
        capabilities=("todo.*",),
        created_at=NOW,
        expires_at=NOW + 86_400_000,
    )
    return replace(key, **changes)


def an_admin_token(name: str = "adm_1", **changes: Any) -> AdminToken:
    token = AdminToken(
        id=name,
        name="pipeline",
        token_hash=name.encode().ljust(32, b"t"),
        scopes=frozenset({AdminScope.READ, AdminScope.KEYS}),
        created_at=NOW,
        expires_at=NOW + 86_400_000,
    )
    return replace(token, **changes)


def a_made(key: str = "first", **changes: Any) -> Made:
    made = Made(holder="adm_1", key=key, request="digest", name="sess_1", until=NOW + 86_400_000)
    return replace(made, **changes)


def an_entry(name: str = "call_1:end", **changes: Any) -> OutboxEntry:
    entry = OutboxEntry(
        id=name,
        key="ses_1",
        type="dev.ostiary.call.ended",
        app=None,
        subject="call_1",
        at=NOW,
        data='{"ref":"call_1","status":"succeeded"}',
    )
    return replace(entry, **changes)


def session_data(**changes: Any) -> SessionData:
    data = SessionData(app="com.example.orders", app_session="as_1", revision=1, data='{"open":1}', at=NOW)
    return replace(data, **changes)


def a_mini_app(name: str = "org.example.notes", **changes: Any) -> MiniApp:
    app = MiniApp(
        id=name,
        state=AppState.DISABLED,
        digest=f"digest of {name}",
        granted=(),
        installed_at=NOW,
        changed_at=NOW,
    )
    return replace(app, **changes)


def an_app_version(version: str = "1.0.0", *, app: str = "org.example.notes", **changes: Any) -> AppVersion:
    kept = AppVersion(
        digest=f"digest of {app} {version}",
        app=app,
        version=version,
        manifest='{"manifest":1}',
        key=None,
        installed_at=NOW,
    )
    return replace(kept, **changes)


def a_ticket(digest: bytes = b"t" * 32, **changes: Any) -> Ticket:
    ticket = Ticket(
        hash=digest,
        site="shop",
        user="maria",
        origin="https://shop.example",
        capabilities=("todo.add",),
        key="key_1",
        created_at=NOW,
        expires_at=NOW + 120_000,
    )
    return replace(ticket, **changes)


def a_page(name: str = "page_1", **changes: Any) -> PageSession:
    page = PageSession(
        id=name,
        site="shop",
        user="maria",
        origin="https://shop.example",
        resume_hash=b"r" * 32,
        document="doc_1",
        epoch=1,
        capabilities=("todo.add", "todo.list"),
        created_at=NOW,
        seen_at=NOW,
        standing_until=NOW + 3_600_000,
    )
    return replace(page, **changes)


def a_denial(fingerprint: str = "fp_1", **changes: Any) -> Denial:
    denial = Denial(
        agent="claude",
        user="maria",
        request_fingerprint=fingerprint,
        capability="todo.add",
        title="Add a to-do",
        until=NOW + 600_000,
    )
    return replace(denial, **changes)


def a_record(at: int = NOW, stream: Stream = Stream.AGENT_TOOL, **facts: Any) -> AuditRecord:
    return AuditRecord(stream=stream, event=AuditEvent.CALL_ADMITTED, at=at, facts=facts)
