"""The verdict on a whole document, and the document it lets through."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from surface_host.documents.budgets import check_budgets
from surface_host.documents.canonical import sha256_of
from surface_host.documents.declarations import Declarations, Json, frozen, nodes_of, thawed
from surface_host.documents.meaning import check_meaning, is_structured
from surface_host.documents.scanner import Scanned, assert_safe_json, scan
from surface_host.documents.shape import check_shape
from surface_host.documents.table import LIMITS, DocumentKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document that was judged. Nothing in it can be changed.

    Attributes:
        kind: `structured` when it was judged as such, or when it has neither inputs nor actions.
        value: the whole of it, as read-only mappings, tuples and scalars; whole numbers are ints.
        canonical: RFC 8785, UTF-8.
        sha256: of `canonical`, in lower-case hex.
        declarations: state fields, derived values and actions.
        nodes: each by its id, in pre-order.
    """

    kind: DocumentKind
    value: Json
    canonical: bytes
    sha256: str
    declarations: Declarations
    nodes: Mapping[str, Json]

    @property
    def version(self) -> str:
        """`1.0` or `1.1`."""
        return self.value["version"]

    @property
    def title(self) -> str:
        """Its title."""
        return self.value["title"]

    @property
    def root(self) -> Json:
        """The root node."""
        return self.value["root"]

    @property
    def actions(self) -> Mapping[str, Json]:
        """Its actions by id."""
        return self.declarations.actions

    def thawed(self) -> dict[str, Any]:
        """A copy of the value in plain dicts and lists, for whoever sends it on."""
        return thawed(self.value)


def judge(raw: bytes, *, max_bytes: int = LIMITS["bytes"], kind: DocumentKind | None = None) -> Document:
    """Judge a document as it came (design §12). One of exactly `max_bytes` bytes passes.

    Args:
        raw: the JSON text in UTF-8, without a shell around it.
        max_bytes: the limit of this installation, 1,024 to 262,144 (rules A2).
        kind: what the document must be; None takes both.

    Raises:
        Refused: with the first fault, and up to 19 more of its shape (rules A3).
    """
    return _judged(scan(raw, max_bytes=max_bytes), kind)


def judge_value(value: object, *, max_bytes: int = LIMITS["bytes"], kind: DocumentKind | None = None) -> Document:
    """Judge a document that came as plain dicts and lists; its size is that of its canonical form.

    Raises:
        Refused: as `judge`, and `not_json` for what no JSON text can hold (rules H1).
    """
    return _judged(assert_safe_json(value, max_bytes=max_bytes), kind)


def _judged(scanned: Scanned, kind: DocumentKind | None) -> Document:
    check_budgets(scanned.value)
    check_shape(scanned.value)
    value: Json = frozen(scanned.value)
    declarations = check_meaning(value, kind)
    return Document(
        kind=kind or ("structured" if is_structured(value) else "intelligent"),
        value=value,
        canonical=scanned.canonical,
        sha256=sha256_of(scanned.canonical),
        declarations=declarations,
        nodes=MappingProxyType({node["id"]: node for node, _ in nodes_of(value["root"])}),
    )
