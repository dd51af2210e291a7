"""Guards of `lineup.v1`: who may send what, what a call is decided by, and that everything is told once (rules E)."""

from typing import Final

from tests.guards.guard import Guard

_READING: Final = "gateway/transports/lineup/reading.py"
_DOOR: Final = "gateway/transports/lineup/door.py"
_STREAMS: Final = "gateway/transports/lineup/streams.py"
_WORDS: Final = "gateway/protocol/lineup/words.py"
_MESSAGES: Final = "tests/interaction/lineup/test_messages.py"
_CALLS: Final = "tests/interaction/lineup/test_calls.py"
_STREAMING: Final = "tests/interaction/lineup/test_streams.py"
_INVENTORY: Final = "tests/interaction/lineup/test_inventory.py"

GUARDS: Final = (
    Guard(
        name="lineup-sender-is-the-credentials",
        section="E1",
        why="an agent would speak under another one's name",
        file=_READING,
        old='if shell.sender != Party(kind="agent", id=session.agent):',
        new="if False:",
        tests=(f"{_MESSAGES}::test_the_sender_is_the_credentials",),
    ),
    Guard(
        name="lineup-conversation-is-the-sessions",
        section="E1",
        why="a token would open every conversation there is",
        file=_DOOR,
        old="if named != session.conversation:",
        new="if False:",
        tests=(f"{_STREAMING}::test_any_other_conversation_is_unknown_whether_it_is_there_or_not",),
    ),
    Guard(
        name="lineup-message-is-of-its-conversation",
        section="E1",
        why="a message for one conversation would be acted on in another",
        file=_READING,
        old="if shell.conversation_id != session.conversation:",
        new="if False:",
        tests=(f"{_MESSAGES}::test_a_message_names_the_conversation_it_is_posted_to",),
    ),
    Guard(
        name="lineup-types-have-a-direction",
        section="E1",
        why="an agent would send what only a client may say",
        file="gateway/protocol/lineup/agent.py",
        old='    f"{PREFIX}tool.call": ToolCall,\n',
        new='    f"{PREFIX}tool.call": ToolCall,\n    f"{PREFIX}tool.receipt": ToolCall,\n',
        tests=(f"{_MESSAGES}::test_what_is_not_an_agents_to_send_is_unsupported_and_not_executed",),
    ),
    Guard(
        name="lineup-unknown-type-is-unsupported",
        section="§10",
        why="what nobody knows would be guessed at",
        file=_READING,
        old="kind = PAYLOADS.get(shell.type)",
        new='kind = PAYLOADS.get(shell.type) or PAYLOADS.get(f"{PREFIX}{shell.type}")',
        tests=(f"{_MESSAGES}::test_a_type_of_another_protocol_is_unsupported",),
    ),
    Guard(
        name="lineup-call-is-decided-by-its-revision",
        section="B2",
        why="a call decided by what the agent saw long ago would run what is there today",
        file="gateway/runtime/planning.py",
        old="caller, request.capability, request.page, request.arrival, decided_by=decided_by",
        new="caller, request.capability, request.page, request.arrival, decided_by=None",
        tests=(f"{_INVENTORY}::test_a_revision_that_does_not_show_it_as_it_is_is_stale",),
    ),
    Guard(
        name="lineup-stream-goes-on-after-its-place",
        section="§10",
        why="what was told while a client was away would be lost to it",
        file="gateway/runtime/conversations.py",
        old="return head if named is None else named",
        new="return head",
        tests=(f"{_STREAMING}::test_it_begins_now_and_goes_on_where_a_client_left",),
    ),
    Guard(
        name="lineup-place-was-told-before",
        section="§10",
        why="a client of another log would pass over what is told next",
        file="gateway/runtime/conversations.py",
        old="if named is not None and named > head:",
        new="if False:",
        tests=(f"{_STREAMING}::test_a_place_that_was_never_told_is_refused_rather_than_passed_over",),
    ),
    Guard(
        name="lineup-log-is-told-as-far-as-the-grant-reaches",
        section="§6",
        why="a narrower grant would read what the wider one before it was told",
        file="gateway/runtime/conversations.py",
        old="if isinstance(m, EventTold) or may_see(session, m.call))",
        new="if True)",
        tests=(f"{_STREAMING}::test_a_renewed_grant_goes_on_with_the_conversation_as_far_as_it_reaches",),
    ),
    Guard(
        name="lineup-stream-ends-with-its-session",
        section="§4",
        why="a revoked agent would go on listening",
        file=_STREAMS,
        old="            stack.callback(services.sessions.watch(session.id, self.end))\n",
        new="",
        tests=(f"{_STREAMING}::test_revocation_ends_every_stream_of_the_session_and_no_other",),
    ),
    Guard(
        name="lineup-repeated-call-is-the-same-call",
        section="§6",
        why="an agent that asks again would have it done again",
        file="gateway/runtime/lineup.py",
        old="            call_id=wanted.call_id,\n",
        new="",
        tests=(f"{_CALLS}::test_a_repeated_call_id_gets_the_newest_receipt_or_the_result_and_adds_nothing",),
    ),
    Guard(
        name="lineup-unknown-is-failed",
        section="E3",
        why="an agent would take lost work for done",
        file=_WORDS,
        old="    CallState.UNKNOWN: Status.FAILED,\n",
        new="    CallState.UNKNOWN: Status.COMPLETED,\n",
        tests=(f"{_CALLS}::test_lost_work_is_failed_with_outcome_unknown_and_never_ended_twice",),
    ),
    Guard(
        name="lineup-revoked-is-unsupported",
        section="E3",
        why="an agent would try again what it may not have",
        file=_WORDS,
        old="    ErrorCode.REVOKED: Status.UNSUPPORTED,\n",
        new="    ErrorCode.REVOKED: Status.FAILED,\n",
        tests=(f"{_INVENTORY}::test_revoked_is_told_only_to_whom_it_was_shown",),
    ),
)
