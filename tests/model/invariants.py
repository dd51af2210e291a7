"""What must hold in every state of the model: the promises of design §1, §3, §7 and `rules.md` B, F."""

from collections.abc import Callable, Mapping
from typing import Final

from gateway.domain.calls import CallState
from tests.model.rules import Model
from tests.model.states import (
    APPROVED,
    ASKED,
    CLOSED,
    CONSUMED,
    DISPATCHED,
    GOALS,
    GOES_ON,
    READY,
    RUNNING,
    STARTING,
    SUCCEEDED,
    WAITING,
    CallView,
    Kind,
    World,
)

Invariant = Callable[[Model, World], bool]


def _of_each(holds: Callable[[Model, World, int, CallView], bool]) -> Invariant:
    return lambda model, world: all(holds(model, world, i, view) for i, view in enumerate(world.calls))


def _answers_are_told_once(_m: Model, _w: World, _i: int, view: CallView) -> bool:
    return view.told <= 1


def _one_result(_m: Model, _w: World, _i: int, view: CallView) -> bool:
    return view.results <= 1


def _a_result_is_a_success(_m: Model, _w: World, _i: int, view: CallView) -> bool:
    return not view.results or view.state == SUCCEEDED


def _a_success_has_its_result(_m: Model, _w: World, _i: int, view: CallView) -> bool:
    # What an administrator found out elsewhere has none.
    return view.state != SUCCEEDED or bool(view.results) or view.late


def _asked_once(_m: Model, _w: World, _i: int, view: CallView) -> bool:
    return view.runs <= 1


def _done_once(_m: Model, _w: World, _i: int, view: CallView) -> bool:
    return view.effects <= view.runs <= 1


def _a_yes_is_used_up(m: Model, _w: World, i: int, view: CallView) -> bool:
    return m.kinds[i] not in ASKED or (view.approval == CONSUMED) == bool(view.runs)


def _nothing_delivered_counts_as_lost(_m: Model, _w: World, _i: int, view: CallView) -> bool:
    """What was done is never told to be not delivered: the one code that invites to ask again."""
    return not (view.undelivered and view.effects)


def _all_that_wait_are_answered(_m: Model, w: World, _i: int, view: CallView) -> bool:
    if view.state != WAITING or view.orphan:
        return True
    return view.attempt == 1 and w.attempt == STARTING


def _a_start_says_what_it_promised(m: Model, _w: World, i: int, view: CallView) -> bool:
    return m.kinds[i] is not Kind.START or view.state != CallState.FAILED


def _what_needs_no_app_never_waits(m: Model, _w: World, i: int, view: CallView) -> bool:
    return m.kinds[i] is not Kind.STOP or (not view.attempt and view.state != WAITING)


def _time_ends_everything(m: Model, w: World, _i: int, view: CallView) -> bool:
    is_open = view.state in (WAITING, READY, DISPATCHED)
    return not is_open or m.tables.is_timed(view.state, view.operation)


def _a_carried_call_goes_with_its_operation(_m: Model, _w: World, _i: int, view: CallView) -> bool:
    return not view.operation or (view.operation == GOES_ON) == (view.state == DISPATCHED)


def _one_attempt(_: Model, w: World) -> bool:
    return not w.others


def _nobody_waits_for_a_closed_app(_: Model, w: World) -> bool:
    return not (w.attempt == STARTING and w.instance in ("", CLOSED))


def _a_start_is_wanted(m: Model, w: World) -> bool:
    is_wanted = any(view.state == WAITING and view.attempt == 1 for view in w.calls)
    # One that is there already ends with the next word of its page.
    is_there = w.instance == RUNNING and m.tables.has_reached(w.instance, w.front, w.goal)
    return w.attempt != STARTING or is_wanted or is_there


def _work_is_not_left_in_a_closed_frame(m: Model, w: World) -> bool:
    if w.instance != CLOSED:
        return True
    return not any(view.state == DISPATCHED and view.epoch and m.kinds[i] in GOALS for i, view in enumerate(w.calls))


def _a_document_that_is_gone_holds_nothing(_m: Model, w: World, _i: int, view: CallView) -> bool:
    return not (view.state == DISPATCHED and view.epoch and view.epoch != w.epoch)


def _an_unused_yes_is_taken_back(_m: Model, _w: World, _i: int, view: CallView) -> bool:
    return view.approval != APPROVED or view.state in (WAITING, READY)


INVARIANTS: Final[Mapping[str, Invariant]] = {
    "an end is told once": _of_each(_answers_are_told_once),
    "a call has one result": _of_each(_one_result),
    "a result is a success": _of_each(_a_result_is_a_success),
    "a success has its result": _of_each(_a_success_has_its_result),
    "an executor is asked once": _of_each(_asked_once),
    "the page acts at most once": _of_each(_done_once),
    "a yes is used up by its dispatch": _of_each(_a_yes_is_used_up),
    "what was done is not told as undelivered": _of_each(_nothing_delivered_counts_as_lost),
    "every call that waits is answered": _of_each(_all_that_wait_are_answered),
    "a start that failed says what it promised": _of_each(_a_start_says_what_it_promised),
    "what needs no app never waits for one": _of_each(_what_needs_no_app_never_waits),
    "time ends every call": _of_each(_time_ends_everything),
    "a carried call goes with its operation": _of_each(_a_carried_call_goes_with_its_operation),
    "one attempt lives at a time": _one_attempt,
    "nobody waits for a closed app": _nobody_waits_for_a_closed_app,
    "a start is wanted by somebody": _a_start_is_wanted,
    "no work is left in a closed frame": _work_is_not_left_in_a_closed_frame,
    "a document that is gone holds nothing": _of_each(_a_document_that_is_gone_holds_nothing),
    "an unused yes is taken back": _of_each(_an_unused_yes_is_taken_back),
}


def broken(model: Model, world: World) -> str | None:
    """What does not hold in `world`, or None."""
    if world.broken:
        return world.broken[0]
    return next((name for name, holds in INVARIANTS.items() if not holds(model, world)), None)
