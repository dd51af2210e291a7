"""Texts at the limits of scanner and budgets, texts that are no JSON, and documents whose meaning is wrong."""

from collections.abc import Iterator
from typing import Any

from document_cases import (
    ACTIONS_OF,
    PROPS,
    STATE,
    Parts,
    Vector,
    bad,
    component,
    derived,
    document,
    full,
    good,
    leaf,
    op,
    repeat,
    text,
)

# ---- the scanner -------------------------------------------------------------------------------------------------

_NOT_JSON: dict[str, str] = {
    "nothing": "",
    "only space": " \n\t\r",
    "a byte order mark": "\ufeff{}",
    "a word": "nul",
    "a longer word": "trues",
    "a word in capitals": "True",
    "NaN": "[NaN]",
    "Infinity": "[Infinity]",
    "minus Infinity": "[-Infinity]",
    "undefined": "[undefined]",
    "a comma at the end": "[1,]",
    "a comma at the start": "[,1]",
    "two commas": "[1,,2]",
    "no comma": "[1 2]",
    "a comma behind the last member": '{"a":1,}',
    "a colon missing": '{"a" 1}',
    "two colons": '{"a"::1}',
    "a value missing": '{"a":}',
    "a key without quotes": "{a:1}",
    "a key in single quotes": "{'a':1}",
    "a number as key": "{1:1}",
    "an array not closed": "[1",
    "an object not closed": '{"a":1',
    "closed by the other bracket": "[1}",
    "closed twice": "[]]",
    "two values": "[] []",
    "a comment": "[1/* */]",
    "a comment to the end of the line": "[1]//",
    "a text not closed": '["a',
    "a text not closed behind a backslash": '["a\\',
    "a tab in a text": '["\t"]',
    "a line break in a text": '["\n"]',
    "a line break and what an escape could be": '["\nn"]',
    "a null character in a text": '["\x00"]',
    "an unknown escape": '["\\x41"]',
    "an escaped quote of the other kind": '["\\\'"]',
    "an escape in capitals": '["\\U0041"]',
    "an escape with three digits": '["\\u004"]',
    "an escape with no hex digit": '["\\u00g0"]',
    "an escape with a sign": '["\\u+123"]',
    "a leading zero": "[01]",
    "a leading zero behind a minus": "[-01]",
    "a plus": "[+1]",
    "only a minus": "[-]",
    "a point without digits before": "[.5]",
    "a point without digits behind": "[1.]",
    "a point before the exponent": "[1.e1]",
    "an exponent without digits": "[1e]",
    "an exponent with only a sign": "[1e+]",
    "two exponents": "[1e1e1]",
    "two points": "[1.2.3]",
    "a hexadecimal number": "[0x10]",
    "an underscore in a number": "[1_000]",
    "digits of another script": "[\u0661]",
    "a space of another kind": "[1\u00a0]",
    "a line separator": "[1\u2028]",
    "a form feed": "[\x0c1]",
    "a vertical tab": "[\x0b1]",
    "a backslash outside": "[\\n]",
    "a star": "[*]",
    "a letter for the quote of a key": '{x":1}',
    "a letter for a colon": '{"a"x1}',
    "a letter for a comma": "[1x2]",
    "a letter for the closing bracket": "[1x",
    "a word for a number": "[--1]",
    "a word cut off in an object": '{"a":fals}',
    "a text as a document": "'x'",
}
_JSON: dict[str, str] = {
    "an empty object": "{}",
    "an empty array": "[]",
    "a lone text": '"x"',
    "a lone number": "-0",
    "lone null": "null",
    "space everywhere": ' {\t"a" :\r[ 1 ,\n2 ] } ',
    "all escapes": '["\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC"]',
    "an escaped pair": '["\\ud83d\\ude00"]',
    "a pair as it is": '["😀"]',
    "an escaped null character": '["\\u0000"]',
    "delete as it is": '["\x7f"]',
    "line and paragraph separators in a text": '["\u2028\u2029"]',
    "a noncharacter": '["\uffff\\uFFFF"]',
    "an empty key": '{"":1}',
    "keys that differ in case": '{"a":1,"A":2}',
    "keys of two normal forms": '{"é":1,"e\u0301":2}',
    "keys in UTF-16 order": '{"\ue000":1,"😀":2,"z":3}',
    "minus zero": "[-0,-0.0,-0e5]",
    "one value in six spellings": "[1,1.0,1e0,10E-1,0.1e1,1E+0]",
    "small numbers": "[1e-6,1e-7,0.000001234,5e-324,1.5e-10]",
    "too small for a double": "[1e-400,-1e-400]",
    "the largest integers": "[9007199254740991,-9007199254740991]",
    "just below the limit with a fraction": "[9007199254740991.4]",
    "a hundred digits": "[0." + "1" * 100 + "]",
    "a long exponent of zero": "[0e999999]",
    "a word in each place": '{"a":[true,false,null]}',
}


def scanner() -> Iterator[Vector]:
    """Judged by the scanner alone; `ok` gives the digest of the canonical form."""
    for name, raw in _NOT_JSON.items():
        yield bad(f"no JSON: {name}", raw, "bad_json", "")
    for name, raw in _JSON.items():
        yield good(f"JSON: {name}", raw)
    yield from _bytes()
    yield from _numbers()
    yield from _texts()
    yield from _counts()
    yield from _order()


def _bytes() -> Iterator[Vector]:
    for name, octets in {
        "a lone continuation": "5b2280225d",
        "an overlong slash": "5b22c0af225d",
        "an encoded surrogate": "5b22eda080225d",
        "beyond U+10FFFF": "5b22f4908080225d",
        "cut off": "5b22e282",
        "latin-1": "5b22e9225d",
        "UTF-16": "fffe5b005d00",
    }.items():
        expect = {"code": "document.not_utf8", "pointer": ""}
        yield {"id": f"bytes: {name}", "hex": octets, "expect": expect}
    sixteen = '"' + "x" * 16_381 + '",'  # 16,384 bytes
    last = '"' + "x" * 16_379 + '"]'
    yield good("262,144 bytes", ["[", repeat('"', 1), repeat("x", 16_381), '",', repeat(sixteen, 14), last + " "])
    yield bad("262,145 bytes", [repeat(" ", 262_143), "[]"], "too_large", "")
    yield good("space counts too", [repeat(" ", 262_142), "[]"])
    yield bad("too large before no JSON", [repeat("x", 262_145)], "too_large", "")
    # Seven bytes each; sixteen in canonical form.
    longer: Parts = ["[", repeat("[" + "123e13," * 4_000 + "1],", 5), "1]"]
    yield bad("too large in canonical form", longer, "too_large", "")
    yield good("1,024 bytes where that is the limit", [repeat(" ", 1_022), "[]"], max_bytes=1_024)
    yield bad("1,025 bytes where 1,024 is the limit", [repeat(" ", 1_023), "[]"], "too_large", "", max_bytes=1_024)


def _numbers() -> Iterator[Vector]:
    for name, number in {
        "not finite": "1e400",
        "minus not finite": "-1e400",
        "1e309": "1e309",
        "2^53": "9007199254740992",
        "minus 2^53": "-9007199254740992",
        "2^53 + 1 with a fraction of zero": "9007199254740993.0",
        "rounds up to 2^53": "9007199254740991.5",
        "1e16": "1e16",
        "1e21": "1e21",
        "six followed by 23 zeros": "6.02e23",
        "five thousand digits": "9" * 5_000,
        "before the grammar fails": "1e400.",
        "before it fails, with digits": "99999999999999999999.",
    }.items():
        yield bad(f"number: {name}", f"[0,{number}]", "number_range", "/1")
    yield bad("number: a member", '{"a":{"b":[1e400]}}', "number_range", "/a/b/0")


def _texts() -> Iterator[Vector]:
    for name, raw in {
        "a high half": "\\ud800",
        "a low half": "\\udc00",
        "two halves in the wrong order": "\\ude00\\ud83d",
        "two high halves": "\\ud83d\\ud83d\\ude00",
        "a half and a letter": "\\ud83dx",
        "a half in capitals": "\\uD83D",
    }.items():
        yield bad(f"text: {name}", f'["{raw}"]', "lone_surrogate", "/0")
    yield bad("key with half a pair", '{"a":{"\\ud800":1}}', "lone_surrogate", "/a")
    yield good("16,384 units", ['["', repeat("x", 16_384), '"]'])
    yield bad("16,385 units", ['["', repeat("x", 16_385), '"]'], "string_too_long", "/0")
    yield good("8,192 pairs", ['["', repeat("😀", 8_192), '"]'])
    yield bad("8,192 pairs and one unit", ['["x', repeat("😀", 8_192), '"]'], "string_too_long", "/0")
    yield good("16,384 units of two bytes", ['["', repeat("é", 16_384), '"]'])
    yield good("a key of 16,384 units", ['{"', repeat("x", 16_384), '":1}'])
    yield bad("a key of 16,385 units", ['{"a":[{"', repeat("x", 16_385), '":1}]}'], "string_too_long", "/a/0")
    yield bad("a half before too long", ['["\\ud800', repeat("x", 16_385), '"]'], "lone_surrogate", "/0")


def _counts() -> Iterator[Vector]:
    yield good("depth 64", [repeat("[", 65), repeat("]", 65)])
    yield bad("depth 65", [repeat("[", 66), repeat("]", 66)], "too_deep", "/0" * 65)
    yield good("depth 64 in objects", [repeat('{"a":', 65), "1", repeat("}", 65)])
    yield bad("depth 65 in objects", [repeat('{"a":', 66), "1", repeat("}", 66)], "too_deep", "/a" * 65)
    yield bad("depth 100,000", [repeat("[", 100_000)], "too_deep", "/0" * 65)
    yield bad("a pointer cut", [repeat('{"abcdefgh":', 66), "1", repeat("}", 66)], "too_deep", "/abcdefgh" * 28)
    yield good("4,096 items", ["[", repeat("1,", 4_095), "1]"])
    yield bad("4,097 items", ['{"a":[', repeat("1,", 4_096), "1]}"], "too_many_items", "/a")
    yield good("4,096 keys", ["{", repeat('"k§":1,', 4_095), '"k":1}'])
    yield bad("4,097 keys", ['{"a":{', repeat('"k§":1,', 4_096), '"k":1}}'], "too_many_keys", "/a")
    # The root, eight arrays, and their items.
    eight: Parts = ["[", repeat("[" + "1," * 4_093 + "1],", 7), "[" + "1," * 4_093 + "1]"]
    yield good("32,768 values", [*eight[:2], "[" + "1," * 4_093 + "1],1,1,1,1,1,1,1]"])
    yield bad("32,769 values", [*eight[:2], "[" + "1," * 4_093 + "1],1,1,1,1,1,1,1,1]"], "too_many_values", "/15")


def _order() -> Iterator[Vector]:
    for key in ("__proto__", "constructor", "prototype"):
        yield bad(f"key {key}", f'{{"a":[{{"{key}":1}}]}}', "reserved_key", f"/a/0/{key}")
    yield bad("an escaped reserved key", '{"\\u005f_proto__":{}}', "reserved_key", "/__proto__")
    yield bad("a key twice", '{"a":1,"b":{"c":1,"c":1}}', "duplicate_key", "/b/c")
    yield bad("a key twice, once escaped", '{"a":1,"\\u0061":2}', "duplicate_key", "/a")
    yield bad("a key twice with ~ and /", '{"~/":1,"~/":2}', "duplicate_key", "/~0~1")
    yield bad("three times an empty key", '{"":1,"":2,"":3}', "duplicate_key", "/")
    yield bad("reserved before twice", '{"__proto__":1,"__proto__":2}', "reserved_key", "/__proto__")
    yield bad("the first fault wins: a key", '{"a":1,"a":2', "duplicate_key", "/a")
    yield bad("the first fault wins: a number", '[1e400,"\\ud800"]', "number_range", "/0")
    yield bad("the first fault wins: a text", '["\\ud800",1e400]', "lone_surrogate", "/0")
    yield bad("the first fault wins: no JSON", "[1,],1e400", "bad_json", "")
    yield bad("a key twice before its value", '{"a":1,"a":1e400}', "duplicate_key", "/a")


# ---- budgets -----------------------------------------------------------------------------------------------------


def budgets() -> Iterator[Vector]:
    """Nodes and expressions, counted before the shape is known."""
    head = '{"version":"1.1","title":"T","root":{"id":"r","type":"Stack","props":{},"children":['
    node = '{"id":"n§","type":"Divider","props":{}}'
    yield good("200 nodes", [head, repeat(node + ",", 198), node.replace("§", "x"), "]}}"])
    yield bad(
        "201 nodes",
        [head, repeat(node + ",", 199), node.replace("§", "x"), "]}}"],
        "too_many_nodes",
        "/root/children/199",
    )
    yield bad("201 nodes of no shape", [head, repeat("{},", 199), "{}]}}"], "too_many_nodes", "/root/children/199")
    down = '{"id":"d§","type":"Stack","props":{},"children":['
    for depth in (16, 17):
        raw = [
            '{"version":"1.1","title":"T","root":',
            repeat(down, depth - 1),
            text(leaf()),
            repeat("]}", depth - 1),
            "}",
        ]
        name = f"{depth} levels of nodes"
        yield good(name, raw) if depth == 16 else bad(name, raw, "ui_too_deep", "/root" + "/children/0" * 16)
    # Each `not(true)` counts 2, the outer `and` 1 for itself.
    for levels in (24, 25):
        raw = [
            f'{{"version":"1.1","title":"T","root":{text(leaf())},"derived":{{"d":',
            repeat('{"op":"not","args":[', levels - 1),
            "true",
            repeat("]}", levels - 1),
            "}}",
        ]
        name = f"an expression of {levels} levels"
        yield (
            good(name, raw) if levels == 24 else bad(name, raw, "expression_too_deep", "/derived/d" + "/args/0" * 24)
        )
    head = f'{{"version":"1.1","title":"T","root":{text(leaf())},"derived":{{'
    sixteen = '"d§":{"op":"add","args":[' + "1," * 14 + "1]},"  # 16 each
    wide = ',"args":[' + ",".join(['{"op":"add","args":[' + "1," * 14 + "1]}"] * 2) + "]}"  # 1 + 32
    body: Parts = [head, repeat('"w§":{"op":"add"' + wide + ",", 62)]  # 2,046
    yield good("2,048 parts of expressions", [*body, '"x":{"op":"not","args":[true]}}}'])
    yield bad(
        "2,049 parts of expressions",
        [*body, '"x":{"op":"eq","args":[1,1]}}}'],
        "too_many_expressions",
        "/derived/x/args/1",
    )
    yield good("literals cost nothing where they stand alone", _table_of(500, 32))
    yield bad(
        "a budget before the shape",
        [head, repeat(sixteen, 128), '"x":{"op":1,"args":[0]}},"html":1}'],
        "too_many_expressions",
        "/derived/x",
    )
    yield bad(
        "nodes in document order of members",
        ['{"version":1,"root":', text({"props": {"a": _nested(25)}, "children": [{}] * 200}), "}"],
        "expression_too_deep",
        "/root/props/a" + "/args/0" * 24,
    )
    yield bad(
        "children before props where they stand before",
        ['{"version":1,"root":', text({"children": [{}] * 200, "props": {"a": _nested(25)}}), "}"],
        "too_many_nodes",
        "/root/children/199",
    )
    yield bad(
        "an expression in an item",
        ['{"version":1,"root":', text({"props": {"a": [{}, {"b": _nested(25)}]}}), "}"],
        "expression_too_deep",
        "/root/props/a/1/b" + "/args/0" * 24,
    )
    yield bad(
        "an expression in visible",
        ['{"version":1,"root":', text({"visible": _nested(25)}), "}"],
        "expression_too_deep",
        "/root/visible" + "/args/0" * 24,
    )
    yield bad(
        "an expression in an action",
        ['{"actions":', text({"a": {"args": {"x": _nested(25)}}}), "}"],
        "expression_too_deep",
        "/actions/a/args/x" + "/args/0" * 24,
    )
    yield bad(
        "an expression in set",
        ['{"actions":', text({"a": {"value": _nested(25)}}), "}"],
        "expression_too_deep",
        "/actions/a/value" + "/args/0" * 24,
    )
    yield bad(
        "what has no place is not counted",
        text({"derived": [_nested(25)], "actions": {"a": [_nested(25)]}}),
        "missing_key",
        "",
    )


def _nested(levels: int) -> Any:
    expression: Any = True
    for _ in range(levels - 1):
        expression = {"op": "not", "args": [expression]}
    return expression


def _table_of(rows: int, columns: int) -> Parts:
    declared = text([{"key": f"c{number}", "label": "C"} for number in range(columns)])
    row = text({f"c{number}": 1 for number in range(columns)})
    head = f'{{"version":"1.1","title":"T","root":{{"id":"t","type":"Table","props":{{"columns":{declared},"rows":['
    return [head, repeat(row + ",", rows - 1), row, "]}}}"]


# ---- meaning -----------------------------------------------------------------------------------------------------


def meaning() -> Iterator[Vector]:
    """References, types, domains, controls, kinds, and what evaluates on the defaults."""
    yield from _ids()
    yield from _domains()
    yield from _types()
    yield from _declared_actions()
    yield from _nodes()
    yield from _selects()
    yield from _kinds()
    yield from _defaults()


def _stack(*children: Any) -> dict[str, Any]:
    return {"id": "r", "type": "Stack", "props": {}, "children": list(children)}


def _node(name: str, node_id: str = "n", **changed: Any) -> dict[str, Any]:
    return {**component(name, **changed)["root"], "id": node_id}


def _ids() -> Iterator[Vector]:
    yield bad("an id twice", text(document(_stack(leaf("a"), leaf("a")))), "duplicate_id", "/root/children/1/id")
    yield bad("the id of the root again", text(document(_stack(leaf("r")))), "duplicate_id", "/root/children/0/id")
    deep = document(_stack(_stack(leaf("x")) | {"id": "s"}, leaf("x")))
    yield bad("an id twice in pre-order", text(deep), "duplicate_id", "/root/children/1/id")
    yield bad(
        "a derived id that a field has", text({**derived(1), "derived": {"name": 1}}), "duplicate_id", "/derived/name"
    )
    yield good(
        "ids of sets of their own",
        text(full(_stack(_node("Button", "name"), _node("Tabs", "clear") | {"children": [leaf("one")]}))),
    )
    for name, key, item in (
        ("Tabs", "tabs", {"id": "x", "label": "X"}),
        ("List", "items", {"id": "x", "primary": "X"}),
        ("Chart", "data", {"id": "x", "label": "X", "value": 1}),
    ):
        yield bad(
            f"{name}: an id twice",
            text(component(name, **{key: [item, item]})),
            "duplicate_id",
            f"/root/props/{key}/1/id",
        )
    columns = [{"key": "x", "label": "X"}, {"key": "x", "label": "Y"}]
    yield bad(
        "a column twice",
        text(component("Table", columns=columns, rows=[])),
        "duplicate_id",
        "/root/props/columns/1/key",
    )
    options = [{"value": "a", "label": "A"}, {"value": "a", "label": "B"}]
    yield bad(
        "an option twice",
        text(component("Select", options=options)),
        "duplicate_value",
        "/root/props/options/1/value",
    )
    numbers = text(component("Select", field="any", options=[{"value": 0, "label": "A"}])).replace(
        '{"value":0,"label":"A"}', '{"value":0,"label":"A"},{"value":0.0,"label":"B"}'
    )
    yield bad("an option twice in two spellings", numbers, "duplicate_value", "/root/props/options/1/value")
    mixed = [{"value": 1, "label": "A"}, {"value": True, "label": "B"}, {"value": "1", "label": "C"}]
    yield bad(
        "options of several types are no duplicates",
        text(component("Select", field="any", options=mixed)),
        "type_mismatch",
        "/root/props/options/1/value",
    )


def _domains() -> Iterator[Vector]:
    def of(**field: Any) -> str:
        return text(document(leaf(), state={"f": field}))

    at = "/state/f/default"
    yield bad("min above max", of(type="number", default=5, min=6, max=4), "bad_range", "/state/f/max")
    yield good("min equal to max", of(type="number", default=5, min=5, max=5))
    yield bad("default below min", of(type="number", default=-1, min=0), "out_of_domain", at)
    yield bad("default above max", of(type="number", default=11, max=10), "out_of_domain", at)
    yield bad("default off the grid", of(type="number", default=0.25, step=0.5), "out_of_domain", at)
    yield good("default on a decimal grid", of(type="number", default=0.3, step=0.1))
    yield good("default on a grid from min", of(type="number", default=1.7, min=0.2, step=0.5))
    yield bad("default off a grid from min", of(type="number", default=1.5, min=0.2, step=0.5), "out_of_domain", at)
    yield good("max need not be on the grid", of(type="number", default=0, min=0, max=10, step=3))
    yield bad("default longer than maxLength", of(type="string", default="abc", maxLength=2), "out_of_domain", at)
    yield good("default as long as maxLength in units", of(type="string", default="😀", maxLength=2))
    yield bad("a pair has two units", of(type="string", default="😀", maxLength=1), "out_of_domain", at)


def _types() -> Iterator[Vector]:
    at = "/derived/d"
    yield bad("an unknown ref", text(derived({"ref": "nobody"})), "unknown_ref", f"{at}/ref")
    yield bad(
        "a ref to an action", text({**full(leaf()), "derived": {"d": {"ref": "clear"}}}), "unknown_ref", f"{at}/ref"
    )
    yield bad("a derived value of itself", text(derived(op("add", 1, {"ref": "d"}))), "cycle", f"{at}/args/1/ref")
    loop = derived({"ref": "e"}, e={"ref": "f"}, f={"ref": "d"})
    yield bad("a cycle of three", text(loop), "cycle", "/derived/f/ref")
    yield bad(
        "a cycle in a branch not taken", text(derived(op("if", True, 1, {"ref": "d"}))), "cycle", f"{at}/args/2/ref"
    )
    yield good("a derived value of a later one", text(derived(op("add", {"ref": "e"}, 1), e=2)))
    yield bad(
        "a fault in a later one that is needed first",
        text(derived(op("add", {"ref": "e"}, "x"), e=op("not", 1))),
        "type_mismatch",
        "/derived/e/args/0",
    )
    chain = {f"c{number}": {"ref": f"c{number + 1}"} for number in range(63)} | {"c63": 1}
    yield good("a chain of 64", text(document(leaf(), derived=chain)))
    yield good("a chain of 64 and all the depth there is", text(document(leaf(), derived=_deep_chain(True))))
    yield bad(
        "a cycle of 64 and all the depth there is",
        text(document(leaf(), derived=_deep_chain({"ref": "c0"}))),
        "cycle",
        "/derived/c63" + "/args/0" * 23 + "/ref",
    )
    wrong: dict[str, tuple[Any, str]] = {
        "if of a number": (op("if", 1, 1, 1), "/args/0"),
        "if of two types": (op("if", True, 1, "1"), "/args/2"),
        "and of a number": (op("and", True, 1), "/args/1"),
        "or of a text": (op("or", "", True), "/args/0"),
        "not of a number": (op("not", 0), "/args/0"),
        "eq of a number and a boolean": (op("eq", 1, True), "/args/1"),
        "eq of a text and a number": (op("eq", "1", 1), "/args/1"),
        "lt of texts": (op("lt", "a", "b"), "/args/0"),
        "lte of booleans": (op("lte", True, False), "/args/0"),
        "gt of a text": (op("gt", 1, "b"), "/args/1"),
        "gte of a ref to a text": (op("gte", 1, {"ref": "name"}), "/args/1"),
        "add of a text": (op("add", 1, 2, "3"), "/args/2"),
        "sub of a boolean": (op("sub", True, 1), "/args/0"),
        "mul of a comparison": (op("mul", 1, op("lt", 1, 2)), "/args/1"),
        "div of a text": (op("div", "1", 1), "/args/0"),
        "pow of a boolean": (op("pow", 2, True), "/args/1"),
        "min of a text": (op("min", 1, "2"), "/args/1"),
        "max of a text": (op("max", "1", 2), "/args/0"),
        "round of a text": (op("round", "1.5"), "/args/0"),
        "the first of two faults": (op("add", op("not", 1), "x"), "/args/0/args/0"),
        "the left argument before the right is looked at": (op("add", "x", {"ref": "nobody"}), "/args/0"),
    }
    for name, (expression, where) in wrong.items():
        yield bad(name, text(derived(expression)), "type_mismatch", at + where)
    for name, expression in {
        "if gives the type of its branches": op("concat", op("if", True, "a", "b"), "c"),
        "eq of texts": op("eq", "a", {"ref": "name"}),
        "eq of booleans": op("eq", {"ref": "agreed"}, False),
        "concat of all types": op("concat", 1, True, "x", {"ref": "amount"}),
        "round to six places": op("round", 1.5, 6),
        "sixteen arguments": op("add", *range(16)),
    }.items():
        yield good(name, text(derived(expression)))


def _deep_chain(last: Any) -> dict[str, Any]:
    """64 derived values, each of all the levels an expression may have around a ref to the next."""
    derived_: dict[str, Any] = {}
    for number in range(64):
        expression: Any = last if number == 63 else {"ref": f"c{number + 1}"}
        for _ in range(23):
            expression = op("not", expression)
        derived_[f"c{number}"] = expression
    return derived_


def _declared_actions() -> Iterator[Vector]:
    def of(action: Any) -> str:
        return text(document(leaf(), state=STATE, actions={"a": action}))

    send = ACTIONS_OF["send"]
    yield bad(
        "set of no field", of({"type": "set", "field": "nobody", "value": 1}), "unknown_field", "/actions/a/field"
    )
    derived_field = document(leaf(), derived={"d": 1}, actions={"a": {"type": "set", "field": "d", "value": 1}})
    yield bad("set of a derived value", text(derived_field), "unknown_field", "/actions/a/field")
    yield bad(
        "set to another type", of({"type": "set", "field": "name", "value": 1}), "type_mismatch", "/actions/a/value"
    )
    yield bad(
        "set beyond the domain",
        of({"type": "set", "field": "amount", "value": 10.5}),
        "out_of_domain",
        "/actions/a/value",
    )
    yield bad(
        "set off the grid", of({"type": "set", "field": "amount", "value": 0.3}), "out_of_domain", "/actions/a/value"
    )
    yield bad(
        "set too long",
        of({"type": "set", "field": "name", "value": "123456789"}),
        "out_of_domain",
        "/actions/a/value",
    )
    yield bad(
        "reset of no field",
        of({"type": "reset", "fields": ["name", "nobody"]}),
        "unknown_field",
        "/actions/a/fields/1",
    )
    yield bad(
        "reset of a field twice",
        of({"type": "reset", "fields": ["name", "name"]}),
        "duplicate_value",
        "/actions/a/fields/1",
    )
    yield bad(
        "an argument of no ref",
        of({**send, "args": {"x": {"ref": "nobody"}}}),
        "unknown_ref",
        "/actions/a/args/x/ref",
    )
    yield bad(
        "an argument of wrong type inside",
        of({**send, "args": {"x": op("not", 1)}}),
        "type_mismatch",
        "/actions/a/args/x/args/0",
    )
    yield bad(
        "a result for no field",
        of({**send, "resultMap": {"nobody": "x"}}),
        "unknown_field",
        "/actions/a/resultMap/nobody",
    )


def _nodes() -> Iterator[Vector]:
    at = "/root/props"
    yield bad("visible a number", text(document({**leaf(), "visible": 1})), "type_mismatch", "/root/visible")
    yield good("visible by a field", text(full({**leaf(), "visible": {"ref": "agreed"}})))
    for name, key in (("Text", "text"), ("Heading", "text"), ("Alert", "text"), ("Badge", "text")):
        yield bad(
            f"{name} of a number", text(component(name, **{key: {"ref": "amount"}})), "type_mismatch", f"{at}/{key}"
        )
    for name in ("Progress", "Result"):
        yield bad(f"{name} of a text", text(component(name, value="1")), "type_mismatch", f"{at}/value")
    yield bad(
        "Chart of a text",
        text(component("Chart", data=[{"id": "p", "label": "P", "value": "1"}])),
        "type_mismatch",
        f"{at}/data/0/value",
    )
    yield bad(
        "List of a number",
        text(component("List", items=[{"id": "p", "primary": 1}])),
        "type_mismatch",
        f"{at}/items/0/primary",
    )
    yield bad("disabled by a number", text(component("Button", disabled=1)), "type_mismatch", f"{at}/disabled")
    yield bad(
        "a ref of nobody in a node", text(component("Text", text={"ref": "nobody"})), "unknown_ref", f"{at}/text/ref"
    )
    for name in ("Input", "Slider", "Select", "Checkbox"):
        yield bad(f"{name} of no field", text(component(name, field="nobody")), "unknown_field", f"{at}/field")
    for name, field in (("Slider", "name"), ("Checkbox", "amount")):
        yield bad(f"{name} of another type", text(component(name, field=field)), "type_mismatch", f"{at}/field")
    for kind, field in (
        ("text", "amount"),
        ("multiline", "amount"),
        ("number", "name"),
        ("date", "amount"),
        ("text", "agreed"),
    ):
        yield bad(
            f"Input {kind} of {field}",
            text(component("Input", kind=kind, field=field)),
            "type_mismatch",
            f"{at}/field",
        )
    yield good("Input number", text(component("Input", kind="number", field="amount")))
    yield good("Input date", text(component("Input", kind="date")))
    yield bad("Button of no action", text(component("Button", action="nobody")), "unknown_action", f"{at}/action")
    yield bad("Form of no action", text(component("Form", submit="nobody")), "unknown_action", f"{at}/submit")
    for key, value in (("min", 1), ("max", 9), ("step", 1)):
        yield bad(
            f"Slider with another {key}", text(component("Slider", **{key: value})), "range_differs", f"{at}/{key}"
        )
    free = component("Slider", field="any", min=0, max=None, step=None)
    yield bad("Slider with a range its field has not", text(free), "range_differs", f"{at}/min")
    form = _node("Form", "f") | {"children": [_node("Card", "c") | {"children": [_node("Form", "g")]}]}
    yield bad("a form in a form", text(full(form)), "nested_form", "/root/children/0/children/0")
    yield good("two forms side by side", text(full(_stack(_node("Form", "f"), _node("Form", "g")))))
    tabs = component("Tabs", tabs=[{"id": "a", "label": "A"}, {"id": "b", "label": "B"}])
    tabs["root"]["children"].pop()
    yield bad("two tabs and one child", text(tabs), "wrong_children", "/root")
    tabs["root"]["children"] = [leaf(f"t{number}") for number in range(3)]
    yield bad("two tabs and three children", text(tabs), "wrong_children", "/root")
    bare = {key: value for key, value in tabs["root"].items() if key != "children"}
    yield bad("tabs without children", text(full(bare)), "wrong_children", "/root")
    columns = PROPS["Table"]["columns"]
    yield bad(
        "a row without a column",
        text(component("Table", columns=columns, rows=[{"k": 1, "l": 1}, {"k": 1}])),
        "missing_key",
        f"{at}/rows/1",
    )
    yield bad(
        "a row with another column",
        text(component("Table", rows=[{"hidden": 1, "k": 1, "l": 1}])),
        "unknown_key",
        f"{at}/rows/0/hidden",
    )
    yield bad(
        "a cell of no ref",
        text(component("Table", rows=[{"l": {"ref": "x"}, "k": {"ref": "y"}}])),
        "unknown_ref",
        f"{at}/rows/0/k/ref",
    )
    yield good("columns in another order", text(component("Table", rows=[{"l": 1, "k": 1}])))
    yield good("no rows", text(component("Table", rows=[])))
    yield good("500 rows of 32 columns", _table_of(500, 32))
    yield bad("501 rows", _table_of(501, 1), "wrong_count", f"{at}/rows")


def _selects() -> Iterator[Vector]:
    def options(*values: Any) -> list[dict[str, Any]]:
        return [{"value": value, "label": "L"} for value in values]

    at = "/root/props/options"
    yield bad(
        "an option too long for its field",
        text(component("Select", options=options("a", "123456789"))),
        "out_of_domain",
        f"{at}/1/value",
    )
    yield bad(
        "an option off the grid",
        text(component("Select", field="amount", options=options(2, 2.2))),
        "out_of_domain",
        f"{at}/1/value",
    )
    yield bad(
        "an option of another type",
        text(component("Select", options=options("a", 1))),
        "type_mismatch",
        f"{at}/1/value",
    )
    yield bad(
        "a default that is no option",
        text(component("Select", options=options("b", "c"))),
        "out_of_domain",
        "/state/name/default",
    )
    yield good("options of a boolean", text(component("Select", field="agreed", options=options(True, False))))
    for times in (100, 101):
        raw = text(
            component("Select", field="free", options=options("", *(f"v{number}" for number in range(times - 1))))
        )
        yield good("100 options", raw) if times == 100 else bad("101 options", raw, "wrong_count", at)
    same = full(
        _stack(_node("Select", "a", options=options("a", "b")), _node("Select", "b", options=options("b", "a")))
    )
    yield good("two selects of one set", text(same))
    other = full(
        _stack(_node("Select", "a", options=options("a", "b")), _node("Select", "b", options=options("a", "c")))
    )
    yield bad("two selects of two sets", text(other), "options_differ", "/root/children/1/props/options")
    chosen = full(_node("Select", "a", options=options("a", "b")))
    chosen["actions"]["set"] = {"type": "set", "field": "name", "value": "c"}
    yield bad("set to no option", text(chosen), "out_of_domain", "/actions/set/value")


def _kinds() -> Iterator[Vector]:
    plain = text(document(_stack(_node("Text", "t")), state=STATE))
    yield good("structured", plain, kind="structured")
    yield good("structured without inputs, as intelligent", plain, kind="intelligent")
    yield good("structured with no actions", text(document(leaf(), actions={})), kind="structured")
    yield bad("structured with an action", text(full(leaf())), "not_structured", "/actions", kind="structured")
    for name in ("Form", "Input", "Slider", "Select", "Checkbox", "Button"):
        made = component(name)
        yield good(f"intelligent {name}", text(made), kind="intelligent")
        if name not in ("Form", "Button"):
            made.pop("actions")
            yield bad(f"structured {name}", text(made), "not_structured", "/root/type", kind="structured")


def _defaults() -> Iterator[Vector]:
    at = "/derived/d"
    yield bad(
        "division by zero on the defaults",
        text(derived(op("add", 1, op("div", 1, {"ref": "any"})))),
        "not_evaluable",
        f"{at}/args/1",
    )
    yield bad(
        "a fault in a later one that is used",
        text(derived({"ref": "e"}, e=op("div", 1, 0))),
        "not_evaluable",
        "/derived/e",
    )
    yield good("division by zero in a branch not taken", text(derived(op("if", True, 1, op("div", 1, 0)))))
    yield good(
        "division by zero behind the first false", text(derived(op("and", False, op("eq", op("div", 1, 0), 1))))
    )
    yield bad(
        "beyond 1e15 on the way", text(derived(op("sub", op("mul", 1e15, 2), 1e15))), "not_evaluable", f"{at}/args/0"
    )
    yield bad("a text too long on the way", text(derived(op("concat", "x" * 4096, "x"))), "not_evaluable", at)
    yield good("a text of 4,096 units", text(derived(op("concat", "x" * 4095, "x"))))
    yield bad("no power", text(derived(op("pow", 2, 0.4))), "not_evaluable", at)
    send = {**ACTIONS_OF["send"], "args": {"x": 1, "y": op("div", 1, 0)}}
    yield bad(
        "an argument without a value",
        text(document(leaf(), state=STATE, actions={"a": send})),
        "not_evaluable",
        "/actions/a/args/y",
    )
    setting = {"type": "set", "field": "any", "value": op("div", 1, 0)}
    yield bad(
        "set without a value",
        text(document(leaf(), state=STATE, actions={"a": setting})),
        "not_evaluable",
        "/actions/a/value",
    )
    yield good("a node without a value is no matter of the verdict", text(component("Result", value=op("div", 1, 0))))
