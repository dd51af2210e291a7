"""Phase 3: whether a document has the shape the table gives it. It knows no meaning: references are only texts here.

The walk goes on behind a fault, so that the author hears of up to 20; the first is the verdict.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar, cast

from surface_host.documents.codes import DocumentCode, Issue, Refused
from surface_host.documents.pointers import cut, segment, units
from surface_host.documents.quick import are_plain_rows, is_id, plan_of
from surface_host.documents.table import (
    ACTIONS,
    ACTIONS_SINCE,
    COMPONENTS,
    DOCUMENT,
    EXPRESSIONS,
    FIELDS,
    LIMITS,
    NAME_PATTERN,
    NODE,
    OPERATORS,
    PATCH,
    VERSIONS,
    Member,
)

_NAME: Final = re.compile(NAME_PATTERN)
_LEAF: Final = {name: member for name, member in NODE.items() if name != "children"}
_PATCH_LIST: Final = Member(kind="list", least=1, most=LIMITS["patch_operations"])
_ISSUES: Final = LIMITS["issues"]
_MAGNITUDE: Final = LIMITS["magnitude"]
_SCALAR: Final = LIMITS["scalar"]
_DECIMALS: Final = LIMITS["decimals"]

_Object = dict[str, Any]
_Known = TypeVar("_Known")
_Judge = Callable[[Any, str, Member], None]


class _Enough(Exception):
    """The author has heard of enough faults."""


def check_shape(document: Any) -> None:
    """Judge the shape of a whole document.

    Raises:
        Refused: with up to 20 faults in document order.
    """
    _judge(lambda shape: shape.document(document))


def check_patch(patch: Any) -> None:
    """Judge the shape of a patch; what its nodes and props hold is judged with the document they lead to.

    Raises:
        Refused: as `check_shape`, with pointers into the patch.
    """
    _judge(lambda shape: shape.patch(patch))


def _judge(walk: Callable[["_Shape"], None]) -> None:
    shape = _Shape()
    with suppress(_Enough):
        walk(shape)
    if shape.issues:
        raise Refused(tuple(shape.issues))


class _Shape:
    def __init__(self) -> None:
        self.issues: list[Issue] = []
        self._version = VERSIONS[-1]
        self._judges: Mapping[str, _Judge] = {
            "text": self._text,
            "id": self._id,
            "field": self._id,
            "action": self._id,
            "name": self._name,
            "word": self._word,
            "flag": self._flag,
            "integer": self._integer,
            "number": self._number,
            "positive": self._positive,
            "scalar": self._scalar,
            "expr": lambda value, at, _: self._expr(value, at),
            "list": self._list,
            "rows": self._rows,
            "ids": self._ids,
            "map": self._map,
            "node": lambda value, at, _: self.node(value, at),
            "nodes": self._nodes,
            "object": self._object,
            "value": self._anything,
        }
        self._values: Mapping[str, Callable[[Any, str], None]] = {
            "field": self._state_field,
            "expr": self._expr,
            "action": self._action,
            "id": lambda value, at: self._id(value, at, DOCUMENT["state"]),
        }

    def fault(self, code: DocumentCode, at: str) -> None:
        self.issues.append(Issue(code=code, pointer=cut(at), reason=code.means))
        if len(self.issues) >= _ISSUES:
            raise _Enough

    # ---- objects -------------------------------------------------------------------------------------------------

    def document(self, value: Any) -> None:
        if not self._is_object(value, ""):
            return
        version = self._discriminated(
            value, "", "version", dict.fromkeys(VERSIONS, True), DocumentCode.UNKNOWN_VERSION
        )
        if version:
            self._version = value["version"]
        self._close(value, "", DOCUMENT)
        self._go_through(value, "", DOCUMENT, but="version")

    def node(self, value: Any, at: str) -> None:
        if not self._is_object(value, at):
            return
        component = self._discriminated(value, at, "type", COMPONENTS, DocumentCode.UNKNOWN_TYPE)
        members = NODE if component is None or component.children else _LEAF
        self._close(value, at, members)
        plan = plan_of(members)
        for key, item in value.items():
            if key == "props":
                if self._is_object(item, f"{at}/props") and component is not None:
                    self._close(item, f"{at}/props", component.props)
                    self._go_through(item, f"{at}/props", component.props)
            elif key in members and key != "type" and not plan.vouches_for(key, item):
                self._judges[members[key].kind](item, f"{at}/{key}", members[key])

    def patch(self, value: Any) -> None:
        for index, operation in enumerate(self._counted(value, "", _PATCH_LIST)):
            at = f"/{index}"
            if self._is_object(operation, at):
                members = self._discriminated(operation, at, "op", PATCH, DocumentCode.NOT_ALLOWED)
                if members is not None:
                    self._close(operation, at, members)
                    self._go_through(operation, at, members, but="op")

    def _object(self, value: Any, at: str, _: Member) -> None:
        self._is_object(value, at)

    def _anything(self, value: Any, at: str, member: Member) -> None:
        """It is judged elsewhere."""

    def _state_field(self, value: Any, at: str) -> None:
        if self._is_object(value, at):
            members = self._discriminated(value, at, "type", FIELDS, DocumentCode.UNKNOWN_TYPE)
            if members is not None:
                self._close(value, at, members)
                self._go_through(value, at, members, but="type")

    def _action(self, value: Any, at: str) -> None:
        if not self._is_object(value, at):
            return
        members = self._discriminated(value, at, "type", ACTIONS, DocumentCode.UNKNOWN_TYPE)
        if members is None:
            return
        if ACTIONS_SINCE[value["type"]] > self._version:
            self.fault(DocumentCode.NOT_IN_VERSION, f"{at}/type")
        self._close(value, at, members)
        self._go_through(value, at, members, but="type")

    def _expr(self, value: Any, at: str) -> None:
        kind = cast("object", type(value))
        if kind is str:
            # A text of at most half the limit fits whatever it holds.
            if len(value) > _SCALAR // 2 and units(value) > _SCALAR:
                self.fault(DocumentCode.WRONG_LENGTH, at)
        elif kind is int or kind is float:
            if not -_MAGNITUDE <= value <= _MAGNITUDE:
                self.fault(DocumentCode.OUT_OF_RANGE, at)
        elif kind is dict:
            self._operation(value, at) if "op" in value else self._reference(value, at)
        elif kind is not bool:
            self.fault(DocumentCode.WRONG_TYPE, at)

    def _reference(self, value: _Object, at: str) -> None:
        self._close(value, at, EXPRESSIONS["ref"])
        self._go_through(value, at, EXPRESSIONS["ref"])

    def _operation(self, value: _Object, at: str) -> None:
        operator = self._discriminated(value, at, "op", OPERATORS, DocumentCode.UNKNOWN_OPERATOR)
        self._close(value, at, EXPRESSIONS["op"])
        arguments = value.get("args")
        if operator is None or "args" not in value:
            return
        at = f"{at}/args"
        if not isinstance(arguments, list):
            self.fault(DocumentCode.WRONG_TYPE, at)
            return
        items = cast("list[Any]", arguments)
        if not operator.least <= len(items) <= operator.most:
            self.fault(DocumentCode.WRONG_ARITY, at)
        for index, item in enumerate(items):
            if index > 0 and operator.takes[-1] == "decimals":
                self._whole(item, f"{at}/{index}", 0, _DECIMALS)
            else:
                self._expr(item, f"{at}/{index}")

    # ---- what objects have in common -----------------------------------------------------------------------------

    def _is_object(self, value: Any, at: str) -> bool:
        if isinstance(value, dict):
            return True
        self.fault(DocumentCode.WRONG_TYPE, at)
        return False

    def _discriminated(
        self, value: _Object, at: str, key: str, known: Mapping[str, _Known], code: DocumentCode
    ) -> _Known | None:
        if key not in value:
            self.fault(DocumentCode.MISSING_KEY, at)
            return None
        word = value[key]
        if not isinstance(word, str):
            self.fault(DocumentCode.WRONG_TYPE, f"{at}/{key}")
            return None
        if word not in known:
            self.fault(code, f"{at}/{key}")
            return None
        return known[word]

    def _close(self, value: _Object, at: str, members: Mapping[str, Member]) -> None:
        if plan_of(members).is_closed(value):
            return
        for key in value:
            if key not in members:
                self.fault(DocumentCode.UNKNOWN_KEY, at + segment(key))
        for name, member in members.items():
            if member.required and name not in value:
                self.fault(DocumentCode.MISSING_KEY, at)

    def _go_through(self, value: _Object, at: str, members: Mapping[str, Member], *, but: str = "") -> None:
        plan = plan_of(members)
        for key, item in value.items():
            if key != but and key in members and not plan.vouches_for(key, item):
                self._judges[members[key].kind](item, f"{at}/{key}", members[key])

    # ---- values --------------------------------------------------------------------------------------------------

    def _text(self, value: Any, at: str, member: Member) -> None:
        if type(value) is not str:
            self.fault(DocumentCode.WRONG_TYPE, at)
        elif not (member.least or 0) <= units(value) <= (member.most or 0):
            self.fault(DocumentCode.WRONG_LENGTH, at)

    def _id(self, value: Any, at: str, _: Member) -> None:
        if type(value) is not str:
            self.fault(DocumentCode.WRONG_TYPE, at)
        elif not is_id(value):
            self.fault(DocumentCode.BAD_ID, at)

    def _name(self, value: Any, at: str, _: Member) -> None:
        if type(value) is not str:
            self.fault(DocumentCode.WRONG_TYPE, at)
        elif _NAME.fullmatch(value) is None:
            self.fault(DocumentCode.BAD_NAME, at)

    def _word(self, value: Any, at: str, member: Member) -> None:
        if type(value) is not str:
            self.fault(DocumentCode.WRONG_TYPE, at)
        elif value not in member.words:
            self.fault(DocumentCode.NOT_ALLOWED, at)

    def _flag(self, value: Any, at: str, _: Member) -> None:
        if type(value) is not bool:
            self.fault(DocumentCode.WRONG_TYPE, at)

    def _integer(self, value: Any, at: str, member: Member) -> None:
        self._whole(value, at, member.least or 0, member.most or 0)

    def _whole(self, value: Any, at: str, least: int, most: int) -> None:
        # The scanner makes every whole number an int.
        if type(value) is not int:
            self.fault(DocumentCode.WRONG_TYPE, at)
        elif not least <= value <= most:
            self.fault(DocumentCode.OUT_OF_RANGE, at)

    def _number(self, value: Any, at: str, _: Member) -> None:
        if type(value) is not int and type(value) is not float:
            self.fault(DocumentCode.WRONG_TYPE, at)
        elif not -_MAGNITUDE <= value <= _MAGNITUDE:
            self.fault(DocumentCode.OUT_OF_RANGE, at)

    def _positive(self, value: Any, at: str, _: Member) -> None:
        if type(value) is not int and type(value) is not float:
            self.fault(DocumentCode.WRONG_TYPE, at)
        elif not 0 < value <= _MAGNITUDE:
            self.fault(DocumentCode.OUT_OF_RANGE, at)

    def _scalar(self, value: Any, at: str, _: Member) -> None:
        if isinstance(value, dict):
            self.fault(DocumentCode.WRONG_TYPE, at)
        else:
            self._expr(value, at)

    # ---- many ----------------------------------------------------------------------------------------------------

    def _counted(self, value: Any, at: str, member: Member) -> list[Any]:
        if not isinstance(value, list):
            self.fault(DocumentCode.WRONG_TYPE, at)
            return []
        items = cast("list[Any]", value)
        if not (member.least or 0) <= len(items) <= (member.most or 0):
            self.fault(DocumentCode.WRONG_COUNT, at)
        return items

    def _list(self, value: Any, at: str, member: Member) -> None:
        assert member.members is not None
        plan = plan_of(member.members)
        for index, item in enumerate(self._counted(value, at, member)):
            if plan.vouches_for_object(item):
                continue
            here = f"{at}/{index}"
            if self._is_object(item, here):
                self._close(item, here, member.members)
                self._go_through(item, here, member.members)

    def _rows(self, value: Any, at: str, member: Member) -> None:
        rows = self._counted(value, at, member)
        if are_plain_rows(rows):
            return
        for index, row in enumerate(rows):
            here = f"{at}/{index}"
            if self._is_object(row, here):
                for key, cell in cast("_Object", row).items():
                    self._expr(cell, here + segment(key))

    def _ids(self, value: Any, at: str, member: Member) -> None:
        for index, item in enumerate(self._counted(value, at, member)):
            self._id(item, f"{at}/{index}", member)

    def _map(self, value: Any, at: str, member: Member) -> None:
        if not self._is_object(value, at):
            return
        if len(value) > (member.most or 0):
            self.fault(DocumentCode.WRONG_COUNT, at)
        for key, item in cast("_Object", value).items():
            here = at + segment(key)
            if not is_id(key):
                self.fault(DocumentCode.BAD_ID, here)
            self._values[member.of or "id"](item, here)

    def _nodes(self, value: Any, at: str, _: Member) -> None:
        if not isinstance(value, list):
            self.fault(DocumentCode.WRONG_TYPE, at)
            return
        for index, item in enumerate(cast("list[Any]", value)):
            self.node(item, f"{at}/{index}")
