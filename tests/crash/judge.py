"""Holds what a store says after a kill against what the parent remembers. Each clause is one function.

A clause yields what breaks it; nothing is repaired, and nothing is explained away.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import orjson

from gateway.domain.approvals import TRANSITIONS as APPROVAL_MOVES
from gateway.domain.approvals import ApprovalState
from gateway.domain.audit import GENESIS, AuditEvent
from gateway.domain.calls import LAPSE_MS, OPEN, ORPHAN_MS, TRANSITIONS, Call, CallState
from gateway.domain.conversations import EndTold, Message, ReceiptTold
from gateway.domain.errors import ErrorCode
from gateway.domain.mini_apps import AppState
from gateway.protocol.lineup.words import ENDS
from tests.crash import judge_outbox, judge_running
from tests.crash.administrator import APP
from tests.crash.evidence import Evidence, Record
from tests.crash.memory import FINAL, AppStanding, Contradiction, Heard, Memory
from tests.crash.press import RUN
from tests.crash.scene import SCRIBE

Clause = Callable[["Case"], Iterator[str]]

_CALL_EVENTS: Final = frozenset(
    {
        AuditEvent.CALL_ADMITTED,
        AuditEvent.CALL_DISPATCHED,
        AuditEvent.CALL_ENDED,
        AuditEvent.CALL_LOST,
        AuditEvent.CALL_ORPHANED,
        AuditEvent.CALL_REARMED,
        AuditEvent.CALL_CANCEL_REQUESTED,
    }
)
_APPROVAL_EVENTS: Final = {
    AuditEvent.APPROVAL_OPENED: ApprovalState.OPEN,
    AuditEvent.APPROVAL_EXPIRED: ApprovalState.EXPIRED,
    AuditEvent.APPROVAL_WITHDRAWN: ApprovalState.WITHDRAWN,
    AuditEvent.APPROVAL_CONSUMED: ApprovalState.CONSUMED,
    AuditEvent.APPROVAL_LAPSED: ApprovalState.LAPSED,
}


@dataclass(frozen=True, slots=True)
class Case:
    """What is judged: a store as a life found it (`at_start`) or left it, and the parent's memory."""

    evidence: Evidence
    memory: Memory
    trail: list[Record]
    at_start: bool

    @property
    def started_at(self) -> int:
        """When the newest recovery took place."""
        return max(record.at for record in self.trail if record.event is AuditEvent.GATEWAY_STARTED)

    def of_calls(self) -> Mapping[str, list[Record]]:
        """The records about each call, in order."""
        found: dict[str, list[Record]] = defaultdict(list)
        for record in self.trail:
            if record.event in _CALL_EVENTS or record.event is AuditEvent.APPROVAL_DECIDED:
                found[str(record.facts["ref"])].append(record)
        return found


def judge(evidence: Evidence, memory: Memory, *, at_start: bool = True) -> list[Contradiction]:
    """Everything that does not hold."""
    case = Case(evidence, memory, evidence.trail, at_start)
    broken = [
        Contradiction(clause=name, detail=detail) for name, clause in CLAUSES.items() for detail in clause(case)
    ]
    return [*memory.contradictions, *broken]


# -- what was acknowledged ------------------------------------------------------------------------------------------


def _acknowledged_calls_are_there(case: Case) -> Iterator[str]:
    for ref in case.memory.told.keys() - case.evidence.calls.keys():
        yield f"{ref} was told and has no row"
    for (agent, call_id), ref in case.memory.by_key.items():
        row = case.evidence.calls.get(ref)
        if row is not None and (row.agent, row.call_id) != (agent, call_id):
            yield f"{ref} was told for `{call_id}` and is `{row.call_id}`"


def _acknowledged_ends_stay(case: Case) -> Iterator[str]:
    for ref, answers in case.memory.told.items():
        row = case.evidence.calls.get(ref)
        last = next((told for told in reversed(answers) if told.status in FINAL), None)
        if row is None:
            continue
        if last is not None:
            result = case.evidence.results.get(ref)
            stored = None if result is None else orjson.loads(result.output)
            if (row.state, stored) != (last.status, last.result):
                yield f"{ref} ended `{last.status}` {last.result} and is `{row.state}` {stored}"
        elif any(told.status == "unknown" for told in answers):
            is_late = row.late and row.state in (CallState.SUCCEEDED, CallState.FAILED)
            if row.state is not CallState.UNKNOWN and not is_late:
                yield f"{ref} was told `unknown` and is `{row.state}`, not late"


def _refused_requests_leave_nothing(case: Case) -> Iterator[str]:
    keys = {(row.agent, row.call_id): row.ref for row in case.evidence.calls.values()}
    for key in case.memory.refused & keys.keys() - case.memory.by_key.keys():
        yield f"{key} was refused and is {keys[key]}"


# -- one row, one result, one effect --------------------------------------------------------------------------------


def _one_key_is_one_call(case: Case) -> Iterator[str]:
    seen: dict[tuple[str, str, str, str], str] = {}
    for row in case.evidence.calls.values():
        key = (row.agent, row.user, row.entry.value, row.call_id)
        if seen.setdefault(key, row.ref) != row.ref:
            yield f"{key} is {seen[key]} and {row.ref}"


def _results_are_single_and_true(case: Case) -> Iterator[str]:
    for ref, row in case.evidence.calls.items():
        result = case.evidence.results.get(ref)
        if (result is not None) != (row.state is CallState.SUCCEEDED):
            yield f"{ref} is `{row.state}` with{'' if result else 'out'} a result"
        elif result is not None and row.page is not None and orjson.loads(result.output) != _output(case, ref):
            yield f"{ref} has the result {result.output}, its page said {_output(case, ref)}"


def _output(case: Case, ref: str) -> object:
    return case.memory.outputs.get(ref)


def _no_result_breaks_its_schema(case: Case) -> Iterator[str]:
    for ref, row in case.evidence.calls.items():
        if row.capability == "todo.broken" and row.state is CallState.SUCCEEDED:
            yield f"{ref} was stored though its output breaks the declared schema"


def _the_page_acts_once(case: Case) -> Iterator[str]:
    for ref, count in case.memory.effects.items():
        if count > 1:
            yield f"{ref} was done {count} times"
    for ref, count in case.memory.asked_to_run.items():
        if count > 1:
            yield f"the page was asked {count} times to run {ref}"


def _a_worker_does_a_call_once(case: Case) -> Iterator[str]:
    for ref, count in case.evidence.pressed.items():
        row = case.evidence.calls.get(ref)
        if count > 1:
            yield f"{ref} was done {count} times by its worker"
        if row is None or row.dispatched_at is None:
            yield f"a worker did {ref}, which is {'gone' if row is None else row.state.value} and was never dispatched"
        elif row.code is ErrorCode.NOT_DELIVERED:
            yield f"{ref} was done by its worker and is `not_delivered`"
    for ref, row in case.evidence.calls.items():
        is_done = row.capability == RUN and row.state is CallState.SUCCEEDED
        if is_done and ref not in case.evidence.pressed:
            yield f"{ref} succeeded and no worker did it"


def _only_dispatched_work_is_done(case: Case) -> Iterator[str]:
    dispatched = {str(r.facts["ref"]) for r in case.trail if r.event is AuditEvent.CALL_DISPATCHED}
    for ref in case.memory.asked_to_run.keys() | case.memory.effects.keys():
        row = case.evidence.calls.get(ref)
        if ref not in dispatched or row is None or row.dispatched_at is None:
            yield f"the page got {ref}, which is {'gone' if row is None else row.state.value} and was never dispatched"
        elif row.code is ErrorCode.NOT_DELIVERED and case.memory.effects[ref]:
            yield f"{ref} was done and is `not_delivered`"


# -- accounts -------------------------------------------------------------------------------------------------------


def _the_quota_is_the_rows(case: Case) -> Iterator[str]:
    rows = case.evidence.calls.values()
    counted = len(rows), sum(row.state in OPEN for row in rows)
    if counted != (case.evidence.used, case.evidence.open):
        yield f"(rows, open) are {counted}, the quota says {(case.evidence.used, case.evidence.open)}"


def _every_call_is_whole(case: Case) -> Iterator[str]:
    for ref, row in case.evidence.calls.items():
        if ref not in case.evidence.accepted:
            yield f"{ref} has no receipt `accepted`"
        if row.approval is not None and row.approval not in case.evidence.approvals:
            yield f"{ref} names the approval {row.approval}, which is not there"
        if row.state.is_terminal and ref in case.evidence.inputs:
            yield f"{ref} is `{row.state}` and its input was kept"
        if row.state.is_undispatched and not row.input_in_memory and ref not in case.evidence.inputs:
            yield f"{ref} is `{row.state}` and its input is gone"


def _the_chain_verifies(case: Case) -> Iterator[str]:
    heads: dict[str, tuple[int, bytes]] = {}
    for record in case.evidence.records:
        seq, head = heads.get(record.stream, (0, GENESIS))
        if record.seq != seq + 1 or hashlib.sha256(head + record.body).digest() != record.hash:
            yield f"{record.stream} breaks at {record.seq}"
            return
        heads[record.stream] = (record.seq, record.hash)


def _every_move_left_its_record(case: Case) -> Iterator[str]:
    """The trail, replayed through the transition tables, arrives at the rows."""
    of_calls = case.of_calls()
    for ref in of_calls.keys() - case.evidence.calls.keys():
        yield f"{ref} is in the trail and has no row"
    for ref, row in case.evidence.calls.items():
        states = _states(of_calls.get(ref, []))
        if not states:
            yield f"{ref} has a row and no record of its admission"
            continue
        for before, after in pairwise(states):
            if before != after and not any(one in after for state in before for one in TRANSITIONS[state].values()):
                yield f"{ref} went from {sorted(before)} to {sorted(after)}"
        if row.state not in states[-1]:
            yield f"{ref} is `{row.state}`, its trail ends in {sorted(states[-1])}"


def _states(records: list[Record]) -> list[frozenset[CallState]]:
    """What each record leaves possible: an approval does not say whether its call then waits for its page."""
    states: list[frozenset[CallState]] = []
    for record in records:
        if record.event is not AuditEvent.APPROVAL_DECIDED:
            state = CallState(str(record.facts["state"]))
            # What waited for its app is let go by what the app became, which leaves a record of its own.
            is_waiting = state is CallState.WAITING_ACTIVATION
            states.append(frozenset({state, CallState.READY} if is_waiting else {state}))
        elif record.facts["state"] == ApprovalState.APPROVED:
            states.append(frozenset({CallState.READY, CallState.WAITING_ACTIVATION}))
    return states


def _approvals_are_used_once(case: Case) -> Iterator[str]:
    states: dict[str, ApprovalState] = {}
    for record in case.trail:
        after = _APPROVAL_EVENTS.get(record.event)
        if record.event is AuditEvent.APPROVAL_DECIDED:
            after = ApprovalState(str(record.facts["state"]))
        if after is None:
            continue
        name = str(record.facts["approval"])
        before = states.get(name)
        is_legal = after in APPROVAL_MOVES[before].values() if before else after is ApprovalState.OPEN
        if not is_legal:
            yield f"{name} went from `{before}` to `{after}`"
        states[name] = after
    for name, approval in case.evidence.approvals.items():
        if states.get(name) is not approval.state:
            yield f"{name} is `{approval.state}`, its trail ends in `{states.get(name)}`"
        row = case.evidence.calls.get(approval.call)
        if row is None or (approval.state is ApprovalState.CONSUMED) != (row.dispatched_at is not None):
            yield f"{name} is `{approval.state}` and its call {approval.call} is `{row and row.state}`"


# -- what a start does ----------------------------------------------------------------------------------------------


def _nothing_stays_dispatched(case: Case) -> Iterator[str]:
    if not case.at_start:
        return
    for ref, before in _before_the_start(case):
        row = case.evidence.calls[ref]
        if row.operation is not None:
            # What an operation carries goes on, or came to its end when its time was over (rules B5).
            continue
        if CallState.DISPATCHED in before and row.state is not CallState.UNKNOWN:
            yield f"{ref} was dispatched at the kill and is `{row.state}`"
        if CallState.UNKNOWN in before and row.state is not CallState.UNKNOWN:
            yield f"{ref} was `unknown` before the start and is `{row.state}`"


def _what_waits_survives_or_ends_by_the_rules(case: Case) -> Iterator[str]:
    if not case.at_start:
        return
    for ref, before in _before_the_start(case):
        row = case.evidence.calls[ref]
        if not all(state.is_undispatched for state in before):
            continue
        if row.input_in_memory:
            if (row.state, row.code) != (CallState.CANCELLED, ErrorCode.CANCELLED):
                yield f"{ref} was kept in memory and is `{row.state}`"
        elif row.state.is_terminal:
            if _limit(row) > (row.ended_at or 0):
                yield f"{ref} is `{row.state}` ({row.message}) before its time"
        elif row.state not in before:
            yield f"{ref} was {sorted(before)} and is `{row.state}`"
        elif row.due_at is not None and row.due_at <= case.started_at:
            yield f"{ref} is past its limit and is `{row.state}`"


def _before_the_start(case: Case) -> Iterator[tuple[str, frozenset[CallState]]]:
    """The calls that were open or unknown when the newest start began, and what they were."""
    start = case.started_at
    for ref, records in case.of_calls().items():
        states = _states([record for record in records if record.at < start])
        if states and ref in case.evidence.calls and not any(state.is_terminal for state in states[-1]):
            yield ref, states[-1]


def _limit(row: Call) -> int:
    bounds = [
        row.deadline,
        row.approve_by,
        None if row.orphaned_at is None else row.orphaned_at + ORPHAN_MS,
        None if row.approved_at is None else row.approved_at + LAPSE_MS,
    ]
    return min(bound for bound in bounds if bound is not None)


# -- mini apps ------------------------------------------------------------------------------------------------------


def _an_app_is_as_it_was_told_or_as_was_asked(case: Case) -> Iterator[str]:
    found = standing_of(case.evidence)
    if found not in (case.memory.app, case.memory.app_pending):
        yield f"the app was {case.memory.app}, then {case.memory.app_pending} was asked for, and it is {found}"


def standing_of(evidence: Evidence) -> AppStanding:
    """Where the rows say that the app stands."""
    app = next((app for app in evidence.apps if app.id == APP), None)
    if app is None:
        return AppStanding(state=AppState.ABSENT)
    return AppStanding(state=app.state, version=evidence.versions[app.digest].version)


def _the_files_of_an_app_are_whole_and_no_others_are_left(case: Case) -> Iterator[str]:
    for digest, flaw in case.evidence.folders.items():
        if flaw is not None:
            yield f"package `{digest[:12]}`: {flaw}"
    for digest in case.evidence.versions.keys() - case.evidence.folders.keys():
        yield f"package `{digest[:12]}` is gone"
    # Where no app is installed a start leaves whole packages alone: the database may be the wrong one.
    if case.at_start and case.evidence.versions and case.evidence.folders.keys() - case.evidence.versions.keys():
        yield f"the rows name {sorted(case.evidence.versions)}, the disk has {sorted(case.evidence.folders)}"


def _every_change_of_an_app_left_its_record(case: Case) -> Iterator[str]:
    told = AppStanding(state=AppState.ABSENT)
    for record in case.trail:
        state = _APP_EVENTS.get(record.event)
        if state is not None and record.facts["app"] == APP:
            told = AppStanding(state=state(told.state), version=str(record.facts["version"]))
    if told.state is AppState.ABSENT:
        told = AppStanding(state=AppState.ABSENT)
    if told != standing_of(case.evidence):
        yield f"the trail of the app ends in {told}, it is {standing_of(case.evidence)}"


_APP_EVENTS: Final[Mapping[AuditEvent, Callable[[AppState], AppState]]] = {
    AuditEvent.APP_INSTALLED: lambda _: AppState.DISABLED,
    AuditEvent.APP_ENABLED: lambda _: AppState.ENABLED,
    AuditEvent.APP_DISABLED: lambda _: AppState.DISABLED,
    AuditEvent.APP_UPGRADED: lambda state: state,
    AuditEvent.APP_ROLLED_BACK: lambda state: state,
    AuditEvent.APP_REMOVED: lambda _: AppState.ABSENT,
}


def _epochs_never_go_back(case: Case) -> Iterator[str]:
    for page, epoch in case.memory.epochs.items():
        row = case.evidence.pages.get(page)
        if row is None or row.epoch < epoch:
            yield f"{page} was welcomed at epoch {epoch} and is {'gone' if row is None else row.epoch}"


# -- what a conversation is told ------------------------------------------------------------------------------------


def _each_receipt_and_end_is_told_once(case: Case) -> Iterator[str]:
    if [message.seq for message in case.evidence.log] != list(range(1, len(case.evidence.log) + 1)):
        yield "the places of the log do not grow by one"
    receipts: dict[str, list[int]] = defaultdict(list)
    ends: Counter[str] = Counter()
    for message in case.evidence.log:
        if isinstance(message, ReceiptTold):
            if message.call.ref in ends:
                yield f"{message.call.ref} has a receipt after its end"
            receipts[message.call.ref].append(message.receipt.seq)
        elif isinstance(message, EndTold):
            ends[message.call.ref] += 1
    for ref, row in case.evidence.calls.items():
        if row.agent != SCRIBE:
            continue
        added = [receipt.seq for receipt in case.evidence.receipts.get(ref, ())]
        if receipts[ref] != added:
            yield f"{ref} has the receipts {added}, and {receipts[ref]} are told"
        if ends[ref] != int(row.state not in OPEN):
            yield f"{ref} is `{row.state}`, and {ends[ref]} ends are told"


def _what_was_heard_is_in_the_log(case: Case) -> Iterator[str]:
    log = {message.seq: message for message in case.evidence.log}
    for place, heard in case.memory.heard.items():
        told = log.get(place)
        if told is None or _heard_of(told) != heard:
            yield f"{place} was heard as {heard} and is {told}"
    keys = {row.call_id for row in case.evidence.calls.values() if row.agent == SCRIBE}
    for call_id in case.memory.taken - keys:
        yield f"`{call_id}` was told to be a call and has no row"


def _heard_of(message: Message) -> Heard | None:
    match message:
        case ReceiptTold(call=call, receipt=receipt):
            return Heard(kind="tool.receipt", call_id=call.call_id, status=receipt.status, seq=receipt.seq)
        case EndTold(call=call, asked=asked, state=state):
            return Heard(kind=f"{asked.value}.result", call_id=call.call_id, status=ENDS[state].value)
        case _:
            return None


CLAUSES: Final[Mapping[str, Clause]] = {
    "every acknowledged call has its row": _acknowledged_calls_are_there,
    "an acknowledged end stays": _acknowledged_ends_stay,
    "a refused request leaves nothing": _refused_requests_leave_nothing,
    "one key is one call": _one_key_is_one_call,
    "a result is single and what the page said": _results_are_single_and_true,
    "no result breaks its schema": _no_result_breaks_its_schema,
    "the page acts at most once": _the_page_acts_once,
    "only dispatched work reaches the page": _only_dispatched_work_is_done,
    "a worker does a call at most once": _a_worker_does_a_call_once,
    "the quota is the rows": _the_quota_is_the_rows,
    "a call is written whole": _every_call_is_whole,
    "the chain verifies": _the_chain_verifies,
    "every move left its record": _every_move_left_its_record,
    "an approval is used once": _approvals_are_used_once,
    "dispatched at the kill is unknown": _nothing_stays_dispatched,
    "what waits survives, or ends by the rules": _what_waits_survives_or_ends_by_the_rules,
    "a page's epoch never goes back": _epochs_never_go_back,
    "each receipt and end is told once": _each_receipt_and_end_is_told_once,
    "what was heard is in the log": _what_was_heard_is_in_the_log,
    "an app is as it was told, or as was asked": _an_app_is_as_it_was_told_or_as_was_asked,
    "an app's files are whole, and no others are left": _the_files_of_an_app_are_whole_and_no_others_are_left,
    "every change of an app left its record": _every_change_of_an_app_left_its_record,
    "an operation ends with its call": judge_running.an_operation_ends_with_its_call,
    "what was started is carried": judge_running.what_was_started_was_carried,
    "one attempt and one instance live": judge_running.one_attempt_and_one_instance_live,
    "what waits is waited for": judge_running.what_waits_is_waited_for,
    "every fact has its entry in the outbox": judge_outbox.every_fact_has_its_entry,
    "what the outbox tells is true": judge_outbox.what_is_told_is_true,
    "what a handler emitted is in the outbox": judge_outbox.what_was_emitted_is_there,
    "what was sent arrived, and nothing else": judge_outbox.what_was_sent_arrived_and_nothing_else,
    "what is in order arrives in order": judge_outbox.each_key_arrived_in_order,
    "what never leaves is not told": judge_outbox.nothing_secret_is_told,
}
