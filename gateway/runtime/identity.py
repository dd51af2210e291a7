"""Who knocks: agent tokens, service keys, tickets. One kind of credential opens one door (design §4).

Secrets are 256 random bits, shown once, stored as SHA-256; a prefix says what kind a text claims to be.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.sites import Site, SiteKey, Ticket
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.effects import After, SessionEnded
from gateway.runtime.ports import Clock, Ids, Tx
from gateway.runtime.spine import Spine
from gateway.runtime.telemetry import this_request
from gateway.runtime.world import Live
from policy.model import name_matches
from policy.patterns import is_pattern

AGENT_PREFIX: Final = "ost_agent_"
SITE_PREFIX: Final = "ost_site_"
ADMIN_PREFIX: Final = "ost_admin_"
PREFIXES: Final = (AGENT_PREFIX, SITE_PREFIX, ADMIN_PREFIX)


def hash_of(secret: str) -> bytes:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode()).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketRequest:
    """What a site's backend asks for: who, where, and which of the key's capabilities (None: all of them)."""

    user: str
    origin: str
    capabilities: tuple[str, ...] | None = None
    ttl_ms: int | None = None


class Identity:
    """Verifies credentials; every refusal is for the door's refusal log to audit."""

    def __init__(self, *, spine: Spine, live: Live, clock: Clock, ids: Ids) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._ids = ids
        self._verified: dict[bytes, AgentSession] = {}

    async def agent(self, token: str) -> AgentSession:
        """The live session of an agent token.

        Raises:
            GatewayError: `wrong_door`, `unauthenticated`, `session_revoked` or `session_expired`.
        """
        expect_kind(token, AGENT_PREFIX)
        token_hash = hash_of(token)
        session = self._verified.get(token_hash)
        if session is None:
            session = await self._spine.store.run(lambda tx: tx.sessions.find_by_token(token_hash))
            if session is None:
                raise GatewayError(ErrorCode.UNAUTHENTICATED, "the token is not known")
        if session.revoked_at is not None:
            raise GatewayError(ErrorCode.SESSION_REVOKED, "the agent session was revoked")
        if not session.is_live(self._clock.now()):
            raise GatewayError(ErrorCode.SESSION_EXPIRED, "the agent session has expired")
        if session.agent not in self._live.world.configuration.agents:
            raise GatewayError(ErrorCode.UNAUTHENTICATED, "the agent is not configured any more")
        self._remember(token_hash, session)
        request = this_request()
        request.agent, request.session = session.agent, session.id
        return session

    def _remember(self, token_hash: bytes, session: AgentSession) -> None:
        if len(self._verified) >= 10_000:
            self._verified.pop(next(iter(self._verified)))
        self._verified[token_hash] = session

    async def site_key(self, key: str) -> SiteKey:
        """The live service key of a site's backend.

        Raises:
            GatewayError: `wrong_door` or `unauthenticated`.
        """
        expect_kind(key, SITE_PREFIX)
        found = await self._spine.store.run(lambda tx: tx.keys.find(key_name(key)))
        if found is None or not hmac.compare_digest(found.secret_hash, hash_of(key)):
            raise GatewayError(ErrorCode.UNAUTHENTICATED, "the service key is not known")
        if not found.is_live(self._clock.now()) or found.site not in self._live.world.configuration.sites:
            raise GatewayError(ErrorCode.UNAUTHENTICATED, "the service key is not valid any more")
        return found

    async def mint_ticket(self, key: SiteKey, request: TicketRequest) -> tuple[str, int]:
        """A single-use ticket and its life in milliseconds; capability patterns are request ∩ key.

        Raises:
            GatewayError: `bad_request`, `origin_refused` or `forbidden`; audited.
        """
        site = self._live.world.configuration.sites[key.site]
        now, life = self._clock.now(), self._live.world.configuration.limits_of(key.site).ticket_ms
        try:
            life = _life(request.ttl_ms, life)
            _judge(site, request)
            capabilities = _intersection(key.capabilities, request.capabilities)
        except GatewayError as error:
            record = audit.of_access(AuditEvent.TICKET_REFUSED, now, site=site.name, key=key.id, code=error.code.wire)
            await self._spine.run(lambda tx: After(tx.audit.append(record)))
            raise
        secret = self._ids.secret()
        ticket = Ticket(
            hash=hash_of(secret),
            site=site.name,
            user=request.user,
            origin=request.origin,
            capabilities=capabilities,
            key=key.id,
            created_at=now,
            expires_at=now + life,
        )
        record = audit.of_access(
            AuditEvent.TICKET_MINTED, now, site=site.name, key=key.id, user=request.user, origin=request.origin
        )

        def work(tx: Tx) -> After:
            tx.tickets.add(ticket)
            tx.audit.append(record)
            return After(None)

        await self._spine.run(work)
        reach(Point.TICKET_MINTED)
        return secret, life

    async def revoke_session(self, name: str, *, by: str) -> AgentSession | None:
        """End a grant: its token, its streams and its undispatched calls. None when there is no such session."""
        now = self._clock.now()

        def work(tx: Tx) -> After:
            session = tx.sessions.find(name)
            if session is None or session.revoked_at is not None:
                return After(session)
            return After(*_revoke(tx, session, now, by))

        return await self._spine.run(work)

    async def revoke_all(self, is_meant: Callable[[AgentSession], bool], *, by: str) -> int:
        """End every grant that is meant, or none; returns how many."""
        now = self._clock.now()

        def work(tx: Tx) -> After:
            meant = [s for s in tx.sessions.list() if s.revoked_at is None and is_meant(s)]
            return After(len(meant), tuple(e for s in meant for e in _revoke(tx, s, now, by)[1]))

        return await self._spine.run(work)

    def forget(self, session: str) -> None:
        """A grant ended: its token is looked up again. An effect, for who ended it may be gone by now."""
        self._verified = {known: s for known, s in self._verified.items() if s.id != session}


def _revoke(tx: Tx, session: AgentSession, now: int, by: str) -> tuple[AgentSession, tuple[SessionEnded]]:
    revoked = replace(session, revoked_at=now)
    tx.sessions.save(revoked)
    record = audit.of_admin(
        AuditEvent.SESSION_REVOKED, now, session=session.id, agent=session.agent, user=session.user, by=by
    )
    tx.audit.append(record)
    return revoked, (SessionEnded(session=session.id, why="revoked"),)


def key_name(key: str) -> str:
    """The id inside a service key `ost_site_<id>_<secret>`; the id holds no underscore."""
    return key[len(SITE_PREFIX) :].partition("_")[0]


def expect_kind(credential: str, prefix: str) -> None:
    """Refuse a credential that is not of the kind `prefix` says.

    Raises:
        GatewayError: `wrong_door` for another kind, `unauthenticated` for none.
    """
    if credential.startswith(prefix):
        return
    if credential.startswith(PREFIXES):
        raise GatewayError(ErrorCode.WRONG_DOOR, "this credential opens another door")
    raise GatewayError(ErrorCode.UNAUTHENTICATED, "the credential is not known")


def _judge(site: Site, request: TicketRequest) -> None:
    if request.origin not in site.origins:
        raise GatewayError(
            ErrorCode.ORIGIN_REFUSED, f"origin `{request.origin}` is not an origin of site `{site.name}`"
        )
    if not any(name_matches(pattern, request.user) for pattern in site.users):
        raise GatewayError(ErrorCode.FORBIDDEN, f"site `{site.name}` may not speak for user `{request.user}`")


def _life(wanted: int | None, limit: int) -> int:
    if wanted is None:
        return limit
    if not 1_000 <= wanted <= limit:
        raise GatewayError(ErrorCode.BAD_REQUEST, f"`ttl_ms` is between 1000 and {limit}")
    return wanted


def _intersection(key: tuple[str, ...], wanted: tuple[str, ...] | None) -> tuple[str, ...]:
    if wanted is None:
        return key
    for pattern in wanted:
        if not is_pattern(pattern):
            raise GatewayError(ErrorCode.BAD_REQUEST, f"`{pattern}` is neither a capability id nor a pattern")
    return tuple(sorted({narrow for a in key for b in wanted if (narrow := _narrower(a, b)) is not None}))


def _narrower(a: str, b: str) -> str | None:
    """The pattern that matches what both match; None when nothing does."""
    if a == b:
        return a
    for wide, narrow in ((a, b), (b, a)):
        # `x.*` is exactly one further segment, so two different wildcards share nothing.
        if wide.endswith(".*") and not narrow.endswith(".*") and narrow.rpartition(".")[0] == wide[:-2]:
            return narrow
    return None
