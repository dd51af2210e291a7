"""The surface door and the ticket door against their description."""

import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import given
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.specs.openapi import checks as openapi_checks

from gateway.protocol.surface import SPELLINGS
from gateway.transports.errors import STATUSES
from gateway.transports.surface_http.openapi import document
from tests.conformance.http.rig import SETTINGS, Target, target
from tests.support.postgres import fresh_database

pytestmark = pytest.mark.timeout(600)

BY_SPELLING = {SPELLINGS[code]: code for code in STATUSES}


def no_failure_of_ours(_: Any, response: Any, case: Any) -> None:
    """A page that is not there is 503, as the table says; a gateway that fails is in no table."""
    if response.status_code >= 500:
        error = response.json()["error"]
        assert STATUSES[BY_SPELLING[error["code"]]] == response.status_code, error
        assert error["retryable"] is True, error


checks: Any = openapi_checks
CHECKS: Any = [
    no_failure_of_ours,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def described(at: Target) -> Any:
    """The doors of `at` as their description has them."""
    schema: Any = schemathesis.openapi.from_dict(json.loads(document()))
    schema.config.update(base_url=at.whole.origin)
    return schema


def ask_for_tickets(at: Target) -> None:
    """Ask for tickets in every shape the description allows, for a user and origin the site has."""
    operation, minted = described(at)["/v1/host-tokens"]["POST"], list[str]()

    @SETTINGS
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        if hasattr(case.body, "items"):
            case.body |= {"user": "ada", "origin": "http://todo.test"}
        answer = case.call(headers=at.headers(at.whole.key))
        if answer.status_code == 200:
            minted.append(answer.json()["ticket"])
        case.validate_response(answer, checks=CHECKS)

    ask()
    assert len(set(minted)) == len(minted)


class Memory:
    """What a run has learnt, and what only this gateway can know."""

    def __init__(self) -> None:
        self.answered: set[str] = set()
        self._refs: list[str] = []
        self._nonces = itertools.count()
        self._turns = itertools.cycle([True, True, False])

    def complete(self, case: Any) -> None:
        """Only a known capability becomes a call, and only a fresh transmission is looked at."""
        if not hasattr(case.body, "items"):
            return
        if case.body.get("method") == "invoke":
            case.body["capability"] = "runtime.echo"
            case.body.pop("page", None)
            if next(self._turns):
                case.body["input"] = {"text": "hello"}
            case.headers["Ostiary-Nonce"] = f"nonce-{next(self._nonces):012d}"
            case.headers["Ostiary-Timestamp"] = str(time.time_ns() // 1_000_000)  # noqa: TID251 - the real clock
            case.headers["Prefer"] = "wait=0"
        elif case.body.get("method") in ("status", "cancel") and self._refs and next(self._turns):
            case.body["input"] = {"ref": self._refs[-1]}

    def learn(self, case: Any, response: Any) -> None:
        """Keep the name of a call for what comes later."""
        if response.status_code == 200:
            self.answered.add(case.body["method"])
            self._refs += [ref for ref in [response.json()["result"].get("ref")] if ref]


def knock_statefully(at: Target) -> None:
    """Describe, invoke, ask for the status of what was invoked, cancel it: in any order."""
    schema, memory = described(at).include(path="/surface/v1"), Memory()
    machine: Any = schema.as_state_machine()

    class Machine(machine):
        def before_call(self, case: Any) -> None:
            memory.complete(case)

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": at.headers(at.whole.token)}

        def validate_response(self, response: Any, case: Any, **more: Any) -> None:
            memory.learn(case, response)
            case.validate_response(response, checks=CHECKS)

    run_state_machine_as_test(Machine, settings=SETTINGS)
    assert "invoke" in memory.answered
    assert memory.answered & {"status", "cancel"}


def test_what_is_made_up_is_answered_as_described(tmp_path: Path) -> None:
    with target(tmp_path) as at:
        knock_statefully(at)
        ask_for_tickets(at)
        assert at.run(at.whole.gateway.services.admin.audit_verify()).is_intact


def test_what_is_made_up_is_answered_as_described_over_postgresql(tmp_path: Path) -> None:
    with fresh_database() as url, target(tmp_path, database=url) as at:
        knock_statefully(at)
        ask_for_tickets(at)
        assert at.run(at.whole.gateway.services.admin.audit_verify()).is_intact


def test_the_kept_description_is_what_the_tables_say() -> None:
    kept = Path(__file__).parents[3] / "docs" / "spec" / "surface-protocol.openapi.json"
    assert kept.read_bytes() == document()
