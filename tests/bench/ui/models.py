"""The baseline: pydantic models of the document language, made from its table, as somebody would write them.

They know the shapes and the lengths. References, types, domains, budgets and duplicate keys they do not know.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model

from surface_host.documents import table
from surface_host.documents.table import Component, Member

_CLOSED: Final = ConfigDict(extra="forbid", strict=True)

Scalar = str | float | bool


Id = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


class Ref(BaseModel):
    """A named value."""

    model_config = _CLOSED
    ref: Id


class Op(BaseModel):
    """An operator and what it is applied to."""

    model_config = _CLOSED
    op: Literal[tuple(table.OPERATORS)]  # type: ignore[valid-type]
    args: Annotated[list["Scalar | Ref | Op"], Field(min_length=1, max_length=16)]


Expr = Scalar | Ref | Op


@cache
def adapter() -> TypeAdapter[Any]:
    """Validates a whole document."""
    node: Any = Annotated[
        _union([_node(name, component) for name, component in table.COMPONENTS.items()]), Field(discriminator="type")
    ]
    field: Any = Annotated[
        _union([_tagged(name, of) for name, of in table.FIELDS.items()]), Field(discriminator="type")
    ]
    action: Any = Annotated[
        _union([_tagged(name, of) for name, of in table.ACTIONS.items()]), Field(discriminator="type")
    ]
    fields: dict[str, Any] = {
        "version": (Literal["1.0", "1.1"], ...),
        "title": (Annotated[str, Field(min_length=1, max_length=256)], ...),
        "state": (Annotated[dict[Id, field], Field(max_length=64)], {}),
        "derived": (Annotated[dict[Id, Expr], Field(max_length=64)], {}),
        "actions": (Annotated[dict[Id, action], Field(max_length=16)], {}),
        "root": (node, ...),
    }
    whole = create_model("Document", __config__=_CLOSED, **fields)
    for model in _NODES:
        model.model_rebuild(_types_namespace={"AnyNode": node, "Op": Op, "Ref": Ref})
    return TypeAdapter(whole)


_NODES: Final[list[type[BaseModel]]] = []


def _union(kinds: list[type[BaseModel]]) -> Any:
    made: Any = kinds[0]
    for kind in kinds[1:]:
        made = made | kind
    return made


def _node(name: str, component: Component) -> type[BaseModel]:
    fields: dict[str, Any] = {
        "id": (Id, ...),
        "type": (Literal[name], ...),  # type: ignore[valid-type] - one word for each model
        "props": (_model(f"{name}Props", component.props), ...),
        "visible": (bool | Ref | Op | None, None),
    }
    if component.children:
        fields["children"] = (list["AnyNode"], [])  # type: ignore[name-defined] # noqa: F821
    model = create_model(name, __config__=_CLOSED, **fields)
    _NODES.append(model)
    return model


def _tagged(name: str, members: Mapping[str, Member]) -> type[BaseModel]:
    rest = {key: member for key, member in members.items() if key != "type"}
    made: dict[str, Any] = {key: _field(member) for key, member in rest.items()}
    made["type"] = (Literal[name], ...)  # type: ignore[valid-type] - one word for each model
    return create_model(name, __config__=_CLOSED, **made)


def _model(name: str, members: Mapping[str, Member]) -> type[BaseModel]:
    made: dict[str, Any] = {key: _field(member) for key, member in members.items()}
    return create_model(name, __config__=_CLOSED, **made)


def _field(member: Member) -> tuple[Any, Any]:
    kind = _kind(member)
    return (kind, ...) if member.required else (kind | None, None)


def _kind(member: Member) -> Any:
    make = _KINDS.get(member.kind)
    return Id if make is None else make(member)


def _list(member: Member) -> Any:
    item = _model("Item", member.members or {})
    return Annotated[list[item], Field(min_length=member.least or 0, max_length=member.most)]


_KINDS: Final[Mapping[str, Callable[[Member], Any]]] = {
    "text": lambda member: Annotated[str, Field(min_length=member.least or 0, max_length=member.most)],
    "word": lambda member: Literal[member.words],  # type: ignore[valid-type] - words are known when it runs
    "flag": lambda _: bool,
    "integer": lambda member: Annotated[int, Field(ge=member.least, le=member.most)],
    "number": lambda _: float,
    "positive": lambda _: float,
    "scalar": lambda _: Scalar,
    "list": _list,
    "rows": lambda member: Annotated[list[dict[Id, Expr]], Field(max_length=member.most)],
    "ids": lambda _: list[Id],
    "map": lambda _: dict[Id, Expr],
    "expr": lambda _: Expr,
}
