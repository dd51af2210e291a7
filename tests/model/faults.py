"""Faults put into the model on purpose, each with the promise it must be seen to break.

A fault is a guard taken out, or a row put into one of the product's own tables. Where two guards hold the same promise,
the fault takes out both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, ModuleType
from typing import Any, Final

from gateway.domain import activations, approvals, calls, operations
from gateway.domain.activations import ActivationEvent, ActivationState
from gateway.domain.approvals import ApprovalEvent, ApprovalState
from gateway.domain.calls import CallEvent, CallState
from gateway.domain.operations import OperationEvent, OperationState
from tests.model.guards import Guard
from tests.model.states import Kind

G, K = Guard, Kind
S, E = CallState, CallEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A step that a table must not have."""

    table: ModuleType
    state: Any
    event: Any
    target: Any

    def put_in(self) -> Mapping[Any, Mapping[Any, Any]]:
        """The table with it."""
        rows = {state: dict(moves) for state, moves in self.table.TRANSITIONS.items()}
        rows[self.state][self.event] = self.target
        return MappingProxyType({state: MappingProxyType(moves) for state, moves in rows.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong, with which calls it shows, and which promise breaks first."""

    kinds: tuple[Kind, ...]
    breaks: str
    without: tuple[Guard, ...] = ()
    rows: tuple[Row, ...] = field(default=())


FAULTS: Final[Mapping[str, Fault]] = {
    "two starts of one app": Fault(
        kinds=(K.DRAW, K.DRAW), without=(G.ONE_ATTEMPT,), breaks="every call that waits is answered"
    ),
    "whatever the app is, its calls go on": Fault(
        kinds=(K.LOOK,), without=(G.GOAL_IS_REACHED,), breaks="a call was let go before its app was ready"
    ),
    "an operation begins in the background": Fault(
        kinds=(K.START,), without=(G.FOREGROUND_COUNTS,), breaks="a call was let go before its app was ready"
    ),
    "last come, first served": Fault(
        kinds=(K.DRAW, K.DRAW), without=(G.ARRIVAL_ORDER,), breaks="a call that came later went on first"
    ),
    "who waited for a start that failed waits on": Fault(
        kinds=(K.DRAW,), without=(G.WAITERS_ARE_ANSWERED,), breaks="every call that waits is answered"
    ),
    "to stop something starts it": Fault(
        kinds=(K.STOP,), without=(G.NOTHING_WAITS_FOR_NOTHING,), breaks="what needs no app never waits for one"
    ),
    "a call is run for nobody": Fault(
        kinds=(K.DRAW,), without=(G.ORPHANS_WAIT,), breaks="a call nobody waits for was dispatched"
    ),
    "a call moves to the next document": Fault(
        kinds=(K.READ,),
        without=(G.EPOCH_IS_CURRENT, G.LOST_WITH_ITS_DOCUMENT),
        breaks="a document that is gone holds nothing",
    ),
    "what is asked about runs meanwhile": Fault(
        kinds=(K.ADD,), without=(G.READY_BEFORE_DISPATCH,), breaks="a call was dispatched without a yes"
    ),
    "a yes is kept for another time": Fault(
        kinds=(K.ADD,), without=(G.APPROVAL_IS_CONSUMED,), breaks="a yes is used up by its dispatch"
    ),
    "any document decides": Fault(
        kinds=(K.SIGN,),
        without=(G.DECISION_FROM_ITS_DOCUMENT,),
        breaks="a decision came from a document that does not show the question",
    ),
    "a frame goes to whoever is there": Fault(
        kinds=(K.READ,),
        without=(G.WRITTEN_TO_ITS_DOCUMENT,),
        breaks="a document got what another was to do",
    ),
    "any document answers": Fault(
        kinds=(K.READ,),
        without=(G.ANSWER_FROM_ITS_DOCUMENT,),
        breaks="a document answered what was handed to another",
    ),
    "an answer counts whenever it comes": Fault(
        kinds=(K.READ,), without=(G.ENDED_IS_ENDED,), breaks="a success has its result"
    ),
    "what was seen counts as never delivered": Fault(
        kinds=(K.READ,), without=(G.SEEN_DECIDES,), breaks="what was done is not told as undelivered"
    ),
    "a late end is pushed": Fault(
        kinds=(K.READ,), without=(G.LATE_ENDS_ARE_NOT_PUSHED,), breaks="an end is told once"
    ),
    "the same request is another call": Fault(
        kinds=(K.READ,), without=(G.KEY_IS_UNIQUE,), breaks="an executor is asked once"
    ),
    "a restart loses what an operation carries": Fault(
        kinds=(K.START,),
        without=(G.CARRIED_CALLS_SURVIVE,),
        breaks="a carried call goes with its operation",
    ),
    "a carried call times out": Fault(
        kinds=(K.START,),
        without=(G.CARRIED_CALLS_HAVE_NO_TIMEOUT,),
        breaks="a carried call goes with its operation",
    ),
    "a restart runs again what ran": Fault(
        kinds=(K.READ,), without=(G.NOTHING_IS_RUN_AGAIN,), breaks="an executor is asked once"
    ),
    "nobody notes that a document is gone": Fault(
        kinds=(K.READ,), without=(G.LOST_WITH_ITS_DOCUMENT,), breaks="a document that is gone holds nothing"
    ),
    "an operation ends and its call does not": Fault(
        kinds=(K.START,),
        without=(G.OPERATION_SETTLES_ITS_CALL,),
        breaks="time ends every call",
    ),
    "work goes on in a frame that was closed": Fault(
        kinds=(K.DRAW,), without=(G.CLOSING_LOSES_WORK,), breaks="no work is left in a closed frame"
    ),
    "what was ready for a closed frame runs elsewhere": Fault(
        kinds=(K.DRAW,),
        without=(G.CLOSING_ENDS_WHAT_IS_READY,),
        breaks="a call was dispatched before its app was ready",
    ),
    "a closed app is waited for": Fault(
        kinds=(K.DRAW,), without=(G.CLOSING_FAILS_THE_ATTEMPT,), breaks="nobody waits for a closed app"
    ),
    "a start that failed breaks its promise": Fault(
        kinds=(K.START,), without=(G.BUSINESS_ANSWER,), breaks="a start that failed says what it promised"
    ),
    "a start goes on for nobody": Fault(
        kinds=(K.LOOK,), without=(G.UNWANTED_ATTEMPTS_END,), breaks="a start is wanted by somebody"
    ),
    "table: an ended call succeeds again": Fault(
        kinds=(K.READ,),
        rows=(Row(table=calls, state=S.SUCCEEDED, event=E.SUCCEED, target=S.SUCCEEDED),),
        breaks="an end is told once",
    ),
    "table: a failed call succeeds after all": Fault(
        kinds=(K.READ,),
        rows=(Row(table=calls, state=S.FAILED, event=E.SUCCEED, target=S.SUCCEEDED),),
        breaks="an end is told once",
    ),
    "table: what is unknown is lost once more": Fault(
        kinds=(K.READ,),
        rows=(Row(table=calls, state=S.UNKNOWN, event=E.SUCCEED, target=S.DISPATCHED),),
        breaks="a result is a success",
    ),
    "table: no step for a lost call": Fault(
        kinds=(K.READ,),
        rows=(Row(table=calls, state=S.DISPATCHED, event=E.LOSE, target=S.READY),),
        breaks="an executor is asked once",
    ),
    "table: a yes is used twice": Fault(
        kinds=(K.ADD,),
        rows=(
            Row(
                table=approvals,
                state=ApprovalState.APPROVED,
                event=ApprovalEvent.CONSUME,
                target=ApprovalState.APPROVED,
            ),
        ),
        breaks="a yes is used up by its dispatch",
    ),
    "table: an attempt that failed goes on": Fault(
        kinds=(K.DRAW,),
        rows=(
            Row(
                table=activations,
                state=ActivationState.STARTING,
                event=ActivationEvent.FAIL,
                target=ActivationState.STARTING,
            ),
        ),
        breaks="nobody waits for a closed app",
    ),
    "table: an interrupted operation goes on": Fault(
        kinds=(K.START, K.STOP),
        rows=(
            Row(
                table=operations,
                state=OperationState.RUNNING,
                event=OperationEvent.INTERRUPT,
                target=OperationState.RUNNING,
            ),
        ),
        breaks="a carried call goes with its operation",
    ),
}
