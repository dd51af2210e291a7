"""The transaction in which a document joins: its ticket is used up, its page session begins or goes on (design §2).

Functions of one unit of work. The ticket authenticates; the resume secret only continues.
"""

import hmac
from dataclasses import dataclass, replace

from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.pages import PageSession
from gateway.domain.sites import Ticket
from gateway.failpoints import Point, reach
from gateway.runtime import audit
from gateway.runtime.effects import After
from gateway.runtime.identity import hash_of
from gateway.runtime.ports import Ids, Tx
from gateway.runtime.world import World
from policy.model import name_matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The first frame of a document, as far as the runtime needs it. `origin` is the handshake's header."""

    site: str
    document: str
    ticket: str
    resume: str | None
    seen: frozenset[str]
    url: str
    title: str
    visible: bool
    automated: bool
    origin: str
    has_workspace: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """What a document joined as. `open` are the calls it found on its page session."""

    session: PageSession
    resume: str
    is_new_document: bool
    open: frozenset[str]


def join(tx: Tx, world: World, ids: Ids, hello: Hello, now: int) -> After:
    """Take a document in. Value: `Joining`.

    Raises:
        GatewayError: `unauthenticated`, `ticket_used`, `origin_refused` or `busy`; nothing is kept, the ticket stays.
    """
    ticket = use_ticket(tx, world, hello.ticket, site=hello.site, origin=hello.origin, now=now)
    reach(Point.TICKET_USED)
    earlier = _resumed(tx, hello, ticket)
    secret = ids.secret()
    if earlier is None:
        _judge_count(world, ticket.user, ticket.site)
        session = _begun(ids.name("page"), ticket, hello, now)
    else:
        session = replace(
            earlier,
            document=hello.document,
            epoch=earlier.epoch + (earlier.document != hello.document),
            resume_before=hash_of((hello.resume or "").partition(".")[2]),
        )
    session = replace(
        session,
        resume_hash=hash_of(secret),
        capabilities=ticket.capabilities,
        seen_at=now,
        standing_until=now + world.configuration.limits_of(ticket.site).standing_ms,
    )
    (tx.pages.add if earlier is None else tx.pages.save)(session)
    event = AuditEvent.PAGE_CONNECTED if earlier is None else AuditEvent.PAGE_REPLACED
    tx.audit.append(audit.of_page(event, session, now))
    reach(Point.EPOCH_WRITTEN)
    return After(
        Joining(
            session=session,
            resume=f"{session.id}.{secret}",
            is_new_document=earlier is None or earlier.document != hello.document,
            open=frozenset(call.ref for call in tx.calls.open_on_page(session.id)),
        )
    )


def _begun(name: str, ticket: Ticket, hello: Hello, now: int) -> PageSession:
    return PageSession(
        id=name,
        site=ticket.site,
        user=ticket.user,
        origin=ticket.origin,
        resume_hash=b"",
        document=hello.document,
        epoch=1,
        capabilities=(),
        created_at=now,
        seen_at=now,
        standing_until=now,
    )


def use_ticket(tx: Tx, world: World, ticket: str, *, site: str, origin: str, now: int) -> Ticket:
    """Use up a ticket made for `site` and `origin`, by a key that is still live, for a user the site may speak for.

    Raises:
        GatewayError: `unauthenticated`, `ticket_used` or `origin_refused`.
    """
    found = tx.tickets.find(hash_of(ticket))
    if found is None or now >= found.expires_at:
        raise GatewayError(ErrorCode.UNAUTHENTICATED, "the ticket is not valid; fetch a new one")
    known = world.configuration.sites.get(found.site)
    if known is None or found.site != site or found.origin != origin or origin not in known.origins:
        raise GatewayError(ErrorCode.ORIGIN_REFUSED, "the ticket was made for another site or origin")
    if not any(name_matches(pattern, found.user) for pattern in known.users):
        raise GatewayError(ErrorCode.UNAUTHENTICATED, "the site may not speak for this user any more")
    key = tx.keys.find(found.key)
    if key is None or not key.is_live(now):
        raise GatewayError(ErrorCode.UNAUTHENTICATED, "the key that made the ticket is not valid any more")
    if not tx.tickets.use(found.hash, now):
        raise GatewayError(ErrorCode.TICKET_USED, "the ticket was used before; fetch a new one")
    return found


def _resumed(tx: Tx, hello: Hello, ticket: Ticket) -> PageSession | None:
    page, _, secret = (hello.resume or "").partition(".")
    session = tx.pages.find(page) if secret else None
    if session is None or not _continues(session, hello.document, hash_of(secret)):
        return None
    # INVARIANT: the ticket authenticates; a resume secret gives nothing to another user, site or origin.
    if (session.user, session.site, session.origin) != (ticket.user, ticket.site, ticket.origin):
        return None
    return None if session.ended_at is not None else session


def _continues(session: PageSession, document: str, given: bytes) -> bool:
    if hmac.compare_digest(session.resume_hash, given):
        return True
    # The welcome with the new secret may be lost on its way, or with the process: the document it was for asks again.
    before = session.resume_before
    return document == session.document and before is not None and hmac.compare_digest(before, given)


def _judge_count(world: World, user: str, site: str) -> None:
    """Refuse one page too many: of this user, or of this user on this site."""
    general, own = world.configuration.limits, world.configuration.limits_of(site)
    for pages, most in (
        (world.pages_of(user), general.pages_per_user),
        (world.pages_of(user, site), own.pages_per_user),
    ):
        if len(pages) >= most:
            raise GatewayError(ErrorCode.BUSY, f"`{user}` has {most} pages open already")
