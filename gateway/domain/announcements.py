"""What is told outside, as outbox entries: receipts, ends, and what handlers emit. Metadata, never arguments. Pure.

The id of a gateway's own event is made of what it tells, so that the same fact is never written twice:
a call has one end, and what an `unknown` call becomes later is not told (rules J, C31).
"""

import json
import re
from typing import Any, Final

import orjson

from capabilities.json_values import find_unsafe_number, is_deeper_than
from gateway.domain.calls import Call, Receipt
from gateway.domain.canonical import canonical
from gateway.domain.operations import Operation
from gateway.domain.outbox import OutboxEntry

CALL_RECEIPT: Final = "dev.ostiary.call.receipt"
CALL_ENDED: Final = "dev.ostiary.call.ended"
OPERATION_ENDED: Final = "dev.ostiary.operation.ended"

EMITTED_TYPE: Final = re.compile(r"[A-Za-z][A-Za-z0-9._:-]{0,63}")
EMITTED_BYTES: Final = 64 * 1024
"""Largest canonical text of what one emitted event says."""
EMITTED_DEPTH: Final = 64
"""Deepest array or object of it, the root being 0."""


def of_receipt(call: Call, receipt: Receipt, key: str) -> OutboxEntry:
    """A receipt of `call`, told under `key`."""
    more = {"status": receipt.status, "reason": receipt.reason, "seq": receipt.seq}
    return _of_call(f"{call.ref}:receipt:{receipt.seq}", CALL_RECEIPT, call, key, receipt.at, more)


def of_end(call: Call, key: str, at: int, *, result: str | None = None) -> OutboxEntry:
    """The one end of `call`, `unknown` included, with its canonical `result` where that is wanted."""
    code = None if call.code is None else call.code.wire
    more: dict[str, Any] = {"status": call.state.value, "code": code}
    if result is not None:
        more["result"] = json.loads(result)
    return _of_call(f"{call.ref}:end", CALL_ENDED, call, key, at, more)


def of_operation_end(operation: Operation, call: Call | None, at: int) -> OutboxEntry:
    """The one end of `operation`, which is named by its `call` (rules B4)."""
    name, kind = f"{operation.call}:operation:end", OPERATION_ENDED
    more = {"status": operation.state.value, "cause": operation.cause}
    if call is not None:
        return _of_call(name, kind, call, operation.conversation, at, more)
    facts = {"ref": operation.call, "app_scope": operation.app, **more}
    return _entry(name, kind, facts, key=operation.conversation, subject=operation.call, at=at)


def of_emitted(
    name: str, kind: str, data: str, *, app: str, key: str, ref: str | None, at: int, traceparent: str | None = None
) -> OutboxEntry:
    """An event the handler of `app` emitted; `data` is canonical."""
    return OutboxEntry(
        id=name, key=key, type=kind, app=app, subject=ref or app, at=at, data=data, traceparent=traceparent, due_at=at
    )


def judged(kind: str, data: str) -> str:
    """The canonical text of what a handler emits as `kind`; `data` is JSON text.

    Raises:
        ValueError: one of the two will not do; the message says why and quotes no data.
        OverflowError: the data is too large.
    """
    if not EMITTED_TYPE.fullmatch(kind):
        raise ValueError(
            f"`{kind[:80]}` is not the type of an event: a letter, then at most 63 of A-Z a-z 0-9 . _ : -"
        )
    try:
        value: Any = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise ValueError(f"the data of `{kind}` is not JSON") from None
    if value.__class__ is not dict:
        raise ValueError(f"the data of `{kind}` is not a JSON object")
    if is_deeper_than(value, EMITTED_DEPTH):
        raise OverflowError(f"the data of `{kind}` is nested deeper than {EMITTED_DEPTH} levels")
    if (unsafe := find_unsafe_number(value)) is not None:
        raise ValueError(f"the data of `{kind}` holds a number at `{unsafe.pointer}` that JavaScript would change")
    text = canonical(value)
    if len(text) > EMITTED_BYTES:
        raise OverflowError(f"the data of `{kind}` has {len(text)} bytes; {EMITTED_BYTES} are the most")
    return text.decode()


def _of_call(name: str, kind: str, call: Call, key: str, at: int, more: dict[str, Any]) -> OutboxEntry:
    facts = {
        "ref": call.ref,
        "call_id": call.call_id,
        "agent": call.agent or None,
        "capability": call.capability,
        "app_scope": call.app,
        **more,
    }
    return _entry(name, kind, facts, key=key, subject=call.ref, at=at, traceparent=call.traceparent)


def _entry(
    name: str, kind: str, facts: dict[str, Any], *, key: str, subject: str, at: int, traceparent: str | None = None
) -> OutboxEntry:
    data = {name: fact for name, fact in {**facts, "at": at}.items() if fact is not None}
    return OutboxEntry(
        id=name,
        key=key,
        type=kind,
        app=None,
        subject=subject,
        at=at,
        data=canonical(data).decode(),
        traceparent=traceparent,
        due_at=at,
    )
