"""Guards of what is kept: the trail that shows every change to it, and values that are not kept (design §14)."""

from typing import Final

from tests.guards.guard import Guard

_AUDIT: Final = "tests/contract/test_audit.py"
_STORE: Final = "gateway/adapters/sql/store.py"

GUARDS: Final = (
    Guard(
        name="no-audit-no-action",
        section="§14",
        why="something would be done that the trail does not tell",
        file=_STORE,
        old="            self._tx.audit.flush()\n            self._database.settle()\n",
        new=(
            "            try:\n"
            "                self._tx.audit.flush()\n"
            "            except Exception:\n"
            "                self._tx.audit.forget()\n"
        ),
        tests=("tests/security/test_no_audit_no_action.py",),
    ),
    Guard(
        name="failed-unit-leaves-no-record",
        section="§14",
        why="the trail would tell of what was taken back",
        file=_STORE,
        old="            audit.rollback()\n",
        new="",
        tests=("tests/contract/test_store.py::test_a_failing_unit_vanishes_and_its_neighbours_stay",),
    ),
    Guard(
        name="record-is-chained-to-the-one-before",
        section="§14",
        why="a record could be changed and nobody would see it",
        file="gateway/domain/audit.py",
        old="return hashlib.sha256(previous + body).digest()",
        new="return hashlib.sha256(body).digest()",
        tests=(_AUDIT,),
    ),
    Guard(
        name="verification-compares-the-chain",
        section="§14",
        why="`ostiary audit verify` would find a forged trail good",
        file="gateway/runtime/admin/trail.py",
        old="if head is not None and chain(head, record.body) != record.hash:",
        new="if False:",
        tests=("tests/unit/transports/control/test_control.py",),
    ),
    Guard(
        name="verification-compares-the-checkpoints",
        section="§14",
        why="a trail that was written anew beside a checkpoint kept elsewhere would be found good",
        file="gateway/runtime/admin/trail.py",
        old="known.get(record.seq, record).hash != record.hash for known in (noted, given)",
        new="False for known in (noted, given)",
        tests=("tests/unit/runtime/test_checkpoints.py",),
    ),
    Guard(
        name="argument-digest-is-keyed",
        section="§14",
        why="a short argument could be found by trying all of them",
        file="gateway/runtime/audit.py",
        old='return hmac.digest(self.key, raw, "sha256").hex()[:32]',
        new='return hmac.digest(b"known to all", raw, "sha256").hex()[:32]',
        tests=("tests/security/test_kept_values.py",),
    ),
    Guard(
        name="arguments-go-with-the-end-of-the-call",
        section="§14",
        why="what an agent once sent would stay in the database",
        file="gateway/adapters/sql/calls.py",
        old="        elif call.state not in OPEN:\n            self._connection.write(_ERASE_INPUT, (call.ref,))\n",
        new="",
        tests=("tests/contract/test_calls.py::test_the_input_lives_until_nothing_will_be_handed_out",),
    ),
    Guard(
        name="results-are-erased",
        section="§14",
        why="every result would stay in the database",
        file="gateway/runtime/retention.py",
        old='    "results": lambda tx, _, now: tx.calls.erase_results(now, BATCH),\n',
        new="",
        tests=("tests/security/test_kept_values.py",),
    ),
    Guard(
        name="secret-input-is-not-stored",
        section="§14",
        why="a password would be written to the disk",
        file="gateway/runtime/admission.py",
        old="stored = None if plan.keep_in_memory or row.state.is_terminal else plan.arguments",
        new="stored = None if row.state.is_terminal else plan.arguments",
        tests=("tests/unit/runtime/test_restart.py::test_a_secret_is_shown_and_handed_over_and_never_stored",),
    ),
    Guard(
        name="shown-secret-is-not-stored",
        section="§14",
        why="the dialog's text would take the password to the disk",
        file="gateway/runtime/admission.py",
        old='tx.approvals.add(replace(approval, payload="") if plan.keep_in_memory else approval)',
        new="tx.approvals.add(approval)",
        tests=("tests/unit/runtime/test_restart.py::test_a_secret_is_shown_and_handed_over_and_never_stored",),
    ),
    Guard(
        name="shown-text-goes-with-the-end-of-its-question",
        section="§14",
        why="the arguments would outlive their call in the text that was shown",
        file="gateway/domain/approvals.py",
        old='return replace(approval, state=target, decided_at=decided_at, payload="")',
        new="return replace(approval, state=target, decided_at=decided_at)",
        tests=("tests/unit/domain/test_approvals.py::test_the_shown_text_is_forgotten_with_the_end_of_the_approval",),
    ),
    Guard(
        name="floods-are-counted-not-listed",
        section="§14",
        why="whoever knocks often enough would fill the trail",
        file="gateway/runtime/refusals.py",
        old="return key[0] if tally.count <= SINGLY else None",
        new="return key[0]",
        tests=("tests/unit/runtime/test_replays.py::test_a_flood_of_refusals_over_the_minute_is_counted_once",),
    ),
)
