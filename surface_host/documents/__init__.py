"""Judges UI documents and what is done with them. Pure: no clock, no I/O (design §12, rules A and H).

`judge` and `judge_value` return a `Document` or raise `Refused`; everything else takes a `Document`. The norm both
halves follow is in the docstrings of `table`, `evaluation`, `state`, `patches` and `frames`.
"""

from surface_host.documents.codes import DocumentCode, Issue, Refused
from surface_host.documents.declarations import Domain, Json, Scalar
from surface_host.documents.document import Document, judge, judge_value
from surface_host.documents.evaluation import Evaluation, Failure
from surface_host.documents.table import LIMITS, PROTOCOL, DocumentKind

__all__ = [
    "LIMITS",
    "PROTOCOL",
    "Document",
    "DocumentCode",
    "DocumentKind",
    "Domain",
    "Evaluation",
    "Failure",
    "Issue",
    "Json",
    "Refused",
    "Scalar",
    "judge",
    "judge_value",
]
