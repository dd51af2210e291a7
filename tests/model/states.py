"""What the model knows of a moment: calls, the page they may run on, and the mini app they may wait for.

Words are those of the product's enums, as plain text: an enum's hash would cost more than all the rest of a step.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from gateway.domain.activations import ActivationState, Goal
from gateway.domain.approvals import ApprovalState
from gateway.domain.calls import CallState
from gateway.domain.instances import InstanceState
from gateway.domain.operations import OperationState


class Kind(StrEnum):
    """What is called. Each is one way through the spine."""

    START = "start"
    """A runtime operation with a deadline, once the app is in front; it has an answer for a failed start."""
    STOP = "stop"
    """Interrupts what goes on; waits for nothing and starts nothing."""
    DRAW = "draw"
    """A handler in the app's frame, once the app is there."""
    LOOK = "look"
    """A handler in the app's frame, once the app is in front."""
    SIGN = "sign"
    """`draw`, and the person is asked first."""
    ADD = "add"
    """An action of the page itself, and the person is asked first."""
    READ = "read"
    """An action of the page itself, and nobody is asked."""


GOALS: Final = {
    Kind.START: Goal.FOREGROUND.value,
    Kind.DRAW: Goal.APP.value,
    Kind.LOOK: Goal.FOREGROUND.value,
    Kind.SIGN: Goal.APP.value,
}
"""What a call waits for; a kind that is not here waits for nothing."""
ASKED: Final = frozenset({Kind.SIGN, Kind.ADD})
OF_APP: Final = frozenset({Kind.START, Kind.STOP, Kind.DRAW, Kind.LOOK, Kind.SIGN})
ON_PAGE: Final = frozenset({Kind.DRAW, Kind.LOOK, Kind.SIGN, Kind.ADD, Kind.READ})
"""What a document runs."""
BOUND_AT_ONCE: Final = frozenset({Kind.ADD, Kind.READ})
"""What is bound to a document when it is accepted, not only when it may run."""


class Link(StrEnum):
    """How the page stands with the gateway: `away` is forgotten by it, and may still come back."""

    CONNECTED = "connected"
    DROPPED = "dropped"
    AWAY = "away"


class Frame(StrEnum):
    """Where the frame that hands a call to its document is."""

    NONE = ""
    DUE = "due"
    """Dispatched and not written yet: the moment between a commit and its effect."""
    SENT = "sent"
    """On its way."""
    LOST = "lost"
    """It never arrived."""
    DONE = "done"
    """The document has run it, and knows its answer."""
    GONE = "gone"
    """The document that had it is no more."""


class CallView(NamedTuple):
    """One call. `runs`, `effects`, `results` and `told` count what may happen once."""

    state: str = ""
    approval: str = ""
    asked_at: int = 0
    """The epoch of the document that shows its question."""
    attempt: int = 0
    epoch: int = 0
    operation: str = ""
    frame: str = Frame.NONE.value
    orphan: bool = False
    late: bool = False
    undelivered: bool = False
    runs: int = 0
    effects: int = 0
    results: int = 0
    told: int = 0


class World(NamedTuple):
    """One moment. `broken` names promises that a step broke by the way it was taken."""

    calls: tuple[CallView, ...]
    epoch: int = 1
    link: str = Link.CONNECTED.value
    instance: str = ""
    front: bool = False
    gone: bool = False
    """Its page is away, so the instance will count as closed."""
    worked: bool = False
    """Whether the instance ever carried an operation."""
    attempt: str = ""
    goal: str = ""
    number: int = 0
    """Which attempt it is, counted from 1."""
    others: int = 0
    """Attempts that live beside the newest one; there must be none."""
    broken: tuple[str, ...] = ()


ANSWERED: Final = frozenset(state.value for state in CallState if state.is_terminal or state is CallState.UNKNOWN)
"""States in which a caller has something final to read."""

STARTING, REACHED = ActivationState.STARTING.value, ActivationState.READY.value
AWAITING, WAITING, READY = (
    CallState.AWAITING_APPROVAL.value,
    CallState.WAITING_ACTIVATION.value,
    CallState.READY.value,
)
DISPATCHED, UNKNOWN, SUCCEEDED = CallState.DISPATCHED.value, CallState.UNKNOWN.value, CallState.SUCCEEDED.value
OPEN_QUESTION, APPROVED, CONSUMED = (
    ApprovalState.OPEN.value,
    ApprovalState.APPROVED.value,
    ApprovalState.CONSUMED.value,
)
GOES_ON = OperationState.RUNNING.value
OPENING, RUNNING, CLOSED = InstanceState.STARTING.value, InstanceState.RUNNING.value, InstanceState.CLOSED.value
UNDISPATCHED: Final = frozenset({AWAITING, WAITING, READY})
