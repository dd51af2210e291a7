"""Changes to a document by id. This docstring is the norm of both halves (rules H5).

A patch is an array of operations, applied one after the other to the snapshot; the whole result is then judged as a
document, so a patch leads from one legal document to another or to nothing.

1. The patch is judged as plain JSON (phase 1), in canonical form at most 65,536 bytes: `patch_too_large`.
2. Its shape by `PATCH` of `table`, as phase 3 judges objects with the discriminator `op` (an unknown one is
   `not_allowed`): the patch is an array `wrong_type`, of 1 to 256 operations `wrong_count`. `node` and `props` need only be
   objects here, and `visible` is any value.
3. Each operation. `add`: `parent` names a node whose `type` is one of the components that take children, else
   `patch_target` at `parent`; `index` is at most the number of its children, else `patch_target` at `index`; then each
   node of the added tree in pre-order (objects; below them the items of `children`, where that is an array) whose `id`
   is a text that is present in the document or earlier in the tree: `duplicate_id` at that `id`. `update`: `id` names a
   node, else `patch_target` at `id`; `props` takes the place of the old as a whole, and so does `visible` where given.
   `remove`: `id` names a node other than the root, else `patch_target` at `id`; it goes with all below it.
   Pointers of the steps 1 to 3 are into the patch.
4. The result, written out in canonical form, as any document: size, budgets, shape, meaning. Pointers are into it.

Members of a node that is updated keep their order; `visible` comes last where there was none. A parent without
`children` gets them as its last member.
"""

from collections.abc import Iterator
from typing import Any, Final, cast

from surface_host.documents.codes import DocumentCode, Refused, refused
from surface_host.documents.document import Document, judge_value
from surface_host.documents.pointers import cut
from surface_host.documents.scanner import assert_safe_json
from surface_host.documents.shape import check_patch
from surface_host.documents.table import COMPONENTS, LIMITS, DocumentKind

_C: Final = DocumentCode
_Object = dict[str, Any]


def apply_patch(document: Document, operations: object, *, kind: DocumentKind | None = None) -> Document:
    """The document after a patch.

    Args:
        document: the snapshot; it stays as it is.
        operations: plain dicts and lists.
        kind: what the result must be.

    Raises:
        Refused: the patch or its result.
    """
    try:
        patch = assert_safe_json(operations, max_bytes=LIMITS["patch_bytes"]).value
    except Refused as refusal:
        if refusal.code is _C.TOO_LARGE:
            raise refused(_C.PATCH_TOO_LARGE, "") from None
        raise
    check_patch(patch)
    value = document.thawed()
    tree = _Tree(value["root"])
    for index, operation in enumerate(cast("list[_Object]", patch)):
        tree.apply(operation, f"/{index}")
    return judge_value(value, kind=kind)


class _Tree:
    """The nodes of a candidate by id, each with the list it stands in."""

    def __init__(self, root: _Object) -> None:
        self._nodes: dict[str, tuple[_Object, list[Any] | None]] = {root["id"]: (root, None)}
        for node, siblings, _ in _below(root, ""):
            self._nodes[node["id"]] = (node, siblings)

    def apply(self, operation: _Object, at: str) -> None:
        match operation["op"]:
            case "add":
                self._add(operation, at)
            case "update":
                node, _ = self._find(operation["id"], f"{at}/id")
                node["props"] = operation["props"]
                if "visible" in operation:
                    node["visible"] = operation["visible"]
            case _:
                self._remove(operation["id"], f"{at}/id")

    def _add(self, operation: _Object, at: str) -> None:
        parent, _ = self._find(operation["parent"], f"{at}/parent")
        component = COMPONENTS.get(parent["type"]) if isinstance(parent.get("type"), str) else None
        if component is None or not component.children:
            raise refused(_C.PATCH_TARGET, f"{at}/parent")
        children = parent.setdefault("children", [])
        if not isinstance(children, list) or operation["index"] > len(cast("list[Any]", children)):
            raise refused(_C.PATCH_TARGET, f"{at}/index")
        siblings = cast("list[Any]", children)
        added: _Object = operation["node"]
        for node, within, here in ((added, siblings, f"{at}/node"), *_below(added, f"{at}/node")):
            name = node.get("id")
            if isinstance(name, str):
                if name in self._nodes:
                    raise refused(_C.DUPLICATE_ID, cut(f"{here}/id"))
                self._nodes[name] = (node, within)
        siblings.insert(operation["index"], added)

    def _remove(self, name: str, at: str) -> None:
        node, siblings = self._find(name, at)
        if siblings is None:
            raise refused(_C.PATCH_TARGET, at)
        # By identity: two nodes without an id may be equal.
        siblings[:] = [sibling for sibling in siblings if sibling is not node]
        for gone in (node, *(below for below, _, _ in _below(node, ""))):
            if isinstance(gone.get("id"), str):
                del self._nodes[gone["id"]]

    def _find(self, name: str, at: str) -> tuple[_Object, list[Any] | None]:
        if name not in self._nodes:
            raise refused(_C.PATCH_TARGET, at)
        return self._nodes[name]


def _below(node: _Object, at: str) -> Iterator[tuple[_Object, list[Any], str]]:
    """Each object below a node whose shape is not known, in pre-order, with the list it stands in and its pointer."""
    children = node.get("children")
    if isinstance(children, list):
        siblings = cast("list[Any]", children)
        for index, child in enumerate(siblings):
            if isinstance(child, dict):
                here = f"{at}/children/{index}"
                yield cast("_Object", child), siblings, here
                yield from _below(cast("_Object", child), here)
