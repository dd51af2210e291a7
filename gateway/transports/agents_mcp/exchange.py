"""One HTTP request at the endpoint: whose it is, which calls it waits for, and whether its answer arrived."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

from starlette.types import Message, Receive, Send

from gateway.domain.agent_sessions import AgentSession
from gateway.domain.calls import Call
from gateway.failpoints import Point, reach
from gateway.runtime.attendance import Attendance, Waiter
from gateway.transports.doors.bodies import came_already


@dataclass(eq=False, slots=True, kw_only=True)
class Exchange:
    """Lives as long as the HTTP request. A handler of an older client may outlive it.

    `arrival` orders requests of this process; `mcp_session` is the SDK's session id of older clients.
    """

    session: AgentSession
    peer: str
    arrival: int
    mcp_session: str | None
    attendance: Attendance
    take: Callable[[Call], None]
    traceparent: str | None = None
    """The place in a trace that the calls of this request belong to."""
    is_gone: bool = False
    """The client left before its answer was whole."""
    is_answered: bool = False
    _waiters: list[Waiter] = field(default_factory=list[Waiter])
    _finals: list[Call] = field(default_factory=list[Call])

    def joined(self, waiter: Waiter) -> None:
        """Tie a waiter to this connection."""
        if self.is_gone:
            self.attendance.hang_up(waiter)
        else:
            self._waiters.append(waiter)

    def answers_with(self, call: Call) -> None:
        """Note that the answer carries a final result; it counts as taken once it was sent."""
        self._finals.append(call)

    def hang_up(self) -> None:
        """The connection ended."""
        if self.is_answered or self.is_gone:
            return
        self.is_gone = True
        for waiter in self._waiters:
            self.attendance.hang_up(waiter)
            waiter.wake()

    def close(self) -> None:
        """The request was served to its end, or given up."""
        if not self.is_answered:
            self.hang_up()
            return
        for waiter in self._waiters:
            self.attendance.leave(waiter)
        if not self.is_gone:
            for call in self._finals:
                self.take(call)

    def watched(self, receive: Receive) -> Receive:
        """`receive` that notices the client leaving, in both eras."""

        async def watching() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.hang_up()
            return message

        return watching

    def recorded(self, receive: Receive, send: Send) -> Send:
        """`send` that notes when the last byte of the answer went out to a client that was still there."""

        async def recording(message: Message) -> None:
            is_last = message["type"] == "http.response.body" and not message.get("more_body", False)
            if is_last and left_already(receive):
                self.hang_up()
            if is_last:
                reach(Point.ANSWER_DUE)
            await send(message)
            if is_last:
                reach(Point.ANSWER_SENT)
                self.is_answered = True

        return recording


def left_already(receive: Receive) -> bool:
    """Whether the server knows by now that the client is gone, found without waiting."""
    message = came_already(receive)
    return message is not None and message["type"] == "http.disconnect"


current_exchange: ContextVar[Exchange] = ContextVar("ostiary_mcp_exchange")
"""Set around each request; the SDK carries it to handlers of both eras."""
