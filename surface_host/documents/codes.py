"""What can be wrong with a document, a state, an evaluation, a patch or a frame: one code for each kind of fault.

The words say what and never which value (rules A4). The phases are those of `table`; what belongs to none is judged
when a document is in use.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Phase = Literal["bytes", "scanner", "budgets", "shape", "meaning", "evaluation", "state", "patch", "frames"]


class DocumentCode(StrEnum):
    """`document.` and a word; the value is the wire spelling."""

    phase: Phase
    means: str

    def __new__(cls, word: str, phase: Phase, means: str) -> "DocumentCode":
        """Make the code from its word."""
        made = str.__new__(cls, f"document.{word}")
        made._value_ = f"document.{word}"
        made.phase = phase
        made.means = means
        return made

    TOO_LARGE = "too_large", "bytes", "more bytes than a document may have"
    NOT_UTF8 = "not_utf8", "bytes", "the bytes are not UTF-8"

    BAD_JSON = "bad_json", "scanner", "the text is not JSON"
    NOT_JSON = "not_json", "scanner", "the value has no place in JSON"
    TOO_DEEP = "too_deep", "scanner", "nested deeper than 64 levels"
    TOO_MANY_VALUES = "too_many_values", "scanner", "more than 32,768 values"
    TOO_MANY_KEYS = "too_many_keys", "scanner", "more than 4,096 keys in one object"
    TOO_MANY_ITEMS = "too_many_items", "scanner", "more than 4,096 items in one array"
    STRING_TOO_LONG = "string_too_long", "scanner", "a string of more than 16,384 UTF-16 units"
    DUPLICATE_KEY = "duplicate_key", "scanner", "the key occurs twice in one object"
    LONE_SURROGATE = "lone_surrogate", "scanner", "half of a surrogate pair"
    NUMBER_RANGE = "number_range", "scanner", "the number is not finite or beyond 2^53 - 1"
    RESERVED_KEY = "reserved_key", "scanner", "the key is reserved in JavaScript"

    TOO_MANY_NODES = "too_many_nodes", "budgets", "more than 200 nodes"
    UI_TOO_DEEP = "ui_too_deep", "budgets", "nodes nested deeper than 16 levels"
    TOO_MANY_EXPRESSIONS = "too_many_expressions", "budgets", "more than 2,048 parts of expressions"
    EXPRESSION_TOO_DEEP = "expression_too_deep", "budgets", "an expression nested deeper than 24 levels"

    WRONG_TYPE = "wrong_type", "shape", "the value is of another type than this place takes"
    UNKNOWN_KEY = "unknown_key", "shape", "this object has no such key"
    MISSING_KEY = "missing_key", "shape", "a key is missing that this object must have"
    UNKNOWN_VERSION = "unknown_version", "shape", "the version is none of those spoken here"
    UNKNOWN_TYPE = "unknown_type", "shape", "there is no such component, field or action"
    UNKNOWN_OPERATOR = "unknown_operator", "shape", "there is no such operator"
    NOT_IN_VERSION = "not_in_version", "shape", "a later version of the language has this, not the document's"
    BAD_ID = (
        "bad_id",
        "shape",
        "an id is a letter and at most 63 letters, digits, `_` or `-`, and no name of every object",
    )
    BAD_NAME = "bad_name", "shape", "a capability's name is a letter and at most 127 letters, digits, `_`, `.` or `-`"
    NOT_ALLOWED = "not_allowed", "shape", "the word is none of those this place takes"
    WRONG_LENGTH = "wrong_length", "shape", "the text is too short or too long for this place"
    WRONG_COUNT = "wrong_count", "shape", "too few or too many of them"
    OUT_OF_RANGE = "out_of_range", "shape", "the number is too small or too large for this place"
    WRONG_ARITY = "wrong_arity", "shape", "the operator takes another number of arguments"

    DUPLICATE_ID = "duplicate_id", "meaning", "the id is taken"
    DUPLICATE_VALUE = "duplicate_value", "meaning", "the value is there already"
    UNKNOWN_REF = "unknown_ref", "meaning", "neither a state field nor a derived value has this id"
    UNKNOWN_FIELD = "unknown_field", "meaning", "no state field has this id"
    UNKNOWN_ACTION = "unknown_action", "meaning", "no action has this id"
    CYCLE = "cycle", "meaning", "the derived value depends on itself"
    TYPE_MISMATCH = "type_mismatch", "meaning", "the type is not the one needed here; nothing is converted"
    BAD_RANGE = "bad_range", "meaning", "the maximum is below the minimum"
    OUT_OF_DOMAIN = "out_of_domain", "meaning", "the value is none the state field may have"
    RANGE_DIFFERS = "range_differs", "meaning", "a control repeats the range of its field or leaves it out"
    OPTIONS_DIFFER = "options_differ", "meaning", "all selects of one field offer the same values"
    WRONG_CHILDREN = "wrong_children", "meaning", "tabs have exactly one child each"
    NESTED_FORM = "nested_form", "meaning", "a form stands in no other form"
    NOT_STRUCTURED = "not_structured", "meaning", "a structured document has no input and no actions"
    NOT_EVALUABLE = "not_evaluable", "meaning", "it has no value on the defaults"

    DIVISION_BY_ZERO = "division_by_zero", "evaluation", "division by zero"
    INVALID_POWER = (
        "invalid_power",
        "evaluation",
        "no power: the exponent is neither 0.5 nor whole and at most 1,024, or there is no such root",
    )
    VALUE_RANGE = "value_range", "evaluation", "a number on the way is beyond 1e15"
    TEXT_TOO_LONG = "text_too_long", "evaluation", "a text on the way is longer than 4,096 UTF-16 units"
    TOO_MANY_STEPS = "too_many_steps", "evaluation", "more than 8,192 steps"

    STATE_TOO_LARGE = "state_too_large", "state", "the whole state is more than 256 KiB"
    ARGUMENTS_TOO_LARGE = "arguments_too_large", "state", "the arguments are more than 16 KiB"

    PATCH_TARGET = "patch_target", "patch", "the operation names a node, parent or place that is not there"
    PATCH_TOO_LARGE = "patch_too_large", "patch", "the operations are more than 64 KiB"
    DECLARATIONS_CHANGED = (
        "declarations_changed",
        "patch",
        "version, state, derived values, actions, options of selects, the root's id and the types of nodes are fixed",
    )

    FRAME_GENERATION = "frame_generation", "frames", "the frame is for another generation"
    FRAME_EPOCH = "frame_epoch", "frames", "the generation was opened before a restart and takes no more frames"
    FRAME_CONFLICT = "frame_conflict", "frames", "another frame had this number"
    FRAME_GAP = "frame_gap", "frames", "a frame is missing before this one; send a checkpoint"
    FRAME_BASE = "frame_base", "frames", "the frame builds on another revision than the present one"
    FRAME_BUDGET = "frame_budget", "frames", "the generation has had its 256 frames or 16 MiB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """One fault: its code, where it is (RFC 6901, at most 256 units), and words for the author."""

    code: DocumentCode
    pointer: str
    reason: str


class Refused(ValueError):
    """A document, state, patch or frame is not taken.

    Attributes:
        code: of the first fault; the verdict, equal in both halves.
        pointer: of the first fault.
        issues: the first fault and, for faults of shape, up to 19 more in document order (rules A3).
    """

    def __init__(self, issues: tuple[Issue, ...]) -> None:
        """Make the refusal of at least one fault."""
        first = issues[0]
        super().__init__(f"{first.code} at `{first.pointer}`: {first.reason}")
        self.code = first.code
        self.pointer = first.pointer
        self.issues = issues


def refused(code: DocumentCode, pointer: str, reason: str | None = None) -> Refused:
    """The refusal for one fault; without `reason` in the code's own words."""
    return Refused((Issue(code=code, pointer=pointer, reason=reason or code.means),))
