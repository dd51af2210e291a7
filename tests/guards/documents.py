"""Guards of documents: what agents show as data, stream, and let people act in (design §12, rules A and H)."""

from typing import Final

from tests.guards.guard import Guard

_CALLS: Final = "gateway/runtime/document_calls.py"
_JUDGING: Final = "gateway/runtime/document_judging.py"
_ACTIONS: Final = "gateway/runtime/document_actions.py"
_RECORDS: Final = "gateway/runtime/document_records.py"
_SHOWN: Final = "gateway/runtime/documents.py"
_CALLERS: Final = "gateway/runtime/callers.py"
_TESTS: Final = "tests/unit/runtime/test_documents.py"
_ACTED: Final = "tests/unit/runtime/test_document_actions.py"

GUARDS: Final = (
    Guard(
        name="documents-are-full-at-their-cap",
        section="H5",
        why="the store would grow with every document, or another one would be evicted",
        file=_CALLS,
        old="    if replaced is None and tx.documents.count_live() >= most:",
        new="    if False:",
        tests=(f"{_TESTS}::test_a_full_house_refuses_and_evicts_nothing",),
    ),
    Guard(
        name="documents-are-their-conversations",
        section="H5",
        why="an agent could go on with, or replace, what another one shows",
        file=_CALLS,
        old="    return (row.agent, row.user, row.conversation) == of_session and may(world, session, capability, row.site)",
        new="    return True or of_session is None",
        tests=(
            f"{_TESTS}::test_only_ones_own_document_is_replaced",
            f"{_TESTS}::test_a_stream_is_its_conversations_alone",
        ),
    ),
    Guard(
        name="what-was-judged-counts-only-where-it-was-judged",
        section="H5",
        why="of two frames at once the second would undo the first",
        file=_CALLS,
        old="        if prepared is None or prepared.base != found.row:",
        new="        if prepared is None:",
        tests=(f"{_TESTS}::test_what_was_judged_before_counts_only_where_the_document_still_stands",),
    ),
    Guard(
        name="a-restart-ends-the-epoch",
        section="H5",
        why="a stream would go on over a gap nobody saw",
        file=_JUDGING,
        old="    if row.epoch != found.epoch:",
        new="    if False:",
        tests=(f"{_TESTS}::test_a_restart_ends_the_epoch_and_what_is_shown_stays",),
    ),
    Guard(
        name="a-step-has-the-size-of-a-document",
        section="A2",
        why="a stream would grow past the size the administrator allows",
        file=_JUDGING,
        old="    if is_new and len(step.generation.document.canonical) > max_bytes:",
        new="    if False:",
        tests=(f"{_TESTS}::test_the_limit_can_be_lowered_and_pages_are_told",),
    ),
    Guard(
        name="documents-are-shown-to-their-person",
        section="§12",
        why="another person's page would get what an agent shows",
        file=_SHOWN,
        old="    is_its = found is not None and found.is_live and (found.user, found.site) == where",
        new="    is_its = found is not None and found.is_live and bool(where)",
        tests=(f"{_TESTS}::test_what_is_not_open_there_is_answered_as_what_never_was",),
    ),
    Guard(
        name="documents-go-with-their-grant",
        section="§14",
        why="what a revoked agent showed would stay on the page",
        file=_SHOWN,
        old="            for document in tx.documents.live_of_session(session):",
        new="            for document in tx.documents.live_of_session(session)[:0]:",
        tests=(f"{_TESTS}::test_the_end_of_a_grant_takes_its_documents_away",),
    ),
    Guard(
        name="people-act-in-their-own-documents",
        section="B1",
        why="one person could press the buttons of another one's document",
        file=_ACTIONS,
        old="        if document is None or (document.user, document.site) != (page.session.user, page.session.site):",
        new="        if document is None:",
        tests=(f"{_ACTED}::test_another_persons_page_asks_for_nothing",),
    ),
    Guard(
        name="an-action-names-the-present-revision",
        section="H6",
        why="the person would agree to one document and run another",
        file=_ACTIONS,
        old="    if not document.is_live or (document.call, document.revision) != (wanted.call, wanted.revision):",
        new="    if not document.is_live:",
        tests=(f"{_ACTED}::test_what_does_not_fit_the_kept_document_is_refused_and_audited",),
    ),
    Guard(
        name="nothing-leaves-an-unfinished-document",
        section="§12",
        why="the person would agree to what is still being written",
        file=_ACTIONS,
        old="    if document.state is not DocumentState.COMPLETE:",
        new="    if False:",
        tests=(f"{_ACTED}::test_nothing_leaves_a_document_that_is_not_complete",),
    ),
    Guard(
        name="a-request-is-one-input",
        section="H6",
        why="a request would be answered with what became of another one",
        file=_ACTIONS,
        old="            if before.input == digest:",
        new="            if True:",
        tests=(f"{_ACTED}::test_the_same_request_again_hears_of_the_one_call_and_other_input_is_a_conflict",),
    ),
    Guard(
        name="a-document-is-told-the-open-fields",
        section="H6",
        why="a document would be told all a capability answers",
        file=_ACTIONS,
        old="for name in target.result_fields if isinstance",
        new="for name in fields if isinstance",
        tests=(f"{_ACTED}::test_a_write_asks_and_runs_with_arguments_computed_from_the_kept_document",),
    ),
    Guard(
        name="actions-of-a-session-are-capped",
        section="H6",
        why="documents of one agent could fill what all have",
        file=_RECORDS,
        old="    if tx.documents.count_actions(person.document.session) >= OF_SESSION:",
        new="    if False:",
        tests=(f"{_ACTED}::test_at_the_cap_actions_are_refused_and_none_is_forgotten",),
    ),
    Guard(
        name="the-invoke-table-raises-the-risk",
        section="H6",
        why="what the administrator marked as dangerous would run as the page declares it",
        file="gateway/runtime/inventory.py",
        old="    return descriptor.risk if entry is None else highest(descriptor.risk, entry.risk)",
        new="    return descriptor.risk",
        tests=(
            f"{_ACTED}::test_a_read_runs_at_once_and_the_table_may_want_more",
            f"{_ACTED}::test_a_risk_nobody_can_agree_to_is_refused",
        ),
    ),
    Guard(
        name="the-invoke-table-is-asked-again",
        section="H6",
        why="what waits for the person would run though the administrator closed it",
        file=_CALLERS,
        old="    if asking.entry not in world.configuration.documents.invoke:",
        new="    if False:",
        tests=(f"{_ACTED}::test_an_entry_taken_out_of_the_table_withdraws_what_waits",),
    ),
)
