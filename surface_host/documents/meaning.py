"""Phase 4: what a document of the right shape means, step by step as `table` says, and the declarations it leads to."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from surface_host.documents.codes import DocumentCode, Refused, refused
from surface_host.documents.declarations import (
    Declarations,
    Domain,
    Json,
    Scalar,
    are_scalars,
    declarations_of,
    nodes_of,
    type_of,
)
from surface_host.documents.evaluation import Evaluation, Failure
from surface_host.documents.pointers import cut, segment
from surface_host.documents.table import COMPONENTS, INPUT_KINDS, DocumentKind, Member
from surface_host.documents.types import Types

_C: Final = DocumentCode


def check_meaning(document: Json, kind: DocumentKind | None) -> Declarations:
    """Judge a frozen document of the right shape.

    Raises:
        Refused: the first fault.
    """
    declared = declarations_of(document)
    _check_ids(document, declared)
    _check_fields(declared)
    types = Types(declared)
    declared = replace(declared, order=types.order())
    _check_actions(declared, types)
    nodes = _Nodes(declared, types)
    nodes.check(document["root"], "/root", in_form=False)
    declared = declared.with_options(nodes.options)
    if kind == "structured":
        _check_structured(document, declared)
    _check_defaults(declared)
    return declared


def is_structured(document: Json) -> bool:
    """Whether a document has neither actions nor inputs."""
    return not document.get("actions") and not any(map(_is_input, (node for node, _ in nodes_of(document["root"]))))


def _is_input(node: Json) -> bool:
    return COMPONENTS[node["type"]].group == "input"


def _fault(code: DocumentCode, at: str) -> Refused:
    return refused(code, cut(at))


# ---- 1: ids ------------------------------------------------------------------------------------------------------


def _check_ids(document: Json, declared: Declarations) -> None:
    for name in declared.derived:
        if name in declared.domains:
            raise _fault(_C.DUPLICATE_ID, f"/derived/{name}")
    seen: set[str] = set()
    for node, at in nodes_of(document["root"]):
        if node["id"] in seen:
            raise _fault(_C.DUPLICATE_ID, f"{at}/id")
        seen.add(node["id"])
        for name, member in COMPONENTS[node["type"]].props.items():
            if member.unique is not None:
                _check_unique(node["props"][name], f"{at}/props/{name}", member, member.unique)


def _check_unique(items: Iterable[Json], at: str, member: Member, key: str) -> None:
    assert member.members is not None
    code = _C.DUPLICATE_VALUE if member.members[key].kind == "scalar" else _C.DUPLICATE_ID
    seen: set[tuple[str | None, Scalar]] = set()
    for index, item in enumerate(items):
        value = (type_of(item[key]), item[key])
        if value in seen:
            raise _fault(code, f"{at}/{index}/{key}")
        seen.add(value)


# ---- 2: fields ---------------------------------------------------------------------------------------------------


def _check_fields(declared: Declarations) -> None:
    for name, domain in declared.domains.items():
        if domain.least is not None and domain.most is not None and domain.least > domain.most:
            raise _fault(_C.BAD_RANGE, f"/state/{name}/max")
        if domain.fault(domain.default):
            raise _fault(_C.OUT_OF_DOMAIN, f"/state/{name}/default")


# ---- 4: actions --------------------------------------------------------------------------------------------------


def _check_actions(declared: Declarations, types: Types) -> None:
    for name, action in declared.actions.items():
        at = f"/actions/{name}"
        match action["type"]:
            case "set":
                domain = _field(declared, action["field"], f"{at}/field")
                types.expect(action["value"], f"{at}/value", domain.type)
            case "reset":
                _check_reset(declared, action.get("fields", ()), f"{at}/fields")
            case _:
                for key, argument in action["args"].items():
                    types.of(argument, f"{at}/args/{key}")
                for key in action.get("resultMap", ()):
                    _field(declared, key, f"{at}/resultMap/{key}")


def _check_reset(declared: Declarations, names: tuple[str, ...], at: str) -> None:
    for index, name in enumerate(names):
        _field(declared, name, f"{at}/{index}")
        if name in names[:index]:
            raise _fault(_C.DUPLICATE_VALUE, f"{at}/{index}")


def _field(declared: Declarations, name: str, at: str) -> Domain:
    if name not in declared.domains:
        raise _fault(_C.UNKNOWN_FIELD, at)
    return declared.domains[name]


# ---- 5: nodes ----------------------------------------------------------------------------------------------------


def _meaningful(members: Mapping[str, Member]) -> Mapping[str, Member]:
    """The members whose values may be wrong though their shape is right."""
    return {
        name: member
        for name, member in members.items()
        if member.kind in ("expr", "field", "action", "rows") or (member.members and _meaningful(member.members))
    }


_MEANINGFUL: Final = {name: _meaningful(component.props) for name, component in COMPONENTS.items()}


class _Nodes:
    """Judges nodes in pre-order and learns what their Selects offer."""

    def __init__(self, declared: Declarations, types: Types) -> None:
        self.options: dict[str, tuple[Scalar, ...]] = {}
        self._declared = declared
        self._types = types

    def check(self, node: Json, at: str, *, in_form: bool) -> None:
        if "visible" in node:
            self._types.expect(node["visible"], f"{at}/visible", "boolean")
        self._members(node["props"], f"{at}/props", _MEANINGFUL[node["type"]], node["props"])
        self._special(node, at, in_form=in_form)
        in_form = in_form or node["type"] == "Form"
        for index, child in enumerate(node.get("children", ())):
            self.check(child, f"{at}/children/{index}", in_form=in_form)

    def _members(self, item: Json, at: str, members: Mapping[str, Member], props: Json) -> None:
        for name, member in members.items():
            if name in item:
                self._member(item[name], f"{at}/{name}", member, props)

    def _member(self, value: Any, at: str, member: Member, props: Json) -> None:
        match member.kind:
            case "expr":
                self._types.expect(value, at, member.gives)
            case "field":
                wanted = (INPUT_KINDS[props["kind"]],) if "kind" in props else member.holds
                if _field(self._declared, value, at).type not in wanted:
                    raise _fault(_C.TYPE_MISMATCH, at)
            case "action":
                if value not in self._declared.actions:
                    raise _fault(_C.UNKNOWN_ACTION, at)
            case "list":
                meaningful = _meaningful(member.members or {})
                for index, item in enumerate(value):
                    self._members(item, f"{at}/{index}", meaningful, props)
            case "rows":
                self._rows(value, at, [column["key"] for column in props["columns"]])
            case _:
                pass

    def _rows(self, rows: tuple[Json, ...], at: str, columns: list[str]) -> None:
        declared = dict.fromkeys(columns)
        is_plain = are_scalars(chain.from_iterable(row.values() for row in rows))
        for index, row in enumerate(rows):
            here = f"{at}/{index}"
            if row.keys() != declared.keys():
                for key in row:
                    if key not in declared:
                        raise _fault(_C.UNKNOWN_KEY, here + segment(key))
                raise _fault(_C.MISSING_KEY, here)
            if not is_plain:
                for column in columns:
                    self._types.of(row[column], f"{here}/{column}")

    def _special(self, node: Json, at: str, *, in_form: bool) -> None:
        match node["type"]:
            case "Tabs" if len(node.get("children", ())) != len(node["props"]["tabs"]):
                raise _fault(_C.WRONG_CHILDREN, at)
            case "Form" if in_form:
                raise _fault(_C.NESTED_FORM, at)
            case "Slider":
                self._slider(node["props"], f"{at}/props")
            case "Select":
                self._select(node["props"], f"{at}/props")
            case _:
                pass

    def _slider(self, props: Json, at: str) -> None:
        domain = self._declared.domains[props["field"]]
        for name, own in (("min", domain.least), ("max", domain.most), ("step", domain.step)):
            if name in props and props[name] != own:
                raise _fault(_C.RANGE_DIFFERS, f"{at}/{name}")

    def _select(self, props: Json, at: str) -> None:
        domain = self._declared.domains[props["field"]]
        values: tuple[Scalar, ...] = tuple(option["value"] for option in props["options"])
        for index, value in enumerate(values):
            if code := domain.fault(value):
                raise _fault(code, f"{at}/options/{index}/value")
        earlier = self.options.setdefault(props["field"], values)
        if set(earlier) != set(values):
            raise _fault(_C.OPTIONS_DIFFER, f"{at}/options")
        if domain.default not in values:
            raise _fault(_C.OUT_OF_DOMAIN, f"/state/{props['field']}/default")


# ---- 6: kind -----------------------------------------------------------------------------------------------------


def _check_structured(document: Json, declared: Declarations) -> None:
    if declared.actions:
        raise _fault(_C.NOT_STRUCTURED, "/actions")
    for node, at in nodes_of(document["root"]):
        if _is_input(node):
            raise _fault(_C.NOT_STRUCTURED, f"{at}/type")


# ---- 7: evaluation on the defaults -------------------------------------------------------------------------------


def _check_defaults(declared: Declarations) -> None:
    evaluation = Evaluation(declared, {name: domain.default for name, domain in declared.domains.items()})
    for value in evaluation.derived().values():
        _evaluable(value)
    for name, action in declared.actions.items():
        at = f"/actions/{name}"
        if action["type"] == "set":
            value = _evaluable(evaluation.value(action["value"], f"{at}/value"))
            if declared.domains[action["field"]].fault(value):
                raise _fault(_C.OUT_OF_DOMAIN, f"{at}/value")
        elif action["type"] == "invoke":
            for key, argument in action["args"].items():
                _evaluable(evaluation.value(argument, f"{at}/args/{key}"))


def _evaluable(value: Scalar | Failure) -> Scalar:
    if isinstance(value, Failure):
        raise refused(_C.NOT_EVALUABLE, value.pointer, f"it has no value on the defaults: {value.code.means}")
    return value
