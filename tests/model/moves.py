"""One step of the model in the making: the parts the product's units of work are made of, by the product's tables.

Each method is named like the function it stands for, and does what that does to calls, approvals, the app and the page.
"""

from typing import Any

from gateway.domain.activations import ActivationEvent
from gateway.domain.approvals import ApprovalEvent
from gateway.domain.calls import CallEvent, CallState
from gateway.domain.instances import InstanceEvent
from gateway.domain.operations import OperationEvent
from tests.model.guards import Guard
from tests.model.states import (
    ANSWERED,
    APPROVED,
    ASKED,
    AWAITING,
    DISPATCHED,
    GOALS,
    GOES_ON,
    ON_PAGE,
    OPEN_QUESTION,
    OPENING,
    READY,
    RUNNING,
    STARTING,
    UNDISPATCHED,
    WAITING,
    CallView,
    Frame,
    Kind,
    Link,
    World,
)
from tests.model.tables import Tables

_ENDS_APPROVAL = {
    CallState.EXPIRED.value: (ApprovalEvent.EXPIRE, ApprovalEvent.LAPSE),
    CallState.DENIED.value: (ApprovalEvent.WITHDRAW, ApprovalEvent.WITHDRAW),
    CallState.CANCELLED.value: (ApprovalEvent.WITHDRAW, ApprovalEvent.WITHDRAW),
    CallState.FAILED.value: (ApprovalEvent.WITHDRAW, ApprovalEvent.WITHDRAW),
    CallState.SUCCEEDED.value: (ApprovalEvent.WITHDRAW, ApprovalEvent.WITHDRAW),
}
"""What the end of a call does to its open question, and to a yes that was not used."""


class Draft:
    """A world that is being changed."""

    def __init__(self, world: World, kinds: tuple[Kind, ...], guards: frozenset[Guard], tables: Tables) -> None:
        self.kinds = kinds
        self.guards = guards
        self.tables = tables
        self.calls = list(world.calls)
        self.epoch, self.link = world.epoch, world.link
        self.instance, self.front, self.gone, self.worked = world.instance, world.front, world.gone, world.worked
        self.attempt, self.goal, self.others = world.attempt, world.goal, world.others
        self.broken = list(world.broken)

    def world(self) -> World:
        """The world as it is now."""
        return World(
            calls=tuple(self.calls),
            epoch=self.epoch,
            link=self.link,
            instance=self.instance,
            front=self.front,
            gone=self.gone,
            worked=self.worked,
            attempt=self.attempt,
            goal=self.goal,
            others=self.others,
            broken=tuple(self.broken),
        )

    # -- small things -------------------------------------------------------------------------------------------

    def put(self, i: int, **changes: Any) -> None:
        self.calls[i] = self.calls[i]._replace(**changes)

    def breaks(self, promise: str) -> None:
        if promise not in self.broken:
            self.broken.append(promise)

    def kept(self, guard: Guard) -> bool:
        return guard in self.guards

    @property
    def has_page(self) -> bool:
        """Whether the gateway knows the page, connected or not."""
        return self.link != Link.AWAY

    @property
    def is_live(self) -> bool:
        return self.instance in (OPENING, RUNNING)

    def has_reached(self, goal: str) -> bool:
        """`Instance.has_reached`."""
        if not self.is_live:
            return False
        front = self.front or not self.kept(Guard.FOREGROUND_COUNTS)
        return self.tables.has_reached(self.instance, front, goal)

    def waiters(self) -> list[int]:
        """`Calls.waiting_for` the present attempt, in the order they came."""
        found = [i for i, c in enumerate(self.calls) if c.state == WAITING and c.attempt == 1]
        return found if self.kept(Guard.ARRIVAL_ORDER) else found[::-1]

    # -- calls ----------------------------------------------------------------------------------------------------

    def move(self, i: int, event: CallEvent, **changes: Any) -> None:
        """`calls.step`, and what is told of it."""
        view = self.calls[i]
        after = self.tables.call(view.state, event)
        if after is None:
            self.breaks(f"no step leads from `{view.state}` by `{event}`")
            return
        is_late = after in ANSWERED and self.tables.is_late(view.state, event)
        is_told = after in ANSWERED and (not is_late or not self.kept(Guard.LATE_ENDS_ARE_NOT_PUSHED))
        told = min(2, view.told + is_told)
        # Whether its last waiter left says nothing of a call that is not to be dispatched any more.
        orphan = view.orphan and after in UNDISPATCHED
        self.calls[i] = view._replace(state=after, late=view.late or is_late, told=told, orphan=orphan, **changes)

    def end(self, i: int, event: CallEvent) -> None:
        """`ending.end`: an undispatched call ends, with the approval it holds and the attempt only it wanted."""
        waited = self.calls[i].state == WAITING
        self.move(i, event)
        self.release_approval(i)
        if waited:
            self.unless_wanted()

    def release_approval(self, i: int) -> None:
        view = self.calls[i]
        if view.approval in (OPEN_QUESTION, APPROVED):
            event = _ENDS_APPROVAL[view.state][view.approval == APPROVED]
            self.step_approval(i, event)

    def step_approval(self, i: int, event: ApprovalEvent) -> None:
        after = self.tables.approval(self.calls[i].approval, event)
        if after is None:
            self.breaks(f"no step leads an approval from `{self.calls[i].approval}` by `{event}`")
        else:
            self.put(i, approval=after)

    def settle(self, i: int, event: CallEvent) -> None:
        """`settlement.settle`: an executor's answer."""
        view = self.calls[i]
        if self.kept(Guard.ENDED_IS_ENDED):
            if self.tables.call(view.state, event) is None:
                return
            self.move(i, event)
        else:
            self.put(i, state=CallState.SUCCEEDED.value, told=min(2, view.told + 1))
        if event is CallEvent.SUCCEED:
            self.put(i, results=min(2, view.results + 1))

    def lose(self, i: int) -> None:
        self.move(i, CallEvent.LOSE)

    def not_delivered(self, i: int) -> None:
        self.move(i, CallEvent.NOT_DELIVERED, undelivered=True)

    def succeed(self, i: int, event: CallEvent = CallEvent.SUCCEED) -> None:
        """An end with a result that the runtime itself gives."""
        self.move(i, event, results=min(2, self.calls[i].results + 1))

    # -- dispatch -------------------------------------------------------------------------------------------------

    def dispatch(self, i: int) -> None:
        """`dispatch.dispatch`: judge again, consume the approval, hand over."""
        view, kind = self.calls[i], self.kinds[i]
        if view.state != READY and self.kept(Guard.READY_BEFORE_DISPATCH):
            return
        if view.epoch and view.epoch != self.epoch and self.kept(Guard.EPOCH_IS_CURRENT):
            self.end(i, CallEvent.WITHDRAW)
            return
        if view.orphan and self.kept(Guard.ORPHANS_WAIT):
            return
        if view.epoch and self.link != Link.CONNECTED:
            return
        self._watch(i)
        if view.state == READY:
            self.move(i, CallEvent.DISPATCH, runs=min(2, view.runs + 1))
        else:
            self.put(i, state=DISPATCHED, runs=min(2, view.runs + 1))
        if kind in ASKED and self.kept(Guard.APPROVAL_IS_CONSUMED):
            self.step_approval(i, ApprovalEvent.CONSUME)
        if kind in ON_PAGE:
            self.put(i, frame=Frame.DUE.value)
        elif kind is Kind.START:
            self.put(i, operation=GOES_ON)
            self.worked = True
        else:
            self.interrupt_all()
            self.succeed(i)

    def _watch(self, i: int) -> None:
        """What must hold at the moment of a dispatch, and cannot be seen afterwards."""
        view, kind = self.calls[i], self.kinds[i]
        goal = GOALS.get(kind)
        if view.orphan:
            self.breaks("a call nobody waits for was dispatched")
        if kind in ASKED and view.approval != APPROVED:
            self.breaks("a call was dispatched without a yes")
        if view.epoch and view.epoch != self.epoch:
            self.breaks("a call was dispatched to a document it was not bound to")
        if goal is not None:
            # What runs in a frame was let go while the app was in front; it may have waited for its page since.
            is_front = self.front or kind in ON_PAGE
            if not (self.is_live and self.tables.has_reached(self.instance, is_front, goal)):
                self.breaks("a call was dispatched before its app was ready")

    # -- the app --------------------------------------------------------------------------------------------------

    def must_wait(self, i: int) -> bool:
        """`activation_for`: whether call `i` waits, then for the attempt it joined or began."""
        kind = self.kinds[i]
        goal = GOALS.get(kind) or ("" if self.kept(Guard.NOTHING_WAITS_FOR_NOTHING) else GOALS[Kind.DRAW])
        if not goal:
            return False
        if not self.is_live:
            self.instance, self.front, self.gone, self.worked = OPENING, False, False, False
        elif self.has_reached(goal) and self.has_page and not self.is_behind(i):
            return False
        if self.attempt == STARTING and self.kept(Guard.ONE_ATTEMPT):
            self.goal = max(self.goal, goal, key=(GOALS[Kind.DRAW], GOALS[Kind.START]).index)
        else:
            self.others += self.attempt == STARTING
            for j, view in enumerate(self.calls):
                if view.attempt == 1:
                    self.put(j, attempt=2)
            self.attempt, self.goal = STARTING, goal
        self.put(i, attempt=1)
        return True

    def is_behind(self, i: int) -> bool:
        """Whether others wait that may go as well, and so before it."""
        return self.kept(Guard.ARRIVAL_ORDER) and any(
            j != i and not self.calls[j].orphan and self.has_reached(GOALS.get(self.kinds[j], ""))
            for j in (self.waiters() if self.attempt == STARTING else ())
        )

    def placed(self, i: int) -> None:
        """Bind a call to the document whose frame will run it."""
        if self.kinds[i] in ON_PAGE and self.has_page:
            self.put(i, epoch=self.epoch)

    def release(self) -> None:
        """Let go what waited for what the app now is; the attempt ends once it has what it was after."""
        if self.attempt != STARTING:
            return
        if self.has_reached(self.goal):
            self.end_attempt(ActivationEvent.REACH)
        for i in self.waiters():
            view, goal = self.calls[i], GOALS.get(self.kinds[i], "")
            is_reached = not self.kept(Guard.GOAL_IS_REACHED) or not goal or self.has_reached(goal)
            if is_reached and not (view.orphan and self.kept(Guard.ORPHANS_WAIT)):
                self.let_go(i)
        self.unless_wanted()

    def let_go(self, i: int) -> None:
        for j in range(i):
            other = self.calls[j]
            is_ready = self.kinds[j] in GOALS and self.has_reached(GOALS[self.kinds[j]])
            if other.state == WAITING and other.attempt == 1 and not other.orphan and is_ready:
                self.breaks("a call that came later went on first")
        goal = GOALS.get(self.kinds[i])
        if goal is not None and not (self.is_live and self.tables.has_reached(self.instance, self.front, goal)):
            self.breaks("a call was let go before its app was ready")
        self.move(i, CallEvent.ACTIVATED)
        self.placed(i)
        self.dispatch(i)

    def end_attempt(self, event: ActivationEvent) -> None:
        after = self.tables.attempt(self.attempt, event)
        if after is None:
            self.breaks(f"no step leads an attempt from `{self.attempt}` by `{event}`")
        else:
            self.attempt = after

    def fail(self, event: ActivationEvent = ActivationEvent.FAIL) -> None:
        """`activation.fail`: the attempt ends without success and answers what waited for it."""
        self.end_attempt(event)
        is_cancel = event is ActivationEvent.CANCEL
        if self.kept(Guard.WAITERS_ARE_ANSWERED):
            for i in self.waiters():
                if self.kinds[i] is Kind.START and self.kept(Guard.BUSINESS_ANSWER):
                    self.succeed(i, CallEvent.ANSWER)
                else:
                    self.move(i, CallEvent.ACTIVATION_CANCELLED if is_cancel else CallEvent.ACTIVATION_FAILED)
                self.release_approval(i)
        if self.instance == OPENING:
            self.close()

    def close(self) -> None:
        """`activation.close`: the instance and its app session end; what its frame was doing is lost."""
        if self.kept(Guard.CLOSING_LOSES_WORK):
            for i, view in enumerate(self.calls):
                if view.state == DISPATCHED and view.epoch and self.kinds[i] not in (Kind.ADD, Kind.READ):
                    self.lose(i)
        if self.kept(Guard.CLOSING_ENDS_WHAT_IS_READY):
            for i, view in enumerate(self.calls):
                if view.state == READY and view.epoch and self.kinds[i] not in (Kind.ADD, Kind.READ):
                    self.end(i, CallEvent.WITHDRAW)
        after = self.tables.instance(self.instance, InstanceEvent.CLOSE)
        if after is None:
            self.breaks(f"no step leads an instance from `{self.instance}` by `close`")
        else:
            self.instance, self.front, self.gone, self.worked = after, False, False, False

    def unneeded(self) -> None:
        """Close what was only opened for the sake of an attempt that failed."""
        if self.is_live and not self.front and not self.worked:
            self.close()

    def unless_wanted(self) -> None:
        """Give up an attempt nobody waits for."""
        if self.attempt == STARTING and not self.waiters() and self.kept(Guard.UNWANTED_ATTEMPTS_END):
            self.fail(ActivationEvent.CANCEL)

    def closed(self) -> None:
        """The host says that it was closed, or its page stayed away: `host_intents.rule`."""
        self.front = False
        self.interrupt()
        if self.attempt == STARTING and self.kept(Guard.CLOSING_FAILS_THE_ATTEMPT):
            self.fail()
        if self.is_live:
            self.close()

    # -- operations -----------------------------------------------------------------------------------------------

    def interrupt(self) -> bool:
        """End everything that goes on for the app; whether there was something."""
        running = [i for i, view in enumerate(self.calls) if view.operation == GOES_ON]
        for i in running:
            self.conclude(i, OperationEvent.INTERRUPT)
        return bool(running)

    def interrupt_all(self) -> None:
        """What `stop` does: cancel a start, end operations, and close what they ran in."""
        has_started = self.attempt == STARTING
        if has_started:
            self.fail(ActivationEvent.CANCEL)
        has_interrupted = self.interrupt()
        if self.is_live and (has_started or has_interrupted):
            self.close()

    def conclude(self, i: int, event: OperationEvent) -> None:
        """`operations.conclude`: one state of the operation, one end of its call."""
        view = self.calls[i]
        after = self.tables.operation(view.operation, event)
        if after is None:
            self.breaks(f"no step leads an operation from `{view.operation}` by `{event}`")
            return
        self.put(i, operation=after)
        if not self.kept(Guard.OPERATION_SETTLES_ITS_CALL) or self.calls[i].state != DISPATCHED:
            return
        if event is OperationEvent.CANCEL:
            self.move(i, CallEvent.CANCEL_CONFIRMED)
        else:
            self.succeed(i)

    # -- the page -------------------------------------------------------------------------------------------------

    def lose_page(self, i: int) -> None:
        """`Pages._lose_page`: the document a call was bound to is no more."""
        view = self.calls[i]
        if view.state == DISPATCHED:
            if self.kept(Guard.LOST_WITH_ITS_DOCUMENT):
                self.lose(i)
        elif view.state in (AWAITING, READY, WAITING):
            self.end(i, CallEvent.WITHDRAW)

    def frames(self, before: tuple[Frame, ...], after: Frame) -> None:
        """What becomes of the frames of every call."""
        for i, view in enumerate(self.calls):
            if view.frame in before:
                self.put(i, frame=after.value)

    def is_bound(self, view: CallView) -> bool:
        return bool(view.epoch) and view.state in (AWAITING, WAITING, READY, DISPATCHED)
