"""The door of `lineup.v1` against its description: what Schemathesis makes up is answered as the description says."""

import itertools
import json
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import jsonschema_rs
import pytest
import schemathesis
from hypothesis import given
from schemathesis.specs.openapi import checks as openapi_checks

from gateway.protocol import lineup
from gateway.transports.errors import STATUSES
from gateway.transports.lineup.openapi import document
from tests.conformance.http.rig import EXAMPLES, SETTINGS, Target, target
from tests.support.postgres import fresh_database
from tests.support.whole_gateway import CONVERSATION

pytestmark = pytest.mark.timeout(600)

BY_WIRE = {code.wire: code for code in STATUSES}
LATER = "2099-01-01T00:00:00Z"
RUNS = EXAMPLES * 12
"""One message each; the machines of other doors send so many in a run."""


def no_failure_of_ours(_: Any, response: Any, case: Any) -> None:
    """A gateway that fails is in no table."""
    if response.status_code >= 400:
        error = response.json()["error"]
        assert STATUSES[BY_WIRE[error["code"]]] == response.status_code, error


checks: Any = openapi_checks
CHECKS: Any = [
    no_failure_of_ours,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def described(at: Target) -> Any:
    """The door of `at` as its description has it."""
    schema: Any = schemathesis.openapi.from_dict(json.loads(document()))
    schema.config.update(base_url=at.whole.origin)
    return schema


def post_messages(at: Target) -> None:
    """Messages in every shape the description allows; two of three are the agent's own and ask for what is there."""
    operation = described(at)["/lineup/v1/conversations/{conversation}/messages"]["POST"]
    turns, statuses, judge = itertools.count(), set[int](), jsonschema_rs.validator_for(lineup.schema())

    @hypothesis.settings(SETTINGS, max_examples=RUNS)
    @given(case=operation.as_strategy())
    def post(case: Any) -> None:
        case.path_parameters = {"conversation": CONVERSATION}
        turn = next(turns)
        if hasattr(case.body, "items") and turn % 3:
            case.body |= {"conversation_id": CONVERSATION, "sender": {"kind": "agent", "id": "coder"}}
            case.body.pop("target", None)
            payload = case.body["payload"]
            if "method" in payload:
                payload |= {"method": "runtime.echo", "inventory_revision": "catalog-1", "arguments": {"text": "a"}}
            elif "capability" in payload:
                payload |= {"capability": "runtime.echo", "arguments": {"text": "a"}, "expires_at": LATER}
        answer = case.call(headers=at.headers(at.whole.token))
        statuses.add(answer.status_code)
        if answer.status_code < 300 and answer.content:
            assert judge.is_valid(answer.json()), answer.text
        case.validate_response(answer, checks=CHECKS)

    post()
    assert 200 in statuses
    assert statuses & {400, 403, 404}


def test_what_is_made_up_is_answered_as_described(tmp_path: Path) -> None:
    with target(tmp_path) as at:
        post_messages(at)
        assert at.run(at.whole.gateway.services.admin.audit_verify()).is_intact


def test_what_is_made_up_is_answered_as_described_over_postgresql(tmp_path: Path) -> None:
    with fresh_database() as url, target(tmp_path, database=url) as at:
        post_messages(at)
        assert at.run(at.whole.gateway.services.admin.audit_verify()).is_intact


@pytest.mark.parametrize("operation", ["postMessage", "readStream"])
def test_no_operation_answers_without_a_token_of_an_agent(tmp_path: Path, operation: str) -> None:
    with target(tmp_path) as at:
        found = described(at).find_operation_by_id(operation)
        path = found.path.replace("{conversation}", CONVERSATION)
        for headers in ({}, at.headers("ost_agent_x"), at.headers(at.whole.key), at.headers(at.admin)):
            answer = httpx.request(found.method, f"{at.whole.origin}{path}", headers=headers)
            assert answer.status_code == 401


def test_the_kept_description_is_what_the_tables_say() -> None:
    kept = Path(__file__).parents[3] / "docs" / "spec" / "lineup-v1.openapi.json"
    assert kept.read_bytes() == document()
