"""The field table of UI documents: what they may hold, how large they may be, and in which order faults are found.

This docstring is the norm. Both halves (Python here, TypeScript in `src/documents/`) read the same data and follow the
same order, so that for the same bytes both say ok with the same SHA-256, or both name the same first fault as code and
RFC 6901 pointer. Sources: design §12, rules A and H, the limits of seed 003.

The docstrings of `evaluation`, `state`, `patches` and `frames` say the same of what happens afterwards.

Words. *Units* are UTF-16 code units. A *whole number* is a number whose value is integral, however it is spelled
(`2`, `2.0`, `2E0`). *Document order* is the order of the text, also for keys such as `"1"` (a JavaScript object would
move them to the front). A pointer of more than 256 units loses whole segments from its end until it fits.

Phase 0, bytes. `too_large` when there are more than `max_bytes` (at most `bytes` of `LIMITS`), then `not_utf8`
(shortest forms only, no encoded surrogates). Both point to the whole document: the empty pointer. A byte order mark is
not removed; the scanner refuses it as `bad_json`.

Phase 1, scanner. One pass from left to right over the text as RFC 8259 defines it; the first fault met wins.
- A value is counted where it begins, at a character that can begin one (`{ [ " - 0-9 t f n`), the root and every array, object and scalar; keys are not values. First
  `too_many_items` (when it is item 4,097 of its array; pointer: the array), then `too_many_values` (pointer: the
  value), then, where it is an array or object, `too_deep` (pointer: the value). The root has depth 0, a container in
  a container of depth n has n + 1, and 64 is the deepest; scalars have no depth.
- The grammar fails: `bad_json`, always with the empty pointer: also for `NaN`, `Infinity`, a comment, a trailing
  comma, a control character in a string, an unknown escape, the end of the text, anything behind the root.
- A string, key or value, is judged after its closing quote: `lone_surrogate`, then `string_too_long`. For a value both
  point to the value. For a key both point to the object that holds it.
- A key is judged next: `reserved_key` (`__proto__`, `prototype`, `constructor`; pointer: the key's member), then
  `duplicate_key` (pointer: the key's member), then `too_many_keys` (when it is key 4,097; pointer: the object). Keys
  are equal when their decoded texts are.
- A number is the longest text the grammar takes (`01` is 0 and then `bad_json`); it is judged at its end, by the double it rounds to: `number_range` when it is not finite or
  beyond ±(2^53 - 1) (pointer: the number). So `1e400`, `1e20` and `9007199254740993.0` are refused;
  `9007199254740991` and `1e-400`, which is 0, pass. Minus zero is 0. `1`, `1.0`, `1E0` are one value.

For input that arrives as objects, `not_json` stands for what no text can hold (accessors, foreign prototypes, cycles,
shared references, other types; pointer: the value that is wrong, for a key the object that holds it). Values are
visited in the same order by the same rules; that a container occurred before is found after it was counted.

Both ways phase 1 ends with the canonical form (RFC 8785): `too_large` when it has more than `max_bytes`. It is longer
than the text where numbers are spelled with exponents, and it is what is stored, sent on and hashed.

Phase 2, budgets, on input whose shape is not yet known. One walk in pre-order; members in document order.
- In the document object: each member of `derived` (an object) is an expression place; of each member of `actions` (an
  object) that is an object, `value` and each member of `args` (an object) are expression places; `root` is a node
  place of depth 1.
- An object in a node place is a node: count it (`too_many_nodes`), then its depth (`ui_too_deep`), both pointing to
  the node. Then its members in document order: `visible` is an expression place; in `props` (an object) each member
  is an expression place, and of each item of a member that is an array, where the item is an object, each member is
  an expression place; the items of `children` (an array) are node places, one deeper.
- An object in an expression place is an expression of depth 1; anything else there costs nothing. Count the
  expression (`too_many_expressions`), then its depth (`expression_too_deep`), both pointing to it; then each item of its
  `args` (an array) in order, one deeper: every item is counted and its depth judged, scalars too, and an object's own
  `args` follow at once.
- Where something is not of the type in parentheses, it is passed over.

Phase 3, shape, by the data below, in pre-order. For each object:
1. Not an object: `wrong_type`, pointing to it.
2. The discriminator first (`version` of the document, `type` of field, action and node, `op` of an expression):
   absent `missing_key` (pointer: the object), not a string `wrong_type`, unknown `unknown_version`, `unknown_type` or
   `unknown_operator`; an action type of a later version than the document's `not_in_version`; all pointing to the
   discriminator. An object in an expression place that has no `op` is read as `{ref}`.
3. Unknown keys in document order: `unknown_key`, pointing to the key's member. `children` is unknown to a component
   that takes none.
4. Missing keys in table order: `missing_key`, pointing to the object.
5. The values of the other members, in document order, each with all that is below it:
   `text` `wrong_type`, `wrong_length` · `id` `field` `action` `wrong_type`, `bad_id` · `name` `wrong_type`, `bad_name` ·
   `word` `wrong_type`, `not_allowed` · `flag` `wrong_type` · `integer` `wrong_type` (also for a fraction),
   `out_of_range` · `number` and `positive` `wrong_type`, `out_of_range` (beyond ±1e15; `positive`: also 0 and less) ·
   `scalar` as a literal of `expr` · `list` and `rows` `wrong_type`, `wrong_count`, then each item (a row: its members in
   document order, each an `expr`; its keys wait for phase 4) · `ids` `wrong_type`, `wrong_count`, then each item as `id` ·
   `map` `wrong_type`, `wrong_count` (pointer: the map), then for each key `bad_id` (pointer: the key's member) and its
   value · `nodes` `wrong_type`, then each item · `expr`: string `wrong_length` above 4,096, number `out_of_range` beyond
   ±1e15, boolean fine, object as above, else `wrong_type`. After step 4 an operator's `args` are judged: `wrong_type`,
   `wrong_arity` (pointer: `args`), then each item as `expr`; `decimals` (second argument of `round`) is a literal whole
   number: `wrong_type`, `out_of_range` (0 to 6).
Strings are measured in units. The author gets the first 20 faults of this phase.

Phase 4, meaning, in steps; a step goes over the whole document before the next begins. *Nodes* are visited in
pre-order, what is in `props` in table order, maps in document order.
1. Ids. A derived id that is also a state id: `duplicate_id` at `/derived/<id>`. Then for each node: its `id` against
   all earlier ones; then each `list` with `unique` against itself: `duplicate_id`, or `duplicate_value` where the
   unique member is of kind `scalar` (equal type and value); all pointing to the second one's member.
2. Fields, each in document order: `bad_range` when min > max (pointer: `max`), then `out_of_domain` of `default`.
3. Derived types. For each derived value in document order, unless done already: see *types* below.
4. Actions, in document order. `set`: `unknown_field` (pointer: `field`), types of `value`, `type_mismatch` (pointer:
   `value`). `reset`: for each item `unknown_field`, then `duplicate_value`. `invoke`: the types of each argument; then
   for each key of `resultMap` `unknown_field` (pointer: the key's member).
5. Nodes, each: the types of `visible` (must be boolean); then its props in table order: `expr` types, `type_mismatch`
   (pointer: the expression) · `list` items in order, members in table order · `rows`: for each row an undeclared
   column `unknown_key` in document order, a missing one `missing_key` (pointer: the row), then its cells in column
   order · `field`: `unknown_field`, then `type_mismatch` where the field's type is not one of `holds`, or for `Input` not
   the one `INPUT_KINDS` gives for its `kind` · `action`: `unknown_action`. Then what is special to the component:
   `Tabs`: as many children as tabs, `wrong_children` (pointer: the node) · `Form` inside a `Form`: `nested_form` (pointer:
   the node) · `Slider`: each of `min`, `max`, `step` given must equal the field's, `range_differs` (pointer: the member) ·
   `Select`: each option value of the field's type, `type_mismatch`, and in its domain, `out_of_domain` (pointer: the
   `value`); then the same set as an earlier Select of the field, `options_differ` (pointer: `options`); then the field's
   default is one of them, `out_of_domain` (pointer: `/state/<field>/default`). Then the node's children.
6. Kind `structured`: an action `not_structured` at `/actions` when there is one; then for each node of the group `input`
   `not_structured` at its `type`.
7. Evaluation on the defaults. Each derived value in document order: `not_evaluable`, pointing to the innermost
   expression that failed. Then each action in document order: `set`: `not_evaluable`, then `out_of_domain` (pointer:
   `value`; Select options included); `invoke`: each argument `not_evaluable`.

*Types* of an expression: a literal has its own; a `ref` that names neither state nor derived is `unknown_ref`
(pointer: the `ref` member); one that names a derived value whose types are being found is `cycle` (pointer: the `ref`
member), otherwise that value is done first, then and there; an operator's arguments are done from left to right, and
each is compared with `takes` before the next is done: `type_mismatch`, pointing to the argument. In `takes` the last
entry stands for all further arguments; `any` is any type and is remembered, `same` must equal it, `scalar` is any type.

*Domain* of a field: string: at most `maxLength` units (4,096 when absent); number: within ±1e15, min and max, and on the
step grid of rules H4; boolean: any. Where a Select shows the field, also one of its option values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

ValueType = Literal["string", "number", "boolean"]
DocumentKind = Literal["structured", "intelligent"]
Group = Literal["layout", "words", "status", "data", "input"]
MemberKind = Literal[
    "text", "id", "field", "action", "name", "word", "flag", "integer", "number", "positive", "scalar",
    "expr", "list", "rows", "ids", "map", "node", "nodes", "props", "args", "object", "value",
]  # fmt: skip
Takes = Literal["boolean", "number", "any", "same", "scalar", "decimals"]
Gives = Literal["boolean", "number", "string", "same"]

PROTOCOL: Final = "ostiary.ui/1"
"""What the shell names in which a document travels (rules A5)."""

VERSIONS: Final = ("1.0", "1.1")
"""Of the document language, oldest first."""

LIMITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "bytes": 262_144,
        "least_bytes": 1_024,
        "depth": 64,
        "values": 32_768,
        "keys": 4_096,
        "items": 4_096,
        "string": 16_384,
        "integer": 9_007_199_254_740_991,
        "nodes": 200,
        "ui_depth": 16,
        "expressions": 2_048,
        "expression_depth": 24,
        "evaluation_steps": 8_192,
        "arguments": 16,
        "scalar": 4_096,
        "magnitude": 1_000_000_000_000_000,
        "exponent": 1_024,
        "decimals": 6,
        "state_bytes": 262_144,
        "pointer": 256,
        "issues": 20,
        "invoke_fields": 32,
        "invoke_bytes": 16_384,
        "request_bytes": 32_768,
        "result_fields": 32,
        "result_bytes": 32_768,
        "patch_bytes": 65_536,
        "patch_operations": 256,
        "checkpoint_bytes": 266_240,
        "generation_frames": 256,
        "generation_bytes": 16_777_216,
    }
)
"""Constants of the language, not settings (rules A2). `least_bytes` is the lowest the byte limit may be set to."""

RESERVED_KEYS: Final = ("__proto__", "constructor", "prototype")
"""Refused as a key of any object at any depth (rules H1)."""

REFUSED_IDS: Final = (
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "prototype", "toLocaleString",
    "toString", "valueOf",
)  # fmt: skip
"""Names every JavaScript object has; the grammar of ids keeps out those that begin with `_`."""

ID_PATTERN: Final = "[A-Za-z][A-Za-z0-9_-]{0,63}"
"""The whole of an id, or of a map's key; none of `REFUSED_IDS`."""

NAME_PATTERN: Final = "[A-Za-z][A-Za-z0-9_.-]{0,127}"
"""The whole of what `invoke` names as its capability: an entry of the administrator's table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of an object.

    Attributes:
        kind: what its value is; the module's docstring says how each is judged.
        required: whether the object must have it.
        least: of units, of the number, or of items, by kind.
        most: the same, inclusive.
        gives: of an `expr`, the type it must have.
        words: of a `word`, what it may be.
        holds: of a `field`, the types its state field may have.
        of: of a `map`, what its values are.
        unique: of a `list`, the member no two items share.
        members: of a `list`, what each item holds.
        fallback: of an optional `word` or `flag`, what its absence means to who draws it.
    """

    kind: MemberKind
    required: bool = True
    least: int | None = None
    most: int | None = None
    gives: ValueType | Literal["scalar"] | None = None
    words: tuple[str, ...] = ()
    holds: tuple[ValueType, ...] = ()
    of: Literal["field", "expr", "action", "id"] | None = None
    unique: str | None = None
    members: Mapping[str, "Member"] | None = None
    fallback: str | bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One of the 21 things a document can show."""

    group: Group
    props: Mapping[str, Member]
    children: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One of the 18 operators."""

    least: int
    most: int
    takes: tuple[Takes, ...]
    gives: Gives


# ---- members that occur often ------------------------------------------------------------------------------------


def _text(least: int, most: int) -> Member:
    return Member(kind="text", least=least, most=most)


def _optional_text() -> Member:
    return Member(kind="text", required=False, least=0, most=512)


def _word(*words: str, fallback: str | None = None) -> Member:
    return Member(kind="word", required=fallback is None, words=words, fallback=fallback)


def _expr(gives: Literal["string", "number", "boolean", "scalar"]) -> Member:
    return Member(kind="expr", gives=gives)


def _flag() -> Member:
    return Member(kind="flag", required=False, fallback=False)


def _list(least: int, most: int, unique: str, members: Mapping[str, Member]) -> Member:
    return Member(kind="list", least=least, most=most, unique=unique, members=MappingProxyType(dict(members)))


def _field(*holds: ValueType) -> Member:
    return Member(kind="field", holds=holds)


def _number(*, required: bool = False) -> Member:
    return Member(kind="number", required=required)


_LABEL: Final = _text(1, 512)
_ID: Final = Member(kind="id")
_TONE: Final = _word("info", "success", "warning", "danger", fallback="info")
_DECIMALS: Final = Member(kind="integer", least=0, most=6)
_STEP: Final = Member(kind="positive", required=False)

# ---- the table ---------------------------------------------------------------------------------------------------

DOCUMENT: Final[Mapping[str, Member]] = MappingProxyType(
    {
        "version": _word(*VERSIONS),
        "title": _text(1, 256),
        "state": Member(kind="map", required=False, most=64, of="field"),
        "derived": Member(kind="map", required=False, most=64, of="expr"),
        "actions": Member(kind="map", required=False, most=16, of="action"),
        "root": Member(kind="node"),
    }
)

NODE: Final[Mapping[str, Member]] = MappingProxyType(
    {
        "id": _ID,
        "type": Member(kind="word"),
        "props": Member(kind="props"),
        "children": Member(kind="nodes", required=False),
        "visible": Member(kind="expr", required=False, gives="boolean"),
    }
)
"""The words of `type` are the keys of `COMPONENTS`."""

FIELDS: Final[Mapping[str, Mapping[str, Member]]] = MappingProxyType(
    {
        "string": {
            "type": Member(kind="word"),
            "default": _text(0, 4_096),
            "maxLength": Member(kind="integer", required=False, least=1, most=4_096),
        },
        "number": {
            "type": Member(kind="word"),
            "default": _number(required=True),
            "min": _number(),
            "max": _number(),
            "step": _STEP,
        },
        "boolean": {"type": Member(kind="word"), "default": Member(kind="flag")},
    }
)
"""By `type`."""

ACTIONS: Final[Mapping[str, Mapping[str, Member]]] = MappingProxyType(
    {
        "set": {
            "type": Member(kind="word"),
            "field": _field("string", "number", "boolean"),
            "value": _expr("scalar"),
        },
        "reset": {
            "type": Member(kind="word"),
            "fields": Member(kind="ids", required=False, least=1, most=64),
        },
        "invoke": {
            "type": Member(kind="word"),
            "capability": Member(kind="name"),
            "args": Member(kind="map", most=32, of="expr"),
            "resultMap": Member(kind="map", required=False, most=32, of="id"),
        },
    }
)
"""By `type`."""

ACTIONS_SINCE: Final[Mapping[str, str]] = MappingProxyType({"set": "1.0", "reset": "1.0", "invoke": "1.1"})
"""The first version of the language that has the action."""

EXPRESSIONS: Final[Mapping[str, Mapping[str, Member]]] = MappingProxyType(
    {
        "op": {"op": Member(kind="word"), "args": Member(kind="args")},
        "ref": {"ref": _ID},
    }
)
"""By the member that tells them apart."""

COMPONENTS: Final[Mapping[str, Component]] = MappingProxyType(
    {
        "Stack": Component(
            group="layout",
            children=True,
            props={
                "direction": _word("row", "column", fallback="column"),
                "gap": _word("none", "small", "medium", "large", fallback="medium"),
            },
        ),
        "Grid": Component(group="layout", children=True, props={"columns": Member(kind="integer", least=1, most=4)}),
        "Card": Component(group="layout", children=True, props={"title": _optional_text()}),
        "Tabs": Component(
            group="layout", children=True, props={"tabs": _list(1, 8, "id", {"id": _ID, "label": _LABEL})}
        ),
        "Divider": Component(group="layout", props={}),
        "Text": Component(
            group="words",
            props={
                "text": _expr("string"),
                "tone": _word("default", "muted", "success", "warning", "danger", fallback="default"),
            },
        ),
        "Heading": Component(
            group="words", props={"text": _expr("string"), "level": Member(kind="integer", least=1, most=3)}
        ),
        "Markdown": Component(group="words", props={"text": _text(0, 16_384)}),
        "Alert": Component(group="status", props={"text": _expr("string"), "tone": _TONE}),
        "Badge": Component(group="status", props={"text": _expr("string"), "tone": _TONE}),
        "Progress": Component(
            group="status",
            props={"value": _expr("number"), "max": Member(kind="positive"), "label": _optional_text()},
        ),
        "Table": Component(
            group="data",
            props={
                "columns": _list(
                    1,
                    32,
                    "key",
                    {
                        "key": _ID,
                        "label": _LABEL,
                        # Without it, columns of numbers alone stand at the end, all others at the start.
                        "align": Member(kind="word", required=False, words=("start", "center", "end")),
                        "decimals": Member(kind="integer", required=False, least=0, most=6),
                    },
                ),
                "rows": Member(kind="rows", least=0, most=500, gives="scalar"),
            },
        ),
        "List": Component(
            group="data",
            props={
                "items": _list(
                    0,
                    200,
                    "id",
                    {
                        "id": _ID,
                        "primary": _expr("string"),
                        "secondary": Member(kind="expr", required=False, gives="string"),
                    },
                )
            },
        ),
        "Chart": Component(
            group="data",
            props={
                "kind": _word("bar", "line", "area", "pie"),
                "data": _list(1, 200, "id", {"id": _ID, "label": _LABEL, "value": _expr("number")}),
                "title": _optional_text(),
            },
        ),
        "Result": Component(
            group="data",
            props={"label": _LABEL, "value": _expr("number"), "decimals": _DECIMALS, "unit": _optional_text()},
        ),
        "Form": Component(
            group="input", children=True, props={"submit": Member(kind="action"), "submitLabel": _LABEL}
        ),
        "Input": Component(
            group="input",
            props={
                "field": _field("string", "number"),
                "label": _LABEL,
                "kind": _word("text", "multiline", "number", "date"),
                "placeholder": _optional_text(),
                "required": _flag(),
            },
        ),
        "Slider": Component(
            group="input",
            props={"field": _field("number"), "label": _LABEL, "min": _number(), "max": _number(), "step": _STEP},
        ),
        "Select": Component(
            group="input",
            props={
                "field": _field("string", "number", "boolean"),
                "label": _LABEL,
                "options": _list(1, 100, "value", {"value": Member(kind="scalar"), "label": _LABEL}),
            },
        ),
        "Checkbox": Component(group="input", props={"field": _field("boolean"), "label": _LABEL}),
        "Button": Component(
            group="input",
            props={
                "label": _LABEL,
                "action": Member(kind="action"),
                "variant": _word("primary", "secondary", "danger", fallback="secondary"),
                "disabled": Member(kind="expr", required=False, gives="boolean"),
            },
        ),
    }
)

INPUT_KINDS: Final[Mapping[str, ValueType]] = MappingProxyType(
    {"text": "string", "multiline": "string", "number": "number", "date": "string"}
)
"""The type of the state field an `Input` of each kind writes."""

OPERATORS: Final[Mapping[str, Operator]] = MappingProxyType(
    {
        "if": Operator(least=3, most=3, takes=("boolean", "any", "same"), gives="same"),
        "and": Operator(least=2, most=16, takes=("boolean",), gives="boolean"),
        "or": Operator(least=2, most=16, takes=("boolean",), gives="boolean"),
        "not": Operator(least=1, most=1, takes=("boolean",), gives="boolean"),
        "eq": Operator(least=2, most=2, takes=("any", "same"), gives="boolean"),
        "lt": Operator(least=2, most=2, takes=("number",), gives="boolean"),
        "lte": Operator(least=2, most=2, takes=("number",), gives="boolean"),
        "gt": Operator(least=2, most=2, takes=("number",), gives="boolean"),
        "gte": Operator(least=2, most=2, takes=("number",), gives="boolean"),
        "add": Operator(least=2, most=16, takes=("number",), gives="number"),
        "sub": Operator(least=2, most=2, takes=("number",), gives="number"),
        "mul": Operator(least=2, most=16, takes=("number",), gives="number"),
        "div": Operator(least=2, most=2, takes=("number",), gives="number"),
        "pow": Operator(least=2, most=2, takes=("number",), gives="number"),
        "min": Operator(least=2, most=16, takes=("number",), gives="number"),
        "max": Operator(least=2, most=16, takes=("number",), gives="number"),
        "round": Operator(least=1, most=2, takes=("number", "decimals"), gives="number"),
        "concat": Operator(least=2, most=16, takes=("scalar",), gives="string"),
    }
)

PATCH: Final[Mapping[str, Mapping[str, Member]]] = MappingProxyType(
    {
        "add": {
            "op": Member(kind="word"),
            "parent": _ID,
            "index": Member(kind="integer", least=0, most=200),
            "node": Member(kind="object"),
        },
        "update": {
            "op": Member(kind="word"),
            "id": _ID,
            "props": Member(kind="object"),
            "visible": Member(kind="value", required=False),
        },
        "remove": {"op": Member(kind="word"), "id": _ID},
    }
)
"""The operations of a patch, by `op`. An `object` may hold anything yet; a `value` is not looked at."""
