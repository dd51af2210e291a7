"""Phase 2: how many nodes and expressions a document has and how deep they go, before its shape is known.

Recursion is bounded here: the scanner let nothing through that is deeper than 64.
"""

from itertools import chain
from typing import Any, Final, cast

from surface_host.documents.codes import DocumentCode, refused
from surface_host.documents.pointers import cut, segment
from surface_host.documents.table import LIMITS

_NODES: Final = LIMITS["nodes"]
_UI_DEPTH: Final = LIMITS["ui_depth"]
_EXPRESSIONS: Final = LIMITS["expressions"]
_EXPRESSION_DEPTH: Final = LIMITS["expression_depth"]

_Object = dict[str, Any]


def check_budgets(document: Any) -> None:
    """Count nodes and parts of expressions.

    Raises:
        Refused: the first that is one too many or one too deep.
    """
    if isinstance(document, dict):
        _Counts().document(cast("_Object", document))


def _may_hold_expressions(items: list[Any]) -> bool:
    """Whether an object among the items has an object in it. Most are rows of plain cells, and there may be many."""
    objects: list[_Object] = [item for item in items if type(item) is dict]
    return dict in map(type, chain.from_iterable(item.values() for item in objects))


class _Counts:
    def __init__(self) -> None:
        self._nodes = 0
        self._expressions = 0

    def document(self, document: _Object) -> None:
        for key, value in document.items():
            if key == "root":
                self.node(value, "/root", 1)
            elif isinstance(value, dict):
                members = cast("_Object", value)
                if key == "derived":
                    self._places(members, "/derived")
                elif key == "actions":
                    for name, action in members.items():
                        self._action(action, "/actions" + segment(name))

    def node(self, node: Any, at: str, depth: int) -> None:
        if not isinstance(node, dict):
            return
        self._nodes += 1
        if self._nodes > _NODES:
            raise refused(DocumentCode.TOO_MANY_NODES, cut(at))
        if depth > _UI_DEPTH:
            raise refused(DocumentCode.UI_TOO_DEEP, cut(at))
        for key, value in cast("_Object", node).items():
            if key == "visible":
                self._place(value, f"{at}/visible")
            elif key == "props" and isinstance(value, dict):
                self._props(cast("_Object", value), f"{at}/props")
            elif key == "children" and isinstance(value, list):
                for index, child in enumerate(cast("list[Any]", value)):
                    self.node(child, f"{at}/children/{index}", depth + 1)

    def _props(self, props: _Object, at: str) -> None:
        for key, value in props.items():
            if isinstance(value, dict):
                self._expression(cast("_Object", value), at + segment(key), 1)
            elif isinstance(value, list):
                items = cast("list[Any]", value)
                if _may_hold_expressions(items):
                    self._items(items, at + segment(key))

    def _items(self, items: list[Any], at: str) -> None:
        for index, item in enumerate(items):
            if isinstance(item, dict):
                self._places(cast("_Object", item), f"{at}/{index}")

    def _action(self, action: Any, at: str) -> None:
        if not isinstance(action, dict):
            return
        for key, value in cast("_Object", action).items():
            if key == "value":
                self._place(value, f"{at}/value")
            elif key == "args" and isinstance(value, dict):
                self._places(cast("_Object", value), f"{at}/args")

    def _places(self, members: _Object, at: str) -> None:
        for key, value in members.items():
            if isinstance(value, dict):
                self._expression(cast("_Object", value), at + segment(key), 1)

    def _place(self, value: Any, at: str) -> None:
        if isinstance(value, dict):
            self._expression(cast("_Object", value), at, 1)

    def _expression(self, expression: _Object, at: str, depth: int) -> None:
        self._count(at, depth)
        arguments = expression.get("args")
        if isinstance(arguments, list):
            for index, argument in enumerate(cast("list[Any]", arguments)):
                here = f"{at}/args/{index}"
                if isinstance(argument, dict):
                    self._expression(cast("_Object", argument), here, depth + 1)
                else:
                    self._count(here, depth + 1)

    def _count(self, at: str, depth: int) -> None:
        self._expressions += 1
        if self._expressions > _EXPRESSIONS:
            raise refused(DocumentCode.TOO_MANY_EXPRESSIONS, cut(at))
        if depth > _EXPRESSION_DEPTH:
            raise refused(DocumentCode.EXPRESSION_TOO_DEEP, cut(at))
