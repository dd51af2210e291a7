"""Guards of session data: written by compare and set, within its size, by the app of the app session (design §7)."""

from typing import Final

from tests.guards.guard import Guard

_JUDGED: Final = "gateway/domain/session_data.py"
_USED: Final = "tests/unit/runtime/test_session_data.py"

GUARDS: Final = (
    Guard(
        name="session-data-is-compared-before-it-is-set",
        section="§7",
        why="of two writes at once the first would be lost without a word",
        file="gateway/adapters/sql/session_data.py",
        old='.where(*_IS_IT, _D.revision == value(_D.revision, "was")),',
        new='.where(*_IS_IT, (_D.revision == value(_D.revision, "was")) | _D.revision.is_not(None)),',
        tests=("tests/contract/test_session_data.py::test_only_the_next_revision_is_written",),
    ),
    Guard(
        name="session-data-has-a-size",
        section="§17",
        why="an app could fill the database",
        file=_JUDGED,
        old="if len(text) > SESSION_DATA_BYTES:",
        new="if False:",
        tests=("tests/unit/domain/test_session_data.py::test_the_largest_object_is_kept_and_one_byte_more_is_not",),
    ),
    Guard(
        name="session-data-has-a-depth",
        section="§17",
        why="what one half keeps the other could not read",
        file=_JUDGED,
        old="if is_deeper_than(value, SESSION_DATA_DEPTH):",
        new="if False:",
        tests=("tests/unit/domain/test_session_data.py::test_the_deepest_object_is_kept_and_one_level_more_is_not",),
    ),
    Guard(
        name="session-data-is-its-app-sessions-own",
        section="F7",
        why="a handler would read what another app, or another person's conversation, keeps",
        file="gateway/adapters/sql/session_data.py",
        old="_IS_IT = (_D.app == value(_D.app), _D.app_session == value(_D.app_session))",
        new="_IS_IT = (\n"
        "    (_D.app == value(_D.app)) | _D.app.is_not(None),\n"
        "    (_D.app_session == value(_D.app_session)) | _D.app_session.is_not(None),\n"
        ")",
        tests=(
            "tests/contract/test_session_data.py::test_what_was_written_is_found_by_app_and_app_session",
            f"{_USED}::test_nobody_else_reads_or_writes_it",
        ),
    ),
)
