"""Agent sessions, service keys and admin tokens."""

from typing import Any, Final

from gateway.domain.admin_tokens import AdminScope, AdminToken
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.errors import ErrorCode
from gateway.domain.sites import SiteKey
from gateway.protocol.admin import grants as answers
from gateway.protocol.admin import requests, work
from gateway.runtime.admin import MadeBefore, undeclared
from gateway.runtime.inventory import snapshot_of
from gateway.runtime.surface import CONTEXT_READ
from gateway.transports.admin_http.operations import Asked, Desk, Link, Operation, Told
from gateway.transports.admin_http.paging import page_of
from gateway.transports.control import views

_SESSIONS: Final = frozenset({AdminScope.READ, AdminScope.SESSIONS})
_KEYS: Final = frozenset({AdminScope.READ, AdminScope.KEYS})
_TOKENS: Final = frozenset({AdminScope.READ, AdminScope.TOKENS})


def _session(desk: Desk, session: AgentSession) -> dict[str, Any]:
    scope = [pattern for pattern in session.scope if pattern != CONTEXT_READ]
    return {
        **views.of_session(session, desk.services.admin.standing_of(session)),
        "undeclared": undeclared(desk.services.live.world, scope),
    }


async def _add_session(asked: Asked[Any, requests.AgentSessionWanted]) -> Told:
    body, admin = asked.body, asked.services.admin
    try:
        grant = await admin.add_session(
            body.agent,
            user=body.user,
            sites=body.sites,
            scope=body.scope,
            days=body.days,
            conversation=body.conversation,
            by=asked.by,
            once=asked.once,
        )
    except MadeBefore as before:
        session = await asked.desk.registers.session(before.name)
        value = {**_session(asked.desk, session), "token": None}
        return Told(value=value, location=f"/agent-sessions/{session.id}", is_repeated=True)
    value = {**_session(asked.desk, grant.session), "token": grant.token}
    return Told(value=value, location=f"/agent-sessions/{grant.session.id}")


async def _list_sessions(asked: Asked[requests.PageQuery, Any]) -> Told:
    rows = await asked.services.admin.sessions()
    page = page_of(
        "agent-sessions", rows, asked.query, lambda s: (s.created_at, s.id), lambda s: _session(asked.desk, s)
    )
    return Told(value=page)


async def _get_session(asked: Asked[Any, Any]) -> Told:
    return Told(value=_session(asked.desk, await asked.desk.registers.session(asked.names["session"])))


async def _revoke_session(asked: Asked[Any, Any]) -> Told:
    return Told(
        value=_session(asked.desk, await asked.services.admin.revoke_session(asked.names["session"], by=asked.by))
    )


async def _explain(asked: Asked[requests.ExplainQuery, Any]) -> Told:
    found = await asked.services.admin.explain(asked.names["session"], asked.query.capability)
    return Told(value=views.of_explanation(found))


async def _inventory(asked: Asked[Any, Any]) -> Told:
    session = await asked.desk.registers.session(asked.names["session"])
    snapshot = snapshot_of(asked.services.live.world, session)
    items = [
        {
            "capability": entry.descriptor.id,
            "site": entry.site,
            "title": entry.descriptor.title,
            "effect": entry.effective.effect,
            "risk": entry.effective.risk,
            "confirm": entry.effective.confirm,
            "verdict": entry.decision.verdict,
            "tier": entry.decision.tier,
            "fingerprint": entry.descriptor.fingerprint,
            "pages": list(entry.pages),
        }
        for entry in snapshot.entries.values()
    ]
    standing = asked.services.admin.standing_of(session)
    return Told(value={"session": session.id, "standing": standing, "items": items})


def _key(desk: Desk, key: SiteKey) -> dict[str, Any]:
    return {
        **views.of_key(key, desk.services.admin.standing_of_key(key)),
        "undeclared": undeclared(desk.services.live.world, key.capabilities, site=key.site),
    }


async def _add_key(asked: Asked[Any, requests.SiteKeyWanted]) -> Told:
    body = asked.body
    try:
        new = await asked.services.admin.add_key(
            body.site, capabilities=body.capabilities, days=body.days, by=asked.by, once=asked.once
        )
    except MadeBefore as before:
        key = await asked.desk.registers.key(before.name)
        value = {**_key(asked.desk, key), "secret": None}
        return Told(value=value, location=f"/site-keys/{key.id}", is_repeated=True)
    value = {**_key(asked.desk, new.key), "secret": new.secret}
    return Told(value=value, location=f"/site-keys/{new.key.id}")


async def _list_keys(asked: Asked[requests.SiteKeyQuery, Any]) -> Told:
    rows = await asked.services.admin.keys(asked.query.site)
    page = page_of("site-keys", rows, asked.query, lambda k: (k.created_at, k.id), lambda k: _key(asked.desk, k))
    return Told(value=page)


async def _get_key(asked: Asked[Any, Any]) -> Told:
    return Told(value=_key(asked.desk, await asked.desk.registers.key(asked.names["key"])))


async def _revoke_key(asked: Asked[Any, Any]) -> Told:
    return Told(value=_key(asked.desk, await asked.services.admin.revoke_key(asked.names["key"], by=asked.by)))


def _token(desk: Desk, token: AdminToken) -> dict[str, Any]:
    return views.of_admin_token(token, desk.services.admin.tokens.standing_of(token))


async def _list_tokens(asked: Asked[requests.PageQuery, Any]) -> Told:
    rows = await asked.services.admin.tokens.list()
    page = page_of("admin-tokens", rows, asked.query, lambda t: (t.created_at, t.id), lambda t: _token(asked.desk, t))
    return Told(value=page)


async def _get_token(asked: Asked[Any, Any]) -> Told:
    return Told(value=_token(asked.desk, await asked.services.admin.tokens.get(asked.names["admin_token"])))


async def _revoke_token(asked: Asked[Any, Any]) -> Told:
    revoked = await asked.services.admin.tokens.revoke(asked.names["admin_token"], by=asked.by)
    return Told(value=_token(asked.desk, revoked))


_THIS_SESSION: Final = {"session": "session"}
_OF_SESSION: Final = {
    "read it": Link(operation="getAgentSession", names=_THIS_SESSION),
    "what it sees": Link(operation="getInventory", names=_THIS_SESSION),
    "why": Link(operation="explain", names=_THIS_SESSION),
    "end it": Link(operation="revokeAgentSession", names=_THIS_SESSION),
}

OPERATIONS: Final = (
    Operation(
        name="listAgentSessions",
        method="GET",
        path="/agent-sessions",
        told="List grants, newest first.",
        run=_list_sessions,
        answer=answers.AgentSessions,
        scopes=_SESSIONS,
        query=requests.PageQuery,
    ),
    Operation(
        name="addAgentSession",
        method="POST",
        path="/agent-sessions",
        told="Let an agent act for a user. The token is in this answer and in no other.",
        run=_add_session,
        answer=answers.AgentSessionMade,
        scopes=frozenset({AdminScope.SESSIONS}),
        body=requests.AgentSessionWanted,
        status=201,
        repeatable=True,
        refusals=(ErrorCode.KEY_REUSED,),
        links=_OF_SESSION,
    ),
    Operation(
        name="getAgentSession",
        method="GET",
        path="/agent-sessions/{session}",
        told="Read one grant.",
        run=_get_session,
        answer=answers.AgentSession,
        scopes=_SESSIONS,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="revokeAgentSession",
        method="POST",
        path="/agent-sessions/{session}/revoke",
        told="End a grant: its token, its streams, its calls that were not handed out yet. Twice is no mistake.",
        run=_revoke_session,
        answer=answers.AgentSession,
        scopes=frozenset({AdminScope.SESSIONS}),
        matched_by="getAgentSession",
        refusals=(ErrorCode.NOT_FOUND,),
        links={"read it": Link(operation="getAgentSession", names=_THIS_SESSION)},
    ),
    Operation(
        name="getInventory",
        method="GET",
        path="/agent-sessions/{session}/inventory",
        told="What this session may see now.",
        run=_inventory,
        answer=work.Inventory,
        scopes=_SESSIONS,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="explain",
        method="GET",
        path="/agent-sessions/{session}/explain",
        told="Why this session may or may not use a capability: every stage, by the gateway and on each page.",
        run=_explain,
        answer=work.Explanation,
        scopes=_SESSIONS,
        query=requests.ExplainQuery,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="listSiteKeys",
        method="GET",
        path="/site-keys",
        told="List service keys, newest first.",
        run=_list_keys,
        answer=answers.SiteKeys,
        scopes=_KEYS,
        query=requests.SiteKeyQuery,
    ),
    Operation(
        name="addSiteKey",
        method="POST",
        path="/site-keys",
        told="Give a site's backend a key. The secret is in this answer and in no other.",
        run=_add_key,
        answer=answers.SiteKeyMade,
        scopes=frozenset({AdminScope.KEYS}),
        body=requests.SiteKeyWanted,
        status=201,
        repeatable=True,
        refusals=(ErrorCode.KEY_REUSED,),
        links={
            "read it": Link(operation="getSiteKey", names={"key": "key"}),
            "end it": Link(operation="revokeSiteKey", names={"key": "key"}),
        },
    ),
    Operation(
        name="getSiteKey",
        method="GET",
        path="/site-keys/{key}",
        told="Read one service key, without its secret.",
        run=_get_key,
        answer=answers.SiteKey,
        scopes=_KEYS,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="revokeSiteKey",
        method="POST",
        path="/site-keys/{key}/revoke",
        told="End a service key: it mints no more tickets. Twice is no mistake.",
        run=_revoke_key,
        answer=answers.SiteKey,
        scopes=frozenset({AdminScope.KEYS}),
        matched_by="getSiteKey",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="listAdminTokens",
        method="GET",
        path="/admin-tokens",
        told="List tokens of this API, newest first. They are made at the command line only.",
        run=_list_tokens,
        answer=answers.AdminTokens,
        scopes=_TOKENS,
        query=requests.PageQuery,
    ),
    Operation(
        name="getAdminToken",
        method="GET",
        path="/admin-tokens/{admin_token}",
        told="Read one token of this API, without its secret.",
        run=_get_token,
        answer=answers.AdminToken,
        scopes=_TOKENS,
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Operation(
        name="revokeAdminToken",
        method="POST",
        path="/admin-tokens/{admin_token}/revoke",
        told="End a token of this API, the one in use included. Twice is no mistake.",
        run=_revoke_token,
        answer=answers.AdminToken,
        scopes=frozenset({AdminScope.TOKENS}),
        matched_by="getAdminToken",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
)
