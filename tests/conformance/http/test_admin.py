"""The admin API against its own description: what Schemathesis makes up is answered as the description says."""

import json
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis.stateful import run_state_machine_as_test
from schemathesis import checks as general_checks
from schemathesis.specs.openapi import checks as openapi_checks

from gateway.transports.admin_http import TABLE, document
from tests.conformance.http.rig import EXAMPLES, SETTINGS, Target, target
from tests.support.postgres import fresh_database

pytestmark = pytest.mark.timeout(600)

general: Any = general_checks
checks: Any = openapi_checks
CHECKS: Any = [
    general.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.use_after_free,
    checks.ensure_resource_availability,
]

KNOWN: dict[str, dict[str, Any]] = {
    "addAgentSession": {"agent": "coder", "user": "ada", "sites": ["todo"], "scope": ["todo.*", "runtime.echo"]},
    "addSiteKey": {"site": "todo", "capabilities": ["todo.*"]},
}

ROOT = Path(__file__).parents[3]


def knock_statefully(at: Target) -> None:
    """Let a state machine go from what one answer names to what can be done with it."""
    schema: Any = schemathesis.openapi.from_url(f"{at.whole.origin}/admin/v1/openapi.json")
    answered: set[str] = set()

    machine: Any = schema.as_state_machine()

    class Machine(machine):
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": at.headers(at.admin)}

        def before_call(self, case: Any) -> None:
            name = case.operation.definition.raw["operationId"]
            # What only this gateway knows: without it nothing is ever added, and nothing found by a link.
            if hasattr(case.body, "items") and name in KNOWN:
                case.body.update(KNOWN[name])
            if name == "explain" and "capability" in case.query:
                case.query["capability"] = "runtime.echo"
            if name == "revokeAdminToken":
                case.path_parameters = {"admin_token": "adm_x"}

        def validate_response(self, response: Any, case: Any, **more: Any) -> None:
            if response.status_code < 300:
                answered.add(str(case.operation.definition.raw["operationId"]))
            case.validate_response(response, checks=CHECKS)

    run_state_machine_as_test(Machine, settings=SETTINGS)
    assert answered
    if EXAMPLES >= 25:
        assert {"addAgentSession", "getAgentSession", "revokeAgentSession", "addSiteKey"} <= answered


def test_what_is_made_up_is_answered_as_described(tmp_path: Path) -> None:
    with target(tmp_path) as at:
        knock_statefully(at)
        verified = at.run(at.whole.gateway.services.admin.audit_verify())
        assert verified.is_intact


def test_what_is_made_up_is_answered_as_described_over_postgresql(tmp_path: Path) -> None:
    with fresh_database() as url, target(tmp_path, database=url) as at:
        knock_statefully(at)
        assert at.run(at.whole.gateway.services.admin.audit_verify()).is_intact


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with target(tmp_path_factory.mktemp("gateway")) as at:
        yield at


@pytest.mark.parametrize("row", TABLE.operations, ids=lambda row: row.name)
def test_no_operation_answers_without_a_token(quiet: Target, row: Any) -> None:
    schema: Any = schemathesis.openapi.from_dict(json.loads(document()))
    operation = schema.find_operation_by_id(row.name)
    names = dict.fromkeys(row.placeholders, "x")
    for headers in (
        {},
        quiet.headers("ost_admin_x"),
        quiet.headers(quiet.whole.token),
        quiet.headers(quiet.whole.key),
    ):
        case = operation.Case(path_parameters=names, **_body_of(operation))
        answer = case.call(base_url=quiet.whole.origin, headers=headers)
        assert answer.status_code == 401
        case.validate_response(answer, checks=CHECKS)


def _body_of(operation: Any) -> dict[str, Any]:
    """The smallest body of the kind the description names, if it names one."""
    kinds = operation.definition.raw.get("requestBody", {}).get("content", {})
    if not kinds:
        return {}
    kind = next(iter(kinds))
    return {"body": {} if kind == "application/json" else "x", "media_type": kind}


def test_the_kept_description_is_the_served_one(quiet: Target) -> None:
    kept = (ROOT / "docs" / "reference" / "admin-api.openapi.json").read_bytes()
    assert kept == document()
    served = quiet.run(quiet.whole.client.get(f"{quiet.whole.origin}/admin/v1/openapi.json"))
    assert served.content == kept


def test_every_link_leads_to_an_operation() -> None:
    for row in TABLE.operations:
        for link in row.links.values():
            assert set(link.names) == set(TABLE.by_name[link.operation].placeholders)
        if row.matched_by is not None:
            assert TABLE.by_name[row.matched_by].placeholders == row.placeholders
