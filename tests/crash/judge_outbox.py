"""The outbox after a kill: every fact has its one entry, and the consumer got nothing else, in order."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from gateway.domain import announcements
from gateway.domain.calls import CallState
from gateway.domain.outbox import OutboxState
from tests.crash.press import RUN

if TYPE_CHECKING:
    # The judge imports its clauses.
    from tests.crash.judge import Case


def every_fact_has_its_entry(case: "Case") -> Iterator[str]:
    """One end for each call and operation that ended, one for each receipt, and no more."""
    outbox = case.evidence.outbox
    for ref, row in case.evidence.calls.items():
        has_ended = row.state.is_terminal or row.state is CallState.UNKNOWN
        if (f"{ref}:end" in outbox) != has_ended:
            yield f"{ref} is `{row.state}` and its end is {'' if not has_ended else 'not '}in the outbox"
        told = {entry.id for entry in outbox.values() if entry.id.startswith(f"{ref}:receipt:")}
        wanted = {f"{ref}:receipt:{receipt.seq}" for receipt in case.evidence.receipts.get(ref, ())}
        if told != wanted:
            yield f"{ref} has {len(wanted)} receipts and tells {sorted(told ^ wanted)} otherwise"
    for ref, operation in case.evidence.operations.items():
        if (f"{ref}:operation:end" in outbox) != (operation.state.value != "running"):
            yield f"the operation of {ref} is `{operation.state}`, and the outbox says otherwise of its end"


def what_is_told_is_true(case: "Case") -> Iterator[str]:
    """The first end is the one that is told; a late one is not pushed."""
    for ref, row in case.evidence.calls.items():
        entry = case.evidence.outbox.get(f"{ref}:end")
        first = CallState.UNKNOWN if row.late else row.state
        if entry is not None and f'"status":"{first.value}"' not in entry.data:
            yield f"{ref} ended as `{first}` and is told as {entry.data}"


def what_was_emitted_is_there(case: "Case") -> Iterator[str]:
    """A handler that answered had its event taken before."""
    emitted = {entry.subject for entry in case.evidence.outbox.values() if entry.app is not None}
    for ref, row in case.evidence.calls.items():
        if row.capability == RUN and row.state is CallState.SUCCEEDED and ref not in emitted:
            yield f"{ref} succeeded and what it emitted is not in the outbox"


def what_was_sent_arrived_and_nothing_else(case: "Case") -> Iterator[str]:
    outbox, delivered = case.evidence.outbox, case.memory.delivered
    for entry in outbox.values():
        if entry.state is OutboxState.SENT and entry.id not in delivered:
            yield f"{entry.id} counts as sent and never arrived"
    for event in delivered.keys() - outbox.keys():
        yield f"{event} arrived and is not in the outbox"


def each_key_arrived_in_order(case: "Case") -> Iterator[str]:
    of_keys: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for entry in case.evidence.outbox.values():
        if entry.state is OutboxState.SENT and entry.id in case.memory.delivered:
            of_keys[entry.key].append((entry.number, entry.id))
    for key, sent in of_keys.items():
        arrived = [(case.memory.delivered[event][-1], event) for _, event in sorted(sent)]
        if arrived != sorted(arrived):
            late = next(after for before, after in pairwise(arrived) if after < before)
            yield f"`{key}`: {late[1]} arrived before what stood before it"


def nothing_secret_is_told(case: "Case") -> Iterator[str]:
    for entry in case.evidence.outbox.values():
        words = ("oper_", "inst_", "apps_") if entry.type != announcements.CALL_RECEIPT else ("oper_", "inst_")
        if entry.app is None and any(word in entry.data for word in words):
            yield f"{entry.id} tells a name that never leaves: {entry.data}"
