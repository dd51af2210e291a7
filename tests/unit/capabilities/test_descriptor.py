"""What a fingerprint covers (design §2)."""

import hashlib
from dataclasses import replace
from typing import Any, Final

import pytest
import rfc8785

from capabilities.contract import (
    DeadlineOperation,
    Descriptor,
    HandlerKind,
    HostFeature,
    Idempotency,
    InterruptOperation,
    Visibility,
)

DECLARED: Final = Descriptor(id="todo.add", title="Add", description="Adds.", input_schema={"type": "object"})

ANSWER: Final = {"status": "done"}
DEADLINE: Final = DeadlineOperation(argument="minutes", unit_ms=60_000, completed=ANSWER, interrupted=ANSWER)
INTERRUPT: Final = InterruptOperation(cancelled_start=ANSWER, interrupted=ANSWER, nothing=ANSWER)
OF_AN_APP: Final = replace(DECLARED, handler=HandlerKind.RUNTIME, app_scope="com.example.x", runtime=DEADLINE)


def test_what_a_page_declares_is_hashed_as_the_design_lists_it() -> None:
    listed = {
        "id": "todo.add",
        "title": "Add",
        "description": "Adds.",
        "input_schema": {"type": "object"},
        "output_schema": None,
        "effect": "write",
        "risk": "display_only",
        "confirm": "policy",
        "readiness": "activation_not_required",
        "call_model": "command",
        "handler": "page",
        "contract_version": "1",
        "bundle_hash": None,
    }
    assert DECLARED.fingerprint == hashlib.sha256(rfc8785.dumps(listed)).hexdigest()


@pytest.mark.parametrize(
    "change",
    [
        {"app_scope": "com.example.y"},
        {"bundle_hash": "d" * 64},
        {"not_started": ANSWER},
        {"permissions": ("secret:token",)},
        {"idempotency": Idempotency.ARGUMENTS},
        {"visibility": Visibility.APP},
        {"requires": (HostFeature.WORKSPACE,)},
        {"runtime": INTERRUPT},
        {"runtime": replace(DEADLINE, argument="hours")},
        {"runtime": replace(DEADLINE, unit_ms=1_000)},
        {"runtime": replace(DEADLINE, completed={"status": "over"})},
        {"runtime": replace(DEADLINE, interrupted={"status": "over"})},
    ],
)
def test_what_an_app_promises_beside_that_is_hashed_too(change: dict[str, Any]) -> None:
    assert replace(OF_AN_APP, **change).fingerprint != OF_AN_APP.fingerprint
