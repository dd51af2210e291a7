"""What holds of any input: nothing but a verdict comes out, the native path and the exact one agree, nothing moves."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import jsonschema_rs
import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from surface_host import documents
from surface_host.documents import DocumentCode, Frame, FrameKind, Refused, Status
from surface_host.documents.canonical import canonical
from surface_host.documents.exact import read_text, read_value
from surface_host.documents.frames import TRANSITIONS
from surface_host.documents.scanner import assert_safe_json, scan
from surface_host.documents.table import COMPONENTS

ROOT = Path(__file__).resolve().parents[4]
VECTORS = ROOT / "tests" / "vectors" / "documents"


def _texts_of_vectors() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for group in ("components", "shape", "meaning"):
        for vector in json.loads((VECTORS / f"{group}.json").read_text()):
            if isinstance(vector["raw"], str) and len(vector["raw"]) < 3_000:
                yield vector["raw"], vector


_VECTORS = list(_texts_of_vectors())
_GOOD = [raw for raw, vector in _VECTORS if vector["expect"].get("ok")]

keys = st.text(max_size=6) | st.sampled_from(["id", "type", "props", "op", "args", "ref", "__proto__", "constructor"])
scalars: st.SearchStrategy[Any] = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=20
)
_PIECES = (
    *(
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        '"',
        '"a"',
        '"a":',
        "1",
        "-",
        "0",
        ".5",
        "e9",
        "1e400",
        "true",
        "null",
        " ",
        "\n",
    ),
    *(
        "\\ud800",
        "\\ude00",
        '"\\ud83d\\ude00"',
        "\\",
        "\u2028",
        "é",
        "9007199254740993",
        '"__proto__":',
        "NaN",
        "\x00",
    ),
)
fragments = st.lists(st.sampled_from(_PIECES), max_size=24).map("".join)


class _Refusal(NamedTuple):
    """A verdict that is none of the values a judge can give."""

    code: DocumentCode
    pointer: str


def _verdict(judge: Callable[..., Any], *given: Any) -> Any:
    try:
        return judge(*given)
    except Refused as refusal:
        return _Refusal(refusal.code, refusal.pointer)


# ---- the scanner -------------------------------------------------------------------------------------------------


@given(st.text() | fragments | values.map(json.dumps))
@settings(max_examples=500)
def test_the_native_path_never_disagrees_with_the_exact_one(text: str) -> None:
    quick = _verdict(lambda: scan(text.encode("utf-8", "surrogatepass")).value)
    if isinstance(quick, _Refusal) and quick.code is DocumentCode.NOT_UTF8:
        return
    assert quick == _verdict(read_text, text)


@given(st.binary(max_size=64))
def test_any_bytes_get_a_verdict(raw: bytes) -> None:
    assert _verdict(documents.judge, raw) is not None


@given(values)
@settings(max_examples=300)
def test_objects_are_judged_like_their_text(value: Any) -> None:
    by_value = _verdict(lambda: assert_safe_json(value).value)
    assert by_value == _verdict(read_value, value)
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        return
    by_text = _verdict(lambda: scan(text.encode()).value)
    if isinstance(by_text, _Refusal) and by_text.code is DocumentCode.NUMBER_RANGE:
        assert isinstance(by_value, _Refusal)
        return
    assert by_value == by_text


@given(values)
@settings(max_examples=300)
def test_the_canonical_form_is_that_of_rfc_8785(value: Any) -> None:
    read = _verdict(lambda: assert_safe_json(value))
    if not isinstance(read, _Refusal):
        assert read.canonical == rfc8785.dumps(read.value)
        assert scan(read.canonical).canonical == read.canonical


def test_a_long_document_of_odd_numbers_is_canonical_too() -> None:
    value = [1e-7, {"é": 1.5e-300, "\ue000": 1, "😀": 2, "a": [0.1, 123456.789]}, "e-", "1e-7"]
    assert canonical(value) == rfc8785.dumps(value)


# ---- objects that are no JSON (rules H1) -------------------------------------------------------------------------


class _Text(str):
    """Text of another class."""

    __slots__ = ()


class _Trap(dict[str, Any]):
    """Runs code when it is read."""

    def items(self) -> Any:
        raise AssertionError("a method of the value ran")

    def __iter__(self) -> Any:
        raise AssertionError("a method of the value ran")


class _Liar:
    """Claims to be a dict."""

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride] - that is the lie
        return dict


def _cyclic() -> Any:
    value: list[Any] = [1]
    value.append({"a": value})
    return value


_SHARED: list[Any] = []


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"a": (1, 2)}, "/a"),
        ({"a": {1}}, "/a"),
        ({"a": b"x"}, "/a"),
        ({"a": object()}, "/a"),
        ({"a": [_Text("x")]}, "/a/0"),
        ({"a": _Trap(b=1)}, "/a"),
        ({"a": _Liar()}, "/a"),
        ({"a": {1: 2}}, "/a"),
        ({"a": {_Text("x"): 2}}, "/a"),
        ({"a": {None: 2}}, "/a"),
        (_cyclic(), "/1/a"),
        ({"a": _SHARED, "b": [_SHARED]}, "/b/0"),
        ([DocumentCode.BAD_JSON], "/0"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_no_text_can_hold_is_refused_and_none_of_its_code_runs(value: Any, pointer: str) -> None:
    with pytest.raises(Refused) as refused:
        assert_safe_json(value)
    assert (refused.value.code, refused.value.pointer) == (DocumentCode.NOT_JSON, pointer)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 2**53, 10**400, 1e300])
def test_numbers_that_are_no_json_are_refused(number: Any) -> None:
    with pytest.raises(Refused) as refused:
        assert_safe_json([0, 1.0, number, 2])
    assert (refused.value.code, refused.value.pointer) == (DocumentCode.NUMBER_RANGE, "/2")


def test_the_copy_shares_nothing_with_what_was_given() -> None:
    given: dict[str, Any] = {"a": [1.0, {"b": -0.0}]}
    copy = assert_safe_json(given).value
    given["a"][1]["b"] = 5
    assert copy == {"a": [1, {"b": 0}]}
    assert str(copy) == "{'a': [1, {'b': 0}]}"


# ---- documents ---------------------------------------------------------------------------------------------------


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield from _places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _places(item, (*path, index))


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A legal document with one or two places replaced, removed, or moved."""
    document: Any = [json.loads(draw(st.sampled_from(_GOOD)))]
    for _ in range(draw(st.integers(1, 2))):
        path = draw(st.sampled_from([path for path in _places(document) if path]))
        parent: Any = document
        for step in path[:-1]:
            parent = parent[step]
        other: Any = json.loads(draw(st.sampled_from(_GOOD)))
        found = draw(st.sampled_from(list(_places(other))))
        for step in found:
            other = other[step]
        parent[path[-1]] = draw(values) if draw(st.booleans()) else other
    return document[0]


@given(mutated())
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
def test_a_mutated_document_is_taken_or_refused_and_nothing_else(value: Any) -> None:
    verdict = _verdict(documents.judge_value, value)
    if isinstance(verdict, _Refusal):
        assert len(verdict.pointer) <= 256
        return
    # What passes passes again in canonical form, with the same digest.
    assert documents.judge(verdict.canonical).sha256 == verdict.sha256


@pytest.fixture(scope="module")
def schema() -> Any:
    text = (ROOT / "docs" / "spec" / "ui-document.schema.json").read_text()
    return jsonschema_rs.validator_for(json.loads(text))


def test_the_published_schema_takes_every_legal_document_and_refuses_wrong_shapes(schema: Any) -> None:
    """Its lengths count code points, and it knows no meaning: so it may take more, never less."""
    missed: list[str] = []
    structural = {
        "wrong_type",
        "unknown_key",
        "missing_key",
        "unknown_type",
        "unknown_operator",
        "bad_name",
        "not_allowed",
    }
    for raw, vector in _VECTORS:
        try:
            value = json.loads(raw)
        except ValueError:
            continue
        code = vector["expect"].get("code", "").removeprefix("document.")
        is_valid = schema.is_valid(value)
        assert is_valid or code, vector["id"]
        # Rows are judged against their own table's columns only by the meaning.
        if is_valid and code in structural and "/rows/" not in vector["expect"]["pointer"]:
            missed.append(vector["id"])
    assert missed == []


def _frozen_parts(value: Any) -> Iterator[Any]:
    yield value
    if isinstance(value, Mapping):
        for item in cast("Mapping[str, Any]", value).values():
            yield from _frozen_parts(item)
    elif isinstance(value, tuple):
        for item in cast("tuple[Any, ...]", value):
            yield from _frozen_parts(item)


def test_a_judged_document_cannot_be_changed() -> None:
    for raw in _GOOD:
        document = documents.judge(raw.encode())
        for part in _frozen_parts(document.value):
            assert not isinstance(part, dict | list)
            if isinstance(part, Mapping):
                with pytest.raises(TypeError):
                    cast("dict[str, Any]", part)["x"] = 1


def test_the_author_hears_of_twenty_faults_and_of_no_value() -> None:
    nodes = [
        {"id": f"n{n}", "type": "Text", "props": {"text": "x", "secret-word": "secret-value"}} for n in range(30)
    ]
    document: Any = {
        "version": "1.1",
        "title": "T",
        "root": {"id": "r", "type": "Stack", "props": {}, "children": nodes},
    }
    with pytest.raises(Refused) as refused:
        documents.judge_value(document)
    issues = refused.value.issues
    assert [issue.pointer for issue in issues] == [f"/root/children/{n}/props/secret-word" for n in range(20)]
    assert "secret-value" not in str(refused.value) + str(issues)


def test_a_chain_of_derived_values_of_full_depth_is_no_recursion() -> None:
    derived: dict[str, Any] = {}
    for number in range(64):
        expression: Any = {"ref": f"d{number + 1}"} if number < 63 else 1
        for _ in range(15):
            expression = {"op": "add", "args": [expression, 1]}
        derived[f"d{number}"] = expression
    root: dict[str, Any] = {"id": "r", "type": "Divider", "props": {}}
    document = documents.judge_value({"version": "1.0", "title": "T", "derived": derived, "root": root})
    values = documents.Evaluation(document.declarations, {}).derived()
    assert values["d0"] == 1 + 64 * 15
    assert list(values) == list(derived)


# ---- patches and streams -----------------------------------------------------------------------------------------

_BASE: dict[str, Any] = {
    "version": "1.1",
    "title": "T",
    "state": {"b": {"type": "boolean", "default": True}},
    "root": {"id": "r", "type": "Stack", "props": {}, "children": [{"id": "a", "type": "Card", "props": {}}]},
}
ids = st.sampled_from(["r", "a", "b", "c", "d"])


def _text_node(name: str, text: Any) -> Any:
    return {"id": name, "type": "Text", "props": {"text": text}}


def _card(name: str, children: list[Any]) -> Any:
    return {"id": name, "type": "Card", "props": {}, "children": children}


def _add(parent: str, index: int, node: Any) -> Any:
    return {"op": "add", "parent": parent, "index": index, "node": node}


def _update(name: str, title: Any) -> Any:
    return {"op": "update", "id": name, "props": {"title": title}}


def _remove(name: str) -> Any:
    return {"op": "remove", "id": name}


def _below(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(_card, ids, st.lists(inner, max_size=2))


words: st.SearchStrategy[Any] = st.sampled_from(["", "x", 1])
nodes: st.SearchStrategy[Any] = st.recursive(st.builds(_text_node, ids, words), _below, max_leaves=3)
operations: st.SearchStrategy[Any] = (
    st.builds(_add, ids, st.integers(0, 2), nodes) | st.builds(_update, ids, words) | st.builds(_remove, ids)
)


@given(st.lists(operations, max_size=6))
@settings(max_examples=300)
def test_a_patch_gives_a_judged_document_and_leaves_the_snapshot(patch: list[Any]) -> None:
    before = documents.judge_value(json.loads(json.dumps(_BASE)))
    digest = before.sha256
    after = _verdict(documents.apply_patch, before, json.loads(json.dumps(patch)))
    assert canonical(before.thawed()) == before.canonical
    assert before.sha256 == digest
    if not isinstance(after, _Refusal):
        assert documents.judge(after.canonical).sha256 == after.sha256


class Streams(RuleBasedStateMachine):
    """One generation under frames of every kind, in any order, some twice."""

    def __init__(self) -> None:
        super().__init__()
        document = documents.judge_value(json.loads(json.dumps(_BASE)))
        self.generation = documents.open_generation("g", document, epoch=1)
        self.sent: list[Frame] = []

    @rule(
        ahead=st.integers(-2, 3),
        base=st.integers(-1, 2),
        kind=st.sampled_from(list(FrameKind)),
        patch=st.lists(operations, min_size=1, max_size=2),
    )
    def send(self, ahead: int, base: int, kind: FrameKind, patch: list[Any]) -> None:
        body: Any = json.loads(json.dumps(patch if kind is FrameKind.PATCH else _BASE))
        if kind in (FrameKind.COMPLETE, FrameKind.CANCEL):
            body = None
        frame = Frame(
            generation="g",
            epoch=1,
            seq=self.generation.seq + ahead,
            base_revision=self.generation.revision + base,
            kind=kind,
            body=body,
        )
        self._take(frame)

    @precondition(lambda self: self.sent)
    @rule(number=st.integers(0))
    def send_again(self, number: int) -> None:
        before = self.generation
        frame = self.sent[number % len(self.sent)]
        step = documents.take(before, frame)
        assert step.outcome == "repeated"
        assert step.generation is before

    def _take(self, frame: Frame) -> None:
        before = self.generation
        try:
            step = documents.take(before, frame)
        except Refused:
            return
        if step.outcome != "accepted":
            assert step.generation is before
            return
        after = step.generation
        assert TRANSITIONS[before.status][frame.kind] is after.status
        assert after.seq == frame.seq > before.seq
        assert after.revision >= before.revision
        assert after.frames - before.frames == (frame.kind in (FrameKind.PATCH, FrameKind.CHECKPOINT))
        self.sent.append(frame)
        self.generation = after

    @invariant()
    def the_snapshot_is_legal_and_its_declarations_are_those_it_began_with(self) -> None:
        document = documents.judge(self.generation.document.canonical)
        assert document.value["state"] == _BASE["state"]
        assert document.root["id"] == "r"

    @invariant()
    def invoke_is_open_only_at_the_end(self) -> None:
        assert self.generation.may_invoke == (self.generation.status is Status.COMPLETE)


TestStreams = Streams.TestCase
TestStreams.settings = settings(max_examples=40, stateful_step_count=20)


def test_every_status_has_a_row_and_the_last_ones_are_empty() -> None:
    assert set(TRANSITIONS) == set(Status)
    assert {status for status, row in TRANSITIONS.items() if not row} == {Status.COMPLETE, Status.CANCELLED}


def test_a_generation_has_sixteen_mebibytes() -> None:
    wide = json.loads(json.dumps(_BASE))
    texts = ({"id": f"m{n}", "type": "Markdown", "props": {"text": "x" * 16_000}} for n in range(15))
    wide["root"]["children"] += texts
    document = documents.judge_value(wide)
    generation = documents.open_generation("g", document, epoch=1)
    room = 16_777_216 // len(document.canonical)
    for seq in range(1, room):
        frame = Frame(
            generation="g", epoch=1, seq=seq, base_revision=seq, kind=FrameKind.CHECKPOINT, body=document.thawed()
        )
        generation = documents.take(generation, frame).generation
    assert generation.size == room * len(document.canonical)
    frame = Frame(
        generation="g", epoch=1, seq=room, base_revision=room, kind=FrameKind.CHECKPOINT, body=document.thawed()
    )
    with pytest.raises(Refused) as refused:
        documents.take(generation, frame)
    assert refused.value.code is DocumentCode.FRAME_BUDGET
    assert generation.frames < 256


def test_streaming_needs_version_1_1() -> None:
    old = documents.judge_value({**json.loads(json.dumps(_BASE)), "version": "1.0"})
    with pytest.raises(Refused) as refused:
        documents.open_generation("g", old, epoch=1)
    assert (refused.value.code, refused.value.pointer) == (DocumentCode.NOT_IN_VERSION, "/version")


def test_a_structured_stream_stays_structured() -> None:
    document = documents.judge_value(json.loads(json.dumps(_BASE)), kind="structured")
    generation = documents.open_generation("g", document, epoch=1, kind="structured")
    node = {"id": "x", "type": "Checkbox", "props": {"field": "b", "label": "B"}}
    patch = [{"op": "add", "parent": "r", "index": 0, "node": node}]
    frame = Frame(generation="g", epoch=1, seq=1, base_revision=1, kind=FrameKind.PATCH, body=patch)
    with pytest.raises(Refused) as refused:
        documents.take(generation, frame)
    assert (refused.value.code, refused.value.pointer) == (DocumentCode.NOT_STRUCTURED, "/root/children/0/type")


def test_steps_of_an_evaluation_are_counted() -> None:
    """No legal document has as many; the count holds where the budget of expressions would not."""
    expression: Any = 1
    for _ in range(13):
        expression = {"op": "add", "args": (expression, expression)}
    declared = documents.Declarations(domains={}, derived={}, actions={})
    failure = documents.Evaluation(declared, {}).value(expression)
    assert isinstance(failure, documents.Failure)
    assert failure.code is DocumentCode.TOO_MANY_STEPS


def test_a_state_that_lacks_a_field_is_not_written() -> None:
    document = documents.judge_value(json.loads(json.dumps(_BASE)))
    with pytest.raises(Refused) as refused:
        documents.update_state(document, {}, {})
    assert (refused.value.code, refused.value.pointer) == (DocumentCode.MISSING_KEY, "/b")
    assert dict(documents.update_state(document, {}, {"b": False})) == {"b": False}


def test_components_are_the_twenty_one_of_the_design() -> None:
    assert len(COMPONENTS) == 21
