"""What can happen in the model, and when: every event of callers, person, page, app, time and process."""

from collections.abc import Callable, Iterator
from typing import Final

from gateway.domain.activations import Goal
from gateway.domain.approvals import ApprovalEvent
from gateway.domain.calls import CallEvent
from gateway.domain.instances import InstanceEvent
from gateway.domain.operations import OperationEvent
from tests.model.guards import ALL, Guard
from tests.model.moves import Draft
from tests.model.states import (
    APPROVED,
    ASKED,
    AWAITING,
    BOUND_AT_ONCE,
    DISPATCHED,
    GOES_ON,
    OF_APP,
    OPEN_QUESTION,
    OPENING,
    READY,
    STARTING,
    UNDISPATCHED,
    UNKNOWN,
    WAITING,
    CallView,
    Frame,
    Kind,
    Link,
    World,
)
from tests.model.tables import Tables

EPOCHS: Final = 2
"""Documents of a page session the model goes through."""

Rule = Callable[[Draft, int], None]
"""Change the world by an event of call `i`, or by one that is about no call."""


class Model:
    """The runtime with calls of these kinds, accepted in their order, under these guards."""

    def __init__(self, kinds: tuple[Kind, ...], guards: frozenset[Guard] = ALL, *, epochs: int = EPOCHS) -> None:
        self.kinds = kinds
        self.guards = guards
        self.epochs = epochs
        self.tables = Tables()

    @property
    def initial(self) -> World:
        """A page is open, and nothing was asked for."""
        return World(calls=tuple(CallView() for _ in self.kinds))

    def successors(self, world: World) -> Iterator[tuple[str, World]]:
        """Every event that can happen now, with the world after it."""
        for name, is_possible, rule in RULES:
            for i in range(len(self.kinds)):
                if is_possible(self, world, i):
                    yield f"{name} {i}:{self.kinds[i]}", self._after(world, rule, i)
        for name, is_possible, rule in WORLD_RULES:
            if is_possible(self, world, 0):
                yield name, self._after(world, rule, 0)

    def after(self, world: World, event: str) -> World:
        """The world after one event that can happen now."""
        return dict(self.successors(world))[event]

    def _after(self, world: World, rule: Rule, i: int) -> World:
        draft = Draft(world, self.kinds, self.guards, self.tables)
        rule(draft, i)
        return draft.world()


# -- callers ------------------------------------------------------------------------------------------------------


def _can_admit(m: Model, w: World, i: int) -> bool:
    is_next = not w.calls[i].state and (i == 0 or bool(w.calls[i - 1].state))
    return is_next and (w.link != Link.AWAY or m.kinds[i] is Kind.STOP) and w.link != Link.DROPPED


def _admit(d: Draft, i: int) -> None:
    kind = d.kinds[i]
    if kind in ASKED:
        d.put(i, state=AWAITING, approval=OPEN_QUESTION, asked_at=d.epoch)
        if kind in BOUND_AT_ONCE:
            d.put(i, epoch=d.epoch)
        if not d.kept(Guard.READY_BEFORE_DISPATCH):
            d.placed(i)
            d.dispatch(i)
    elif kind in OF_APP and d.must_wait(i):
        d.put(i, state=WAITING)
    else:
        d.put(i, state=READY)
        d.placed(i)
        d.dispatch(i)


def _repeat(d: Draft, i: int) -> None:
    """The same request with the same key once more."""
    if not d.kept(Guard.KEY_IS_UNIQUE):
        before = d.calls[i]
        d.calls[i] = CallView(runs=before.runs, effects=before.effects, results=before.results, told=before.told)
        _admit(d, i)
    elif d.calls[i].orphan:
        _return(d, i)


def _return(d: Draft, i: int) -> None:
    """`rearm`: its caller is back, and it may go where it could not without one."""
    d.put(i, orphan=False)
    view = d.calls[i]
    if view.state == WAITING:
        was_live = d.is_live
        if not d.must_wait(i):
            d.let_go(i)
        elif not was_live and not d.has_page:
            # There is no page to show it on.
            d.fail()
        d.unless_wanted()
    elif view.state == READY:
        d.dispatch(i)


def _cancel(d: Draft, i: int) -> None:
    if d.calls[i].state in UNDISPATCHED:
        d.end(i, CallEvent.CANCEL)
    elif d.calls[i].operation == GOES_ON:
        d.conclude(i, OperationEvent.CANCEL)


# -- the person ---------------------------------------------------------------------------------------------------


def _can_decide(m: Model, w: World, i: int) -> bool:
    view = w.calls[i]
    is_shown = view.asked_at == w.epoch or Guard.DECISION_FROM_ITS_DOCUMENT not in m.guards
    return view.state == AWAITING and view.approval == OPEN_QUESTION and w.link == Link.CONNECTED and is_shown


def _approve(d: Draft, i: int) -> None:
    if d.calls[i].orphan and d.kept(Guard.ORPHANS_WAIT):
        return
    if d.calls[i].asked_at != d.epoch:
        d.breaks("a decision came from a document that does not show the question")
    d.step_approval(i, ApprovalEvent.APPROVE)
    if d.kinds[i] in OF_APP and d.must_wait(i):
        d.move(i, CallEvent.APPROVE_UNREADY)
        return
    d.move(i, CallEvent.APPROVE)
    d.placed(i)
    d.dispatch(i)


def _deny(d: Draft, i: int) -> None:
    d.step_approval(i, ApprovalEvent.DENY)
    d.end(i, CallEvent.DENY)


# -- the page -----------------------------------------------------------------------------------------------------


def _write(d: Draft, i: int) -> None:
    """The effect of a dispatch: the frame is written to its document, or the call is not delivered."""
    is_its_document = d.calls[i].epoch == d.epoch or not d.kept(Guard.WRITTEN_TO_ITS_DOCUMENT)
    is_written = d.link == Link.CONNECTED and is_its_document
    d.put(i, frame=(Frame.SENT if is_written else Frame.LOST).value)
    if not is_written and d.calls[i].state == DISPATCHED:
        d.not_delivered(i)


def _receive(d: Draft, i: int) -> None:
    if d.calls[i].epoch != d.epoch:
        d.breaks("a document got what another was to do")
    d.put(i, frame=Frame.DONE.value, effects=min(2, d.calls[i].effects + 1))


def _can_answer(m: Model, w: World, i: int) -> bool:
    view = w.calls[i]
    is_its = view.frame == Frame.DONE and view.epoch == w.epoch
    is_forged = Guard.ANSWER_FROM_ITS_DOCUMENT not in m.guards and view.epoch not in (0, w.epoch)
    return w.link == Link.CONNECTED and (is_its or is_forged)


def _answer(d: Draft, i: int) -> None:
    if d.calls[i].epoch != d.epoch:
        d.breaks("a document answered what was handed to another")
    d.settle(i, CallEvent.SUCCEED)


def _drop(d: Draft, _: int) -> None:
    d.link = Link.DROPPED.value
    d.frames((Frame.SENT,), Frame.LOST)


def _resume(d: Draft, _: int) -> None:
    """The same document is back: what it never saw was not delivered, what waited for it goes on."""
    d.link, d.gone = Link.CONNECTED.value, False
    for i, view in enumerate(d.calls):
        if view.state == DISPATCHED and view.epoch == d.epoch:
            is_seen = view.frame == Frame.DONE and d.kept(Guard.SEEN_DECIDES)
            if not is_seen:
                d.not_delivered(i)
    for i, view in enumerate(d.calls):
        if view.state == READY and view.epoch == d.epoch:
            d.dispatch(i)


def _reload(d: Draft, _: int) -> None:
    """Another document of the same tab: what was bound to the old one is lost, or taken back."""
    d.epoch, d.link, d.gone = d.epoch + 1, Link.CONNECTED.value, False
    d.frames((Frame.SENT, Frame.LOST, Frame.DONE), Frame.GONE)
    for i in range(len(d.calls)):
        if d.is_bound(d.calls[i]) and d.calls[i].epoch != d.epoch:
            d.lose_page(i)


def _away(d: Draft, _: int) -> None:
    """It dropped and did not come back within its grace."""
    d.link, d.gone = Link.AWAY.value, d.is_live
    for i in range(len(d.calls)):
        if d.is_bound(d.calls[i]):
            d.lose_page(i)


# -- the app ------------------------------------------------------------------------------------------------------


def _opened(d: Draft, _: int) -> None:
    if d.instance == OPENING:
        d.instance = d.tables.instance(OPENING, InstanceEvent.OPEN) or OPENING
    d.release()


def _fronted(d: Draft, _: int) -> None:
    d.front = True
    d.release()


def _front_refused(d: Draft, _: int) -> None:
    d.fail()
    d.unneeded()


def _app_failed(d: Draft, _: int) -> None:
    if d.attempt == STARTING:
        d.fail()
    if d.is_live:
        d.close()


def _hidden(d: Draft, _: int) -> None:
    d.front = False


def _left(d: Draft, _: int) -> None:
    d.front = False
    d.interrupt()


def _shown(m: Model, w: World, _: int) -> bool:
    return w.link == Link.CONNECTED and w.instance in (OPENING, "running")


# -- time and the process -----------------------------------------------------------------------------------------


def _overrun(d: Draft, i: int) -> None:
    d.lose(i)


def _can_overrun(m: Model, w: World, i: int) -> bool:
    view = w.calls[i]
    is_carried = bool(view.operation) and Guard.CARRIED_CALLS_HAVE_NO_TIMEOUT in m.guards
    return view.state == DISPATCHED and not is_carried and m.tables.is_timed(view.state, "")


def _timed_out(d: Draft, _: int) -> None:
    d.fail()
    d.unneeded()


def _restart(d: Draft, _: int) -> None:
    """The process ends and another begins: nothing is run again, and what nobody can know is `unknown`."""
    d.frames((Frame.DUE, Frame.SENT), Frame.LOST)
    d.link, d.gone = Link.AWAY.value, d.is_live
    for i, view in enumerate(d.calls):
        if view.state == DISPATCHED and not (view.operation == GOES_ON and d.kept(Guard.CARRIED_CALLS_SURVIVE)):
            if d.kept(Guard.NOTHING_IS_RUN_AGAIN):
                d.lose(i)
            else:
                d.put(i, state=READY, frame=Frame.NONE.value)


def _no_frame_is_due(w: World) -> bool:
    return all(view.frame != Frame.DUE for view in w.calls)


def _is(*states: str) -> Callable[[Model, World, int], bool]:
    return lambda _m, w, i: w.calls[i].state in states


RULES: Final[tuple[tuple[str, Callable[[Model, World, int], bool], Rule], ...]] = (
    ("admit", _can_admit, _admit),
    (
        "repeat",
        lambda m, w, i: bool(w.calls[i].state) and w.link == Link.CONNECTED,
        _repeat,
    ),
    ("cancel", lambda _m, w, i: w.calls[i].state in UNDISPATCHED or w.calls[i].operation == GOES_ON, _cancel),
    (
        "hang_up",
        lambda _m, w, i: w.calls[i].state in UNDISPATCHED and not w.calls[i].orphan,
        lambda d, i: d.put(i, orphan=True),
    ),
    ("return", lambda _m, w, i: w.calls[i].orphan, _return),
    ("approve", _can_decide, _approve),
    ("deny", _can_decide, _deny),
    ("page_refuses", _can_decide, lambda d, i: d.end(i, CallEvent.REFUSED_BY_PAGE)),
    ("write", lambda _m, w, i: w.calls[i].frame == Frame.DUE, _write),
    ("receive", lambda _m, w, i: w.calls[i].frame == Frame.SENT and w.link == Link.CONNECTED, _receive),
    ("answer", _can_answer, _answer),
    ("fails", _can_answer, lambda d, i: d.settle(i, CallEvent.FAIL)),
    ("question_expires", _is(AWAITING), lambda d, i: d.end(i, CallEvent.EXPIRE)),
    (
        "lapse",
        lambda _m, w, i: w.calls[i].approval == APPROVED and w.calls[i].state in (WAITING, READY),
        lambda d, i: d.end(i, CallEvent.EXPIRE),
    ),
    (
        "page_missed",
        lambda _m, w, i: w.calls[i].state == READY and w.link != Link.CONNECTED,
        lambda d, i: d.end(i, CallEvent.EXPIRE),
    ),
    ("too_old", lambda _m, w, i: w.calls[i].state in UNDISPATCHED, lambda d, i: d.end(i, CallEvent.EXPIRE)),
    ("orphan_over", lambda _m, w, i: w.calls[i].orphan, lambda d, i: d.end(i, CallEvent.CANCEL)),
    ("overrun", _can_overrun, _overrun),
    (
        "complete",
        lambda _m, w, i: w.calls[i].operation == GOES_ON,
        lambda d, i: d.conclude(i, OperationEvent.COMPLETE),
    ),
    ("reconcile", _is(UNKNOWN), lambda d, i: d.move(i, CallEvent.RECONCILE_SUCCEEDED)),
)
"""Events of one call: name, when it can happen, what it does."""

WORLD_RULES: Final[tuple[tuple[str, Callable[[Model, World, int], bool], Rule], ...]] = (
    ("drop", lambda _m, w, _i: w.link == Link.CONNECTED, _drop),
    # Effects come in the order of commits, so what is due is written before a document can be back.
    ("resume", lambda _m, w, _i: w.link != Link.CONNECTED and _no_frame_is_due(w), _resume),
    ("reload", lambda m, w, _i: w.epoch < m.epochs, _reload),
    ("away", lambda _m, w, _i: w.link == Link.DROPPED, _away),
    ("opened", _shown, _opened),
    ("fronted", _shown, _fronted),
    (
        "front_refused",
        lambda m, w, i: _shown(m, w, i) and w.attempt == STARTING and w.goal == Goal.FOREGROUND,
        _front_refused,
    ),
    ("app_failed", _shown, _app_failed),
    ("hidden", lambda m, w, i: _shown(m, w, i) and w.front, _hidden),
    ("left", _shown, _left),
    ("closed", _shown, lambda d, _: d.closed()),
    ("gone", lambda _m, w, _i: w.gone and w.link == Link.AWAY, lambda d, _: d.closed()),
    ("start_times_out", lambda _m, w, _i: w.attempt == STARTING, _timed_out),
    ("restart", lambda _m, _w, _i: True, _restart),
)
"""Events of everything else."""
