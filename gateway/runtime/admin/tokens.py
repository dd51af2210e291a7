"""Tokens of the admin API: made at the command line, used at the door, ended at either."""

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from gateway.domain.admin_tokens import AdminScope, AdminToken, hour_of
from gateway.domain.audit import AuditEvent
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime import audit
from gateway.runtime.admin.answers import NewAdminToken
from gateway.runtime.admin.checks import HOUR_MS, absent, bad, check_hours
from gateway.runtime.effects import After
from gateway.runtime.identity import ADMIN_PREFIX, expect_kind, hash_of
from gateway.runtime.ports import Clock, Ids, StoreBusy, StoreUnavailable, Tx
from gateway.runtime.spine import Spine

TOKEN_HOURS: Final = 90 * 24
_NAME: Final = re.compile(r"[a-z][a-z0-9._-]{0,62}")


class AdminTokens:
    """Use cases over the credentials of administrators who are not at the machine."""

    def __init__(self, *, spine: Spine, clock: Clock, ids: Ids) -> None:
        self._spine = spine
        self._clock = clock
        self._ids = ids

    async def add(self, name: str, *, scopes: Collection[str], hours: int = TOKEN_HOURS, by: str) -> NewAdminToken:
        """Make a token called `name`, for `scopes`, for `hours`.

        Raises:
            GatewayError: `bad_request`: the name is taken or not well-formed, or a scope is not known.
        """
        if _NAME.fullmatch(name) is None:
            raise bad(f"`{name[:80]}` is no name of a token: at most 63 of a-z, 0-9, `._-`, beginning with a letter")
        held = _scopes_of(scopes)
        check_hours(hours)
        now, secret = self._clock.now(), ADMIN_PREFIX + self._ids.secret()
        token = AdminToken(
            id=self._ids.name("adm"),
            name=name,
            token_hash=hash_of(secret),
            scopes=held,
            created_at=now,
            expires_at=now + hours * HOUR_MS,
        )
        record = audit.of_admin(
            AuditEvent.ADMIN_TOKEN_ADDED,
            now,
            admin_token=token.id,
            name=name,
            scope=sorted(held),
            expires_at=token.expires_at,
            by=by,
        )

        def work(tx: Tx) -> After:
            # The name says in the trail who did it, so at any time one token has it.
            if any(other.name == name and other.is_live(now) for other in tx.admin_tokens.list()):
                raise bad(f"there is a live token `{name}`; revoke it first, or choose another name")
            tx.admin_tokens.add(token)
            tx.audit.append(record)
            return After(None)

        await self._spine.run(work)
        return NewAdminToken(token=token, secret=secret)

    async def list(self) -> Sequence[AdminToken]:
        """Every token, newest first."""
        found = await self._spine.store.run(lambda tx: list(tx.admin_tokens.list()))
        return sorted(found, key=lambda token: (token.created_at, token.id), reverse=True)

    async def get(self, name: str) -> AdminToken:
        """One token, by its id.

        Raises:
            GatewayError: `not_found`.
        """
        found = await self._spine.store.run(lambda tx: tx.admin_tokens.find(name))
        if found is None:
            raise absent("admin token", name)
        return found

    def standing_of(self, token: AdminToken) -> str:
        """`live`, or why the token is of no use now."""
        if token.revoked_at is not None:
            return "revoked"
        return "live" if token.is_live(self._clock.now()) else "expired"

    async def revoke(self, name: str, *, by: str) -> AdminToken:
        """End a token, named by its id or by its name while it is live. Doing it twice is no mistake.

        Raises:
            GatewayError: `not_found`.
        """
        now = self._clock.now()

        def work(tx: Tx) -> After:
            token = tx.admin_tokens.find(name) or _live_named(tx, name, now)
            if token is None or token.revoked_at is not None:
                return After(token)
            revoked = replace(token, revoked_at=now)
            tx.admin_tokens.save(revoked)
            tx.audit.append(
                audit.of_admin(AuditEvent.ADMIN_TOKEN_REVOKED, now, admin_token=token.id, name=token.name, by=by)
            )
            return After(revoked)

        found: AdminToken | None = await self._spine.run(work)
        if found is None:
            raise absent("admin token", name, "admin-token list")
        return found

    async def authenticate(self, secret: str) -> AdminToken:
        """The live token a bearer holds. The hour of this use is noted beside, and never in its way.

        Raises:
            GatewayError: `wrong_door` or `unauthenticated`.
        """
        expect_kind(secret, ADMIN_PREFIX)
        token_hash, now = hash_of(secret), self._clock.now()
        token = await self._spine.store.run(lambda tx: tx.admin_tokens.find_by_token(token_hash))
        if token is None:
            raise GatewayError(ErrorCode.UNAUTHENTICATED, "the admin token is not known")
        if not token.is_live(now):
            raise GatewayError(ErrorCode.UNAUTHENTICATED, f"the admin token is {self.standing_of(token)}")
        if token.last_used_at != hour_of(now):
            self._spine.spawn(self._note_use(token.id, hour_of(now)))
        return token

    async def _note_use(self, token: str, hour: int) -> None:
        with suppress(StoreBusy, StoreUnavailable):  # an administrator must get in when the disk is full
            await self._spine.store.run(lambda tx: tx.admin_tokens.used(token, hour))


def _scopes_of(words: Collection[str]) -> frozenset[AdminScope]:
    known = {scope.value: scope for scope in AdminScope}
    for word in words:
        if word not in known:
            raise bad(f"`{word[:80]}` is no scope; there are {', '.join(f'`{scope}`' for scope in known)}")
    if not words:
        raise bad("a token without a scope could do nothing; name at least one")
    return frozenset(known[word] for word in words)


def _live_named(tx: Tx, name: str, now: int) -> AdminToken | None:
    return next((token for token in tx.admin_tokens.list() if token.name == name and token.is_live(now)), None)
