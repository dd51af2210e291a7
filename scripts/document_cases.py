"""Documents, legal and not, for both halves: what is expected is written here by hand, or follows from the table alone.

Nothing here asks the code it tests; digests come from another implementation of RFC 8785.
"""

import copy
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import rfc8785

from surface_host.documents.table import ACTIONS, COMPONENTS, FIELDS, LIMITS, OPERATORS, Member

Vector = dict[str, Any]
Parts = str | list[Any]

# ---- how vectors are written -------------------------------------------------------------------------------------


def repeat(text: str, times: int) -> Vector:
    """A part of a text that stands for `times` copies; `§` is the number of the copy, from 0."""
    return {"repeat": text, "times": times}


def expanded(raw: Parts) -> str:
    """The whole text."""
    parts = [raw] if isinstance(raw, str) else raw
    return "".join(part if isinstance(part, str) else _copies(part) for part in parts)


def _copies(part: Mapping[str, Any]) -> str:
    return "".join(part["repeat"].replace("§", str(number)) for number in range(part["times"]))


def text(value: Any) -> str:
    """JSON as short as it gets."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_RUN: Final = re.compile(r"([^§]{1,8}?)\1{63,}", re.DOTALL)


def folded(raw: Parts) -> Parts:
    """The same text with long runs written as parts."""
    parts: list[Any] = []
    for part in [raw] if isinstance(raw, str) else raw:
        if not isinstance(part, str):
            parts.append(part)
            continue
        end = 0
        for run in _RUN.finditer(part):
            parts += [part[end : run.start()], repeat(run[1], len(run[0]) // len(run[1]))]
            end = run.end()
        parts.append(part[end:])
    parts = [part for part in parts if part]
    return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else parts


def good(name: str, raw: Parts, **more: Any) -> Vector:
    """A text that is taken, with the digest of its canonical form."""
    digest = hashlib.sha256(rfc8785.dumps(json.loads(expanded(raw)))).hexdigest()
    return {"id": name, "raw": folded(raw), **more, "expect": {"ok": True, "sha256": digest}}


def bad(name: str, raw: Parts, code: str, pointer: str, **more: Any) -> Vector:
    """A text that is refused."""
    return {"id": name, "raw": folded(raw), **more, "expect": {"code": f"document.{code}", "pointer": pointer}}


# ---- samples -----------------------------------------------------------------------------------------------------

STATE: Final[dict[str, Any]] = {
    "name": {"type": "string", "default": "a", "maxLength": 8},
    "amount": {"type": "number", "default": 2, "min": 0, "max": 10, "step": 0.5},
    "agreed": {"type": "boolean", "default": False},
    "free": {"type": "string", "default": ""},
    "any": {"type": "number", "default": 0},
}
ACTIONS_OF: Final[dict[str, Any]] = {
    "clear": {"type": "reset"},
    "double": {"type": "set", "field": "amount", "value": {"op": "mul", "args": [{"ref": "amount"}, 2]}},
    "send": {
        "type": "invoke",
        "capability": "todo.add",
        "args": {"title": {"op": "concat", "args": ["for ", {"ref": "name"}]}, "amount": {"ref": "amount"}},
        "resultMap": {"free": "ticket"},
    },
}
PROPS: Final[dict[str, dict[str, Any]]] = {
    "Stack": {"direction": "row", "gap": "none"},
    "Grid": {"columns": 2},
    "Card": {"title": "Card"},
    "Tabs": {"tabs": [{"id": "one", "label": "One"}]},
    "Divider": {},
    "Text": {"text": {"ref": "name"}, "tone": "muted"},
    "Heading": {"text": "Heading", "level": 1},
    "Markdown": {"text": "**strong**"},
    "Alert": {"text": "Alert", "tone": "warning"},
    "Badge": {"text": "Badge", "tone": "success"},
    "Progress": {"value": {"ref": "amount"}, "max": 10, "label": "Done"},
    "Table": {
        "columns": [{"key": "k", "label": "K", "align": "end", "decimals": 2}, {"key": "l", "label": "L"}],
        "rows": [{"k": 1.5, "l": "x"}, {"k": {"ref": "amount"}, "l": True}],
    },
    "List": {"items": [{"id": "i", "primary": "Item", "secondary": {"ref": "name"}}, {"id": "j", "primary": "x"}]},
    "Chart": {"kind": "bar", "data": [{"id": "p", "label": "P", "value": {"ref": "amount"}}], "title": "Chart"},
    "Result": {"label": "Total", "value": {"ref": "amount"}, "decimals": 2, "unit": "€"},
    "Form": {"submit": "send", "submitLabel": "Send"},
    "Input": {"field": "name", "label": "Name", "kind": "text", "placeholder": "…", "required": True},
    "Slider": {"field": "amount", "label": "Amount", "min": 0, "max": 10, "step": 0.5},
    "Select": {
        "field": "name",
        "label": "Name",
        "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}],
    },
    "Checkbox": {"field": "agreed", "label": "Agreed"},
    "Button": {"label": "Go", "action": "send", "variant": "primary", "disabled": {"ref": "agreed"}},
}
"""Legal props of each component, every optional one included."""


def leaf(name: str = "leaf") -> dict[str, Any]:
    """The smallest node."""
    return {"id": name, "type": "Divider", "props": {}}


def document(root: Any, **more: Any) -> dict[str, Any]:
    """A document of version 1.1 around a root."""
    return {"version": "1.1", "title": "T", **more, "root": root}


def full(root: Any) -> dict[str, Any]:
    """With the sample state and actions."""
    return document(root, state=copy.deepcopy(STATE), actions=copy.deepcopy(ACTIONS_OF))


def component(name: str, **changed: Any) -> dict[str, Any]:
    """A document with one component; a changed prop of None is left out."""
    props = {key: item for key, item in {**copy.deepcopy(PROPS[name]), **changed}.items() if item is not None}
    node: dict[str, Any] = {"id": "n", "type": name, "props": props}
    if name == "Tabs":
        node["children"] = [leaf(f"t{index}") for index in range(len(props.get("tabs", ())))]
    return full(node)


def derived(expression: Any, **more: Any) -> dict[str, Any]:
    """A document with one derived value `d`."""
    return document(leaf(), state=copy.deepcopy(STATE), derived={"d": expression, **more})


def op(name: str, *arguments: Any) -> dict[str, Any]:
    """An operation."""
    return {"op": name, "args": list(arguments)}


# ---- shape, from the table ---------------------------------------------------------------------------------------


def shape_of_components() -> Iterator[Vector]:
    """Each component whole, with what must be there only, and with each prop wrong in each way its kind has."""
    for name, part in COMPONENTS.items():
        yield good(f"{name} with all props", text(component(name)))
        optional = {key: None for key, member in part.props.items() if not member.required}
        if optional:
            yield good(f"{name} with required props only", text(component(name, **optional)))
        yield bad(
            f"{name} with an unknown prop", text(component(name, onClick="x")), "unknown_key", "/root/props/onClick"
        )
        if not part.children:
            node: dict[str, Any] = {**component(name)["root"], "children": []}
            yield bad(f"{name} takes no children", text(full(node)), "unknown_key", "/root/children")
        for key, member in part.props.items():
            if member.required:
                yield bad(f"{name} without {key}", text(component(name, **{key: None})), "missing_key", "/root/props")
            for label, value, code in wrong(member):
                yield bad(f"{name}.{key}: {label}", text(component(name, **{key: value})), code, f"/root/props/{key}")
            for label, value in edges(member):
                yield good(f"{name}.{key}: {label}", text(component(name, **{key: value})))
            if member.kind == "list":
                yield from _items(name, key, member)


def _items(name: str, key: str, member: Member) -> Iterator[Vector]:
    assert member.members is not None
    item = PROPS[name][key][0]
    at = f"/root/props/{key}/0"
    for part, inner in member.members.items():
        kept = {other: value for other, value in item.items() if other != part}
        rest = PROPS[name][key][1:]
        if inner.required:
            yield bad(
                f"{name}.{key} item without {part}", text(component(name, **{key: [kept, *rest]})), "missing_key", at
            )
        for label, value, code in wrong(inner):
            changed = [{**item, part: value}, *rest]
            yield bad(
                f"{name}.{key} item {part}: {label}", text(component(name, **{key: changed})), code, f"{at}/{part}"
            )
    yield bad(f"{name}.{key} item no object", text(component(name, **{key: [1]})), "wrong_type", at)
    extra = [{**item, "href": "x"}, *PROPS[name][key][1:]]
    yield bad(f"{name}.{key} item unknown key", text(component(name, **{key: extra})), "unknown_key", f"{at}/href")


def wrong(member: Member) -> Iterator[tuple[str, Any, str]]:
    """Values a member refuses by its kind, as (what, value, code)."""
    yield from _WRONG_TYPES[member.kind]
    if member.kind == "text":
        if member.least:
            yield "empty", "", "wrong_length"
        assert member.most is not None
        if member.most < LIMITS["string"]:
            yield "one unit too long", "x" * (member.most + 1), "wrong_length"
            yield "one pair too long", "x" * (member.most - 1) + "😀", "wrong_length"
    if member.kind == "integer":
        assert member.least is not None
        assert member.most is not None
        yield "below", member.least - 1, "out_of_range"
        yield "above", member.most + 1, "out_of_range"
    if member.kind in ("list", "rows"):
        assert member.most is not None
        if member.least:
            yield "none", [], "wrong_count"
        yield "one too many", [{}] * (member.most + 1), "wrong_count"


_ID_FAULTS: Final = (
    ("a number", 1, "wrong_type"),
    ("empty", "", "bad_id"),
    ("begins with a digit", "1a", "bad_id"),
    ("65 characters", "a" * 65, "bad_id"),
    ("not ASCII", "é", "bad_id"),
    ("a line break at the end", "a\n", "bad_id"),
    ("a name of every object", "toString", "bad_id"),
)
_EXPR_FAULTS: Final = (
    ("null", None, "wrong_type"),
    ("an array", [1], "wrong_type"),
    ("4,097 units", "x" * 4_097, "wrong_length"),
    ("beyond 1e15", 1_000_000_000_000_001, "out_of_range"),
)
_WRONG_TYPES: Final[Mapping[str, tuple[tuple[str, Any, str], ...]]] = {
    "text": (("a number", 1, "wrong_type"), ("an expression", {"ref": "name"}, "wrong_type")),
    "id": _ID_FAULTS,
    "field": (_ID_FAULTS[0], _ID_FAULTS[2]),
    "action": (_ID_FAULTS[0], _ID_FAULTS[2], ("an action itself", {"type": "reset"}, "wrong_type")),
    "name": (
        ("a number", 1, "wrong_type"),
        ("an address", "https://x", "bad_name"),
        ("129 characters", "a" * 129, "bad_name"),
    ),
    "word": (("a number", 1, "wrong_type"), ("another word", "nonsense", "not_allowed")),
    "flag": (("a text", "true", "wrong_type"), ("a number", 1, "wrong_type")),
    "integer": (("a text", "1", "wrong_type"), ("a fraction", 1.5, "wrong_type"), ("a boolean", True, "wrong_type")),
    "number": (
        ("a text", "1", "wrong_type"),
        ("beyond 1e15", 1e15 + 1, "out_of_range"),
        ("a boolean", True, "wrong_type"),
    ),
    "positive": (
        ("a text", "1", "wrong_type"),
        ("zero", 0, "out_of_range"),
        ("negative", -1, "out_of_range"),
        ("beyond 1e15", 1e15 + 1, "out_of_range"),
    ),
    "scalar": (*_EXPR_FAULTS[1:], ("an expression", {"ref": "name"}, "wrong_type")),
    "expr": _EXPR_FAULTS[1:],
    "list": (("an object", {}, "wrong_type"), ("a text", "x", "wrong_type")),
    "rows": (("an object", {}, "wrong_type"),),
}


def edges(member: Member) -> Iterator[tuple[str, Any]]:
    """Values at the limits of a member that no meaning refuses."""
    if member.kind == "text":
        assert member.most is not None
        yield "longest", "x" * member.most
        yield "longest in pairs", "😀" * (member.most // 2)
        if not member.least:
            yield "empty", ""
    if member.kind == "integer":
        yield "least", member.least
        yield "most", member.most
        yield "most with a fraction of zero", float(member.most or 0)
    if member.kind == "word":
        yield from ((word, word) for word in member.words[1:] if word not in ("number", "date", "multiline"))
    if member.kind == "expr" and member.gives in ("string", "scalar"):
        yield "4,096 units", "x" * 4_096
    if member.kind == "expr" and member.gives == "number":
        yield "1e15", 10**15
        yield "-1e15", -(10**15)
    if member.kind == "positive" and member.required:
        yield "small", 1e-300
        yield "1e15", 10**15


# ---- shape of the rest -------------------------------------------------------------------------------------------


def shape_of_the_rest() -> Iterator[Vector]:
    """The document, nodes, fields, actions and expressions."""
    base = document(leaf())
    yield good("smallest", text(base))
    yield good("version 1.0", text({**base, "version": "1.0"}))
    others: tuple[Any, ...] = ([], "x", 1, True, None)
    for value in others:
        yield bad(f"a document is no {text(value)}", text(value), "wrong_type", "")
    yield bad("a text posing as a document", text(text(base)), "wrong_type", "")
    for key in ("title", "root"):
        yield bad(f"without {key}", text({k: v for k, v in base.items() if k != key}), "missing_key", "")
    yield bad("without version", text({"title": "T", "root": leaf(), "x": 1}), "missing_key", "")
    yield bad("version a number", text({**base, "version": 1.1}), "wrong_type", "/version")
    yield bad("version unknown", text({**base, "version": "2.0", "x": 1}), "unknown_version", "/version")
    yield bad("unknown before missing", text({"version": "1.0", "html": "x"}), "unknown_key", "/html")
    yield bad("unknown keys in document order", '{"version":"1.0","b":1,"a":1,"1":1}', "unknown_key", "/b")
    yield bad("also keys that look like numbers", '{"version":"1.0","b":1,"1":1}', "unknown_key", "/b")
    yield bad("a key with ~ and /", '{"version":"1.0","~a/b":1}', "unknown_key", "/~0a~1b")
    yield bad("a key too long for a pointer", text({**base, "k" * 256: 1}), "unknown_key", "")
    yield bad("a key that just fits a pointer", text({**base, "k" * 255: 1}), "unknown_key", "/" + "k" * 255)
    yield bad("title before root", text({"version": "1.0", "title": 1, "root": 1}), "wrong_type", "/title")
    yield bad("root before title", text({"version": "1.0", "root": 1, "title": 1}), "wrong_type", "/root")
    for key, length in (("empty", 0), ("257 units", 257)):
        yield bad(f"title {key}", text({**base, "title": "x" * length}), "wrong_length", "/title")
    yield good("title 256 units", text({**base, "title": "x" * 256}))
    yield good("title 128 pairs", text({**base, "title": "😀" * 128}))
    yield bad("title 129 pairs", text({**base, "title": "😀" * 129}), "wrong_length", "/title")
    yield from _nodes()
    yield from _fields()
    yield from _actions()
    yield from _expressions()


def _nodes() -> Iterator[Vector]:
    stack: dict[str, Any] = {"id": "r", "type": "Stack", "props": {}}
    yield good("a container without children", text(document(stack)))
    yield good("a container with no child", text(document({**stack, "children": []})))
    yield bad("a node is no text", text(document("x")), "wrong_type", "/root")
    yield bad("children null", text(document({**stack, "children": None})), "wrong_type", "/root/children")
    yield bad("children an object", text(document({**stack, "children": {}})), "wrong_type", "/root/children")
    yield bad("a child null", text(document({**stack, "children": [None]})), "wrong_type", "/root/children/0")
    for key in ("id", "props", "type"):
        node = {k: v for k, v in leaf().items() if k != key}
        yield bad(f"a node without {key}", text(document(node)), "missing_key", "/root")
    for value, code in (
        (1, "wrong_type"),
        ("stack", "unknown_type"),
        ("constructor", "unknown_type"),
        ("Metric", "unknown_type"),
    ):
        node = {**leaf(), "type": value}
        yield bad(f"node type {value}", text(document(node)), code, "/root/type")
    yield bad(
        "type before unknown key", text(document({"x": 1, **leaf(), "type": "X"})), "unknown_type", "/root/type"
    )
    yield bad("a node with a handler", text(document({**leaf(), "onClick": "x"})), "unknown_key", "/root/onClick")
    yield bad("props null", text(document({**leaf(), "props": None})), "wrong_type", "/root/props")
    for label, value, code in _ID_FAULTS:
        yield bad(f"node id {label}", text(document({**leaf(), "id": value})), code, "/root/id")
    yield good("node id of 64", text(document(leaf("a" + "_" * 62 + "-"))))
    yield bad("visible null", text(document({**leaf(), "visible": None})), "wrong_type", "/root/visible")
    nested: dict[str, Any] = {
        **stack,
        "children": [leaf(), {"id": "x", "type": "Text", "props": {"text": "", "html": ""}}],
    }
    yield bad("a fault below", text(document(nested)), "unknown_key", "/root/children/1/props/html")
    late = '{"version":"1.0","title":"T","root":{"id":"r","type":"Stack","children":[{"id":1,"type":"Divider","props":{}}],"props":{"gap":1}}}'
    yield bad("children before props where they stand before", late, "wrong_type", "/root/children/0/id")


def _fields() -> Iterator[Vector]:
    def of(field: Any, name: str = "f") -> str:
        return text(document(leaf(), state={name: field}))

    yield bad("state an array", text(document(leaf(), state=[])), "wrong_type", "/state")
    yield good("no state fields", text(document(leaf(), state={})))
    yield bad("a field null", of(None), "wrong_type", "/state/f")
    yield bad("a field without type", of({"default": 1}), "missing_key", "/state/f")
    yield bad("a field of another type", of({"type": "integer", "default": 1}), "unknown_type", "/state/f/type")
    yield bad("a field key that is no id", of({"type": "boolean", "default": True}, "1f"), "bad_id", "/state/1f")
    yield bad(
        "a field named toString", of({"type": "boolean", "default": True}, "toString"), "bad_id", "/state/toString"
    )
    samples = {"string": {"default": "x"}, "number": {"default": 1}, "boolean": {"default": True}}
    for name, members in FIELDS.items():
        base = {"type": name, **samples[name]}
        yield good(f"smallest {name} field", of(base))
        yield bad(f"{name} field without default", of({"type": name}), "missing_key", "/state/f")
        yield bad(f"{name} field with enum", of({**base, "enum": []}), "unknown_key", "/state/f/enum")
        for key, member in members.items():
            if key != "type":
                for label, value, code in wrong(member):
                    yield bad(f"{name} field {key}: {label}", of({**base, key: value}), code, f"/state/f/{key}")
    yield good("maxLength least", of({"type": "string", "default": "", "maxLength": 1}))
    yield good("maxLength most", of({"type": "string", "default": "x" * 4096, "maxLength": 4096}))
    for key, count in (("state", 64), ("derived", 64), ("actions", 16)):
        body = {"state": '{"type":"boolean","default":true}', "derived": "1", "actions": '{"type":"reset"}'}[key]
        for times in (count, count + 1):
            raw = [
                f'{{"version":"1.0","title":"T","root":{text(leaf())},"{key}":{{"x":{body}',
                repeat(f',"x§":{body}', times - 1),
                "}}",
            ]
            name = f"{times} entries of {key}"
            yield good(name, raw) if times == count else bad(name, raw, "wrong_count", f"/{key}")


def _actions() -> Iterator[Vector]:
    samples: dict[str, Any] = {**ACTIONS_OF, "reset": {"type": "reset", "fields": ["name"]}}
    samples |= {"set": samples["double"], "invoke": samples["send"]}

    def of(action: Any) -> str:
        return text(document(leaf(), state=STATE, actions={"a": action}))

    yield bad("an action null", of(None), "wrong_type", "/actions/a")
    yield bad("an action without type", of({}), "missing_key", "/actions/a")
    for kind in ("fetch", "execute_code", "navigate"):
        yield bad(f"action {kind}", of({"type": kind}), "unknown_type", "/actions/a/type")
    for kind, members in ACTIONS.items():
        yield good(f"action {kind}", of(samples[kind]))
        yield bad(f"action {kind} with url", of({**samples[kind], "url": "x"}), "unknown_key", "/actions/a/url")
        for key, member in members.items():
            if key == "type":
                continue
            if member.required:
                kept = {k: v for k, v in samples[kind].items() if k != key}
                yield bad(f"action {kind} without {key}", of(kept), "missing_key", "/actions/a")
            if member.kind in _WRONG_TYPES:
                for label, value, code in wrong(member):
                    yield bad(
                        f"action {kind} {key}: {label}", of({**samples[kind], key: value}), code, f"/actions/a/{key}"
                    )
    old = {**document(leaf(), state=STATE, actions=ACTIONS_OF), "version": "1.0"}
    yield bad("invoke in version 1.0", text(old), "not_in_version", "/actions/send/type")
    send = samples["send"]
    for times in (32, 33):
        arguments = {f"x{number}": number for number in range(times)}
        raw = of({**send, "args": arguments})
        yield good("32 arguments", raw) if times == 32 else bad("33 arguments", raw, "wrong_count", "/actions/a/args")
    yield bad("args an array", of({**send, "args": []}), "wrong_type", "/actions/a/args")
    yield bad("an argument key that is no id", of({**send, "args": {"a b": 1}}), "bad_id", "/actions/a/args/a b")
    yield bad("an argument null", of({**send, "args": {"a": None}}), "wrong_type", "/actions/a/args/a")
    yield bad(
        "resultMap to a number", of({**send, "resultMap": {"free": 1}}), "wrong_type", "/actions/a/resultMap/free"
    )
    yield bad("resultMap to no id", of({**send, "resultMap": {"free": "a.b"}}), "bad_id", "/actions/a/resultMap/free")
    yield bad("reset of no field", of({"type": "reset", "fields": []}), "wrong_count", "/actions/a/fields")
    yield bad("reset of null", of({"type": "reset", "fields": [None]}), "wrong_type", "/actions/a/fields/0")
    yield bad("reset fields an object", of({"type": "reset", "fields": {}}), "wrong_type", "/actions/a/fields")
    yield bad(
        "reset of 65 fields", of({"type": "reset", "fields": ["name"] * 65}), "wrong_count", "/actions/a/fields"
    )
    yield good("capability of 128", of({**send, "capability": "a" + "." * 127}))


def _expressions() -> Iterator[Vector]:
    at = "/derived/d"
    for label, value, code in _EXPR_FAULTS:
        yield bad(f"expression {label}", text(derived(value)), code, at)
    yield bad("expression without op or ref", text(derived({})), "missing_key", at)
    yield bad("expression of something else", text(derived({"path": "/a"})), "unknown_key", f"{at}/path")
    yield bad("ref and more", text(derived({"ref": "name", "default": 1})), "unknown_key", f"{at}/default")
    for label, value, code in _ID_FAULTS:
        yield bad(f"ref {label}", text(derived({"ref": value})), code, f"{at}/ref")
    yield bad("ref constructor", text(derived({"ref": "constructor"})), "bad_id", f"{at}/ref")
    yield bad("op a number", text(derived({"op": 1, "args": []})), "wrong_type", f"{at}/op")
    for name in ("eval", "ne", "mod", "toString", "constructor"):
        yield bad(f"operator {name}", text(derived({"op": name, "args": [1, 2]})), "unknown_operator", f"{at}/op")
    yield bad("op without args", text(derived({"op": "not"})), "missing_key", at)
    yield bad("op with ref", text(derived({"op": "not", "args": [True], "ref": "a"})), "unknown_key", f"{at}/ref")
    yield bad("args an object", text(derived({"op": "not", "args": {}})), "wrong_type", f"{at}/args")
    yield bad("an argument null below", text(derived(op("add", 1, None))), "wrong_type", f"{at}/args/1")
    for name, operator in OPERATORS.items():
        for count in {operator.least - 1, operator.most + 1}:
            raw = text(derived({"op": name, "args": [0] * count}))
            yield bad(f"{name} with {count} arguments", raw, "wrong_arity", f"{at}/args")
    yield bad("round to 7 places", text(derived(op("round", 1, 7))), "out_of_range", f"{at}/args/1")
    yield bad("round to -1 places", text(derived(op("round", 1, -1))), "out_of_range", f"{at}/args/1")
    yield bad("round to half a place", text(derived(op("round", 1, 0.5))), "wrong_type", f"{at}/args/1")
    yield bad(
        "round to places of a field", text(derived(op("round", 1, {"ref": "any"}))), "wrong_type", f"{at}/args/1"
    )
    yield bad(
        "a cell null", text(component("Table", rows=[{"k": None, "l": 1}])), "wrong_type", "/root/props/rows/0/k"
    )
    yield bad("a row null", text(component("Table", rows=[None])), "wrong_type", "/root/props/rows/0")
