"""Sessions of older clients: which manager serves an id, which ids have ended, which calls can be cancelled.

A restart forgets the SDK's sessions, and some clients never begin a new one. Nothing of ours hangs on them, so
an id this process never gave out is served without a session; one that ended here stays ended (design §11).
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from gateway.runtime.services import Services
from gateway.transports.agents_mcp import sdk_private
from gateway.transports.agents_mcp.calling import InFlight
from gateway.transports.agents_mcp.json_objects import members_of

REMEMBERED_SECONDS: Final = 86_400
SESSIONS: Final = 64
"""MCP sessions of one agent session; a further one ends the one that was used least lately."""
_MOST: Final = 50_000
_GRACE_SECONDS: Final = 0.5
"""Time for the last answers of a revoked session."""


@dataclass(slots=True)
class _Given:
    owner: str
    used_at: float


class LegacySessions:
    """One per endpoint."""

    def __init__(self, services: Services, manager: StreamableHTTPSessionManager) -> None:
        self._services = services
        self._manager = manager
        self._given: dict[str, _Given] = {}
        self._in_flight: dict[tuple[str, str | None, str], InFlight] = {}

    def was_given(self, mcp_session: str) -> bool:
        """Whether this process gave the id out, or ended it, within the last day."""
        given = self._given.get(mcp_session)
        if given is None:
            return False
        given.used_at = time.monotonic()
        return True

    def note(self, mcp_session: str, owner: str) -> None:
        """An id was given to, or ended by, agent session `owner`."""
        if len(self._given) >= _MOST:
            self._forget_old()
        is_new = mcp_session not in self._given
        self._given[mcp_session] = _Given(owner, time.monotonic())
        if is_new:
            self._make_room(owner)

    def _make_room(self, owner: str) -> None:
        # Many clients begin a session with every start and end none; what has ended here, they begin anew.
        live = [name for name in sdk_private.live_sessions(self._manager) if self._is_of(name, owner)]
        if len(live) > SESSIONS:
            oldest = min(live, key=lambda name: self._given[name].used_at)
            self._services.spine.spawn(self._terminate([oldest], 0))

    def _is_of(self, name: str, owner: str) -> bool:
        return name in self._given and self._given[name].owner == owner

    def _forget_old(self) -> None:
        live = set(sdk_private.live_sessions(self._manager))
        horizon = time.monotonic() - REMEMBERED_SECONDS
        self._given = {name: given for name, given in self._given.items() if name in live or given.used_at > horizon}

    # -- calls in flight ----------------------------------------------------------------------------------

    def begin(self, owner: str, mcp_session: str | None, request: Any) -> InFlight:
        """A request began; until `end` it can be cancelled by its id."""
        entry = self._in_flight[owner, mcp_session, repr(request)] = InFlight()
        return entry

    def end(self, owner: str, mcp_session: str | None, request: Any, entry: InFlight) -> None:
        """A request was answered."""
        key = (owner, mcp_session, repr(request))
        if self._in_flight.get(key) is entry:
            del self._in_flight[key]

    def cancelled(self, owner: str, mcp_session: str | None, params: Any) -> str | None:
        """The ref of the call that `notifications/cancelled` is about."""
        request = members_of(params).get("requestId")
        entry = self._in_flight.get((owner, mcp_session, repr(request)))
        return None if entry is None else entry.ref

    # -- ending -------------------------------------------------------------------------------------------

    def end_owned(self, owner: str) -> None:
        """An agent session was revoked or expired: end its MCP sessions, streams included."""
        names = [name for name, given in self._given.items() if given.owner == owner]
        if names:
            self._services.spine.spawn(self._terminate(names, _GRACE_SECONDS))

    def end_all(self) -> None:
        """The gateway stops."""
        names = sdk_private.live_sessions(self._manager)
        if names:
            self._services.spine.spawn(self._terminate(names, _GRACE_SECONDS))

    async def _terminate(self, names: tuple[str, ...] | list[str], delay: float) -> None:
        await asyncio.sleep(delay)
        for name in names:
            transport = sdk_private.transport_of(self._manager, name)
            if transport is not None:
                await transport.terminate()
