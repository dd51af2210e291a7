"""Session data of mini apps: read and replaced by compare and set, for the app's own live app session and no other.

Who asks is found by the gateway, by its conversation or its frame; an app session is never named from outside (rules B4).
"""

from dataclasses import dataclass
from typing import Final

from gateway.domain.session_data import SessionData
from gateway.domain.workers import Conversation
from gateway.failpoints import Point, reach
from gateway.runtime.ports import Tx

REVISION_MAX: Final = 2**53
"""Nobody was ever told a revision from here on."""


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
    if not 0 <= revision < REVISION_MAX:
        return Conflict(read(tx, app, app_session, now))
    written = SessionData(app=app, app_session=app_session, revision=revision + 1, data=text, at=now)
    if not tx.session_data.put(written):
        return Conflict(read(tx, app, app_session, now))
    reach(Point.SESSION_DATA_WRITTEN)
    return written


def live_session(tx: Tx, app: str, conversation: Conversation) -> str | None:
    """The app session `app` has open in `conversation`; None when it has none there."""
    instance = tx.instances.live(conversation.user, conversation.id, app)
    return None if instance is None else instance.app_session
