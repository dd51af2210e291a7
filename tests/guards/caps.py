"""Guards of what one party may keep open at once: waits, streams, sessions, sockets (design §17)."""

from typing import Final

from tests.guards.guard import Guard

_ENDPOINT: Final = "gateway/transports/page_ws/endpoint.py"
_FLOODS: Final = "tests/interaction/page/test_floods.py"
_WAITING: Final = "tests/interaction/surface/test_waiting.py"
_UNREAD: Final = "tests/cases/C46/test_an_agent_reads_nothing.py"

GUARDS: Final = (
    Guard(
        name="waits-of-a-session-are-counted-at-the-surface-door",
        section="§17",
        why="one agent could keep every connection of the gateway waiting for its calls",
        file="gateway/runtime/surface.py",
        old="return self._calls.place(session) if seconds else nullcontext()",
        new="return nullcontext()",
        tests=(_WAITING,),
    ),
    Guard(
        name="waits-of-a-session-are-counted-at-the-mcp-door",
        section="§17",
        why="the same, over MCP",
        file="gateway/transports/agents_mcp/calling.py",
        old="            with self._services.calls.place(asked.exchange.session):\n                return await self._answer(asked)\n",
        new="            return await self._answer(asked)\n",
        tests=(f"{_UNREAD}::test_the_calls_one_session_waits_for_have_an_end",),
    ),
    Guard(
        name="place-is-given-back",
        section="§17",
        why="a session would be shut out by requests that were answered long ago",
        file="gateway/runtime/attendance.py",
        old="            self._taken[session] -= 1\n",
        new="",
        tests=(f"{_WAITING}::test_the_requests_of_one_session_that_wait_have_an_end",),
    ),
    Guard(
        name="each-session-has-its-places",
        section="§17",
        why="one agent that waits much would shut out all others",
        file="gateway/runtime/calls.py",
        old="return self._places.one(session.id, ",
        new='return self._places.one("all", ',
        tests=(f"{_WAITING}::test_each_session_has_places_of_its_own",),
    ),
    Guard(
        name="streams-of-a-session-are-counted",
        section="§17",
        why="one agent could open streams until nobody else gets a connection",
        file="gateway/transports/agents_mcp/listening.py",
        old="        if audience.streams >= STREAMS:\n",
        new="        if False:\n",
        tests=(f"{_UNREAD}::test_one_session_has_a_bounded_number_of_streams",),
    ),
    Guard(
        name="sessions-of-older-clients-are-counted",
        section="§17",
        why="clients that begin a session with every start and end none would fill the memory",
        file="gateway/transports/agents_mcp/legacy_sessions.py",
        old="        if len(live) > SESSIONS:\n",
        new="        if False:\n",
        tests=(f"{_UNREAD}::test_sessions_of_older_clients_have_an_end_too",),
    ),
    Guard(
        name="least-used-session-of-an-older-client-ends",
        section="§17",
        why="a client at work would lose its session to one that was forgotten",
        file="gateway/transports/agents_mcp/legacy_sessions.py",
        old="oldest = min(live, key=lambda name: self._given[name].used_at)",
        new="oldest = max(live, key=lambda name: self._given[name].used_at)",
        tests=(f"{_UNREAD}::test_sessions_of_older_clients_have_an_end_too",),
    ),
    Guard(
        name="requests-of-an-in-page-client-are-counted",
        section="§17",
        why="a page could ask more at once than anybody answers",
        file="gateway/transports/page_ws/in_page.py",
        old="        if len(self._open) >= AT_ONCE:\n",
        new="        if False:\n",
        tests=("tests/interaction/page/test_in_page.py::test_too_many_requests_at_once_are_told_so",),
    ),
    Guard(
        name="sockets-of-pages-are-counted",
        section="§17",
        why="pages would take every connection from the agents",
        file=_ENDPOINT,
        old='            (self._open, limits.page_connections, "open"),\n',
        new="",
        tests=(f"{_FLOODS}::test_sockets_are_counted_before_they_are_taken",),
    ),
    Guard(
        name="sockets-without-hello-are-counted",
        section="§17",
        why="whoever has no ticket could keep pages out that have one",
        file=_ENDPOINT,
        old='            (self._arriving, limits.page_arrivals, "waiting for their `hello`"),\n',
        new="",
        tests=(f"{_FLOODS}::test_sockets_that_have_not_said_hello_are_few",),
    ),
)
