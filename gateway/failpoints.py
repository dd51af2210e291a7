"""Named places between two effects, where the crash rig (`tests/crash`) ends the process to see what holds.

`reach` does nothing unless a trap is set, and nothing of the product sets one: no environment, no file, no
command. The rig calls `arm` in the process it is going to kill.
"""

from collections.abc import Callable
from enum import StrEnum


class Point(StrEnum):
    """Each name says between what and what the process may end."""

    # Admission
    REQUEST_PLANNED = "request_planned"
    """The judged request · its transaction."""
    NONCE_REMEMBERED = "nonce_remembered"
    """The nonce of a transmission · what the transmission asks for."""
    REFUSAL_WRITTEN = "refusal_written"
    """The record of a refusal · its commit."""
    REPLAY_WRITTEN = "replay_written"
    """The record of a repeated request · its commit."""
    PLACE_TAKEN = "place_taken"
    """A place of the quota · the row that needs it."""
    COMPUTED = "computed"
    """The answer of what only computes · the row that holds it."""
    CALL_ADDED = "call_added"
    """The ledger row with its input · its receipt."""
    CALL_FOLLOWED = "call_followed"
    """The mark that a conversation is told of a call · its first message."""
    RECEIPT_ADDED = "receipt_added"
    """The receipt `accepted` · the approval and the baseline."""
    ADMISSION_COMMITTED = "admission_committed"
    """The commit of an admission with its effects · its caller."""

    # The store and what follows it
    AUDIT_WRITTEN = "audit_written"
    """The audit records of a unit of work · the end of its savepoint."""
    UNITS_WRITTEN = "units_written"
    """The last unit of a transaction · its COMMIT."""
    UNITS_COMMITTED = "units_committed"
    """COMMIT · anybody who hears of it."""
    COMMIT_HEARD = "commit_heard"
    """The return from a commit · its effects."""
    EFFECTS_DONE = "effects_done"
    """The effects of a commit · the caller who waits for it."""

    # Approval
    QUESTION_OPENED = "question_opened"
    """The approval row · its audit record."""
    QUESTION_ASKED = "question_asked"
    """A committed question · the frame that shows it."""
    QUESTION_QUEUED = "question_queued"
    """The frame that shows a question · whatever comes next."""
    DECISION_RECEIVED = "decision_received"
    """The person's decision · its transaction."""
    APPROVAL_WRITTEN = "approval_written"
    """The approved approval and call · the dispatch in the same transaction."""
    DENIAL_WRITTEN = "denial_written"
    """The remembered denial · the end of its call."""
    DECISION_COMMITTED = "decision_committed"
    """The commit of a decision with its effects · whatever the page says next."""

    # Dispatch
    DISPATCH_JUDGED = "dispatch_judged"
    """The last check of a call · its first write."""
    APPROVAL_CONSUMED = "approval_consumed"
    """The consumed approval · the dispatched call."""
    DISPATCH_WRITTEN = "dispatch_written"
    """The dispatched call and its record · the commit."""
    DISPATCH_COMMITTED = "dispatch_committed"
    """The commit of a dispatch · the frame or the handler."""
    INVOKE_QUEUED = "invoke_queued"
    """The queued invoke frame · the socket."""
    FRAME_SENT = "frame_sent"
    """A frame handed to the socket · the next one."""
    UNDELIVERED_WRITTEN = "undelivered_written"
    """A call that never reached its page · the commit of that."""

    # Mini apps
    ACTIVATION_WRITTEN = "activation_written"
    """An attempt to make an app ready · the call that waits for it."""
    ACTIVATION_ENDED = "activation_ended"
    """The end of an attempt with what waited for it · its commit."""
    ACTIVATION_REACHED = "activation_reached"
    """A ready app · the first call it was waited for by."""
    OPERATION_BEGUN = "operation_begun"
    """A running operation · the call that it carries."""
    OPERATION_ENDED = "operation_ended"
    """The end of an operation · the end of its call."""
    OPERATION_SETTLED = "operation_settled"
    """Operation and call ended · their commit."""
    SESSION_DATA_WRITTEN = "session_data_written"
    """Session data · its commit."""
    INTENT_RULED = "intent_ruled"
    """What follows from an intent · its commit."""

    # Work
    STARTED_NOTED = "started_noted"
    """`started` in memory · its receipt."""
    STARTED_STORED = "started_stored"
    """The receipts `started` · their commit."""
    PROGRESS_TOLD = "progress_told"
    """Progress told to the waiters · the result."""
    BUILTIN_BEGUN = "builtin_begun"
    """The dispatch of a built-in · its handler."""
    JOB_GIVEN = "job_given"
    """A call handed to its worker · whatever the worker says of it."""
    JOB_ANSWERED = "job_answered"
    """The answer of a worker · the record of it."""
    JOB_LOST = "job_lost"
    """The `unknown` of what a dead worker held · its commit."""
    BUILTIN_ENDED = "builtin_ended"
    """The handler of a built-in · the record of its answer."""

    # Result
    RESULT_RECEIVED = "result_received"
    """The page's result frame · its judgement."""
    RESULT_JUDGED = "result_judged"
    """The judged answer · its transaction."""
    STATE_SETTLED = "state_settled"
    """The ended row · its result."""
    RESULT_WRITTEN = "result_written"
    """The result · the audit record of the end."""
    SETTLEMENT_WRITTEN = "settlement_written"
    """Everything of an end · its commit."""
    WAITERS_WOKEN = "waiters_woken"
    """The news of a call · the answer of whoever waited for it."""
    SETTLEMENT_COMMITTED = "settlement_committed"
    """The commit of an end with its effects · what the executor is told."""
    ACK_DUE = "ack_due"
    """A stored result · the `ack` to the page."""
    ACK_QUEUED = "ack_queued"
    """The queued `ack` · the socket."""

    # Answer
    HANDED_OUT = "handed_out"
    """The mark that a pending answer is given · its commit."""
    ANSWER_DUE = "answer_due"
    """The whole answer · its last byte on the wire."""
    ANSWER_SENT = "answer_sent"
    """The last byte of an answer · the note that it was taken."""
    TAKEN_NOTED = "taken_noted"
    """A taken result in memory · its mark."""
    TAKEN_WRITTEN = "taken_written"
    """The marks of taken results · their commit."""

    EVENT_TOLD = "event_told"
    """What a person did in a surface, in the log of a conversation · its commit."""
    MESSAGE_DUE = "message_due"
    """A message read from the log · its last byte on the wire."""
    MESSAGE_SENT = "message_sent"
    """The last byte of a message · the next one, or the note that it was taken."""

    # Leaving
    HANG_UP_SEEN = "hang_up_seen"
    """The last waiter's leaving · the orphan mark."""
    ORPHAN_MARKED = "orphan_marked"
    """The orphan mark · its commit."""
    ORPHAN_REARMED = "orphan_rearmed"
    """The mark taken off · its commit."""
    CANCEL_WRITTEN = "cancel_written"
    """The end of a cancelled call · its commit."""
    CANCEL_NOTED = "cancel_noted"
    """The wish to stop dispatched work · its commit."""
    CANCEL_QUEUED = "cancel_queued"
    """The cancel frame · whatever the page answers."""

    # Time
    EXPIRY_FOUND = "expiry_found"
    """A call found due · the transaction that judges it."""
    EXPIRY_WRITTEN = "expiry_written"
    """The end of an expired call · its commit."""
    OVERRUN_WRITTEN = "overrun_written"
    """The `unknown` of work that took too long · its commit."""
    PURGE_WRITTEN = "purge_written"
    """What is erased by age · its commit."""

    # The outbox
    OUTBOX_ADDED = "outbox_added"
    """An outbox entry · the commit of the change it tells of."""
    OUTBOX_CLAIMED = "outbox_claimed"
    """A begun attempt at entries · its commit."""
    OUTBOX_LEASED = "outbox_leased"
    """The commit of a begun attempt · the first byte to the consumer."""
    OUTBOX_ANSWERED = "outbox_answered"
    """The consumer's answer, or its silence · the record of it."""
    OUTBOX_BURIED = "outbox_buried"
    """An entry given up · its audit record."""
    OUTBOX_SETTLED = "outbox_settled"
    """What an attempt came to · its commit."""
    OUTBOX_REQUEUED = "outbox_requeued"
    """A dead entry back in line · its audit record."""
    OUTBOX_EMITTED = "outbox_emitted"
    """A handler's event in the outbox · its commit."""

    # Pages
    TICKET_MINTED = "ticket_minted"
    """A committed ticket · the answer that holds it."""
    HELLO_RECEIVED = "hello_received"
    """A document's hello · its transaction."""
    TICKET_USED = "ticket_used"
    """The used ticket · the page session."""
    EPOCH_WRITTEN = "epoch_written"
    """The page session with its epoch · the commit."""
    HELLO_COMMITTED = "hello_committed"
    """The commit of a hello · the socket becoming the current one."""
    WELCOME_QUEUED = "welcome_queued"
    """`welcome` · what the arrival of a document proves about its calls."""
    ARRIVAL_WRITTEN = "arrival_written"
    """What an arrival proved · its commit."""
    SNAPSHOT_TAKEN = "snapshot_taken"
    """A document's capabilities in memory · what becomes of the calls that wait for them."""

    # Mini apps
    PACKAGE_WRITTEN = "package_written"
    """The files of a package under another name · their name."""
    PACKAGE_NAMED = "package_named"
    """The named folder of a package · the row that needs it."""
    APP_CHANGE_WRITTEN = "app_change_written"
    """What becomes of an app and of the calls that wait for it · the commit."""
    APP_CHANGE_COMMITTED = "app_change_committed"
    """The commit of a change to an app · its worker, and the files nobody needs any more."""
    APPS_VERIFIED = "apps_verified"
    """The installed files, looked at after a start · the workers of the apps."""

    # The process
    RECOVERY_BEGUN = "recovery_begun"
    """The opened store · the rules of a restart."""
    CALL_RECOVERED = "call_recovered"
    """One call judged after a restart · the next one."""
    RECOVERY_WRITTEN = "recovery_written"
    """Everything of a recovery · its commit."""
    RECOVERY_COMMITTED = "recovery_committed"
    """The commit of a recovery · the listeners."""
    RELOAD_READ = "reload_read"
    """The configuration read again · its taking over."""
    RELOAD_WRITTEN = "reload_written"
    """What a new configuration withdraws · its commit."""
    RELOAD_COMMITTED = "reload_committed"
    """The commit of a reload · the sockets it closes."""
    SHUTDOWN_BEGUN = "shutdown_begun"
    """The word to stop · the end of streams and sockets."""
    SHUTDOWN_DRAINED = "shutdown_drained"
    """The last work in hand · the record of the stop."""
    SHUTDOWN_WRITTEN = "shutdown_written"
    """The record of the stop · the closed store."""


_trap: Callable[[Point], None] | None = None


def reach(point: Point) -> None:
    """Pass `point`; on the loop or on the store's thread."""
    if _trap is not None:
        _trap(point)


def arm(trap: Callable[[Point], None]) -> None:
    """Let `trap` run at every point from now on. For the crash rig's own child process only."""
    global _trap  # noqa: PLW0603 - one process, one trap; a parameter would run through every layer
    _trap = trap
