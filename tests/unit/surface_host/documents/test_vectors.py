"""The Python half says of the shared vectors what stands there; the TypeScript half has the same test."""

import importlib.util
import json
import struct
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from surface_host import documents
from surface_host.documents import DocumentCode, Failure, Frame, FrameKind, Refused
from surface_host.documents.canonical import sha256_of
from surface_host.documents.declarations import declarations_of, frozen
from surface_host.documents.evaluation import Evaluation
from surface_host.documents.numbers import NoValue, is_on_grid, power, rounded, text_of
from surface_host.documents.scanner import scan
from surface_host.documents.table import COMPONENTS, LIMITS, OPERATORS
from surface_host.documents.types import Types

ROOT = Path(__file__).resolve().parents[4]
VECTORS = ROOT / "tests" / "vectors" / "documents"


def _read(group: str) -> list[Any]:
    return json.loads((VECTORS / f"{group}.json").read_text())


def _of(*groups: str) -> Any:
    cases = [(group, vector) for group in groups for vector in _read(group)]
    return pytest.mark.parametrize(
        "vector", [vector for _, vector in cases], ids=[f"{group}: {vector['id']}" for group, vector in cases]
    )


def expanded(raw: Any) -> str:
    """The text a vector stands for."""
    if isinstance(raw, str):
        return raw
    return "".join(
        part if isinstance(part, str) else "".join(part["repeat"].replace("§", str(n)) for n in range(part["times"]))
        for part in raw
    )


def _bytes(vector: Mapping[str, Any]) -> bytes:
    return bytes.fromhex(vector["hex"]) if "hex" in vector else expanded(vector["raw"]).encode()


def _values(given: Mapping[str, Any]) -> dict[str, Any]:
    """State values, long texts written out."""
    return {
        name: expanded(value["text"]) if isinstance(value, dict) and "text" in value else value
        for name, value in given.items()
    }


def _double(digits: str) -> float:
    return struct.unpack(">d", bytes.fromhex(digits))[0]


def _told(refusal: Refused) -> dict[str, Any]:
    return {"code": refusal.code.value, "pointer": refusal.pointer}


def _attempt(do: Callable[[], Any]) -> tuple[Any, dict[str, Any] | None]:
    """What came of it, or its refusal."""
    try:
        return do(), None
    except Refused as refusal:
        return None, _told(refusal)


# ---- verdicts ----------------------------------------------------------------------------------------------------


@_of("scanner")
def test_the_scanner_takes_a_text_or_names_its_first_fault(vector: Any) -> None:
    try:
        verdict: Any = {
            "ok": True,
            "sha256": sha256_of(scan(_bytes(vector), max_bytes=vector.get("max_bytes", LIMITS["bytes"])).canonical),
        }
    except Refused as refusal:
        verdict = _told(refusal)
    assert verdict == vector["expect"]


@_of("budgets", "components", "shape", "meaning")
def test_a_document_gets_its_verdict(vector: Any) -> None:
    try:
        verdict: Any = {"ok": True, "sha256": documents.judge(_bytes(vector), kind=vector.get("kind")).sha256}
    except Refused as refusal:
        verdict = _told(refusal)
    assert verdict == vector["expect"]


@_of("budgets", "components", "shape", "meaning")
def test_a_document_that_comes_as_objects_gets_the_same_verdict(vector: Any) -> None:
    try:
        value = json.loads(_bytes(vector))
        verdict: Any = {"ok": True, "sha256": documents.judge_value(value, kind=vector.get("kind")).sha256}
    except Refused as refusal:
        verdict = _told(refusal)
    assert verdict == vector["expect"]


# ---- numbers -----------------------------------------------------------------------------------------------------


def test_numbers_are_spelled_as_ecmascript_does() -> None:
    vectors = _read("number-text")
    assert [text_of(_double(vector["number"])) for vector in vectors] == [vector["text"] for vector in vectors]


def test_numbers_are_rounded_half_away_from_zero() -> None:
    vectors = _read("number-round")
    results = [struct.pack(">d", rounded(_double(vector["number"]), vector["places"])).hex() for vector in vectors]
    assert results == [vector["result"] for vector in vectors]


def test_powers_are_the_same_to_the_bit() -> None:
    for vector in _read("number-pow"):
        try:
            answer = {
                "result": struct.pack(">d", power(_double(vector["base"]), _double(vector["exponent"])) + 0.0).hex()
            }
        except NoValue as missing:
            answer = {"code": missing.code.value}
        assert answer == {key: value for key, value in vector.items() if key not in ("base", "exponent")}, vector


def test_values_are_on_the_grid_or_not() -> None:
    vectors = _read("number-grid")
    answers = [is_on_grid(_double(v["value"]), step=_double(v["step"]), base=_double(v["base"])) for v in vectors]
    assert answers == [vector["on"] for vector in vectors]


# ---- evaluation --------------------------------------------------------------------------------------------------


@_of("evaluation")
def test_an_expression_has_its_value_or_its_failure(vector: Any) -> None:
    kinds = {str: "string", bool: "boolean", int: "number", float: "number"}
    fields = {name: {"type": kinds[type(value)], "default": value} for name, value in vector["state"].items()}
    declared = declarations_of(
        frozen({"state": fields, "derived": scan(json.dumps(vector["derived"]).encode()).value})
    )
    declared = documents.Declarations(
        domains=declared.domains, derived=declared.derived, actions=declared.actions, order=Types(declared).order()
    )
    value = Evaluation(declared, vector["state"]).derived()["d"]
    if isinstance(value, Failure):
        answer: Any = {"code": value.code.value, "pointer": value.pointer}
    elif isinstance(value, bool | str):
        answer = {"value": value}
    else:
        answer = {"number": struct.pack(">d", value).hex()}
    assert answer == vector["expect"]


# ---- state, patches, streams -------------------------------------------------------------------------------------


@_of("state")
def test_a_state_is_written_whole_or_not_at_all(vector: Any) -> None:
    document = documents.judge(expanded(vector["document"]).encode())
    state = _values(vector["state"]) if "state" in vector else documents.initial_state(document)
    for step in vector["steps"]:
        before = dict(state)
        expected = step["expect"]
        made, refusal = _attempt(lambda state=state, step=step: _done(document, state, step))
        if refusal is not None:
            assert refusal == expected, step
            assert state == before
            continue
        assert "code" not in expected, step
        if step["do"] == "arguments":
            assert dict(made) == _values(expected["arguments"])
        else:
            state = made
            if "state" in expected:
                assert dict(state) == _values(expected["state"])


def _done(document: documents.Document, state: documents.State, step: Any) -> Any:
    match step["do"]:
        case "update":
            return documents.update_state(document, state, _values(step["changes"]))
        case "run":
            return documents.run_action(document, state, step["action"])
        case "map":
            return documents.map_result(document, state, step["action"], step["result"])
        case "restore":
            saved = step["saved"]
            return documents.restore_state(document, _values(saved) if hasattr(saved, "items") else saved)
        case _:
            return documents.action_arguments(document, step["action"], _values(step["values"]))


@_of("patches")
def test_a_patch_leads_from_one_legal_document_to_another_or_nowhere(vector: Any) -> None:
    document = documents.judge(expanded(vector["document"]).encode())
    try:
        patched = documents.apply_patch(document, json.loads(expanded(vector["patch"])))
        verdict: Any = {"ok": True, "sha256": patched.sha256}
    except Refused as refusal:
        verdict = _told(refusal)
    if "sha256" not in vector["expect"]:
        verdict.pop("sha256", None)
    assert verdict == vector["expect"]


@_of("streams")
def test_a_stream_takes_its_frames_in_order(vector: Any) -> None:
    generation = documents.open_generation("g", documents.judge(expanded(vector["document"]).encode()), epoch=1)
    for step in vector["frames"]:
        frame = step["frame"]
        given = Frame(
            generation=frame["generation"],
            epoch=frame["epoch"],
            seq=frame["seq"],
            base_revision=frame["baseRevision"],
            kind=FrameKind(frame["kind"]),
            body=frame.get("operations", frame.get("document")),
        )
        taken, refusal = _attempt(lambda generation=generation, given=given: documents.take(generation, given))
        if refusal is not None:
            assert refusal == step["expect"], frame
            continue
        generation = taken.generation
        told = {
            "outcome": taken.outcome,
            "seq": generation.seq,
            "revision": generation.revision,
            "status": generation.status.value,
        }
        assert told == step["expect"], frame


# ---- the vectors themselves --------------------------------------------------------------------------------------


def test_the_files_are_what_their_program_writes() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    spec = importlib.util.spec_from_file_location("document_vectors", ROOT / "scripts" / "document_vectors.py")
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    stale = [path.name for path, text in program.files().items() if path.read_text() != text]
    assert stale == [], "run `python scripts/document_vectors.py`"


def test_every_code_has_a_vector() -> None:
    everything = "".join(path.read_text() for path in VECTORS.glob("*.json"))
    # Objects that are no JSON differ by language; steps run out only where the budget of expressions is wrong.
    apart = {DocumentCode.NOT_JSON, DocumentCode.TOO_MANY_STEPS}
    assert [code for code in DocumentCode if f'"{code.value}"' not in everything and code not in apart] == []


def test_every_operator_and_component_has_a_vector() -> None:
    evaluated, shown = (VECTORS / "evaluation.json").read_text(), (VECTORS / "components.json").read_text()
    assert [name for name in OPERATORS if f'"op":"{name}"' not in evaluated] == []
    assert [name for name in COMPONENTS if f'\\"type\\":\\"{name}\\"' not in shown] == []


def test_there_are_enough_and_no_two_of_one_name() -> None:
    assert sum(len(_read(path.stem)) for path in VECTORS.glob("*.json")) >= 400
    for path in VECTORS.glob("*.json"):
        names = [vector["id"] for vector in _read(path.stem) if "id" in vector]
        assert len(names) == len(set(names)), path.name
        assert path.stat().st_size < 1_000_000
