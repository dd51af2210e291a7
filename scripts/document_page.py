"""The page of the document language: its objects, limits, components and faults, read from the table that judges them."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from surface_host.documents import table
from surface_host.documents.codes import DocumentCode
from surface_host.documents.table import Component, Member, Operator

Say = Iterator[str]

EXAMPLES: Final = Path(__file__).resolve().parent.parent / "tests" / "e2e" / "gallery" / "documents"
IMAGES: Final = "../images/components"

PICTURES: Final[Mapping[str, tuple[str, ...]]] = {"Chart": ("chart-bar", "chart-line", "chart-area", "chart-pie")}
"""Documents of the gallery that show a component, where that is not one of its name."""

DOES: Final[Mapping[str, str]] = {
    "Stack": "Its children one below the other, or in a row that wraps.",
    "Grid": "Its children in columns of equal width; fewer where there is no room.",
    "Card": "A group with a border and perhaps a title.",
    "Tabs": "One child for each tab, in the order of the tabs; one is seen at a time.",
    "Divider": "A thin line.",
    "Text": "A paragraph.",
    "Heading": "A heading; `level` is its size, not its place in the page's outline.",
    "Markdown": "CommonMark without HTML, links and images: the text of a link stays, its address does not.",
    "Alert": "Something to be noticed; told to screen readers when it changes.",
    "Badge": "A short word in a frame.",
    "Progress": "How much of `max` is reached.",
    "Table": "Columns and rows; a row has exactly the declared keys.",
    "List": "Lines with a first and perhaps a second text.",
    "Chart": "Numbers as bars, a line, an area or slices; a screen reader gets them as a table.",
    "Result": "One number, large, with its unit.",
    "Form": "Inputs that are sent together by one button.",
    "Input": "A field to write in; the state changes with each valid word.",
    "Slider": "A number within the range its field declares.",
    "Select": "One of several values.",
    "Checkbox": "Yes or no.",
    "Button": "Runs an action.",
}

GROUPS: Final[Mapping[str, str]] = {
    "layout": "Layout",
    "words": "Words",
    "status": "State of things",
    "data": "Data",
    "input": "Input (not in `structured` documents)",
}

OPERATION: Final[Mapping[str, str]] = {
    "if": "the second where the first is true, else the third; the other is not evaluated",
    "and": "true when all are; stops at the first that is not",
    "or": "true when one is; stops at the first that is",
    "not": "the other truth value",
    "eq": "whether two values of one type are equal",
    "lt": "less",
    "lte": "less or equal",
    "gt": "greater",
    "gte": "greater or equal",
    "add": "the sum, from left to right",
    "sub": "the difference",
    "mul": "the product, from left to right",
    "div": "the quotient; by zero it is an error",
    "pow": "a power: a whole exponent of at most 1,024, or exactly 0.5",
    "min": "the least",
    "max": "the greatest",
    "round": "to 0 to 6 decimals, half away from zero on the exact binary value",
    "concat": "one text of all; numbers are written as in ECMAScript; at most 4,096 units",
}

LIMITS: Final[Mapping[str, str]] = {
    "bytes": "bytes of a document, UTF-8",
    "depth": "nesting of arrays and objects; the root has depth 0",
    "values": "values in a document, each array, object and scalar",
    "keys": "keys of an object",
    "items": "items of an array",
    "string": "UTF-16 units of a string",
    "nodes": "components",
    "ui_depth": "nesting of components; the root is 1",
    "expressions": "parts of expressions, literals among them",
    "expression_depth": "nesting of an expression; its root is 1",
    "evaluation_steps": "steps of one evaluation",
    "scalar": "units of a text in the state or from an expression",
    "magnitude": "the largest absolute value of a number, at every step",
    "state_bytes": "bytes of the whole state",
    "invoke_fields": "arguments of one invoke",
    "invoke_bytes": "bytes of the arguments of one invoke",
    "request_bytes": "bytes of one request of a page, its values included",
    "result_fields": "fields of a result that a document may see",
    "result_bytes": "bytes of those fields",
    "patch_bytes": "bytes of one patch",
    "patch_operations": "operations of one patch",
    "generation_frames": "frames of one stream",
    "generation_bytes": "bytes of all snapshots of one stream",
}


def document_page(generated: str) -> str:
    """docs/reference/document-dsl.md."""
    parts = (_head(generated), _document(), _state(), _expressions(), _components(), _limits(), _streams(), _codes())
    return "\n".join(line for part in parts for line in part) + "\n"


def _head(generated: str) -> Say:
    yield from (
        "# The document language",
        "",
        generated,
        "",
        "A document is interface as data: an agent sends it by `ui.structured_ui` or `ui.intelligent_ui`, or in steps by",
        "`ui.stream_open`, and the person's page draws it from 21 components of ours. Nothing in a document is code, an",
        "address or a style, and a document that breaks one rule is not shown at all.",
        "",
        "The gateway and the page judge each document on their own, by the same table, and come to the same verdict: ok,",
        "or the first fault as a code and a JSON pointer. Which fault is the first is settled in the text at the head of",
        "`surface_host/documents/table.py`. For editors and models there is a [JSON Schema](../spec/ui-document.schema.json);",
        "it knows the shapes and not the meaning.",
        "",
        f'Documents travel in a shell, `{{protocol: "{table.PROTOCOL}", version, document}}`; `document` is an object,',
        f"never a text. Versions: {_words(table.VERSIONS)}. `1.0` shows and computes; `1.1` also has `invoke` and streams.",
        "",
    )


def _document() -> Say:
    yield from ("## Document and node", "", "A document:", "")
    yield from _members(table.DOCUMENT)
    yield from ("A node, and there are no other keys:", "")
    yield from _members(table.NODE)
    yield from (
        f"An id is `{table.ID_PATTERN}`, and none of {_words(table.REFUSED_IDS)}. Ids of nodes are unique in a document;",
        "state fields and derived values share one set of names.",
        "",
    )


def _state() -> Say:
    yield from ("## State", "", "`state` declares what can change, by name. A field's type is one of three:", "")
    for name, members in table.FIELDS.items():
        yield from (f"### `{name}` field", "")
        yield from _members(members, name)
    yield from (
        "A number with a `step` lies on the grid from `min`, or from 0: with q = (value - base) / step it is on the grid",
        "when |q - nearest whole number| is at most 1e-9 · max(1, |q|). Where a `Select` shows a field, its options are the",
        "field's domain everywhere: for the default, for `set`, for results and for what is restored.",
        "",
        "What a person enters is taken when the whole state with it is legal, and otherwise changes nothing.",
        "After a reload a document begins with its defaults.",
        "",
        "## Actions",
        "",
        "`actions` declares what buttons and forms can do, by name.",
        "",
    )
    for name, members in table.ACTIONS.items():
        yield from (f"### `{name}`" + (" (since 1.1)" if table.ACTIONS_SINCE[name] != "1.0" else ""), "")
        yield from _members(members, name)
    yield from (
        "`invoke` names an entry of the table `documents.invoke` of the administrator, never a tool. The page sends the",
        "action and the values; the gateway takes the document it keeps, computes the arguments itself and begins a call of",
        "the person. A target that writes asks the person every time. `resultMap` puts the allowed fields of the result",
        "into the state, once, and never from history.",
        "",
    )


def _expressions() -> Say:
    yield from (
        "## Expressions",
        "",
        "A literal (text, number, truth value), `{ref: id}` of a state field or a derived value, or `{op, args}`.",
        "Types are checked when the document is judged; nothing is converted. A division by zero, a power that does not",
        "exist or a number beyond the limit is an error, and only the nodes that use it show one.",
        "",
        "| operator | arguments | takes | gives | |",
        "|---|---|---|---|---|",
    )
    for name, operator in table.OPERATORS.items():
        yield f"| `{name}` | {_count(operator)} | {_takes(operator)} | {operator.gives} | {OPERATION[name]} |"
    yield ""


def _components() -> Say:
    yield from ("## Components", "")
    for group, title in GROUPS.items():
        yield from (f"### {title}", "")
        for name, component in table.COMPONENTS.items():
            if component.group == group:
                yield from _component(name, component)


def _component(name: str, component: Component) -> Say:
    yield from (f"#### {name}", "", DOES[name] + (" It has children." if component.children else ""), "")
    if component.props:
        yield from _members(component.props)
    if name == "Input":
        kinds = (f"`{kind}` writes a {holds} field" for kind, holds in table.INPUT_KINDS.items())
        yield from ("; ".join(kinds).capitalize() + ".", "")
    for picture in PICTURES.get(name, (name.lower(),)):
        yield from (f"![{picture}, drawn]({IMAGES}/{picture}.png)", "")
    yield from (
        "```json",
        json.dumps(example(name), ensure_ascii=False),
        "```",
        "",
    )


def example(component: str) -> dict[str, Any]:
    """The first node of the component in its document of the gallery, children left out where they are many."""
    name = PICTURES.get(component, (component.lower(),))[0]
    found = _first(json.loads((EXAMPLES / f"{name}.json").read_text())["root"], component)
    assert found is not None, f"the gallery's `{name}` shows no {component}"
    return found


def _first(node: dict[str, Any], component: str) -> dict[str, Any] | None:
    if node["type"] == component:
        return node
    return next((found for child in node.get("children", []) if (found := _first(child, component))), None)


def _limits() -> Say:
    yield from ("## Limits", "", "They belong to the language; only the bytes of a document can be set lower.", "")
    yield from ("| at most | |", "|---:|---|")
    for name, means in LIMITS.items():
        yield f"| {table.LIMITS[name]:,} | {means} |"
    yield from ("", f"Refused as a key of any object: {_words(table.RESERVED_KEYS)}.", "")


def _streams() -> Say:
    yield from (
        "## Streams",
        "",
        "`ui.stream_open` begins a generation with a whole document; `ui.stream_patch` changes it; `ui.stream_complete`",
        "and `ui.stream_cancel` end it. A patch is a list of operations on nodes. The gateway applies it to the snapshot it",
        "keeps, judges the whole, and keeps the old one where the new one is not legal. State, derived values, actions,",
        "options, the root's id and the type of a node stay as they were opened. Until it is complete nothing can be invoked.",
        "",
    )
    for name, members in table.PATCH.items():
        yield from (f"### `{name}` operation", "")
        yield from _members(members, name)
    yield from (
        "A frame that comes again is ignored; another one with its number is refused; a late one changes nothing. A page that",
        "misses a step asks for the whole. A restart of the gateway ends every open generation.",
        "",
    )


def _codes() -> Say:
    yield from (
        "## What can be wrong",
        "",
        "In the order of judging. A fault is told as code, JSON pointer and these words, never with the value;",
        "the author also gets up to 20 faults of shape.",
        "",
        "| code | phase | |",
        "|---|---|---|",
    )
    yield from (f"| `{code.value}` | {code.phase} | {code.means} |" for code in DocumentCode)


# ---- parts -------------------------------------------------------------------------------------------------------


def _members(members: Mapping[str, Member], called: str = "") -> Say:
    """One row for each key. `called` is the word that tells this object from its like."""
    yield from ("| key | | |", "|---|---|---|")
    for name, member in members.items():
        need = "required" if member.required else _fallback(member)
        value = f"`{called}`" if called and member.kind == "word" and not member.words else _value(member)
        yield f"| `{name}` | {value} | {need} |"
    yield ""


def _fallback(member: Member) -> str:
    if member.fallback is None:
        return "optional"
    return f"otherwise `{member.fallback if isinstance(member.fallback, str) else str(member.fallback).lower()}`"


def _value(member: Member) -> str:
    """What may stand there, in words."""
    say = _SAY.get(member.kind)
    return _PLAIN[member.kind] if say is None else say(member)


def _expression(member: Member) -> str:
    return "an expression" if member.gives is None else f"{_GIVES[member.gives]}, or an expression that gives one"


def _list(member: Member) -> str:
    inner = ", ".join(_inner(cast("Mapping[str, Member]", member.members)))
    return f"{_span(member)} of {{{inner}}}; `{member.unique}` unique"


_SAY: Final[Mapping[str, Callable[[Member], str]]] = {
    "text": lambda member: f"text of {_span(member)} units",
    "word": lambda member: _words(member.words, " · ") if member.words else "the name of a component",
    "integer": lambda member: f"a whole number, {_span(member)}",
    "expr": _expression,
    "value": _expression,
    "list": _list,
    "rows": lambda member: f"{_span(member)} rows of scalars or expressions, by column key",
    "map": lambda member: f"up to {member.most}, by id, each {_OF[member.of or 'id']}",
    "field": lambda member: f"a field of the state: {_words(member.holds)}",
    "ids": lambda member: f"{_span(member)} fields of the state",
}

_GIVES: Final[Mapping[str, str]] = {
    "string": "a text",
    "number": "a number",
    "boolean": "a truth value",
    "scalar": "a text, number or truth value",
}

_OF: Final[Mapping[str, str]] = {
    "field": "a field",
    "expr": "an expression",
    "action": "an action",
    "id": "the name of a field of the result",
}

_PLAIN: Final[Mapping[str, str]] = {
    "id": "an id",
    "action": "an action of the document",
    "name": "an entry of the administrator's table",
    "flag": "`true` or `false`",
    "number": "a number",
    "positive": "a number above 0",
    "scalar": "a text, number or truth value",
    "node": "a node",
    "nodes": "nodes, where the component takes some",
    "props": "what the component takes",
    "args": "expressions",
    "object": "an object",
}


def _inner(members: Mapping[str, Member]) -> Iterable[str]:
    return (f"`{name}`{'' if member.required else '?'}: {_value(member)}" for name, member in members.items())


def _span(member: Member) -> str:
    if member.most is None:
        return ""
    return f"{member.least or 0:,} to {member.most:,}"


def _words(words: Iterable[str], between: str = ", ") -> str:
    return between.join(f"`{word}`" for word in words)


def _count(operator: Operator) -> str:
    return str(operator.least) if operator.least == operator.most else f"{operator.least} to {operator.most}"


def _takes(operator: Operator) -> str:
    return ", ".join(operator.takes) + ("…" if operator.most > len(operator.takes) else "")
