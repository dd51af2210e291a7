"""What administrators see of each thing, as JSON. Hashes of secrets, arguments and results have no row here."""

from typing import Any

from gateway.domain.admin_tokens import AdminToken
from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import Call, Receipt
from gateway.domain.outbox import OutboxEntry
from gateway.domain.sites import AgentProfile, Site, SiteKey
from gateway.domain.workers import WorkerState
from gateway.runtime.admin import Explained, Place, Reloaded, Status, TrailRecord, Verification
from gateway.runtime.app_shelf import AppView
from policy.model import Floor

Json = dict[str, Any]


def of_session(session: AgentSession, standing: str) -> Json:
    """A grant."""
    return {
        "session": session.id,
        "agent": session.agent,
        "user": session.user,
        "conversation": session.conversation,
        "sites": list(session.sites),
        "scope": list(session.scope),
        "standing": standing,
        "created_at": session.created_at,
        "expires_at": session.expires_at,
        "revoked_at": session.revoked_at,
        "page": session.page,
    }


def of_key(key: SiteKey, standing: str) -> Json:
    """A service key."""
    return {
        "key": key.id,
        "site": key.site,
        "capabilities": list(key.capabilities),
        "standing": standing,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
    }


def of_admin_token(token: AdminToken, standing: str) -> Json:
    """A token of the admin API."""
    return {
        "admin_token": token.id,
        "name": token.name,
        "scopes": sorted(token.scopes),
        "standing": standing,
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
        "last_used_at": token.last_used_at,
    }


def of_agent(agent: AgentProfile) -> Json:
    """A declared agent."""
    return {"agent": agent.name, "label": agent.label}


def of_site(site: Site) -> Json:
    """A declared site."""
    return {
        "site": site.name,
        "label": site.label,
        "address": site.address,
        "origins": list(site.origins),
        "users": list(site.users),
        "expose": [_of_floor(floor) for floor in site.expose],
        "record_limit": site.record_limit,
        "in_page_scope": None if site.in_page_scope is None else list(site.in_page_scope),
        "allow_automated_approval": site.allow_automated_approval,
    }


def _of_floor(floor: Floor) -> Json:
    floors = {"effect": floor.effect, "risk": floor.risk, "confirm": floor.confirm}
    return {"id": floor.pattern, **{key: word.value for key, word in floors.items() if word is not None}}


def of_call(call: Call) -> Json:
    """A row of the ledger. Its message may quote a page's words, so it stays out."""
    return {
        "ref": call.ref,
        "state": call.state.value,
        "code": call.code.wire if call.code else None,
        "entry": call.entry.value,
        "agent": call.agent,
        "user": call.user,
        "session": call.session,
        "call_id": call.call_id,
        "capability": call.capability,
        "effect": call.effect.value,
        "risk": call.risk.value,
        "site": call.site,
        "page": call.page,
        "epoch": call.epoch,
        "policy": call.policy_revision,
        "inventory": call.inventory_revision,
        "fingerprint": call.capability_fingerprint,
        "arguments_digest": call.arguments_digest,
        "approval": call.approval,
        "orphaned": call.is_orphaned,
        "late": call.late,
        "admitted_at": call.admitted_at,
        "approved_at": call.approved_at,
        "dispatched_at": call.dispatched_at,
        "ended_at": call.ended_at,
    }


def of_outbox_entry(entry: OutboxEntry) -> Json:
    """An entry on its way out, without what it says."""
    return {
        "entry": entry.id,
        "key": entry.key,
        "type": entry.type,
        "app": entry.app,
        "subject": entry.subject,
        "at": entry.at,
        "state": entry.state.value,
        "attempts": entry.attempts,
        "due_at": entry.due_at,
        "ended_at": entry.ended_at,
        "error": entry.error,
    }


def of_app(view: AppView, worker: WorkerState | None) -> Json:
    """An installed mini app: what it declares of itself, what became of it here, and what is wrong with it."""
    app, offered = view.app, view.offered
    return {
        "app": app.id,
        "name": offered.name,
        "description": view.description,
        "version": offered.version,
        "state": app.state.value,
        "digest": app.digest,
        "signed_by": next(version.key for version in view.versions if version.digest == app.digest),
        "tools": sorted(offered.tools),
        "permissions": list(view.permissions),
        "granted": list(app.granted),
        "fault": offered.fault,
        "worker": None if worker is None else worker.value,
        "versions": [
            {
                "version": version.version,
                "digest": version.digest,
                "signed_by": version.key,
                "installed_at": version.installed_at,
            }
            for version in view.versions
        ],
        "installed_at": app.installed_at,
        "changed_at": app.changed_at,
    }


def of_receipt(receipt: Receipt) -> Json:
    """A protocol fact about a call."""
    return {"seq": receipt.seq, "status": receipt.status, "reason": receipt.reason, "at": receipt.at}


def of_explanation(explained: Explained) -> Json:
    """Every stage, wherever the capability is declared."""
    return {
        "session": explained.session.id,
        "agent": explained.session.agent,
        "user": explained.session.user,
        "standing": explained.standing,
        "capability": explained.capability,
        "policy": explained.revision,
        "places": [_of_place(place) for place in explained.places],
    }


def _of_place(place: Place) -> Json:
    decision = place.explanation.decision
    return {
        "page": None if place.page is None else dict(place.page),
        "verdict": decision.verdict.value,
        "tier": decision.tier.value,
        "reasons": list(decision.reasons),
        "rules": list(decision.rules),
        "stages": [
            {
                "stage": result.stage.value,
                "outcome": result.outcome.value,
                "reason": result.reason,
                "revision": result.revision,
            }
            for result in place.explanation.stages
        ],
    }


def of_record(record: TrailRecord) -> Json:
    """One audit record."""
    return {
        "stream": record.stream.value,
        "seq": record.seq,
        "event": record.event.value,
        "at": record.at,
        "facts": dict(record.facts),
    }


def of_exported(record: TrailRecord) -> Json:
    """One audit record with its chain value."""
    return {**of_record(record), "hash": record.hash.hex()}


def of_verification(found: Verification) -> Json:
    """What a walk over the chains found."""
    return {
        "intact": found.is_intact,
        "records": found.records,
        "streams": found.streams,
        "broken": [{"stream": b.stream.value, "seq": b.seq, "what": b.what} for b in found.broken],
        "starts": {stream.value: seq for stream, seq in found.starts.items()},
        "unchecked": [{"stream": c.stream.value, "seq": c.seq} for c in found.unchecked],
    }


def of_status(status: Status) -> Json:
    """The gateway at a glance."""
    return {
        "policy": status.revision,
        "pages": [dict(page) for page in status.pages],
        "sessions": status.sessions,
        "ledger_rows": status.ledger_rows,
        "open_calls": status.open_calls,
    }


def of_reload(reloaded: Reloaded) -> Json:
    """What a reload did."""
    return {"accepted": reloaded.is_accepted, "message": reloaded.message}
