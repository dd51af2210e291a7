"""The logs of conversations at work: who reads on, and who is woken (design §10).

A bell only says that there may be something: what there is stands in the log, and is read from there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import Call
from gateway.domain.conversations import EndTold, EventTold, Message, Talk
from gateway.domain.errors import ErrorCode, GatewayError
from gateway.runtime.admission import may_see
from gateway.runtime.calls import Calls
from gateway.runtime.effects import Effect, LogGrew, Receipted
from gateway.runtime.ports import Tx
from gateway.runtime.spine import Spine

Bell = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What of a log a session may see, and the place its next reading begins after."""

    messages: tuple[Message, ...]
    place: int
    reasons: Mapping[str, str]
    """Why the start of an app failed or was cancelled, by the ref of a call that ended for it."""


def why_not_started(tx: Tx, call: Call) -> str | None:
    """Why the app of a call that ended for it was not started (rules F2); None where that was not its end."""
    if call.activation is None or call.code not in _NOT_STARTED:
        return None
    attempt = tx.activations.find(call.activation)
    return None if attempt is None else attempt.reason


_NOT_STARTED: Final = frozenset({ErrorCode.APP_ACTIVATION_FAILED, ErrorCode.APP_ACTIVATION_CANCELLED})


class Conversations:
    """One per gateway."""

    def __init__(self, *, spine: Spine, calls: Calls) -> None:
        self._spine = spine
        self._bells: dict[tuple[str, str], list[Bell]] = {}
        calls.on_change(self._changed)
        spine.on(Receipted, self._receipted)
        spine.on(LogGrew, lambda effect: self._ring((effect.talk.agent, effect.talk.user)))
        spine.observe(self._observed)

    def listen(self, session: AgentSession, bell: Bell) -> Callable[[], None]:
        """Call `bell` when there may be a message for `session`; returns the way out."""
        key = (session.agent, session.user)
        self._bells.setdefault(key, []).append(bell)

        def leave() -> None:
            self._bells[key].remove(bell)
            if not self._bells[key]:
                del self._bells[key]

        return leave

    async def place(self, session: AgentSession, named: int | None) -> int:
        """The place to read on after: the one a client names, or the end of the log.

        Raises:
            GatewayError: `bad_request`, nothing of that place was ever told here.
        """
        head: int = await self._spine.store.run(lambda tx: tx.conversations.head(Talk.of(session)))
        if named is not None and named > head:
            message = f"event `{named}` was never sent in this conversation; connect without `Last-Event-ID`"
            raise GatewayError(ErrorCode.BAD_REQUEST, message)
        return head if named is None else named

    async def read(self, session: AgentSession, after: int, limit: int) -> Read:
        """The next messages of its log that `session` may see."""

        def work(tx: Tx) -> Read:
            found = tx.conversations.read(Talk.of(session), after=after, limit=limit)
            # The log outlives a grant; who continues it under a narrower one is not told what that does not cover.
            seen = tuple(m for m in found if isinstance(m, EventTold) or may_see(session, m.call))
            calls = [m.call for m in seen if isinstance(m, EndTold)]
            reasons = {call.ref: reason for call in calls if (reason := why_not_started(tx, call)) is not None}
            return Read(messages=seen, place=found[-1].seq if found else after, reasons=reasons)

        return await self._spine.store.run(work)

    def _observed(self, effect: Effect) -> None:
        # Whatever follows from a commit about a call: a receipt may have been written with it.
        call = getattr(effect, "call", None)
        if isinstance(call, Call):
            self._changed(call)

    def _changed(self, call: Call) -> None:
        self._ring((call.agent, call.user))

    def _receipted(self, effect: Receipted) -> None:
        for call in effect.calls:
            self._changed(call)

    def _ring(self, key: tuple[str, str]) -> None:
        for bell in tuple(self._bells.get(key, ())):
            bell()
