"""Judges UI documents and what is done with them. Pure: no clock, no I/O (design §12, rules A and H).

`judge` and `judge_value` return a `Document` or raise `Refused`; everything else takes a `Document`. The norm both
halves follow is in the docstrings of `table`, `evaluation`, `state`, `patches` and `frames`.
"""

from surface_host.documents.codes import DocumentCode, Issue, Refused
from surface_host.documents.declarations import Declarations, Domain, Json, Scalar
from surface_host.documents.document import Document, judge, judge_value
from surface_host.documents.evaluation import Evaluation, Failure
from surface_host.documents.frames import Frame, FrameKind, Generation, Status, Step, open_generation, take
from surface_host.documents.patches import apply_patch
from surface_host.documents.scanner import assert_safe_json
from surface_host.documents.state import (
    State,
    action_arguments,
    initial_state,
    map_result,
    restore_state,
    run_action,
    update_state,
)
from surface_host.documents.table import LIMITS, PROTOCOL, DocumentKind

__all__ = [
    "LIMITS",
    "PROTOCOL",
    "Declarations",
    "Document",
    "DocumentCode",
    "DocumentKind",
    "Domain",
    "Evaluation",
    "Failure",
    "Frame",
    "FrameKind",
    "Generation",
    "Issue",
    "Json",
    "Refused",
    "Scalar",
    "State",
    "Status",
    "Step",
    "action_arguments",
    "apply_patch",
    "assert_safe_json",
    "initial_state",
    "judge",
    "judge_value",
    "map_result",
    "open_generation",
    "restore_state",
    "run_action",
    "take",
    "update_state",
]
