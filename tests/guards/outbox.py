"""Guards of the outbox: order, patience, one name for each event, and who may claim or sign what (design §13)."""

from typing import Final

from tests.guards.guard import Guard

_DOMAIN: Final = "gateway/domain/outbox.py"
_ROWS: Final = "gateway/adapters/sql/outbox.py"
_WEBHOOK: Final = "gateway/adapters/webhook.py"
_STORED: Final = "tests/contract/test_outbox.py"
_POSTED: Final = "tests/unit/adapters/test_webhook.py"
_RELAYED: Final = "tests/unit/runtime/test_relay.py"

GUARDS: Final = (
    Guard(
        name="outbox-keys-keep-their-order",
        section="§13",
        why="a consumer would hear of an end before its beginning",
        file=_ROWS,
        old="None if is_behind else entry.due_at or entry.at",
        new="entry.due_at or entry.at",
        tests=(f"{_STORED}::test_a_later_entry_of_a_key_waits_and_other_keys_go_on",),
    ),
    Guard(
        name="outbox-attempts-are-bounded",
        section="§13",
        why="what a consumer never takes would be sent for ever and hold up its key",
        file=_DOMAIN,
        old="if patience.is_spent(entry.attempts):",
        new="if False:",
        tests=(f"{_RELAYED}::test_attempts_are_bounded_and_rest_ever_longer",),
    ),
    Guard(
        name="outbox-cut-off-attempts-count",
        section="§13",
        why="an entry that brings its process down would do so at every start",
        file="gateway/runtime/outbox.py",
        old="if entry.attempts <= self._patience.attempts:",
        new="if True:",
        tests=(f"{_RELAYED}::test_an_entry_whose_attempts_all_ended_with_their_process_is_given_up",),
    ),
    Guard(
        name="outbox-dead-letter-is-audited",
        section="§14",
        why="nobody would learn that a consumer missed something",
        file="gateway/runtime/outbox.py",
        old="            tx.audit.append(record)\n",
        new="            record\n",
        tests=(f"{_RELAYED}::test_a_dead_entry_is_audited_and_lets_its_key_go_on",),
    ),
    Guard(
        name="outbox-repeat-has-the-same-id",
        section="§13",
        why="a consumer could not tell a repeat from a second event",
        file=_WEBHOOK,
        old='            "webhook-id": entry.id,\n',
        new='            "webhook-id": f"{entry.id}-{entry.attempts}",\n',
        tests=(f"{_POSTED}::test_a_repeat_is_the_same_event_signed_anew",),
    ),
    Guard(
        name="outbox-claim-is-one-relays",
        section="§13",
        why="two relays would send the same entry",
        file=_ROWS,
        old='due_at=value(_O.due_at, "until"), holder',
        new='due_at=_O.due_at + 0 * value(_O.due_at, "until"), holder',
        tests=(f"{_STORED}::test_a_claimed_entry_is_its_holders_until_the_lease_ends",),
    ),
    Guard(
        name="outbox-lost-lease-settles-nothing",
        section="§13",
        why="who comes back late would end what another one sends",
        file=_ROWS,
        old='_IS_PENDING, _O.holder == value(_O.holder, "was_held_by")',
        new='_IS_PENDING, (_O.holder == value(_O.holder, "was_held_by")) | _O.id.is_not(None)',
        tests=(f"{_STORED}::test_who_lost_the_lease_changes_nothing",),
    ),
    Guard(
        name="outbox-signature-covers-the-body",
        section="§13",
        why="anybody on the way could change what is told",
        file=_WEBHOOK,
        old='f"{entry.id}.{stamp}.".encode() + body, "sha256"',
        new='f"{entry.id}.{stamp}.".encode(), "sha256"',
        tests=(f"{_POSTED}::test_the_documented_consumer_takes_the_signature_and_refuses_a_changed_post",),
    ),
    Guard(
        name="outbox-follows-no-redirect",
        section="§13",
        why="a consumer could send what is told to any address",
        file=_WEBHOOK,
        old="follow_redirects=False",
        new="follow_redirects=True",
        tests=(f"{_POSTED}::test_a_redirect_is_not_followed",),
    ),
    Guard(
        name="outbox-weak-secret-is-refused",
        section="§13",
        why="a signature could be guessed",
        file=_WEBHOOK,
        old="if len(key) < SECRET_BYTES:",
        new="if False:",
        tests=(f"{_POSTED}::test_a_poor_secret_is_refused_without_being_quoted",),
    ),
)
