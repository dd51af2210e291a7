/** Written by scripts/docs.py from surface_host/documents/table.py, whose docstring is the norm; do not edit. */

export const PROTOCOL = "ostiary.ui/1" as const;

export const VERSIONS = ["1.0", "1.1"] as const;

export const LIMITS = {
  "bytes": 262144,
  "least_bytes": 1024,
  "depth": 64,
  "values": 32768,
  "keys": 4096,
  "items": 4096,
  "string": 16384,
  "integer": 9007199254740991,
  "nodes": 200,
  "ui_depth": 16,
  "expressions": 2048,
  "expression_depth": 24,
  "evaluation_steps": 8192,
  "arguments": 16,
  "scalar": 4096,
  "magnitude": 1000000000000000,
  "exponent": 1024,
  "decimals": 6,
  "state_bytes": 262144,
  "pointer": 256,
  "issues": 20,
  "invoke_fields": 32,
  "invoke_bytes": 16384,
  "request_bytes": 32768,
  "result_fields": 32,
  "result_bytes": 32768,
  "patch_bytes": 65536,
  "patch_operations": 256,
  "checkpoint_bytes": 266240,
  "generation_frames": 256,
  "generation_bytes": 16777216,
} as const;

export const RESERVED_KEYS = ["__proto__", "constructor", "prototype"] as const;

export const REFUSED_IDS = ["constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "prototype", "toLocaleString", "toString", "valueOf"] as const;

export const ID_PATTERN = "[A-Za-z][A-Za-z0-9_-]{0,63}" as const;

export const NAME_PATTERN = "[A-Za-z][A-Za-z0-9_.-]{0,127}" as const;

export const DOCUMENT = {
  "version": {"kind": "word", "required": true, "words": ["1.0", "1.1"]},
  "title": {"kind": "text", "required": true, "least": 1, "most": 256},
  "state": {"kind": "map", "required": false, "most": 64, "of": "field"},
  "derived": {"kind": "map", "required": false, "most": 64, "of": "expr"},
  "actions": {"kind": "map", "required": false, "most": 16, "of": "action"},
  "root": {"kind": "node", "required": true},
} as const;

export const NODE = {
  "id": {"kind": "id", "required": true},
  "type": {"kind": "word", "required": true},
  "props": {"kind": "props", "required": true},
  "children": {"kind": "nodes", "required": false},
  "visible": {"kind": "expr", "required": false, "gives": "boolean"},
} as const;

export const FIELDS = {
  "string": {
    "type": {"kind": "word", "required": true},
    "default": {"kind": "text", "required": true, "least": 0, "most": 4096},
    "maxLength": {"kind": "integer", "required": false, "least": 1, "most": 4096},
  },
  "number": {
    "type": {"kind": "word", "required": true},
    "default": {"kind": "number", "required": true},
    "min": {"kind": "number", "required": false},
    "max": {"kind": "number", "required": false},
    "step": {"kind": "positive", "required": false},
  },
  "boolean": {"type": {"kind": "word", "required": true}, "default": {"kind": "flag", "required": true}},
} as const;

export const ACTIONS = {
  "set": {
    "type": {"kind": "word", "required": true},
    "field": {"kind": "field", "required": true, "holds": ["string", "number", "boolean"]},
    "value": {"kind": "expr", "required": true, "gives": "scalar"},
  },
  "reset": {
    "type": {"kind": "word", "required": true},
    "fields": {"kind": "ids", "required": false, "least": 1, "most": 64},
  },
  "invoke": {
    "type": {"kind": "word", "required": true},
    "capability": {"kind": "name", "required": true},
    "args": {"kind": "map", "required": true, "most": 32, "of": "expr"},
    "resultMap": {"kind": "map", "required": false, "most": 32, "of": "id"},
  },
} as const;

export const ACTIONS_SINCE = {"set": "1.0", "reset": "1.0", "invoke": "1.1"} as const;

export const EXPRESSIONS = {
  "op": {"op": {"kind": "word", "required": true}, "args": {"kind": "args", "required": true}},
  "ref": {"ref": {"kind": "id", "required": true}},
} as const;

export const COMPONENTS = {
  "Stack": {
    "group": "layout",
    "props": {
      "direction": {"kind": "word", "required": false, "words": ["row", "column"], "fallback": "column"},
      "gap": {"kind": "word", "required": false, "words": ["none", "small", "medium", "large"], "fallback": "medium"},
    },
    "children": true,
  },
  "Grid": {
    "group": "layout",
    "props": {"columns": {"kind": "integer", "required": true, "least": 1, "most": 4}},
    "children": true,
  },
  "Card": {
    "group": "layout",
    "props": {"title": {"kind": "text", "required": false, "least": 0, "most": 512}},
    "children": true,
  },
  "Tabs": {
    "group": "layout",
    "props": {
      "tabs": {
        "kind": "list",
        "required": true,
        "least": 1,
        "most": 8,
        "unique": "id",
        "members": {
          "id": {"kind": "id", "required": true},
          "label": {"kind": "text", "required": true, "least": 1, "most": 512},
        },
      },
    },
    "children": true,
  },
  "Divider": {"group": "layout", "props": {}, "children": false},
  "Text": {
    "group": "words",
    "props": {
      "text": {"kind": "expr", "required": true, "gives": "string"},
      "tone": {
        "kind": "word",
        "required": false,
        "words": ["default", "muted", "success", "warning", "danger"],
        "fallback": "default",
      },
    },
    "children": false,
  },
  "Heading": {
    "group": "words",
    "props": {
      "text": {"kind": "expr", "required": true, "gives": "string"},
      "level": {"kind": "integer", "required": true, "least": 1, "most": 3},
    },
    "children": false,
  },
  "Markdown": {
    "group": "words",
    "props": {"text": {"kind": "text", "required": true, "least": 0, "most": 16384}},
    "children": false,
  },
  "Alert": {
    "group": "status",
    "props": {
      "text": {"kind": "expr", "required": true, "gives": "string"},
      "tone": {
        "kind": "word",
        "required": false,
        "words": ["info", "success", "warning", "danger"],
        "fallback": "info",
      },
    },
    "children": false,
  },
  "Badge": {
    "group": "status",
    "props": {
      "text": {"kind": "expr", "required": true, "gives": "string"},
      "tone": {
        "kind": "word",
        "required": false,
        "words": ["info", "success", "warning", "danger"],
        "fallback": "info",
      },
    },
    "children": false,
  },
  "Progress": {
    "group": "status",
    "props": {
      "value": {"kind": "expr", "required": true, "gives": "number"},
      "max": {"kind": "positive", "required": true},
      "label": {"kind": "text", "required": false, "least": 0, "most": 512},
    },
    "children": false,
  },
  "Table": {
    "group": "data",
    "props": {
      "columns": {
        "kind": "list",
        "required": true,
        "least": 1,
        "most": 32,
        "unique": "key",
        "members": {
          "key": {"kind": "id", "required": true},
          "label": {"kind": "text", "required": true, "least": 1, "most": 512},
          "align": {"kind": "word", "required": false, "words": ["start", "center", "end"]},
          "decimals": {"kind": "integer", "required": false, "least": 0, "most": 6},
        },
      },
      "rows": {"kind": "rows", "required": true, "least": 0, "most": 500, "gives": "scalar"},
    },
    "children": false,
  },
  "List": {
    "group": "data",
    "props": {
      "items": {
        "kind": "list",
        "required": true,
        "least": 0,
        "most": 200,
        "unique": "id",
        "members": {
          "id": {"kind": "id", "required": true},
          "primary": {"kind": "expr", "required": true, "gives": "string"},
          "secondary": {"kind": "expr", "required": false, "gives": "string"},
        },
      },
    },
    "children": false,
  },
  "Chart": {
    "group": "data",
    "props": {
      "kind": {"kind": "word", "required": true, "words": ["bar", "line", "area", "pie"]},
      "data": {
        "kind": "list",
        "required": true,
        "least": 1,
        "most": 200,
        "unique": "id",
        "members": {
          "id": {"kind": "id", "required": true},
          "label": {"kind": "text", "required": true, "least": 1, "most": 512},
          "value": {"kind": "expr", "required": true, "gives": "number"},
        },
      },
      "title": {"kind": "text", "required": false, "least": 0, "most": 512},
    },
    "children": false,
  },
  "Result": {
    "group": "data",
    "props": {
      "label": {"kind": "text", "required": true, "least": 1, "most": 512},
      "value": {"kind": "expr", "required": true, "gives": "number"},
      "decimals": {"kind": "integer", "required": true, "least": 0, "most": 6},
      "unit": {"kind": "text", "required": false, "least": 0, "most": 512},
    },
    "children": false,
  },
  "Form": {
    "group": "input",
    "props": {
      "submit": {"kind": "action", "required": true},
      "submitLabel": {"kind": "text", "required": true, "least": 1, "most": 512},
    },
    "children": true,
  },
  "Input": {
    "group": "input",
    "props": {
      "field": {"kind": "field", "required": true, "holds": ["string", "number"]},
      "label": {"kind": "text", "required": true, "least": 1, "most": 512},
      "kind": {"kind": "word", "required": true, "words": ["text", "multiline", "number", "date"]},
      "placeholder": {"kind": "text", "required": false, "least": 0, "most": 512},
      "required": {"kind": "flag", "required": false, "fallback": false},
    },
    "children": false,
  },
  "Slider": {
    "group": "input",
    "props": {
      "field": {"kind": "field", "required": true, "holds": ["number"]},
      "label": {"kind": "text", "required": true, "least": 1, "most": 512},
      "min": {"kind": "number", "required": false},
      "max": {"kind": "number", "required": false},
      "step": {"kind": "positive", "required": false},
    },
    "children": false,
  },
  "Select": {
    "group": "input",
    "props": {
      "field": {"kind": "field", "required": true, "holds": ["string", "number", "boolean"]},
      "label": {"kind": "text", "required": true, "least": 1, "most": 512},
      "options": {
        "kind": "list",
        "required": true,
        "least": 1,
        "most": 100,
        "unique": "value",
        "members": {
          "value": {"kind": "scalar", "required": true},
          "label": {"kind": "text", "required": true, "least": 1, "most": 512},
        },
      },
    },
    "children": false,
  },
  "Checkbox": {
    "group": "input",
    "props": {
      "field": {"kind": "field", "required": true, "holds": ["boolean"]},
      "label": {"kind": "text", "required": true, "least": 1, "most": 512},
    },
    "children": false,
  },
  "Button": {
    "group": "input",
    "props": {
      "label": {"kind": "text", "required": true, "least": 1, "most": 512},
      "action": {"kind": "action", "required": true},
      "variant": {
        "kind": "word",
        "required": false,
        "words": ["primary", "secondary", "danger"],
        "fallback": "secondary",
      },
      "disabled": {"kind": "expr", "required": false, "gives": "boolean"},
    },
    "children": false,
  },
} as const;

export const INPUT_KINDS = {"text": "string", "multiline": "string", "number": "number", "date": "string"} as const;

export const OPERATORS = {
  "if": {"least": 3, "most": 3, "takes": ["boolean", "any", "same"], "gives": "same"},
  "and": {"least": 2, "most": 16, "takes": ["boolean"], "gives": "boolean"},
  "or": {"least": 2, "most": 16, "takes": ["boolean"], "gives": "boolean"},
  "not": {"least": 1, "most": 1, "takes": ["boolean"], "gives": "boolean"},
  "eq": {"least": 2, "most": 2, "takes": ["any", "same"], "gives": "boolean"},
  "lt": {"least": 2, "most": 2, "takes": ["number"], "gives": "boolean"},
  "lte": {"least": 2, "most": 2, "takes": ["number"], "gives": "boolean"},
  "gt": {"least": 2, "most": 2, "takes": ["number"], "gives": "boolean"},
  "gte": {"least": 2, "most": 2, "takes": ["number"], "gives": "boolean"},
  "add": {"least": 2, "most": 16, "takes": ["number"], "gives": "number"},
  "sub": {"least": 2, "most": 2, "takes": ["number"], "gives": "number"},
  "mul": {"least": 2, "most": 16, "takes": ["number"], "gives": "number"},
  "div": {"least": 2, "most": 2, "takes": ["number"], "gives": "number"},
  "pow": {"least": 2, "most": 2, "takes": ["number"], "gives": "number"},
  "min": {"least": 2, "most": 16, "takes": ["number"], "gives": "number"},
  "max": {"least": 2, "most": 16, "takes": ["number"], "gives": "number"},
  "round": {"least": 1, "most": 2, "takes": ["number", "decimals"], "gives": "number"},
  "concat": {"least": 2, "most": 16, "takes": ["scalar"], "gives": "string"},
} as const;

export const PATCH = {
  "add": {
    "op": {"kind": "word", "required": true},
    "parent": {"kind": "id", "required": true},
    "index": {"kind": "integer", "required": true, "least": 0, "most": 200},
    "node": {"kind": "object", "required": true},
  },
  "update": {
    "op": {"kind": "word", "required": true},
    "id": {"kind": "id", "required": true},
    "props": {"kind": "object", "required": true},
    "visible": {"kind": "value", "required": false},
  },
  "remove": {"op": {"kind": "word", "required": true}, "id": {"kind": "id", "required": true}},
} as const;

export const CODES = {
  "document.too_large": {"phase": "bytes", "means": "more bytes than a document may have"},
  "document.not_utf8": {"phase": "bytes", "means": "the bytes are not UTF-8"},
  "document.bad_json": {"phase": "scanner", "means": "the text is not JSON"},
  "document.not_json": {"phase": "scanner", "means": "the value has no place in JSON"},
  "document.too_deep": {"phase": "scanner", "means": "nested deeper than 64 levels"},
  "document.too_many_values": {"phase": "scanner", "means": "more than 32,768 values"},
  "document.too_many_keys": {"phase": "scanner", "means": "more than 4,096 keys in one object"},
  "document.too_many_items": {"phase": "scanner", "means": "more than 4,096 items in one array"},
  "document.string_too_long": {"phase": "scanner", "means": "a string of more than 16,384 UTF-16 units"},
  "document.duplicate_key": {"phase": "scanner", "means": "the key occurs twice in one object"},
  "document.lone_surrogate": {"phase": "scanner", "means": "half of a surrogate pair"},
  "document.number_range": {"phase": "scanner", "means": "the number is not finite or beyond 2^53 - 1"},
  "document.reserved_key": {"phase": "scanner", "means": "the key is reserved in JavaScript"},
  "document.too_many_nodes": {"phase": "budgets", "means": "more than 200 nodes"},
  "document.ui_too_deep": {"phase": "budgets", "means": "nodes nested deeper than 16 levels"},
  "document.too_many_expressions": {"phase": "budgets", "means": "more than 2,048 parts of expressions"},
  "document.expression_too_deep": {"phase": "budgets", "means": "an expression nested deeper than 24 levels"},
  "document.wrong_type": {"phase": "shape", "means": "the value is of another type than this place takes"},
  "document.unknown_key": {"phase": "shape", "means": "this object has no such key"},
  "document.missing_key": {"phase": "shape", "means": "a key is missing that this object must have"},
  "document.unknown_version": {"phase": "shape", "means": "the version is none of those spoken here"},
  "document.unknown_type": {"phase": "shape", "means": "there is no such component, field or action"},
  "document.unknown_operator": {"phase": "shape", "means": "there is no such operator"},
  "document.not_in_version": {"phase": "shape", "means": "a later version of the language has this, not the document's"},
  "document.bad_id": {
    "phase": "shape",
    "means": "an id is a letter and at most 63 letters, digits, `_` or `-`, and no name of every object",
  },
  "document.bad_name": {
    "phase": "shape",
    "means": "a capability's name is a letter and at most 127 letters, digits, `_`, `.` or `-`",
  },
  "document.not_allowed": {"phase": "shape", "means": "the word is none of those this place takes"},
  "document.wrong_length": {"phase": "shape", "means": "the text is too short or too long for this place"},
  "document.wrong_count": {"phase": "shape", "means": "too few or too many of them"},
  "document.out_of_range": {"phase": "shape", "means": "the number is too small or too large for this place"},
  "document.wrong_arity": {"phase": "shape", "means": "the operator takes another number of arguments"},
  "document.duplicate_id": {"phase": "meaning", "means": "the id is taken"},
  "document.duplicate_value": {"phase": "meaning", "means": "the value is there already"},
  "document.unknown_ref": {"phase": "meaning", "means": "neither a state field nor a derived value has this id"},
  "document.unknown_field": {"phase": "meaning", "means": "no state field has this id"},
  "document.unknown_action": {"phase": "meaning", "means": "no action has this id"},
  "document.cycle": {"phase": "meaning", "means": "the derived value depends on itself"},
  "document.type_mismatch": {"phase": "meaning", "means": "the type is not the one needed here; nothing is converted"},
  "document.bad_range": {"phase": "meaning", "means": "the maximum is below the minimum"},
  "document.out_of_domain": {"phase": "meaning", "means": "the value is none the state field may have"},
  "document.range_differs": {"phase": "meaning", "means": "a control repeats the range of its field or leaves it out"},
  "document.options_differ": {"phase": "meaning", "means": "all selects of one field offer the same values"},
  "document.wrong_children": {"phase": "meaning", "means": "tabs have exactly one child each"},
  "document.nested_form": {"phase": "meaning", "means": "a form stands in no other form"},
  "document.not_structured": {"phase": "meaning", "means": "a structured document has no input and no actions"},
  "document.not_evaluable": {"phase": "meaning", "means": "it has no value on the defaults"},
  "document.division_by_zero": {"phase": "evaluation", "means": "division by zero"},
  "document.invalid_power": {
    "phase": "evaluation",
    "means": "no power: the exponent is neither 0.5 nor whole and at most 1,024, or there is no such root",
  },
  "document.value_range": {"phase": "evaluation", "means": "a number on the way is beyond 1e15"},
  "document.text_too_long": {"phase": "evaluation", "means": "a text on the way is longer than 4,096 UTF-16 units"},
  "document.too_many_steps": {"phase": "evaluation", "means": "more than 8,192 steps"},
  "document.state_too_large": {"phase": "state", "means": "the whole state is more than 256 KiB"},
  "document.arguments_too_large": {"phase": "state", "means": "the arguments are more than 16 KiB"},
  "document.patch_target": {"phase": "patch", "means": "the operation names a node, parent or place that is not there"},
  "document.patch_too_large": {"phase": "patch", "means": "the operations are more than 64 KiB"},
  "document.declarations_changed": {
    "phase": "patch",
    "means": "version, state, derived values, actions, options of selects, the root's id and the types of nodes are fixed",
  },
  "document.frame_generation": {"phase": "frames", "means": "the frame is for another generation"},
  "document.frame_epoch": {"phase": "frames", "means": "the generation was opened before a restart and takes no more frames"},
  "document.frame_conflict": {"phase": "frames", "means": "another frame had this number"},
  "document.frame_gap": {"phase": "frames", "means": "a frame is missing before this one; send a checkpoint"},
  "document.frame_base": {"phase": "frames", "means": "the frame builds on another revision than the present one"},
  "document.frame_budget": {"phase": "frames", "means": "the generation has had its 256 frames or 16 MiB"},
} as const;
