"""Why a schema is refused: the closed list of reasons."""

from enum import StrEnum
from typing import Final, Literal


class SchemaFault(StrEnum):
    """The word for what is wrong with a declared schema."""

    NOT_AN_OBJECT = "not_an_object"
    """The root does not say `"type": "object"`."""

    NOT_JSON = "not_json"
    """Holds something JSON has no word for, or half of a surrogate pair."""

    UNSAFE_NUMBER = "unsafe_number"
    """Holds an integer beyond 2^53 - 1 or a number that is not finite."""

    TOO_LARGE = "schema_too_large"
    TOO_DEEP = "schema_too_deep"

    REMOTE_REF = "remote_ref"
    """A reference leaves the document, or the document renames itself so that it might."""

    DANGLING_REF = "dangling_ref"
    UNSUPPORTED = "unsupported_keyword"
    """Another dialect, or a keyword its dialect would silently ignore."""

    CYCLE = "schema_cycle"
    """A schema applies itself to the same value, so a check would never end."""

    TOO_COMPLEX = "schema_too_complex"
    BAD_PATTERN = "bad_pattern"
    """A pattern is wrong, too large, or needs backtracking (look-around, back-references)."""

    BAD_SCHEMA = "bad_schema"
    """The dialect's own meta-schema refuses it."""


class SchemaRefused(ValueError):
    """A declared schema is not accepted.

    Attributes:
        code: the wire code, always `schema_refused`.
        fault: which reason.
        pointer: to the place in the schema, at most 256 characters.
        reason: the fault's word and what was found.
    """

    code: Final[Literal["schema_refused"]] = "schema_refused"

    def __init__(self, fault: SchemaFault, pointer: str, words: str) -> None:
        """Make the refusal; its message holds fault, pointer and words."""
        self.fault: Final = fault
        self.pointer: Final = pointer
        self.reason: Final = f"{fault}: {words}"
        super().__init__(f"{self.reason} at `{pointer}`")
