"""What the worker process of a mini app is handed and what comes back, as data. Knows nothing of processes. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gateway.domain.errors import ErrorCode, IllegalTransition

STOP_MS: Final = 250
"""How long a handler whose time is up may take to say that it stopped; then its call counts as lost."""


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

    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    BACKING_OFF = "backing_off"


class WorkerEvent(StrEnum):
    """What can happen to the worker of an app."""

    BEGIN = "begin"
    READY = "ready"
    STOP = "stop"
    PAUSE = "pause"
    GONE = "gone"


_S, _E = WorkerState, WorkerEvent

TRANSITIONS: Final[Mapping[WorkerState, Mapping[WorkerEvent, WorkerState]]] = MappingProxyType(
    {
        _S.STOPPED: {_E.BEGIN: _S.STARTING},
        _S.STARTING: {
            _E.BEGIN: _S.STARTING,
            _E.READY: _S.RUNNING,
            _E.STOP: _S.STOPPING,
            _E.PAUSE: _S.BACKING_OFF,
            _E.GONE: _S.STOPPED,
        },
        _S.RUNNING: {
            _E.BEGIN: _S.STARTING,
            _E.STOP: _S.STOPPING,
            _E.PAUSE: _S.BACKING_OFF,
            _E.GONE: _S.STOPPED,
        },
        _S.STOPPING: {_E.BEGIN: _S.STARTING, _E.GONE: _S.STOPPED},
        _S.BACKING_OFF: {_E.BEGIN: _S.STARTING, _E.GONE: _S.STOPPED},
    }
)
"""Begun again is what became of a process that ended by itself, or was replaced."""


def step(state: WorkerState, event: WorkerEvent) -> WorkerState:
    """Where `event` leads.

    Raises:
        IllegalTransition: the table has no row for the pair.
    """
    target = TRANSITIONS[state].get(event)
    if target is None:
        raise IllegalTransition(f"worker in `{state}` cannot `{event}`")
    return target


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLoad:
    """How much there is to do: workers that run, jobs they hold, jobs that wait for one."""

    running: int
    held: int
    waiting: int


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
    """Session data as stored: the JSON text of the object the app sent, and its revision; 0 if it never sent any."""

    data: str
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
    """The answer to it, header names in lower case. A redirect is an answer."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Denial(StrEnum):
    """Why a handler did not get what it asked for; each is an exception of `capabilities.contract` to it."""

    NOT_PERMITTED = "not_permitted"
    NO_APP_SESSION = "no_app_session"
    TOO_MUCH = "too_much"
    REQUEST_FAILED = "request_failed"
    CONFLICT = "conflict"
    REFUSED = "refused"


class ServiceDenied(Exception):
    """The gateway does not do what a handler asked for; all of it is told to the handler.

    Attributes:
        revision: of the session data as it is now; for `conflict` only.
    """

    def __init__(self, denial: Denial, message: str, *, revision: int = 0) -> None:
        super().__init__(message)
        self.denial = denial
        self.message = message
        self.revision = revision
