"""Grants, keys, explanations and looks at calls, for whoever sits at the command line.

Sites, agents and rules come from the file alone; nothing here changes them. Every change is audited in its own
transaction. Arguments and results of calls are not to be had here, tokens and keys only at the moment they are made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.audit import AuditEvent, Checkpoint, Stream
from gateway.domain.calls import Call, Receipt
from gateway.domain.configuration import Configuration
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.domain.sites import AgentProfile, Site, SiteKey
from gateway.runtime import audit
from gateway.runtime.admin.answers import Explained, Grant, NewKey, Place, Status
from gateway.runtime.admin.cancelling import cancel
from gateway.runtime.admin.checks import (
    DAY_MS,
    absent,
    bad,
    check_conversation,
    check_days,
    check_patterns,
    check_user,
)
from gateway.runtime.admin.outbox import DeadLetters
from gateway.runtime.admin.reconciling import Meant, Reconciler
from gateway.runtime.admin.repeats import Once, remember
from gateway.runtime.admin.tokens import AdminTokens
from gateway.runtime.admin.trail import Trail, TrailRecord, Verification
from gateway.runtime.effects import After, KeyEnded
from gateway.runtime.identity import AGENT_PREFIX, SITE_PREFIX, Identity, hash_of
from gateway.runtime.inventory import describe_page, question_of
from gateway.runtime.mini_apps import MiniApps
from gateway.runtime.ports import Clock, Ids, StoreRefused, Tx
from gateway.runtime.retention import Retention
from gateway.runtime.spine import Spine
from gateway.runtime.world import Live
from policy.explain import explain
from policy.model import name_matches
from policy.patterns import is_capability_id

SESSION_DAYS: Final = 30
KEY_DAYS: Final = 90


class Admin:
    """Use cases of the command line. `by` says who acts, like `local:ada`."""

    def __init__(
        self,
        *,
        spine: Spine,
        live: Live,
        clock: Clock,
        ids: Ids,
        identity: Identity,
        retention: Retention,
        mini_apps: MiniApps,
    ) -> None:
        self._spine = spine
        self._live = live
        self._clock = clock
        self._ids = ids
        self._identity = identity
        self._trail = Trail(spine.store)
        self.tokens = AdminTokens(spine=spine, clock=clock, ids=ids)
        self.dead_letters = DeadLetters(spine=spine, clock=clock)
        self._retention = retention
        self.mini_apps = mini_apps
        self._reconciler = Reconciler(spine, clock)

    async def add_session(
        self,
        agent: str,
        *,
        user: str,
        sites: Sequence[str],
        scope: Sequence[str],
        days: int = SESSION_DAYS,
        conversation: str | None = None,
        by: str,
        once: Once | None = None,
    ) -> Grant:
        """Let `agent` act for `user` on `sites`, in `scope`, for `days`.

        Raises:
            GatewayError: `bad_request`, naming what is not declared or not well-formed; `key_reused`.
            MadeBefore: this same request, sent once already, made a session.
        """
        if agent not in self._configuration.agents:
            raise bad(f"there is no agent `{agent}`; declare it under `agents:` and reload")
        check_user(user)
        for name in sites:
            site = self._site(name)
            if not any(name_matches(pattern, user) for pattern in site.users):
                raise bad(f"site `{name}` does not speak for user `{user}`; see its `users:`")
        check_patterns(scope)
        check_days(days)
        check_conversation(conversation)
        now, token, name = self._clock.now(), AGENT_PREFIX + self._ids.secret(), self._ids.name("sess")
        session = AgentSession(
            id=name,
            agent=agent,
            user=user,
            conversation=conversation or name,
            sites=tuple(dict.fromkeys(sites)),
            scope=tuple(dict.fromkeys(scope)),
            token_hash=hash_of(token),
            created_at=now,
            expires_at=now + days * DAY_MS,
        )
        record = audit.of_admin(
            AuditEvent.SESSION_ADDED,
            now,
            session=name,
            agent=agent,
            user=user,
            sites=list(session.sites),
            scope=list(session.scope),
            expires_at=session.expires_at,
            by=by,
        )

        def work(tx: Tx) -> After:
            remember(tx, once, name, now)
            tx.sessions.add(session)
            tx.audit.append(record)
            return After(None)

        await self._spine.run(work)
        return Grant(session=session, token=token)

    async def sessions(self) -> Sequence[AgentSession]:
        """Every grant, newest first."""
        found = await self._spine.store.run(lambda tx: list(tx.sessions.list()))
        return sorted(found, key=lambda session: (session.created_at, session.id), reverse=True)

    def standing_of(self, session: AgentSession) -> str:
        """`live`, or why the session is of no use now."""
        if session.revoked_at is not None:
            return "revoked"
        if not session.is_live(self._clock.now()):
            return "expired"
        if session.page is None and session.agent not in self._configuration.agents:
            return "agent not configured"
        return "live"

    async def revoke_session(self, name: str, *, by: str) -> AgentSession:
        """End a grant; doing it twice is no mistake.

        Raises:
            GatewayError: there is no such session.
        """
        revoked = await self._identity.revoke_session(name, by=by)
        if revoked is None:
            raise absent("session", name, "session list")
        return revoked

    async def add_key(
        self,
        site: str,
        *,
        capabilities: Sequence[str] | None = None,
        days: int = KEY_DAYS,
        by: str,
        once: Once | None = None,
    ) -> NewKey:
        """Give the backend of `site` a key; without `capabilities` it covers what the site exposes now.

        Raises:
            GatewayError: `bad_request`, naming what is not declared or not well-formed; `key_reused`.
            MadeBefore: this same request, sent once already, made a key.
        """
        covered = [floor.pattern for floor in self._site(site).expose] if capabilities is None else capabilities
        if not covered:
            raise bad(f"a key of site `{site}` would cover nothing; name capabilities, or fill its `expose:`")
        check_patterns(covered)
        check_days(days)
        # The id is cut out of the key at its first underscore, so it holds none.
        name = self._ids.name("key").partition("_")[2]
        secret = f"{SITE_PREFIX}{name}_{self._ids.secret()}"
        now = self._clock.now()
        key = SiteKey(
            id=name,
            site=site,
            secret_hash=hash_of(secret),
            capabilities=tuple(dict.fromkeys(covered)),
            created_at=now,
            expires_at=now + days * DAY_MS,
        )
        record = audit.of_admin(
            AuditEvent.KEY_ADDED,
            now,
            key=name,
            site=site,
            capabilities=list(key.capabilities),
            expires_at=key.expires_at,
            by=by,
        )

        def work(tx: Tx) -> After:
            remember(tx, once, name, now)
            tx.keys.add(key)
            tx.audit.append(record)
            return After(None)

        await self._spine.run(work)
        return NewKey(key=key, secret=secret)

    async def keys(self, site: str | None = None) -> Sequence[SiteKey]:
        """Every service key, of one site or of all, newest first."""
        found = await self._spine.store.run(lambda tx: list(tx.keys.list()))
        own = [key for key in found if site is None or key.site == site]
        return sorted(own, key=lambda key: (key.created_at, key.id), reverse=True)

    def standing_of_key(self, key: SiteKey) -> str:
        """`live`, or why the key is of no use now."""
        if key.revoked_at is not None:
            return "revoked"
        if not key.is_live(self._clock.now()):
            return "expired"
        return "live" if key.site in self._configuration.sites else "site not configured"

    async def revoke_key(self, name: str, *, by: str) -> SiteKey:
        """End a service key: it mints no more tickets. Doing it twice is no mistake.

        Raises:
            GatewayError: there is no such key.
        """
        now = self._clock.now()

        def work(tx: Tx) -> After:
            key = tx.keys.find(name)
            if key is None or key.revoked_at is not None:
                return After(key)
            revoked = replace(key, revoked_at=now)
            tx.keys.save(revoked)
            tx.audit.append(audit.of_admin(AuditEvent.KEY_REVOKED, now, key=name, site=key.site, by=by))
            return After(revoked, (KeyEnded(site=key.site),))

        found: SiteKey | None = await self._spine.run(work)
        if found is None:
            raise absent("key", name, "site key list")
        return found

    def agents(self) -> Sequence[AgentProfile]:
        """The agents the file declares."""
        return list(self._configuration.agents.values())

    def sites(self) -> Sequence[Site]:
        """The sites the file declares."""
        return list(self._configuration.sites.values())

    async def calls(self, *, limit: int = 50, session: str | None = None) -> Sequence[Call]:
        """The newest calls, newest first."""
        return await self._spine.store.run(lambda tx: list(tx.calls.recent(limit=limit, session=session)))

    async def call(self, ref: str) -> tuple[Call, Sequence[Receipt]]:
        """One call and its receipts.

        Raises:
            GatewayError: `unknown_call`.
        """

        def work(tx: Tx) -> tuple[Call | None, Sequence[Receipt]]:
            return tx.calls.find(ref), list(tx.calls.receipts_of(ref))

        call, receipts = await self._spine.store.run(work)
        if call is None:
            raise GatewayError(ErrorCode.UNKNOWN_CALL, f"there is no call `{ref[:160]}`")
        return call, receipts

    async def reconcile(self, ref: str, *, succeeded: bool, reason: str | None = None, by: str) -> Call:
        """Settle an `unknown` call by what was found out elsewhere; nothing is run.

        Raises:
            GatewayError: `unknown_call`, or `state_conflict` where it is not `unknown`.
        """
        return await self._reconciler.one(ref, succeeded=succeeded, reason=reason, by=by)

    async def reconcile_many(
        self, meant: Meant, *, succeeded: bool, reason: str | None = None, by: str, is_rehearsal: bool = False
    ) -> Sequence[Call]:
        """Settle every `unknown` call that is meant; a rehearsal only finds them.

        Raises:
            GatewayError: `bad_request`, when nothing says which are meant.
        """
        return await self._reconciler.many(
            meant, succeeded=succeeded, reason=reason, by=by, is_rehearsal=is_rehearsal
        )

    async def purge(self, *, by: str) -> Mapping[str, int]:
        """Forget now what retention would forget soon; how many of each kind went."""
        return await self._retention.apply(by=by)

    async def cancel(self, ref: str, *, by: str) -> Call:
        """End an undispatched call at once; of dispatched work it is a request (design §3).

        Raises:
            GatewayError: `unknown_call`, or `state_conflict` for a call that has ended or is `unknown`.
        """
        now = self._clock.now()

        def work(tx: Tx) -> After:
            call = tx.calls.find(ref)
            if call is None:
                raise GatewayError(ErrorCode.UNKNOWN_CALL, f"there is no call `{ref[:160]}`")
            return After(*cancel(tx, call, now, by=by))

        return await self._spine.run(work)

    async def back_up(self, target: Path, *, by: str) -> None:
        """Write a copy of the database into the new file `target`, while calls go on.

        Raises:
            GatewayError: `bad_request`, saying why it cannot be written there.
        """
        store = self._spine.store
        try:
            await store.back_up(target)
        except StoreRefused as error:
            raise bad(str(error)) from error
        record = audit.of_admin(AuditEvent.GATEWAY_BACKED_UP, self._clock.now(), by=by)
        await store.run(lambda tx: tx.audit.append(record))

    async def explain(self, session: str, capability: str) -> Explained:
        """Why `session` may or may not use `capability`: by the runtime, and on each page of its user.

        Raises:
            GatewayError: `bad_request` for a name of no session or no well-formed capability id.
        """
        if not is_capability_id(capability):
            raise bad(f"`{capability[:160]}` is not a capability id like `todo.add`")
        found = await self._spine.store.run(lambda tx: tx.sessions.find(session))
        if found is None:
            raise absent("session", session, "session list")
        world = self._live.world
        places: list[Place] = []
        tool = world.apps.tools.get(capability)
        if (own := tool.descriptor if tool else world.builtins.get(capability)) is not None:
            question = question_of(world, found, own, None)
            places.append(Place(page=None, explanation=explain(question, world.configuration.rules)))
        if (shown := world.offered_on_sites().get(capability)) is not None:
            for site in found.sites:
                question = question_of(world, found, shown, None, on_site=site)
                places.append(Place(page=None, explanation=explain(question, world.configuration.rules)))
        for page in world.pages_of(found.user):
            if (declared := world.declared(capability, page)) is not None:
                question = question_of(world, found, declared, page)
                explanation = explain(question, world.configuration.rules)
                places.append(Place(page=describe_page(page), explanation=explanation))
        return Explained(
            session=found,
            standing=self.standing_of(found),
            capability=capability,
            places=tuple(places),
            revision=world.configuration.revision,
        )

    async def audit_tail(self, *, limit: int = 50, stream: Stream | None = None) -> Sequence[TrailRecord]:
        """The newest audit records, oldest first."""
        return await self._trail.tail(limit=limit, stream=stream)

    async def audit_after(self, since: Mapping[Stream, int], *, limit: int = 500) -> Sequence[TrailRecord]:
        """What each stream gained since the seq named for it."""
        return await self._trail.after(since, limit=limit)

    async def audit_read(self, stream: Stream, *, after: int, limit: int = 500) -> Sequence[TrailRecord]:
        """The records of one stream with seq > `after`, in order."""
        return await self._trail.read(stream, after=after, limit=limit)

    async def audit_verify(self, given: Sequence[Checkpoint] = ()) -> Verification:
        """Whether every chain holds, and where one breaks; `given` are checkpoints that were kept elsewhere."""
        return await self._trail.verify(given)

    async def audit_checkpoint(self) -> Sequence[Checkpoint]:
        """Note where every stream stands."""
        return await self._trail.checkpoint(self._clock.now())

    @property
    def public_url(self) -> str:
        """What this gateway calls itself."""
        return self._configuration.server.public_url

    async def status(self) -> Status:
        """Who is connected and how full the ledger is."""
        now = self._clock.now()

        def work(tx: Tx) -> tuple[int, tuple[int, int]]:
            return sum(1 for s in tx.sessions.list() if s.is_live(now)), tx.calls.usage()

        sessions, (rows, open_calls) = await self._spine.store.run(work)
        world = self._live.world
        return Status(
            revision=world.configuration.revision,
            pages=tuple({**describe_page(page), "user": page.session.user} for page in world.pages.values()),
            sessions=sessions,
            ledger_rows=rows,
            open_calls=open_calls,
        )

    @property
    def _configuration(self) -> Configuration:
        return self._live.world.configuration

    def _site(self, name: str) -> Site:
        site = self._configuration.sites.get(name)
        if site is None:
            raise bad(f"there is no site `{name[:160]}`; declare it under `sites:` and reload")
        return site
