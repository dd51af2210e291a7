"""What the worker process of a mini app is handed and what comes back, as data. Knows nothing of processes. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gateway.domain.errors import ErrorCode

STOP_MS: Final = 250
"""How long a handler whose time is up has to stop by itself; then its call counts as lost."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Where an app works: one conversation of one user. Never told to agents."""

    user: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One dispatched call for the worker of `app`.

    `arguments` is their canonical text. `within_ms` counts from the moment the job is submitted: then the handler
    is told to stop. A job that `is_app_ready` runs only in a process whose `activate` hook ran for its conversation.
    """

    app: str
    ref: str
    method: str
    arguments: str
    within_ms: int
    conversation: Conversation
    is_app_ready: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What came of a job: an output (canonical text), or an error. `code` None is success."""

    output: str | None = None
    code: ErrorCode | None = None
    message: str | None = None


class Loss(StrEnum):
    """Why nobody knows what became of a job its worker was given."""

    CRASHED = "crashed"
    OVERRAN = "overran"
    BROKE_FRAMES = "broke_frames"
    STOPPED = "stopped"


class HookFault(StrEnum):
    """Why a hook of an app did not do its work."""

    TIMEOUT = "timeout"
    RAISED = "raised"
    NOT_AVAILABLE = "not_available"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFailure:
    """A hook that failed, and words for whoever waits for it."""

    fault: HookFault
    message: str


class WorkerState(StrEnum):
    """Where the worker of an app stands."""

    STARTING = "starting"
    RUNNING = "running"
    BACKING_OFF = "backing_off"
    STOPPING = "stopping"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Whose handler asks the gateway for something: the app, where it works, and for which call.

    `ref` is None inside a hook.
    """

    app: str
    conversation: Conversation
    ref: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Session data as stored: the JSON text the app sent and its revision; revision 0 holds nothing yet."""

    data: str | None
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """A request a handler wants sent."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    within_ms: int = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """The answer to it, redirects included: those are not followed."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Denial(StrEnum):
    """Why a handler did not get what it asked for."""

    NOT_DECLARED = "not_declared"
    NOT_SET = "not_set"
    ADDRESS_REFUSED = "address_refused"
    UNREACHABLE = "unreachable"
    TOO_LARGE = "too_large"
    TIMEOUT = "timeout"
    CONFLICT = "conflict"
    INVALID = "invalid"
    OVER = "over"
    BUSY = "busy"


class ServiceDenied(Exception):
    """The gateway does not do what a handler asked for; both parts are told to the handler."""

    def __init__(self, denial: Denial, message: str) -> None:
        super().__init__(message)
        self.denial = denial
        self.message = message
