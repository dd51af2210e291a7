"""One door as the edge sees it: its address, who may look in, and how it says no."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from starlette.responses import Response
from starlette.types import Scope

from gateway.domain.errors import GatewayError
from gateway.settings import Limits
from gateway.transports.doors.origins import METHODS
from gateway.transports.doors.refusals import refusal_response


class Browsers(StrEnum):
    """Which web pages may read a door's answers."""

    LISTED = "listed"
    """Those of `server.origins`; a request of another page is refused."""
    ALL = "all"
    """Every page: what is told is public."""
    OWN = "own"
    """The door says so itself, in its own answers."""


def refuse_plainly(error: GatewayError, _: Scope) -> Response:
    """The refusal of a door without an envelope."""
    return refusal_response(error)


def body_limit(limits: Limits) -> int:
    """The general one."""
    return limits.body_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """`prefix` is a path, or the beginning of paths when it ends with `/`."""

    name: str
    prefix: str
    browsers: Browsers = Browsers.LISTED
    methods: tuple[str, ...] = METHODS
    refuse: Callable[[GatewayError, Scope], Response] = refuse_plainly
    max_bytes: Callable[[Limits], int] = body_limit
    is_guarded: bool = True
    """Whether host names and rates are judged; probes of a supervisor know no name."""
    always: Sequence[tuple[bytes, bytes]] = ()
    """Headers of every answer at this door, refusals and failures included, beside what the answer says itself."""


ELSEWHERE: Final = Door(name="elsewhere", prefix="")
"""Every address no door has: judged like one."""

WELL_KNOWN: Final = Door(name="well_known", prefix="/.well-known/", browsers=Browsers.ALL)
