"""Settling `unknown` calls by what an administrator found out elsewhere. Nothing is ever run (design §3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.domain.calls import Call, CallState
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.admin.checks import bad, check_reason
from gateway.runtime.effects import After, Effect
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.settlement import reconcile
from gateway.runtime.spine import Spine

_BATCH: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """Which `unknown` calls: of this page session, handed out at or after `since` and before `until` (ms)."""

    page: str | None = None
    since: int | None = None
    until: int | None = None

    def takes_in(self, call: Call) -> bool:
        """Whether `call` is one of them."""
        at = call.dispatched_at
        return (
            self.page in (None, call.page)
            and (self.since is None or (at is not None and at >= self.since))
            and (self.until is None or (at is not None and at < self.until))
        )


class Reconciler:
    """Settles one call, or all that are meant."""

    def __init__(self, spine: Spine, clock: Clock) -> None:
        self._spine = spine
        self._clock = clock

    async def one(self, ref: str, *, succeeded: bool, reason: str | None, by: str) -> Call:
        """Settle one call.

        Raises:
            GatewayError: `unknown_call`, or `state_conflict` where it is not `unknown`.
        """
        check_reason(reason)
        now = self._clock.now()

        def work(tx: Tx) -> After:
            call = tx.calls.find(ref)
            if call is None:
                raise GatewayError(ErrorCode.UNKNOWN_CALL, f"there is no call `{ref[:160]}`")
            if call.state is not CallState.UNKNOWN:
                raise GatewayError(
                    ErrorCode.STATE_CONFLICT,
                    f"call `{ref}` is `{call.state}`; only an `unknown` call can be reconciled",
                )
            return After(*reconcile(tx, call, now, succeeded=succeeded, by=by, reason=reason))

        return await self._spine.run(work)

    async def many(
        self, meant: Meant, *, succeeded: bool, reason: str | None, by: str, is_rehearsal: bool
    ) -> Sequence[Call]:
        """Settle every `unknown` call that is meant, a bounded number at a time; a rehearsal only finds them.

        Raises:
            GatewayError: `bad_request`, when nothing says which are meant.
        """
        if meant == Meant():
            raise bad("say which calls are meant: a ref, a page, or a time")
        check_reason(reason)
        now, after, settled = self._clock.now(), "", list[Call]()

        def work(tx: Tx) -> After:
            looked_at = tx.calls.unknown(after=after, limit=_BATCH)
            found = [call for call in looked_at if meant.takes_in(call)]
            effects: tuple[Effect, ...] = ()
            if not is_rehearsal:
                steps = [reconcile(tx, call, now, succeeded=succeeded, by=by, reason=reason) for call in found]
                found, effects = [call for call, _ in steps], tuple(e for _, told in steps for e in told)
            return After((looked_at, found), effects)

        while True:
            looked_at, found = await self._spine.run(work)
            settled += found
            if len(looked_at) < _BATCH:
                return settled
            after = looked_at[-1].ref
