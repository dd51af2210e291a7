"""Guards of mini apps as they run: who is let go when, what ends what, and who may say so (design §7, rules B, F)."""

from typing import Final

from tests.guards.guard import Guard

_ACTIVATION: Final = "gateway/runtime/activation.py"
_RELEASING: Final = "gateway/runtime/releasing.py"
_OPERATIONS: Final = "gateway/runtime/operations.py"
_INTENTS: Final = "gateway/runtime/host_intents.py"
_RUNNING: Final = "gateway/runtime/running_apps.py"
_CALLS: Final = "gateway/domain/calls.py"
_STARTING: Final = "tests/unit/runtime/test_activation.py"
_WORKING: Final = "tests/unit/runtime/test_operations.py"

GUARDS: Final = (
    Guard(
        name="call-waits-for-the-front",
        section="F3",
        why="work would begin while the person looks at something else",
        file=_RELEASING,
        old="if not call.is_orphaned and instance.has_reached(_goal(world, call)):",
        new="if not call.is_orphaned:",
        tests=(f"{_WORKING}::test_nothing_begins_before_the_person_has_it_in_front",),
    ),
    Guard(
        name="orphan-is-not-let-go",
        section="§3",
        why="a call whose caller left would run because its app happened to start",
        file=_RELEASING,
        old="if not call.is_orphaned and instance.has_reached(_goal(world, call)):",
        new="if instance.has_reached(_goal(world, call)):",
        tests=(f"{_STARTING}::test_a_caller_who_comes_back_to_an_app_behind_waits_for_the_front_again",),
    ),
    Guard(
        name="one-attempt-for-all",
        section="F2",
        why="ten calls at once would start the app ten times",
        file=_ACTIVATION,
        old="    instance, effects = _instance(tx, world, ids, call, host, now)\n    live = tx.activations.live_of_instance(instance.id)\n",
        new="    instance, effects = _instance(tx, world, ids, call, host, now)\n    live = None\n",
        tests=(f"{_STARTING}::test_ten_calls_at_once_wait_for_one_start_and_go_in_their_order",),
    ),
    Guard(
        name="business-answer-is-of-the-promise",
        section="F3",
        why="a failed start would be told in the words of another declaration",
        file=_ACTIVATION,
        old="if tool is None or tool.descriptor.fingerprint != call.capability_fingerprint:",
        new="if tool is None:",
        tests=(f"{_STARTING}::test_a_start_that_fails_is_told_in_the_words_it_was_accepted_under",),
    ),
    Guard(
        name="approval-goes-back-with-a-failed-start",
        section="§5",
        why="a yes would stay in the hands of a call that is over",
        file=_ACTIVATION,
        old="return (Told(call=ended, result=result), *release_approval(tx, ended, now))",
        new="return (Told(call=ended, result=result),)",
        tests=(f"{_STARTING}::test_an_approval_is_given_back_when_the_app_does_not_start",),
    ),
    Guard(
        name="frame-work-is-lost-with-its-frame",
        section="§3",
        why="a call would be dispatched for ever after the frame that ran it is gone",
        file=_ACTIVATION,
        old='        if call.state is CallState.DISPATCHED:\n            message = "its frame was closed before an answer came',
        new='        if False:\n            message = "its frame was closed before an answer came',
        tests=(f"{_STARTING}::test_what_a_frame_ran_is_lost_with_it",),
    ),
    Guard(
        name="carried-call-is-timed-by-its-operation",
        section="B5",
        why="a focus of 20 minutes would be unknown after 30 s",
        file=_CALLS,
        old="bounds = [None if self.operation is not None else self.execute_by]",
        new="bounds = [self.execute_by]",
        tests=(f"{_WORKING}::test_a_start_in_front_is_told_once_as_started",),
    ),
    Guard(
        name="carried-call-survives-a-restart",
        section="B5",
        why="a restart would lose an operation whose row says all there is to know",
        file="gateway/runtime/recovery.py",
        old="if call.operation is not None and call.state is CallState.DISPATCHED:",
        new="if False:",
        tests=(f"{_WORKING}::test_a_restart_loses_no_operation",),
    ),
    Guard(
        name="interrupt-stays-in-its-conversation",
        section="B4",
        why="an agent would end what another conversation began",
        file="gateway/adapters/sql/operations.py",
        old="        _O.conversation == value(_O.conversation),\n",
        new="        (_O.conversation == value(_O.conversation)) | _O.conversation.is_not(None),\n",
        tests=(
            "tests/contract/test_running_apps.py::test_running_operations_of_the_runtime_are_due_at_their_deadline",
        ),
    ),
    Guard(
        name="interrupt-cancels-a-start",
        section="§7",
        why="what the agent stopped would begin a moment later",
        file=_OPERATIONS,
        old="    if attempt is not None:\n",
        new="    if False:\n",
        tests=(f"{_WORKING}::test_a_stop_while_it_starts_cancels_the_start",),
    ),
    Guard(
        name="leaving-interrupts",
        section="F8",
        why="time would run on for somebody who went elsewhere",
        file=_INTENTS,
        old="        HostIntent.LEFT_WORKSPACE: lambda leaving: leaving.left_workspace,\n",
        new="",
        tests=(f"{_WORKING}::test_leaving_interrupts",),
    ),
    Guard(
        name="hidden-tab-is-no-leaving",
        section="F8",
        why="a glance at another tab would end the work",
        file=_INTENTS,
        old="        HostIntent.CLOSED: lambda leaving: leaving.closed,\n",
        new="        HostIntent.CLOSED: lambda leaving: leaving.closed,\n"
        "        HostIntent.BACKGROUNDED: lambda leaving: leaving.closed,\n",
        tests=(f"{_WORKING}::test_a_hidden_tab_or_a_locked_screen_is_no_leaving",),
    ),
    Guard(
        name="instance-is-its-pages-own",
        section="B4",
        why="any page could say that another person's mini app came to the front",
        file="gateway/runtime/frames.py",
        old="if found is None or not found.is_live or found.page != place.page.id:",
        new="if found is None or not found.is_live:",
        tests=(f"{_STARTING}::test_an_instance_of_another_page_can_be_spoken_of_by_nobody_else",),
    ),
    Guard(
        name="refused-intent-is-recorded",
        section="§14",
        why="a page that speaks of what is not its own would leave no trace in its stream",
        file="gateway/runtime/frames.py",
        old="        tx.audit.append(record)\n",
        new="        record\n",
        tests=(f"{_STARTING}::test_an_instance_of_another_page_can_be_spoken_of_by_nobody_else",),
    ),
    Guard(
        name="page-that-comes-back-closed-nothing",
        section="F8",
        why="a reload would count as closing once a minute has passed",
        file=_RUNNING,
        old="                if instance.page_gone_at is not None:\n"
        "                    tx.instances.save(replace(instance, page_gone_at=None), was=instance.state)",
        new="                pass",
        tests=(f"{_WORKING}::test_a_page_that_comes_back_within_a_minute_has_not_closed_it",),
    ),
    Guard(
        name="app-that-is-off-runs-nothing",
        section="§4",
        why="what waits for an app would go on although its administrator turned it off",
        file=_RUNNING,
        old="        if changed:\n",
        new="        if False:\n",
        tests=(f"{_STARTING}::test_an_app_that_is_turned_off_ends_what_waits_and_is_taken_down",),
    ),
    Guard(
        name="app-shows-only-where-there-is-a-workspace",
        section="§4",
        why="agents would be offered what no page can show",
        file="gateway/runtime/world.py",
        old="if not (page.has_workspace and (self.apps.on_pages or self.surfaces)):",
        new="if not (self.apps.on_pages or self.surfaces):",
        tests=(f"{_STARTING}::test_a_page_without_a_workspace_shows_no_apps",),
    ),
    Guard(
        name="refused-front-takes-no-work-down",
        section="F3",
        why="what an app was doing would be lost because the person did not want to look at it",
        file=_RUNNING,
        old="still.is_foreground or has_worked(tx, still):",
        new="still.is_foreground:",
        tests=(
            "tests/unit/runtime/test_leftover_starts.py::test_an_app_that_is_refused_the_front_goes_on_with_what_it_does",
        ),
    ),
    Guard(
        name="absence-is-judged-again",
        section="F8",
        why="an app would be closed, and its work interrupted, though its page is back",
        file=_RUNNING,
        old="if instance is None or instance.due_at is None or instance.due_at > now:",
        new="if instance is None or not instance.is_live:",
        tests=(f"{_WORKING}::test_a_page_that_came_back_since_it_was_found_away_has_not_closed_it",),
    ),
    Guard(
        name="session-data-ends-with-its-app-session",
        section="F7",
        why="a page would write into what is over",
        file="gateway/runtime/frames.py",
        old="if still is None or not still.is_live:",
        new="if still is None:",
        tests=(f"{_WORKING}::test_nothing_is_kept_for_an_app_session_that_ends_meanwhile",),
    ),
    Guard(
        name="restored-operation-is-unknown",
        section="§13",
        why="work of an earlier day would be told as complete though its call is unknown",
        file="gateway/runtime/app_record.py",
        old="    if call.app is None and call.instance is None:\n        return\n",
        new="    if call.operation is not None or call.app is None:\n        return\n",
        tests=(
            "tests/unit/runtime/test_restoring.py::test_work_that_went_on_at_the_backup_is_as_unknown_as_its_call",
        ),
    ),
)
