"""What every HTTP door does first: which peer and host it is, which origin asks, who, and how much it sends.

`Edge` does it around all doors at once; what a door does itself is here too. Every refusal made here is audited here.
"""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from gateway.transports.doors.bodies import read_body, read_json, refusal_of_json
from gateway.transports.doors.credentials import bearer_of
from gateway.transports.doors.door import WELL_KNOWN, Browsers, Door
from gateway.transports.doors.edge import Edge
from gateway.transports.doors.hosts import allowed_hosts, judge_host, public_host
from gateway.transports.doors.refusals import (
    PRIVATE,
    json_response,
    note,
    peer_of,
    refusal_of,
    refusal_response,
)
from gateway.transports.doors.waiters import Waiters, while_connected

Endpoint = Callable[[Request], Awaitable[Response]]

__all__ = [
    "PRIVATE",
    "WELL_KNOWN",
    "Browsers",
    "Door",
    "Edge",
    "Endpoint",
    "Waiters",
    "allowed_hosts",
    "bearer_of",
    "json_response",
    "judge_host",
    "note",
    "peer_of",
    "public_host",
    "read_body",
    "read_json",
    "refusal_of",
    "refusal_of_json",
    "refusal_response",
    "while_connected",
]
