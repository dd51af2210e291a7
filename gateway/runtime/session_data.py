"""Session data of mini apps: read and replaced by compare and set, for the app's own live app session and no other.

Who asks is found by the gateway, by its conversation or its frame; an app session is never named from outside (rules B4).
"""

from dataclasses import dataclass

from gateway.domain import session_data
from gateway.domain.session_data import SessionData, Unfit
from gateway.domain.workers import Conversation
from gateway.failpoints import Point, reach
from gateway.runtime.ports import Clock, Tx
from gateway.runtime.spine import Spine


@dataclass(frozen=True, slots=True)
class NoAppSession:
    """There is no live app session to keep anything for."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody wrote since; `present` is what is there now."""

    present: SessionData


def read(tx: Tx, app: str, app_session: str, now: int) -> SessionData:
    """What is kept; revision 0 and an empty object where nothing was ever written."""
    found = tx.session_data.find(app, app_session)
    return found or SessionData(app=app, app_session=app_session, revision=0, data="{}", at=now)


def write(tx: Tx, app: str, app_session: str, text: str, *, revision: int, now: int) -> SessionData | Conflict:
    """Replace what is kept at `revision` by the canonical `text`."""
    written = SessionData(app=app, app_session=app_session, revision=revision + 1, data=text, at=now)
    if not tx.session_data.put(written):
        return Conflict(read(tx, app, app_session, now))
    reach(Point.SESSION_DATA_WRITTEN)
    return written


class SessionDatas:
    """Use cases for handlers and frames; both are known by the conversation they work in."""

    def __init__(self, *, spine: Spine, clock: Clock) -> None:
        self._spine = spine
        self._clock = clock

    async def get(self, app: str, conversation: Conversation) -> SessionData | NoAppSession:
        """What `app` keeps for the app session that is live in `conversation`."""

        def work(tx: Tx) -> SessionData | NoAppSession:
            name = _live_session(tx, app, conversation)
            return NoAppSession() if name is None else read(tx, app, name, self._clock.now())

        return await self._spine.store.run(work)

    async def put(
        self, app: str, conversation: Conversation, value: object, *, revision: int
    ) -> SessionData | Conflict | Unfit | NoAppSession:
        """Replace it by the JSON `value` if it is still at `revision`; 0 is the revision before the first write."""
        text = session_data.judged(value)
        if isinstance(text, Unfit):
            return text

        def work(tx: Tx) -> SessionData | Conflict | NoAppSession:
            name = _live_session(tx, app, conversation)
            if name is None:
                return NoAppSession()
            return write(tx, app, name, text, revision=revision, now=self._clock.now())

        return await self._spine.store.run(work)


def _live_session(tx: Tx, app: str, conversation: Conversation) -> str | None:
    instance = tx.instances.live(conversation.user, conversation.id, app)
    return None if instance is None else instance.app_session
